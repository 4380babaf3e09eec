"""What is asked of a server, and what it asks back (X-3)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import anyio

from codelaw.domain.served import ServerAnswer, ServerQuestion
from codelaw.ports.servers import Asking

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams

QUESTIONS = 10
"""That a server may ask in one call."""
MESSAGE_CHARACTERS = 4_000
SCHEMA_CHARACTERS = 64_000
URL_CHARACTERS = 4_000
PROGRESS_CHARACTERS = 500
"""Of what a server says of its progress."""


class ServerCall:
    """What a server is to do: run a tool, give a prompt, or read a resource, whose URI is its name.

    `timer` ends when there was no sign of life for `seconds`, and waits while the user is asked.
    """

    def __init__(
        self,
        kind: Literal["tool", "prompt", "resource"],
        name: str,
        *,
        seconds: float,
        arguments: Mapping[str, Any] | None = None,
        asking: Asking | None = None,
    ) -> None:
        self.kind: Literal["tool", "prompt", "resource"] = kind
        self.name = name
        self.seconds = seconds
        self.arguments = dict(arguments or {})
        self.asking = asking
        self.timer = anyio.CancelScope()
        self._asked = self._pending = 0

    def wind(self) -> None:
        """It is the server's turn, unless the user is asked."""
        self.timer.deadline = math.inf if self._pending else anyio.current_time() + self.seconds

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """The server is at work, and says how far it is."""
        self.wind()
        if self.asking is not None:
            far = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
            self.asking.reported(f"{far}: {message[:PROGRESS_CHARACTERS]}" if message else far)

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        """The user's answer; without somebody to ask, and after so many questions, it is declined."""
        if self.asking is None or self._asked == QUESTIONS:
            return ServerAnswer("decline")
        self._asked += 1
        self._pending += 1
        self.wind()
        try:
            return await self.asking.ask(question)
        finally:
            self._pending -= 1
            self.wind()


def question(server: str, params: ElicitRequestParams) -> ServerQuestion | None:
    """What the user is asked; None where it cannot be asked: it is too large, or leads to what is not a page."""
    message = params.message[:MESSAGE_CHARACTERS]
    if params.mode == "form":
        is_large = len(json.dumps(params.requested_schema)) > SCHEMA_CHARACTERS
        return None if is_large else ServerQuestion(server, message, schema=params.requested_schema)
    is_page = params.url.startswith(("https://", "http://")) and len(params.url) <= URL_CHARACTERS
    return ServerQuestion(server, message, url=params.url) if is_page else None
