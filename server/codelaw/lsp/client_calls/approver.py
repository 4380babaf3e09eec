"""The user, asked through the client, if by the message boxes of one that knows nothing of us (S-2).

What would be done comes first and is never cut: where it does not fit into a box, the box offers to show it, and no
answer that allows it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import ValidationError

from codelaw.domain.permissions import ApprovalAnswer, ApprovalOption, ApprovalQuestion
from codelaw.domain.safety.unseen import has_unseen, visible, visible_line
from codelaw.lsp.client import Client
from codelaw.lsp.client_calls.window import KEPT_FILES, ClientUI, put
from codelaw.lsp.transport.errors import ClientError
from codelaw.lsp.transport.rpc import Rpc
from codelaw.protocol.names import APPROVAL_REQUEST
from codelaw.protocol.permissions import ApprovalPreview, ApprovalReply, ApprovalRequest

log = logging.getLogger(__name__)

DISMISSED = ApprovalAnswer(None)
NOBODY = ApprovalAnswer(None, by="headless")


SHOWN_CHARACTERS = 900
"""Of a box: editors cut longer ones."""
SHOWN_LINES = 20
HEAD_CHARACTERS = 100
"""Of what does not fit, as its name."""
SHOW = "Show"
NEXT = "Next part"


class ClientApprover:
    """Asks by `codelaw/approval/request` where the client declares it, else by `window/showMessageRequest`.

    A client that knows neither answers with an error, and one that answers nonsense has not agreed: both count as a
    dismissed question, which refuses the call.
    """

    def __init__(self, rpc: Rpc, client: Client, home: Path, ui: ClientUI) -> None:
        """`home` is for documents with what does not fit into a message."""
        self._rpc = rpc
        self._client = client
        self._home = home
        self._ui = ui

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The user's answer, awaited without limit; cancelling withdraws the question."""
        try:
            if self._client.approvals:
                return _chosen(
                    question,
                    await self._rpc.request(
                        APPROVAL_REQUEST, ApprovalRequest.of(question, preview=ApprovalPreview.of(question)).wire()
                    ),
                )
            return await self._by_message(question)
        except ClientError as error:
            log.warning("An approval was not answered: %s", error)
            return NOBODY

    async def _by_message(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """Ask by message boxes; what does not fit into one is shown whole before it can be allowed."""
        box = whole(question)
        if box is not None:
            return await self._pressed(box) or DISMISSED
        answer = await self._pressed(unshown(question))
        if answer is not None:
            return answer
        name = await self._document(question) if self._client.documents else ""
        for box in [seen(question, name)] if name else parts(question):
            answer = await self._pressed(box)
            if answer is not None:
                return answer
        return DISMISSED

    async def _pressed(self, box: Box) -> ApprovalAnswer | None:
        """What the user answers in a box; None: they want to see more."""
        title = await self._ui.pressed(box.text, box.buttons)
        if title is None:
            return DISMISSED
        option_id = box.buttons[title]
        return None if option_id is None else ApprovalAnswer(option_id)

    async def _document(self, question: ApprovalQuestion) -> str:
        """Show what would be done as a document of its own; its name, or nothing where the client shows none."""
        kind = "diff" if question.diff is not None else "txt"
        file = self._home / "questions" / f"{uuid4().hex[:12]}.{kind}"
        try:
            await put(file, f"{body(question)}\n", keep=KEPT_FILES)
        except OSError as error:
            log.warning("What is asked about could not be written: %s", error)
            return ""
        return file.name if await self._ui.shown(file.as_uri(), takeFocus=False) else ""


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


@dataclass(frozen=True, slots=True)
class Box:
    """A message box: its text, and what each button answers by its title; None only goes on to the next box."""

    text: str
    buttons: dict[str, str | None]


def body(question: ApprovalQuestion) -> str:
    """All that would be done, nothing in it unseen; empty where the title says it."""
    return visible(question.command or question.diff or question.text or "")


def whole(question: ApprovalQuestion) -> Box | None:
    """The box with everything and all answers; None where that does not fit."""
    text = "\n\n".join((_done(question, body(question)), *_beside(question)))
    return Box(text, _by_title(question.options)) if _fits(text) else None


def unshown(question: ApprovalQuestion) -> Box:
    """The box for what does not fit: it offers to show it, or to refuse."""
    text = body(question)
    lines = text.count("\n") + 1
    size = f"This is too long for a message: {lines} lines, {len(text)} characters. Look at all of it first."
    return Box("\n\n".join((_named(question), size)), {SHOW: None, **_by_title(_refusals(question))})


def seen(question: ApprovalQuestion, place: str) -> Box:
    """The box after all of it was shown in a document."""
    text = "\n\n".join((_named(question), f"All of it is shown in {visible_line(place)}.", *_beside(question)))
    return Box(text, _by_title(question.options))


def parts(question: ApprovalQuestion) -> list[Box]:
    """All of it in one box after the other, for clients that show no documents; only the last one allows it."""
    pieces = _pieces(body(question))
    boxes: list[Box] = []
    for number, piece in enumerate(pieces, 1):
        text = f"{_named(question)}\n\nPart {number} of {len(pieces)}:\n{piece}"
        if number < len(pieces):
            boxes.append(Box(text, {NEXT: None, **_by_title(_refusals(question))}))
        else:
            boxes.append(Box("\n\n".join((text, *_beside(question))), _by_title(question.options)))
    return boxes


def _done(question: ApprovalQuestion, text: str) -> str:
    """What would be run or changed."""
    if question.command is not None:
        return f"Run: {text}" if "\n" not in text else f"Run these lines:\n{text}"
    return f"{_title(question)}\n\n{text}" if text else _title(question)


def _named(question: ApprovalQuestion) -> str:
    """The beginning of what does not fit."""
    if question.command is None:
        return _title(question)
    first = body(question).strip().partition("\n")[0]
    return f"Run: {first[:HEAD_CHARACTERS]} …"


def _title(question: ApprovalQuestion) -> str:
    # Titles like `Edit a.py` name the tool themselves.
    title = visible_line(question.title)
    return title if title.startswith(f"{question.tool} ") or question.risk == "send" else f"{question.tool}: {title}"


def _beside(question: ApprovalQuestion) -> list[str]:
    """What else there is to know, behind what would be done."""
    lines: list[str] = []
    if question.description:
        lines.append(f"The model's words for it: “{visible_line(question.description)}”")
    if question.always_asked:
        lines.append(f"This is asked every time. {visible_line(question.why)}".rstrip())
    if any(map(has_unseen, (question.command or "", question.diff or "", question.text or "", question.title))):
        lines.append("Characters that cannot be seen are written like ⟨U+200B⟩.")
    # Buttons may be cut: what a standing answer would allow is said here too.
    rules = dict.fromkeys(option.rule for option in question.options if option.rule)
    lines += [f"To allow it in this chat or always allows all of: {visible_line(rule)}" for rule in rules]
    return lines


def _fits(text: str) -> bool:
    return len(text) <= SHOWN_CHARACTERS and text.count("\n") < SHOWN_LINES


def _pieces(text: str) -> list[str]:
    """The text in pieces that fit into a box each, broken between lines where that is possible."""
    pieces: list[str] = []
    most = SHOWN_CHARACTERS // 2
    lines = [line[at : at + most] for line in text.split("\n") for at in range(0, max(1, len(line)), most)]
    for line in lines:
        if pieces and len(pieces[-1]) + len(line) < most and pieces[-1].count("\n") < SHOWN_LINES // 2:
            pieces[-1] += f"\n{line}"
        else:
            pieces.append(line)
    return pieces


def _refusals(question: ApprovalQuestion) -> tuple[ApprovalOption, ...]:
    return tuple(option for option in question.options if option.kind == "reject")


def _by_title(options: tuple[ApprovalOption, ...]) -> dict[str, str | None]:
    """Option ids by title; an answer brings back the title alone, so a title used twice gets its rule or id."""
    titles: dict[str, str | None] = {}
    for option in options:
        title = visible_line(option.title)
        if title in titles:
            title = f"{title} ({option.rule or option.id})"
        titles[title] = option.id
    return titles
