"""The user, asked through the client (S-2)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from lsprotocol import types
from pydantic import ValidationError

from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion
from codelaw.lsp.client import Client
from codelaw.lsp.client_calls import questions
from codelaw.lsp.client_calls.own_files import KEPT_FILES, put
from codelaw.lsp.documents import convert
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc
from codelaw.protocol.approvals import ApprovalReply
from codelaw.protocol.names import APPROVAL_REQUEST

log = logging.getLogger(__name__)

DISMISSED = ApprovalAnswer(None)
NOBODY = ApprovalAnswer(None, by="headless")


class ClientApprover:
    """Asks by `codelaw/approval/request` where the client declares it, else by `window/showMessageRequest`.

    A client that knows neither answers with an error, and one that answers nonsense has not agreed: both count as a
    dismissed question, which refuses the call.
    """

    def __init__(self, rpc: Rpc, client: Client, home: Path) -> None:
        self._rpc = rpc
        self._client = client
        self._home = home
        """For documents with what does not fit into a message."""

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The user's answer, awaited without limit; cancelling withdraws the question."""
        try:
            if self._client.approvals:
                return _chosen(question, await self._rpc.request(APPROVAL_REQUEST, _request(question)))
            return await self._by_message(question)
        except ClientError as error:
            log.warning("An approval was not answered: %s", error)
            return NOBODY
        except Disconnected:
            return NOBODY

    async def _by_message(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """Ask by message boxes; what does not fit into one is shown whole before it can be allowed."""
        box = questions.whole(question)
        if box is not None:
            return await self._pressed(box) or DISMISSED
        answer = await self._pressed(questions.unshown(question))
        if answer is not None:
            return answer
        name = await self._document(question)
        for box in [questions.seen(question, name)] if name else questions.parts(question):
            answer = await self._pressed(box)
            if answer is not None:
                return answer
        return DISMISSED

    async def _pressed(self, box: questions.Box) -> ApprovalAnswer | None:
        """What the user answers in a box; None: they want to see more."""
        actions = [{"title": title} for title in box.buttons]
        params = {"type": int(types.MessageType.Warning), "message": box.text, "actions": actions}
        answer: Any = await self._rpc.request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        title = cast("dict[str, Any]", answer).get("title") if isinstance(answer, dict) else None
        if not isinstance(title, str) or title not in box.buttons:
            return DISMISSED
        option_id = box.buttons[title]
        return None if option_id is None else ApprovalAnswer(option_id)

    async def _document(self, question: ApprovalQuestion) -> str:
        """Show what would be done as a document of its own; its name, or nothing where the client shows none."""
        if not self._client.documents:
            return ""
        kind = "diff" if question.diff is not None else "txt"
        file = self._home / "questions" / f"{uuid4().hex[:12]}.{kind}"
        try:
            await put(file, f"{questions.body(question)}\n", keep=KEPT_FILES)
            shown = await self._rpc.request(types.WINDOW_SHOW_DOCUMENT, {"uri": file.as_uri(), "takeFocus": False})
        except (ClientError, OSError) as error:
            log.warning("What is asked about could not be shown as a document: %s", error)
            return ""
        done = isinstance(shown, dict) and cast("dict[str, Any]", shown).get("success") is True
        return file.name if done else ""


def _request(question: ApprovalQuestion) -> dict[str, Any]:
    return convert.approval_request(question).wire()


def _chosen(question: ApprovalQuestion, answer: Any) -> ApprovalAnswer:
    try:
        reply = ApprovalReply.model_validate(answer)
    except ValidationError:
        log.warning("The answer to an approval request makes no sense; taken as dismissed")
        return DISMISSED
    by = reply.by or "user"
    if reply.cancelled or reply.option_id not in {option.id for option in question.options}:
        return ApprovalAnswer(None, by=by)
    return ApprovalAnswer(reply.option_id, reply.comment or "", by)
