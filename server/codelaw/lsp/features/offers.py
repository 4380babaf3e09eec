"""What can be done in a chat file, and on which line: the same for lenses and code actions (E-3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.lsp.features.features import Features
    from codelaw.transcript.chat_file.chat_file import ChatFile

LOOKED_AT = 20
"""The newest turns of a file that can be undone from it."""

REMEMBERED = 1000
"""Turns of which it is known how many files they changed."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A command with the lines it belongs to; zero-based, inclusive."""

    title: str
    command: str
    argument: dict[str, Any]
    first: int
    last: int


async def offers(features: Features, uri: str, file: ChatFile) -> list[Offer]:
    """Send, stop, and undo what a turn changed."""
    found: list[Offer] = []
    running = features.chat_files.running(uri)
    end = file.text.count("\n")
    if running is not None:
        block = file.block(running.story.turn_id)
        first, last = (block.first, block.last) if block is not None else (0, end)
        found.append(Offer("■ Stop", "codelaw.chatFile.stop", {"uri": uri}, first, last))
    elif file.question is not None:
        last = max(file.question.line, file.text.count("\n", 0, file.question.end))
        found.append(Offer("▶ Send", "codelaw.chatFile.send", {"uri": uri}, file.question.line, max(last, end)))
    chat_id = features.chat_files.chat_of(uri, file)
    if chat_id is None:
        return found
    for block in [block for block in file.blocks if block.kind == "turn" and not block.running][-LOOKED_AT:]:
        count = await _changed(features, chat_id, block.id)
        if count:
            argument = {"uri": uri, "turnId": block.id}
            files = "1 file" if count == 1 else f"{count} files"
            found.append(
                Offer(f"↩ Undo this turn ({files})", "codelaw.chatFile.undo", argument, block.first, block.last)
            )
    return found


async def _changed(features: Features, chat_id: str, turn_id: str) -> int:
    """How many files a turn that has ended changed; remembered, as editors ask at every keystroke."""
    known = features.changed
    if (chat_id, turn_id) not in known:
        try:
            files = await features.context.session.files.changed_files(chat_id, turn_id)
        except Refusal:
            files = ()  # a block of another chat
        while len(known) >= REMEMBERED:
            del known[next(iter(known))]
        known[chat_id, turn_id] = len(files)
    return known[chat_id, turn_id]
