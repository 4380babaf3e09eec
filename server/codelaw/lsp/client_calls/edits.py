"""Edits of open documents, made by the editor itself and pinned to a version (F-4, E-1, F-6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any, cast

from lsprotocol import types

from codelaw.domain.edits import DocumentEdit, Splice
from codelaw.domain.errors import ToolFailure
from codelaw.lsp.client import Client
from codelaw.lsp.documents.documents import EditorDocuments, Follow
from codelaw.lsp.documents.positions import Encoding, line_starts, spelt
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc
from codelaw.protocol.names import EDITOR_SAVE

log = logging.getLogger(__name__)

ANSWER_SECONDS = 30.0
"""For an edit that no person has to look at."""
SETTLE_SECONDS = 4.0
"""Until a client that has made an edit has reported it: some gather changes for half a second."""
CANCEL_SECONDS = 0.8
"""How long a withdrawn edit may still turn up as made."""
REST_SECONDS = 0.6
"""Until the rest of an edit that is reported in parts."""
SAVE_SECONDS = 10.0
ANNOTATION = "codelaw"
MAX_PARTS = 200
"""Of an edit that are distinguished under review."""


class ClientEditor:
    """Implements `Editor` over one connection. What counts is the text that the client tells of afterwards.

    A client may say `applied` and have done nothing, or have done it to another version: an edit is taken as made only
    when the document has shown exactly the text that was meant, or under review a part of it.
    """

    def __init__(self, rpc: Rpc, client: Client, documents: EditorDocuments) -> None:
        self._rpc = rpc
        self._client = client
        self._documents = documents

    @property
    def name(self) -> str:
        return self._client.name

    @property
    def edits(self) -> bool:
        return self._client.edits

    @property
    def saves(self) -> bool:
        return self._client.saves

    @property
    def reviews(self) -> bool:
        return self._client.edits and self._client.annotations

    async def apply(self, edit: DocumentEdit) -> str:
        """See `Editor.apply`.

        Raises:
            ToolFailure: CONFLICT; PERMISSION_DENIED when a user who was asked took nothing of it.
        """
        with self._documents.following(edit.uri, edit.after) as follow:
            self._check(edit)
            try:
                applied, why = await self._asked(edit)
                return await _seen(edit, follow, applied=applied, why=why)
            except asyncio.CancelledError:
                text = await _late(edit, follow)
                if text is None:
                    raise
                return text

    async def save(self, uris: Sequence[str]) -> None:
        """See `Editor.save`. What the editor's formatter makes of a text while it is saved is nobody's edit."""
        for uri in uris:
            self._documents.saving(uri)
        try:
            async with asyncio.timeout(SAVE_SECONDS):
                await self._rpc.request(EDITOR_SAVE, {"uris": list(uris)})
        except (ClientError, TimeoutError) as error:
            log.warning("Documents were not saved: %s", error or "no answer")
        finally:
            for uri in uris:
                self._documents.saved(uri)

    def _check(self, edit: DocumentEdit) -> None:
        buffer = self._documents.get(edit.uri)
        if buffer is None:
            raise ToolFailure("CONFLICT", "The document was closed meanwhile: read the file again, then change it.")
        if buffer.version != edit.version or buffer.text != edit.before:
            raise ToolFailure("CONFLICT", "The user is editing the document: read it again, then change it.")

    async def _asked(self, edit: DocumentEdit) -> tuple[bool, str]:
        """Whether the client says that it was applied, and its reason when not."""
        params = workspace_edit(edit, self._documents.encoding, pinned=self._client.edits)
        seconds = None if edit.review else ANSWER_SECONDS
        try:
            async with asyncio.timeout(seconds):
                answer: Any = await self._rpc.request(types.WORKSPACE_APPLY_EDIT, params)
        except TimeoutError:
            raise ToolFailure(
                "CONFLICT", f"The editor did not answer within {ANSWER_SECONDS:g} s.", uncertain=True
            ) from None
        except Disconnected:
            raise ToolFailure("CONFLICT", f"{edit.label}: the editor is gone.", uncertain=True) from None
        except ClientError as error:
            return False, str(error)
        if not isinstance(answer, dict):
            return False, "it gave no answer that makes sense"
        body = cast("dict[str, Any]", answer)
        reason = body.get("failureReason")
        return body.get("applied") is True, reason[:300] if isinstance(reason, str) else ""


def workspace_edit(edit: DocumentEdit, encoding: Encoding, *, pinned: bool = True) -> dict[str, Any]:
    """The params of `workspace/applyEdit`: one document, one version where the client can pin it, one label."""
    starts = line_starts(edit.before)

    def position(place: int) -> dict[str, int]:
        return spelt(edit.before, starts, place, encoding)

    mark = {"annotationId": ANNOTATION} if edit.review else {}
    edits = [
        {"range": {"start": position(splice.start), "end": position(splice.end)}, "newText": splice.text, **mark}
        for splice in edit.splices
    ]
    body: dict[str, Any] = {"changes": {edit.uri: edits}}
    if pinned:
        body = {"documentChanges": [{"textDocument": {"uri": edit.uri, "version": edit.version}, "edits": edits}]}
    if edit.review:
        body["changeAnnotations"] = {
            ANNOTATION: {"label": f"codelaw: {edit.label}", "needsConfirmation": True, "description": _places(edit)}
        }
    return {"edit": body, **({"label": f"codelaw: {edit.label}"} if edit.label else {})}


def _places(edit: DocumentEdit) -> str:
    count = len(edit.splices)
    return "1 change" if count == 1 else f"{count} changes"


async def _seen(edit: DocumentEdit, follow: Follow, *, applied: bool, why: str) -> str:
    """The text with the edit in it, as the document has shown it.

    Raises:
        ToolFailure: CONFLICT or PERMISSION_DENIED.
    """
    if not applied:
        text = _made(edit, follow)
        if text is not None:
            return text
        reason = f": {why}" if why else ""
        if edit.review and not follow.texts:
            raise ToolFailure("PERMISSION_DENIED", f"The user did not accept the edit in the editor{reason}.")
        raise ToolFailure(
            "CONFLICT",
            f"The editor refused the edit{reason}. Read the file again, then change it.",
            uncertain=bool(follow.texts),
        )
    text: str | None = None
    with suppress(TimeoutError):
        async with asyncio.timeout(SETTLE_SECONDS):
            while (text := _made(edit, follow)) is None and not follow.closed:
                await follow.more()
    if text is not None and text != edit.after:
        # A part of it: the rest may still be on its way.
        with suppress(TimeoutError):
            while text != edit.after and not follow.closed:
                async with asyncio.timeout(REST_SECONDS):
                    await follow.more()
                text = _made(edit, follow) or text
    if text is not None:
        return text
    if not follow.texts and not follow.closed:
        raise ToolFailure(
            "CONFLICT", "The editor says that it made the edit, and the document has not changed. Read it again."
        )
    raise ToolFailure(
        "CONFLICT", "The document changed or was closed in that moment: read it again and look.", uncertain=True
    )


async def _late(edit: DocumentEdit, follow: Follow) -> str | None:
    """The text, when an edit that was withdrawn has been made all the same."""
    with suppress(TimeoutError):
        async with asyncio.timeout(CANCEL_SECONDS):
            while _made(edit, follow) is None and not follow.closed:
                await follow.more()
    return _made(edit, follow)


def _made(edit: DocumentEdit, follow: Follow) -> str | None:
    """The text with the edit in it: the whole of it, or under review a part."""
    if follow.met:
        return edit.after
    if edit.review and follow.texts and accepted(edit, follow.texts[-1]) is not None:
        return follow.texts[-1]
    return None


def accepted(edit: DocumentEdit, text: str) -> tuple[Splice, ...] | None:
    """The parts of the edit that make `text` of the document; None when no choice of them does, or none was taken."""
    count, before = len(edit.splices), edit.before

    @cache
    def rest(number: int, place: int) -> tuple[int, ...] | None:
        """Numbers of the accepted parts from `number` on, with `text` read up to `place`."""
        start = edit.splices[number - 1].end if number else 0
        end = edit.splices[number].start if number < count else len(before)
        if not text.startswith(before[start:end], place):
            return None
        place += end - start
        if number == count:
            return () if place == len(text) else None
        splice = edit.splices[number]
        for taken, piece in ((True, splice.text), (False, before[splice.start : splice.end])):
            if text.startswith(piece, place):
                found = rest(number + 1, place + len(piece))
                if found is not None:
                    return (number, *found) if taken else found
        return None

    chosen = rest(0, 0) if count <= MAX_PARTS else None
    return tuple(edit.splices[number] for number in chosen) if chosen else None
