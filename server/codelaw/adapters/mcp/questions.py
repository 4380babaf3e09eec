"""What is asked of a server, and what it asks back (X-3)."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, cast

import anyio

from codelaw.domain.errors import ToolFailure
from codelaw.domain.served import ServedResult, ServerAnswer, ServerQuestion
from codelaw.ports.servers import Asking

QUESTIONS = 10
"""That a server may ask in one call."""
MESSAGE_CHARACTERS = 4_000
SCHEMA_CHARACTERS = 64_000
URL_CHARACTERS = 4_000
PROGRESS_CHARACTERS = 500
"""Of what a server says of its progress."""


Kind = Literal["tool", "prompt", "resource"]


class ServerCall:
    """What a server is to do: run a tool, give a prompt, or read a resource, whose URI is its name.

    It ends when there was no sign of life for `seconds`, and waits while the user is asked.
    """

    def __init__(
        self,
        kind: Literal["tool", "prompt", "resource"],
        name: str,
        arguments: Mapping[str, Any],
        asking: Asking | None,
    ) -> None:
        self.kind: Literal["tool", "prompt", "resource"] = kind
        self.name = name
        self.arguments = dict(arguments)
        self.asking = asking
        self.questions = 0
        self.done: asyncio.Future[ServedResult] = asyncio.get_running_loop().create_future()
        self.scope = anyio.CancelScope()
        """For who has asked, to give it up."""
        self.timer = anyio.CancelScope()
        self._seconds = math.inf
        self._pending = 0

    def begin(self, seconds: float) -> None:
        """It is the server's turn."""
        self._seconds = seconds
        self.timer.deadline = anyio.current_time() + seconds

    def fail(self, failure: ToolFailure) -> None:
        """Unless it is done."""
        if not self.done.done():
            self.done.set_exception(failure)
            self.done.exception()  # somebody who was cancelled does not come back for it

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """The server is at work, and says how far it is."""
        if not self._pending:
            self.timer.deadline = anyio.current_time() + self._seconds
        if self.asking is not None:
            far = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
            self.asking.reported(f"{far}: {message[:PROGRESS_CHARACTERS]}" if message else far)

    @contextmanager
    def waiting(self) -> Generator[None]:
        """The user is asked meanwhile."""
        self._pending += 1
        self.timer.deadline = math.inf
        try:
            yield
        finally:
            self._pending -= 1
            if not self._pending:
                self.timer.deadline = anyio.current_time() + self._seconds


class Questions:
    """What one server asks, of the user, in the midst of calls."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._calls: list[ServerCall] = []
        self.changed = anyio.Event()
        """Set when the server has said that one of its lists has changed."""

    @contextmanager
    def during(self, call: ServerCall) -> Generator[None]:
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls.remove(call)

    def latest(self) -> ServerCall | None:
        """The call to which a question belongs that names none: the youngest that somebody can be asked for."""
        return next((call for call in reversed(self._calls) if call.asking is not None), None)

    async def ask(self, call: ServerCall | None, params: Mapping[str, Any]) -> ServerAnswer:
        """The user's answer to a question as the protocol writes it; without somebody to ask it is declined."""
        question = _question(self._server, params)
        if call is None or call.asking is None or question is None or call.questions == QUESTIONS:
            return ServerAnswer("decline")
        call.questions += 1
        with call.waiting():
            return await call.asking.ask(question)


def _question(server: str, params: Mapping[str, Any]) -> ServerQuestion | None:
    """None where it cannot be asked: it is too large, or leads to what is not a page."""
    message = str(params.get("message") or "")[:MESSAGE_CHARACTERS]
    if params.get("mode") == "url":
        url = str(params.get("url") or "")
        if not url.startswith(("https://", "http://")) or len(url) > URL_CHARACTERS:
            return None
        return ServerQuestion(server, message, url=url)
    schema = params.get("requestedSchema")
    if not isinstance(schema, dict) or len(json.dumps(schema)) > SCHEMA_CHARACTERS:
        return None
    return ServerQuestion(server, message, schema=cast("dict[str, Any]", schema))
