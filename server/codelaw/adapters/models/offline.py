"""A model without a model: reads mentioned files, searches for the question's words and cites what it finds (P-2).

It keeps nothing between requests: what to do next follows from the request alone, as with any model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from codelaw.adapters.models.offline_answer import compose
from codelaw.adapters.models.offline_findings import matches, read_already, unplaced
from codelaw.adapters.models.offline_request import Turn, read_turn
from codelaw.adapters.models.offline_summary import summary_of
from codelaw.adapters.models.offline_thread import rolling_summary_of
from codelaw.adapters.models.offline_words import Term, searches, terms
from codelaw.context.tokens import estimate
from codelaw.domain.messages import Call
from codelaw.domain.models import (
    CallBlock,
    Delta,
    Heard,
    ImageBlock,
    KeptBlock,
    ModelReply,
    ModelRequest,
    TextDelta,
    Usage,
)

_MOST_SEARCHES = 4
_MOST_READS = 3
_ENOUGH = 3
_AROUND = 40
_BEFORE = 8
_PIECE = 400
_QUERY = 1_000


@dataclass(frozen=True, slots=True)
class _Action:
    thought: str
    tool: str
    arguments: Mapping[str, Any]


class OfflineModel:
    """A `ChatModel` that is deterministic and asks nobody."""

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """The next call, or the answer once there is nothing left to look at."""
        text, calls = await asyncio.to_thread(_decide, request)
        for start in range(0, len(text), _PIECE):
            on_delta(TextDelta(text[start : start + _PIECE]))
            await asyncio.sleep(0)
        usage = Usage(input_tokens=_size(request), output_tokens=estimate(text))
        return ModelReply(text, "tool_use" if calls else "end_turn", usage, calls)

    async def count(self, request: ModelRequest) -> int | None:
        """None: nobody counts."""

    async def fill(self, request: ModelRequest) -> Usage | None:
        """None: there is no cache."""

    async def warm(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to give back."""


def _decide(request: ModelRequest) -> tuple[str, tuple[Call, ...]]:
    """The reply's text and calls, in the dialect of the request."""
    summary = rolling_summary_of(request) or summary_of(request)
    if summary is not None:
        return summary, ()
    turn = read_turn(request)
    wanted = terms(turn.question)
    action = _next(turn, wanted)
    if request.tools:
        if action is None:
            return compose(turn, wanted), ()
        call = Call(f"offline_{len(request.messages)}", action.tool, action.arguments)
        return action.thought, (call,)
    if action is None:
        return f"Thought: There is nothing more to look at.\nAction: Finish[{compose(turn, wanted)}]", ()
    arguments = json.dumps(action.arguments, ensure_ascii=False)
    return f"Thought: {action.thought}\nAction: {action.tool}[{arguments}]", ()


def _next(turn: Turn, wanted: list[Term]) -> _Action | None:
    """What is mentioned first, then up to four searches, then what stands around the best matches."""
    return _mention(turn) or _search(turn, wanted) or _look_around(turn, wanted)


def _mention(turn: Turn) -> _Action | None:
    tried = {(step.tool, step.arguments.get("path")): step.error for step in turn.steps}
    for path in turn.mentioned:
        name = path.rstrip("/").rsplit("/", 1)[-1]
        folder = turn.folders_named and (path.endswith("/") or not turn.files_named or "." not in name)
        first, second = ("LS", "Read") if folder else ("Read", "LS")
        if (first, path) not in tried:
            return _Action(f"The user mentioned {path}, so I look at it first.", first, {"path": path})
        wrong_kind = "DIRECTORY" in tried[first, path] or (folder and bool(tried[first, path]))
        if wrong_kind and (second, path) not in tried:
            return _Action(f"{path} is of the other kind.", second, {"path": path})
    return None


def _search(turn: Turn, wanted: list[Term]) -> _Action | None:
    if turn.indexed and wanted:
        if not any(step.tool == "search_code" for step in turn.steps):
            query = " ".join(turn.question.split())[:_QUERY]
            return _Action("I look for it in the index.", "search_code", {"query": query, "limit": 6})
        if any(step.data.get("places") for step in turn.steps):
            return _named(turn, wanted)
    if sum(line.good for line in matches(turn.steps, wanted)) >= _ENOUGH:
        return None
    done = {step.arguments.get("pattern") for step in turn.steps if step.tool == "Grep"}
    for pattern, purpose in islice(searches(wanted), _MOST_SEARCHES):
        if pattern not in done:
            return _Action(f"I search for {purpose}.", "Grep", {"pattern": pattern, "case_sensitive": False})
    return None


def _named(turn: Turn, wanted: list[Term]) -> _Action | None:
    """One search for the names that the index did not have."""
    lost = unplaced(turn.steps, wanted)
    if not lost or any(step.tool == "Grep" for step in turn.steps):
        return None
    pattern, purpose = next(searches(lost))
    return _Action(f"I search for {purpose}.", "Grep", {"pattern": pattern, "case_sensitive": False})


def _look_around(turn: Turn, wanted: list[Term]) -> _Action | None:
    reads = sum(step.tool == "Read" and "limit" in step.arguments for step in turn.steps)
    if reads >= _MOST_READS:
        return None
    best = matches(turn.steps, wanted)[:_MOST_READS]
    line = next((line for line in best if line.score > 0 and not read_already(turn.steps, line)), None)
    if line is None:
        return None
    start = max(1, line.number - _BEFORE)
    arguments = {"path": line.path, "start_line": start, "limit": _AROUND}
    return _Action(f"I read around {line.path}:{line.number}.", "Read", arguments)


def _size(request: ModelRequest) -> int:
    total = sum(estimate(block.text) for block in request.system)
    for message in request.messages:
        for block in message.blocks:
            if isinstance(block, CallBlock):
                total += estimate(json.dumps(dict(block.call.arguments), ensure_ascii=False, default=str))
            elif not isinstance(block, KeptBlock):
                total += estimate(block.instead if isinstance(block, ImageBlock) else block.text)
    return total
