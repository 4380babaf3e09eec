"""The user, asked through the client (S-2)."""

from __future__ import annotations

import logging
from typing import Any, cast

from lsprotocol import types
from pydantic import ValidationError

from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion
from codelaw.lsp import convert
from codelaw.lsp.client import Client
from codelaw.lsp.errors import ClientError, Disconnected
from codelaw.lsp.rpc import Rpc
from codelaw.protocol.approvals import ApprovalReply
from codelaw.protocol.names import APPROVAL_REQUEST

log = logging.getLogger(__name__)

DISMISSED = ApprovalAnswer(None)
SHOWN_CHARACTERS = 1200
"""Of a preview in a plain message box."""


class ClientApprover:
    """Asks by `codelaw/approval/request` where the client declares it, else by `window/showMessageRequest`.

    A client that knows neither answers with an error, and one that answers nonsense has not agreed: both count as a
    dismissed question, which refuses the call.
    """

    def __init__(self, rpc: Rpc, client: Client) -> None:
        self._rpc = rpc
        self._client = client

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The user's answer, awaited without limit; cancelling withdraws the question."""
        try:
            if self._client.approvals:
                return _chosen(question, await self._rpc.request(APPROVAL_REQUEST, _request(question)))
            return _picked(question, await self._rpc.request(types.WINDOW_SHOW_MESSAGE_REQUEST, _message(question)))
        except ClientError as error:
            log.warning("An approval was not answered: %s", error)
            return DISMISSED
        except Disconnected:
            return DISMISSED


def _request(question: ApprovalQuestion) -> dict[str, Any]:
    return convert.approval_request(question).wire()


def _chosen(question: ApprovalQuestion, answer: Any) -> ApprovalAnswer:
    try:
        reply = ApprovalReply.model_validate(answer)
    except ValidationError:
        log.warning("The answer to an approval request makes no sense; taken as dismissed")
        return DISMISSED
    if reply.cancelled or reply.option_id not in {option.id for option in question.options}:
        return DISMISSED
    return ApprovalAnswer(reply.option_id, reply.comment or "")


def _message(question: ApprovalQuestion) -> dict[str, Any]:
    preview = question.command or question.diff or ""
    if len(preview) > SHOWN_CHARACTERS:
        preview = preview[:SHOWN_CHARACTERS] + "\n… (cut)"
    # Titles like `Edit a.py` name the tool themselves.
    title = question.title if question.title.startswith(f"{question.tool} ") else f"{question.tool}: {question.title}"
    text = title + (f"\n\n{preview}" if preview else "")
    # Buttons may be cut: what a standing answer would allow is told here too.
    for rule in dict.fromkeys(option.rule for option in question.options if option.rule):
        text += f"\n\nTo allow it in this chat or always allows all of: {rule}"
    actions = [{"title": title} for title in _titles(question)]
    return {"type": int(types.MessageType.Warning), "message": text, "actions": actions}


def _picked(question: ApprovalQuestion, answer: Any) -> ApprovalAnswer:
    title = cast("dict[str, Any]", answer).get("title") if isinstance(answer, dict) else None
    option_id = _titles(question).get(title) if isinstance(title, str) else None
    return ApprovalAnswer(option_id) if option_id is not None else DISMISSED


def _titles(question: ApprovalQuestion) -> dict[str, str]:
    """Option ids by title; an answer brings back the title alone, so a title used twice gets its rule or id."""
    titles: dict[str, str] = {}
    for option in question.options:
        title = option.title
        if title in titles:
            title = f"{title} ({option.rule or option.id})"
        titles[title] = option.id
    return titles
