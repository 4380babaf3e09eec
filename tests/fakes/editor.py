"""An editor's side without an editor: open buffers and a user who answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from codelaw.domain.files import Buffer
from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion


class Buffers:
    """Open documents, set by the test."""

    def __init__(self) -> None:
        self.open: dict[str, Buffer] = {}
        self.saved: dict[Path, int] = {}

    def put(self, path: Path, text: str, version: int = 1) -> None:
        self.open[path.as_uri()] = Buffer(path.as_uri(), path, text, version)

    def close(self, path: Path) -> None:
        del self.open[path.as_uri()]

    def at(self, path: Path) -> Buffer | None:
        return next((buffer for buffer in self.open.values() if buffer.path == path), None)

    def all(self) -> Sequence[Buffer]:
        return tuple(self.open.values())

    def saves(self, path: Path) -> int:
        return self.saved.get(path, 0)

    def formed(self, path: Path) -> Sequence[tuple[str, str]]:
        del path
        return ()


class User:
    """Answers every question with the first option of the kind in `answer`; None never answers."""

    def __init__(self, answer: str | None = "allow_once", comment: str = "") -> None:
        self.answer = answer
        self.comment = comment
        self.asked: list[ApprovalQuestion] = []
        self.withdrawn = 0

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        self.asked.append(question)
        if self.answer is None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.withdrawn += 1
                raise
        chosen = next((option for option in question.options if option.kind == self.answer), None)
        return ApprovalAnswer(chosen.id if chosen else None, self.comment)
