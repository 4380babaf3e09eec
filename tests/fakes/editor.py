"""An editor's side without an editor: open buffers and a user who answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion
from tests.fakes.documents import FakeDocuments


class Buffers(FakeDocuments):
    """Open documents, set by the test, which says too how often each was saved."""

    def __init__(self) -> None:
        super().__init__()
        self.saved: dict[Path, int] = {}

    def put(self, path: Path, text: str, version: int = 1) -> None:
        self.open(path, text, version)

    def saves(self, path: Path) -> int:
        return self.saved.get(path, 0)


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
