"""What a server is answered where nobody can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.domain.safety.unseen import visible_line
from codelaw.domain.served import ServerAnswer, ServerQuestion

if TYPE_CHECKING:
    from codelaw.ports.servers import Asking
    from codelaw.ports.workspace import OutputListener


class Nobody:
    """Implements `Asking` outside of a turn: every question is declined."""

    async def ask(self, question: ServerQuestion) -> ServerAnswer:  # noqa: ARG002
        """Declined."""
        return ServerAnswer("decline")

    def told(self, line: str) -> None:
        """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Watched:
    """Implements `Asking` for a call whose progress is shown as what a command prints is."""

    asking: Asking
    listener: OutputListener

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        """See `Asking.ask`."""
        return await self.asking.ask(question)

    def told(self, line: str) -> None:
        """See `Asking.told`."""
        self.listener.heard("stdout", f"{visible_line(line)}\n".encode())


NOBODY = Nobody()
