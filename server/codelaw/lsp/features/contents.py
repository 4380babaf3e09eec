"""Transcripts, contexts and before-images as documents of the scheme `codelaw-chat` (E-4)."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types

from codelaw.domain.errors import Refusal
from codelaw.domain.events import TurnEnded
from codelaw.lsp.client_calls.window import KEPT_FILES, put
from codelaw.lsp.transport.errors import ClientError
from codelaw.transcript.chat_file import markdown

if TYPE_CHECKING:
    from codelaw.domain.events import ChatEvent
    from codelaw.lsp.context import Context
    from codelaw.lsp.documents.documents import DocumentMoment

log = logging.getLogger(__name__)

SCHEME = "codelaw-chat"
REFRESH_SECONDS = 0.5
"""Between two refreshes of one document."""
MOST_WATCHED = 50
"""Documents that are refreshed; the oldest is forgotten."""

K = TypeVar("K")
V = TypeVar("V")
What = Literal["transcript", "context", "before"]


@dataclass(frozen=True, slots=True)
class ChatAddress:
    """What a document shows; `turn_id` and `path` are those of a before-image."""

    chat_id: str
    what: What = "transcript"
    turn_id: str = ""
    path: str = ""

    @property
    def uri(self) -> str:
        """`codelaw-chat:/<chat>`, `…/context`, `…/before/<turn>/<path>`."""
        start = f"{SCHEME}:/{quote(self.chat_id, safe='')}"
        match self.what:
            case "transcript":
                return start
            case "context":
                return f"{start}/context"
            case "before":
                return f"{start}/before/{quote(self.turn_id, safe='')}/{quote(self.path)}"


def address(uri: str) -> ChatAddress:
    """Read the uri of such a document, also as editors spell it.

    Raises:
        Refusal: it names none.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        parts = urlsplit("")
    names = [unquote(name) for name in parts.path.lstrip("/").split("/")]
    if parts.scheme == SCHEME and names[0] and not parts.netloc:
        if len(names) == 1:
            return ChatAddress(names[0])
        if names[1:] == ["context"]:
            return ChatAddress(names[0], "context")
        if len(names) > 3 and names[1] == "before" and all(names[2:]):
            return ChatAddress(names[0], "before", names[2], "/".join(names[3:]))
    raise Refusal("chat_not_found", f"{uri[:200]} is not a document of a chat", f"Open {SCHEME}:/ and the chat's id")


class Contents:
    """The documents that one client has asked for, refreshed while their chat goes on."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._asked: dict[str, ChatAddress] = {}
        """By uri, as the client spelt it."""
        self._files: dict[ChatAddress, Path] = {}
        """Files that were shown to a client which has no such documents."""
        self._due: set[str] = set()
        self._refreshing = False

    async def text(self, uri: str) -> str:
        """The document, which is refreshed from now on.

        Raises:
            Refusal: there is no such chat, turn or file.
        """
        wanted = address(uri)
        text = await self._text(wanted)
        self._asked.pop(uri, None)
        keep(self._asked, uri, wanted, MOST_WATCHED)
        return text

    async def show(self, wanted: ChatAddress) -> str:
        """Show a document; as a file, where the client has no such documents. Gives its uri.

        Raises:
            Refusal: there is no such chat, turn or file.
        """
        text = await self._text(wanted)
        if self._context.client.contents:
            await self._context.ui.shown(wanted.uri, takeFocus=False)
            return wanted.uri
        name = "-".join(filter(None, (wanted.chat_id, wanted.what, wanted.turn_id, wanted.path.rsplit("/", 1)[-1])))
        file = self._context.home / "shown" / re.sub(r"[^A-Za-z0-9._-]", "-", name)
        if wanted.what != "before":
            file = file.with_name(f"{file.name}.md")
        uri = await self._context.ui.show(file, text, keep=KEPT_FILES)
        if wanted.what != "before":
            keep(self._files, wanted, file, MOST_WATCHED)
        return uri

    def on_event(self, event: ChatEvent) -> None:
        """An event of any chat: what shows it is out of date."""
        due = {
            uri for uri, wanted in self._asked.items() if wanted.chat_id == event.chat_id and wanted.what != "before"
        }
        if due:
            self._due |= due
            if not self._refreshing:
                self._refreshing = True
                self._context.spawn(self._refresh())
        if isinstance(event.event, TurnEnded):
            for wanted in list(self._files):
                if wanted.chat_id == event.chat_id:
                    self._context.spawn(self._rewrite(wanted))

    def on_document(self, uri: str, what: DocumentMoment) -> None:
        """A document that was closed is not refreshed any more."""
        if what == "closed":
            self._asked.pop(uri, None)

    async def _text(self, wanted: ChatAddress) -> str:
        session = self._context.session
        match wanted.what:
            case "transcript":
                record = await session.chats.read(wanted.chat_id)
                return await asyncio.to_thread(markdown.transcript, record.chat, record.messages, record.events)
            case "context":
                return markdown.context(await session.contexts.inspect(wanted.chat_id, None))
            case "before":
                return await session.files.before(wanted.chat_id, wanted.turn_id, wanted.path) or ""

    async def _refresh(self) -> None:
        try:
            while self._due:
                await asyncio.sleep(REFRESH_SECONDS)
                due, self._due = self._due & self._asked.keys(), set()
                for uri in due:
                    await self._refresh_one(uri)
        finally:
            self._refreshing = False

    async def _refresh_one(self, uri: str) -> None:
        try:
            await self._context.rpc.request(types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH, {"uri": uri})
        except ClientError as error:
            log.info("%s is not refreshed: %s", uri, error)
            self._asked.pop(uri, None)

    async def _rewrite(self, wanted: ChatAddress) -> None:
        try:
            await put(self._files[wanted], await self._text(wanted))
        except Refusal as refused:
            log.info("A document is not refreshed any more: %s", refused.message)
            self._files.pop(wanted, None)


def keep(known: dict[K, V], key: K, value: V, most: int) -> None:
    """Put it in; of more than so many the oldest is forgotten (S-6)."""
    known[key] = value
    while len(known) > most:
        del known[next(iter(known))]
