"""Models and tools that the editor lends (P-7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from codelaw.domain.messages import Call
from codelaw.domain.models import ApiMessage, BrokenCall, StopReason, TextDelta, ToolSchema
from codelaw.domain.served import ServedResult, ServedTool

Part = TextDelta | Call | BrokenCall
"""Of a reply as it arrives; content that is neither text nor a call is an empty text."""


@dataclass(frozen=True, slots=True)
class LentOffer:
    """A model that the editor lends."""

    id: str
    name: str
    family: str
    max_input: int
    """Tokens."""


class NotLent(Exception):
    """The editor lends the model no longer, or not for this; `code` is its own word for why, empty where it has none.

    `gone`: nobody is there who could lend it.
    """

    def __init__(self, code: str, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.gone = gone


class Lender(Protocol):
    """The editor, where it has models of its own."""

    async def offers(self) -> Sequence[LentOffer]:
        """Those that it would lend now; no model is asked, and nobody for consent.

        Raises:
            NotLent: it does not say.
        """
        ...

    async def ask(
        self,
        model: str,
        messages: Sequence[ApiMessage],
        tools: Sequence[ToolSchema],
        heard: Callable[[Part], None],
    ) -> StopReason:
        """Have the model of that id answer; cancelling withdraws the question. Waits without limit.

        Messages are of user and assistant, and hold texts, calls and results alone.

        Raises:
            NotLent: no whole reply came.
        """
        ...


class ToolLender(Protocol):
    """The editor, where its extensions have tools."""

    async def tools(self) -> tuple[ServedTool, ...]:
        """Those that it would lend now, sorted by name, with `EDITOR` for their server.

        Raises:
            NotLent: it does not say.
        """
        ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ServedResult:
        """Have the tool of that name run; cancelling withdraws the question. Waits without limit.

        Raises:
            ToolFailure: there is no such tool, or no answer that can be read.
        """
        ...
