r"""A model that replays a script: for tests and demos (P-3).

A script file is JSON:

    {"replies": [
        {"text": "Thought: look\nAction: Read[{\"path\": \"a.py\"}]"},
        {"calls": [{"id": "c1", "tool": "Read", "arguments": {"path": "a.py"}}]},
        {"failure": "overload", "text": "what arrived before", "retry_after": 1.5},
        {"text": "Thought: done\nAction: Finish[ok]", "stop_reason": "end_turn", "delay": 0.02, "chunk": 8,
         "usage": {"input_tokens": 10, "output_tokens": 5}, "repeat": 3}
    ]}

Every field is optional. `thinking` is told before the text, `chunk` is the characters in a delta, `delay` the seconds
before each, `repeat` how often the reply is given (0: for ever). `broken_calls` hold `arguments_text`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import Call
from codelaw.domain.models import (
    BrokenCall,
    Delta,
    FailureKind,
    Heard,
    ModelReply,
    ModelRequest,
    StopReason,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from codelaw.ports.model import ChatModel


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class ScriptedReply:
    """One reply of a script; `stop_reason` None is `tool_use` with calls and `end_turn` without."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    broken_calls: tuple[BrokenCall, ...] = ()
    thinking: str = ""
    stop_reason: StopReason | None = None
    usage: Usage | None = None
    failure: FailureKind | None = None
    retry_after: float | None = None
    chunk: int = 16
    """Characters in a delta."""
    delay: float = 0.0
    """Seconds before each delta."""
    repeat: int = 1
    """How often this reply is given; 0 is for ever."""


class ScriptedModel(ChatModel):
    """A `ChatModel` that gives the replies of a script in order and keeps the requests it saw."""

    def __init__(self, script: Sequence[ScriptedReply]) -> None:
        self._replies = chain.from_iterable(repeat(one, *([one.repeat] if one.repeat else [])) for one in script)
        self.requests: list[ModelRequest] = []

    @classmethod
    def from_file(cls, path: Path) -> ScriptedModel:
        """Read a script file.

        Raises:
            OSError: it cannot be read.
            ValueError: it is not a script.
        """
        return cls(read_script(path.read_text(encoding="utf-8")))

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """The script's next reply.

        Raises:
            ModelFailure: the script says so, or is used up (`invalid`).
        """
        self.requests.append(request)
        scripted = next(self._replies, None)
        if scripted is None:
            message = f"The script has no reply for request {len(self.requests)}."
            raise ModelFailure("invalid", message)
        arrived = ""
        usage = scripted.usage or _estimated(request, scripted)
        for delta in _deltas(scripted):
            # At least one turn of the loop for each delta, so that a cancel can arrive between two of them.
            await asyncio.sleep(scripted.delay)
            arrived += delta.text if isinstance(delta, TextDelta) else ""
            if on_delta(delta) is True:
                return ModelReply(arrived, "closed", replace(usage, output_tokens=0))
        if scripted.failure is not None:
            raise ModelFailure(
                scripted.failure,
                f"The script says {scripted.failure}.",
                partial=scripted.text,
                retry_after=scripted.retry_after,
                usage=scripted.usage,
            )
        called = bool(scripted.calls or scripted.broken_calls)
        stop = scripted.stop_reason or ("tool_use" if called else "end_turn")
        return ModelReply(scripted.text, stop, usage, scripted.calls, scripted.broken_calls)


def read_script(text: str) -> list[ScriptedReply]:
    """The replies of a script file's text.

    Raises:
        ValueError: it is not JSON, or a reply has an unknown field or a wrong type.
    """
    try:
        return TypeAdapter(dict[Literal["replies"], list[ScriptedReply]]).validate_json(text)["replies"]
    except (ValidationError, KeyError) as error:
        found = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "it has no replies"}
        where = ".".join(map(str, found["loc"]))
        raise ValueError(f"This is not a script: {where}: {found['msg']}") from None


def _deltas(scripted: ScriptedReply) -> list[Delta]:
    size = max(1, scripted.chunk)
    thinking: list[Delta] = [ThinkingDelta(scripted.thinking)] if scripted.thinking else []
    text = scripted.text
    return thinking + [TextDelta(text[start : start + size]) for start in range(0, len(text), size)]


def _estimated(request: ModelRequest, scripted: ScriptedReply) -> Usage:
    sent = sum(len(block.text) for block in request.system)
    sent += sum(len(getattr(block, "text", "")) for message in request.messages for block in message.blocks)
    return Usage(input_tokens=sent // 3 + 1, output_tokens=len(scripted.text) // 3 + 1)
