"""The user, when asked."""

from __future__ import annotations

from typing import Protocol

from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion


class Approver(Protocol):
    """Puts a question to the user."""

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The answer; cancelling the task withdraws the question from the client (R-8)."""
        ...
