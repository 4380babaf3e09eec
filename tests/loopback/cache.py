"""The vendor's prompt cache, as its page on prompt caching says, and what it says of a miss when it is asked.

An entry is the digest of all that stands in front of a mark, and of it, in the order tools, system, messages. A later
request reads the longest entry that it finds at one of its own marks or in the 20 positions that end there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tests.loopback.checks import CHARACTERS, Piece, pieces
from tests.loopback.models import Model, known
from tests.loopback.rules import THINKING, blocks_of, system_of

LOOKBACK = 20
"""Positions, the mark's own included; a run of calls is one, and so is a run of results."""
SECONDS = {"5m": 300.0, "1h": 3600.0}
_RUNS = frozenset({"tool_use", "tool_result"})


@dataclass(slots=True)
class _Entry:
    ttl: str
    until: float
    """Counted from the start of the request that wrote it, or read it last."""


class PromptCache:
    """What is marked is written, the longest prefix known is read. `clock` gives seconds."""

    def __init__(self, characters: float = CHARACTERS, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._characters = characters
        self._entries: dict[str, _Entry] = {}
        self._asked: dict[str, Mapping[str, Any]] = {}
        """Requests that asked for a diagnosis, by the id of their answers."""

    def usage(
        self, body: Mapping[str, Any], output: int, hidden: Container[str] = (), started: float | None = None
    ) -> dict[str, Any]:
        """The usage to report, and what is marked in `body` kept for later requests.

        `hidden` are the paths of thinking that was dropped, `started` is when the request began, by default now.
        """
        begun = self.clock() if started is None else started
        model = known(body)
        least = 0 if model is None else model.cacheable
        ends = self._ends(body, model, hidden)
        total = ends[-1].tokens if ends else 0
        marks = [end for end in ends if end.piece.ttl is not None and end.tokens >= least]
        read = max((hit.tokens for mark in marks for hit in self._hits(ends, mark, begun)), default=0)
        hour = max([read, *(mark.tokens for mark in marks if mark.piece.ttl == "1h")])
        written = max([hour, *(mark.tokens for mark in marks)])
        for mark in marks:
            ttl = str(mark.piece.ttl)
            self._entries[mark.digest] = _Entry(ttl, begun + SECONDS[ttl])
        return {
            "input_tokens": total - written,
            "cache_creation_input_tokens": written - read,
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written - hour,
                "ephemeral_1h_input_tokens": hour - read,
            },
            "output_tokens": output,
        }

    def diagnosis(self, body: Mapping[str, Any], answer: str, missed: int = 0) -> dict[str, Any] | None:
        """What an answer says of the cache; None where the request does not ask. `answer` is the answer's id."""
        if "diagnostics" not in body:
            return None
        self._asked[answer] = body
        previous = (body["diagnostics"] or {}).get("previous_message_id")
        if previous is None:
            return {"cache_miss_reason": None}
        if previous not in self._asked:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        kind = _changed(self._asked[previous], body)
        if kind is None or kind == "unavailable":
            return {"cache_miss_reason": None if kind is None else {"type": kind}}
        return {"cache_miss_reason": {"type": kind, "cache_missed_input_tokens": missed}}

    def _ends(self, body: Mapping[str, Any], model: Model | None, hidden: Container[str]) -> list[_End]:
        """Where a prefix can end, with its digest and its tokens."""
        digest = sha256(str(body.get("model")).encode())
        found: list[_End] = []
        size, said = 0, False
        shown = _stripped(body) if model is not None and model.strips else ()
        for piece in pieces(body, hidden):
            if piece.where in shown:
                continue
            if piece.where.startswith("messages.") and not said:
                said = True
                digest.update(json.dumps(_settings(body), sort_keys=True).encode())
            digest.update(piece.text)
            size += piece.size
            found.append(_End(piece, digest.hexdigest(), int(size / self._characters)))
        return found

    def _hits(self, ends: Sequence[_End], mark: _End, now: float) -> Iterator[_End]:
        """The longest entry that a mark finds; it lives on."""
        for end in _back(ends, mark):
            entry = self._entries.get(end.digest)
            if entry is not None and entry.until > now:
                entry.until = now + SECONDS[entry.ttl]
                yield end
                return


@dataclass(frozen=True, slots=True)
class _End:
    piece: Piece
    digest: str
    tokens: int


def _back(ends: Sequence[_End], mark: _End) -> Iterator[_End]:
    """The ends in the positions up to a mark, the nearest first."""
    positions, run = 0, ""
    for end in reversed(ends[: ends.index(mark) + 1]):
        kind = end.piece.kind
        positions += kind not in _RUNS or kind != run
        run = kind
        if positions > LOOKBACK:
            return
        yield end


def _settings(body: Mapping[str, Any]) -> list[Any]:
    """What makes the messages others although they are equal: thinking, effort, the choice of tools, pictures."""
    thinking = body.get("thinking") or {}
    pictures = any(block.get("type") == "image" for message in body["messages"] for block in blocks_of(message))
    kind = [thinking.get("type"), thinking.get("budget_tokens")]
    return [kind, body.get("output_config"), body.get("tool_choice"), pictures]


def _stripped(body: Mapping[str, Any]) -> frozenset[str]:
    """The thinking of finished turns, which older models are not shown."""
    asked = [
        place
        for place, message in enumerate(body["messages"])
        if message["role"] == "user" and any(block.get("type") != "tool_result" for block in blocks_of(message))
    ]
    return frozenset(
        f"messages.{place}.content.{inner}"
        for place, message in enumerate(body["messages"][: asked[-1]] if asked else ())
        for inner, block in enumerate(blocks_of(message))
        if block.get("type") in THINKING
    )


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """What of an earlier request is no longer as it was; None where the later one only goes on."""
    if before.get("model") != now.get("model"):
        return "model_changed"
    if _unmarked(system_of(before)) != _unmarked(system_of(now)):
        return "system_changed"
    if _unmarked(before.get("tools") or ()) != _unmarked(now.get("tools") or ()):
        return "tools_changed"
    if _settings({**before, "messages": []}) != _settings({**now, "messages": []}):
        return "unavailable"
    reported = [(message["role"], _unmarked(blocks_of(message))) for message in before["messages"]]
    tells = [(message["role"], _unmarked(blocks_of(message))) for message in now["messages"]]
    # The last message may have grown.
    whole = tells[: len(reported) - 1] == reported[:-1] and len(tells) >= len(reported)
    last = whole and tells[len(reported) - 1][1][: len(reported[-1][1])] == reported[-1][1]
    return None if last else "messages_changed"


def _unmarked(blocks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in blocks]
