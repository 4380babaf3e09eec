"""What a server is answered where nobody can be asked."""

from __future__ import annotations

from codelaw.domain.served import ServerAnswer, ServerQuestion


class Nobody:
    """Implements `Asking` outside of a turn: every question is declined."""

    async def ask(self, question: ServerQuestion) -> ServerAnswer:  # noqa: ARG002
        """Declined."""
        return ServerAnswer("decline")


NOBODY = Nobody()
