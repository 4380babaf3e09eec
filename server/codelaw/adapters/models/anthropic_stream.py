"""A streamed reply of the Messages API, read event by event."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from codelaw.domain.messages import Call, FoundPage, KeptItem, WebSearch
from codelaw.domain.models import (
    Begun,
    BrokenCall,
    Delta,
    Heard,
    ModelReply,
    StopReason,
    TextDelta,
    ThinkingDelta,
    Usage,
)

_USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
_SEARCHES = "web_search_requests"
_KEPT = ("thinking", "signature", "data")
"""The fields of thinking."""
_STOP: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "stop_sequence": "stop_sequence",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    # Both leave an answer that is not whole, which is what `max_tokens` means to the engine.
    "pause_turn": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
}


MOST_TOKENS = 100_000_000
"""Of one reply, of any kind; whoever reports more, or less than none, is not believed."""
MOST_CALLS = 256
"""Of one reply."""
LONGEST_NAME = 1_000
"""Characters of a tool's name, or of a call's id."""
LONGEST_QUERY = 1_000
"""Characters of a search that are kept, and of a title or an address that it gave."""
MOST_PAGES = 50
"""Of one search that are kept."""
GATHERED_FROM = 1 << 16
"""Characters of a reply from which on deltas that come together are told together: each is looked at with the whole."""


class MalformedEvent(ValueError):
    """An event has not the shape it should have."""


class EndlessReply(ValueError):
    """The reply is larger than any that was asked for."""


def room_for(max_tokens: int) -> int:
    """Characters that a reply may have, its thinking included: far more than its tokens could spell."""
    return (1 << 20) + 64 * max_tokens


def bytes_for(max_tokens: int) -> int:
    """Bytes that the stream of such a reply may have."""
    return (32 << 20) + 1024 * max_tokens


@dataclass(slots=True)
class _OpenCall:
    id: str
    tool: str
    given: dict[str, Any]
    """The input of the start event; empty when it is streamed."""
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def arguments(self) -> dict[str, Any] | None:
        """None while they are no JSON object."""
        text = self.text
        return _arguments(text) if text.strip() else self.given


@dataclass(slots=True)
class _OpenItem:
    """Thinking, as it goes back: order and fields are the vendor's (P-5)."""

    type: str
    fields: dict[str, list[str]]
    """By name, in pieces."""
    text: int
    calls: int

    def kept(self) -> KeptItem:
        fields = {name: "".join(pieces) for name, pieces in self.fields.items()}
        body = json.dumps({"type": self.type, **fields}, ensure_ascii=False)
        return KeptItem(body, self.text, self.calls)


class ReplyReader:
    """Takes events as they arrive and tells the deltas on; `reply()` gives the whole."""

    def __init__(self, on_delta: Callable[[Delta], Heard], room: int = 1 << 20) -> None:
        """`room` is how many characters the reply may have."""
        self._on_delta = on_delta
        self._room = self._left = room
        self._gathered: list[str] = []
        """Text that is not told yet."""
        self._text: list[str] = []
        self._said = 0
        """Characters of the text."""
        self._calls: dict[int, _OpenCall] = {}
        self._whole = False
        """The text could end here."""
        self._closed: set[int] = set()
        """The blocks that have come to their end."""
        self._searches: dict[int, _OpenCall] = {}
        """Calls of the vendor's own tool, which it runs itself."""
        self._found: dict[str, WebSearch] = {}
        """What came of them, by their ids."""
        self._items: dict[int, _OpenItem] = {}
        self._usage: dict[str, int] = {}
        self._stop: str | None = None
        self._stopped_by = ""
        self._refusal = ""
        self.doubted = False
        """The reported usage holds what cannot be."""
        self.events = 0
        self.ended = False
        """`message_stop` has come."""
        self.enough = False
        """The engine needs no more of it."""
        self.could_end = False
        """Nothing need follow: the vendor said why it stopped, or what has come can be run (R-3)."""

    @property
    def complete(self) -> bool:
        """The vendor said why it stopped: nothing of the reply is missing."""
        return self._stop is not None

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._text)

    @property
    def usage(self) -> Usage:
        """The usage reported so far; later reports replace earlier ones field by field."""
        reported = self._usage.get
        return Usage(
            input_tokens=reported("input_tokens", 0),
            cache_read_tokens=reported("cache_read_input_tokens", 0),
            cache_write_tokens=reported("cache_creation_input_tokens", 0),
            output_tokens=reported("output_tokens", 0),
            web_searches=reported(_SEARCHES, 0),
        )

    def take(self, event: object) -> None:
        """Read one event; unknown ones are skipped. `flush` tells what it may have held back.

        Raises:
            MalformedEvent: it has not the shape it should have.
            EndlessReply: there is no room for it.
        """
        body = _mapping(event, "event")
        self.events += 1
        match body.get("type"):
            case "content_block_delta":
                self._delta(body.get("index"), _mapping(body.get("delta"), "delta"))
            case "content_block_start":
                self._start(body.get("index"), _mapping(body.get("content_block"), "content_block"))
            case "content_block_stop":
                self._closed.add(_index(body.get("index")))
            case "message_start":
                self._count(_mapping(body.get("message"), "message").get("usage"))
                self._on_delta(Begun(self.usage))
            case "message_delta":
                delta = _mapping(body.get("delta"), "delta")
                reason, sequence = delta.get("stop_reason"), delta.get("stop_sequence")
                if isinstance(reason, str):
                    self._stop = reason
                if isinstance(sequence, str):
                    self._stopped_by = sequence
                self._refusal = _refusal(delta.get("stop_details"))
                self._count(body.get("usage"))
            case "message_stop":
                self.ended = True
            case _:
                pass

    def look(self) -> None:
        """Find out whether it could end here."""
        blocks = {**self._calls, **self._searches}
        whole = bool(self._calls) and blocks.keys() <= self._closed
        called = (
            whole
            and all(call.arguments is not None for call in self._calls.values())
            and all(search.id in self._found for search in self._searches.values())
        )
        self.could_end = self.complete or called or self._whole

    def reply(self) -> ModelReply:
        """The whole reply; a call whose arguments are not a JSON object is a broken one (R-6)."""
        calls: list[Call] = []
        broken: list[BrokenCall] = []
        for _, call in sorted(self._calls.items()):
            arguments = call.arguments
            if arguments is None:
                broken.append(BrokenCall(call.id, call.tool, call.text))
            else:
                calls.append(Call(call.id, call.tool, arguments))
        stop = "closed" if self._stop is None and self.enough else _STOP.get(self._stop or "", "end_turn")
        stopped_by = self._stopped_by if stop == "stop_sequence" else ""
        return ModelReply(
            text=self.text,
            stop_reason=stop,
            usage=self.usage,
            calls=tuple(calls),
            broken_calls=tuple(broken),
            stopped_by=stopped_by,
            searches=tuple(self._searched(call) for _, call in sorted(self._searches.items())),
            items=tuple(item.kept() for at, item in sorted(self._items.items()) if at in self._closed),
            refusal=self._refusal if stop == "refusal" else "",
            doubted=self.doubted,
        )

    def flush(self) -> None:
        """Tell what came together."""
        if self._gathered:
            piece = "".join(self._gathered)
            self._gathered.clear()
            heard = self._on_delta(TextDelta(piece))
            self.enough, self._whole = self.enough or heard is True, heard == "whole"

    def _start(self, index: object, block: Mapping[str, Any]) -> None:
        match block.get("type"):
            case "text":
                self._say(block.get("text"))
            case "thinking" | "redacted_thinking" if (
                not self._searches
            ):  # which do not go back, nor what is behind them
                self._items[_index(index)] = _OpenItem(str(block["type"]), {}, self._said, len(self._calls))
                self._bound_calls()
                for name in _KEPT:
                    if name in block:
                        self._keep(index, name, block[name])
            case "tool_use":
                given = block.get("input")
                self._calls[_index(index)] = _OpenCall(
                    _named(block.get("id"), "id"),
                    _named(block.get("name"), "name"),
                    cast("dict[str, Any]", given) if isinstance(given, dict) else {},
                )
                self._take_room(LONGEST_NAME)
                self._bound_calls()
            case "server_tool_use" if block.get("name") == "web_search":
                given = block.get("input")
                self._searches[_index(index)] = _OpenCall(
                    _named(block.get("id"), "id"),
                    "web_search",
                    cast("dict[str, Any]", given) if isinstance(given, dict) else {},
                )
                self._take_room(LONGEST_NAME)
                self._bound_calls()
            case "web_search_tool_result":
                self._take_room(LONGEST_NAME)
                self._found[_named(block.get("tool_use_id"), "tool_use_id")] = _pages(block.get("content"))
            case _:
                pass

    def _delta(self, index: object, delta: Mapping[str, Any]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._say(delta.get("text"))
            case "thinking_delta":
                self._keep(index, "thinking", delta.get("thinking"))
            case "signature_delta":
                self._keep(index, "signature", delta.get("signature"))
            case "input_json_delta":
                call = self._calls.get(_index(index)) or self._searches.get(_index(index))
                if call is not None:
                    piece = _string(delta.get("partial_json"), "partial_json")
                    self._take_room(len(piece))
                    call.pieces.append(piece)
                    self._on_delta(TextDelta(""))  # a sign of content, of which nothing is shown yet
            case _:
                pass

    def _bound_calls(self) -> None:
        if len(self._calls) + len(self._searches) + len(self._items) > MOST_CALLS:
            raise EndlessReply(f"a reply of more than {MOST_CALLS} calls")

    def _searched(self, call: _OpenCall) -> WebSearch:
        """A search with what came of it."""
        arguments = call.arguments or {}
        query, found = arguments.get("query"), self._found.get(call.id, WebSearch("", problem="no answer"))
        return replace(found, query=query[:LONGEST_QUERY] if isinstance(query, str) else "")

    def _say(self, text: object) -> None:
        piece = _string(text, "text")
        if not piece:
            return
        self._take_room(len(piece))
        self._text.append(piece)
        self._said += len(piece)
        self._gathered.append(piece)
        if self._room - self._left < GATHERED_FROM:
            self.flush()

    def _keep(self, index: object, name: str, value: object) -> None:
        """More of a field of a kept item; its text is told."""
        piece = _string(value, name)
        self._take_room(len(piece))
        item = self._items.get(_index(index))
        if item is not None and name == "signature":
            item.fields[name] = [piece]
        elif item is not None:
            item.fields.setdefault(name, []).append(piece)
        if piece and name == "thinking":
            self._on_delta(ThinkingDelta(piece))

    def _take_room(self, characters: int) -> None:
        self._left -= characters
        if self._left < 0:
            raise EndlessReply(f"a reply of more than {self._room} characters")

    def _count(self, usage: object) -> None:
        if not isinstance(usage, dict):
            self.doubted |= usage is not None
            return
        for key in _USAGE:
            value = cast("dict[str, object]", usage).get(key)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
                self._usage[key] = value
            elif value is not None:
                self.doubted = True
        tools = cast("dict[str, object]", usage).get("server_tool_use")
        searches = cast("dict[str, object]", tools).get(_SEARCHES) if isinstance(tools, dict) else None
        if isinstance(searches, int) and not isinstance(searches, bool) and 0 <= searches <= MOST_CALLS:
            self._usage[_SEARCHES] = searches


def _refusal(details: object) -> str:
    """The category of a refusal and its explanation, as far as they are told."""
    fields = cast("dict[str, object]", details) if isinstance(details, dict) else {}
    told = [fields.get("category"), fields.get("explanation")]
    return ": ".join(text[:LONGEST_NAME] for text in told if isinstance(text, str) and text)


def _pages(content: object) -> WebSearch:
    """What a search gave: a list of pages, or an error."""
    if isinstance(content, dict):
        code = cast("dict[str, object]", content).get("error_code")
        return WebSearch("", problem=code[:LONGEST_NAME] if isinstance(code, str) else "unknown")
    rows = cast("list[object]", content) if isinstance(content, list) else []
    pages = [cast("dict[str, object]", row) for row in rows[:MOST_PAGES] if isinstance(row, dict)]
    told = ((page.get("title"), page.get("url")) for page in pages)
    kept = (tuple(text[:LONGEST_QUERY] if isinstance(text, str) else "" for text in one) for one in told)
    return WebSearch("", tuple(FoundPage(title, url) for title, url in kept if url))


def _arguments(text: str) -> dict[str, Any] | None:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    raise MalformedEvent(f"`{name}` of an event is not an object")


def _string(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    raise MalformedEvent(f"`{name}` of an event is not a string")


def _named(value: object, name: str) -> str:
    text = _string(value, name)
    if len(text) > LONGEST_NAME:
        raise MalformedEvent(f"`{name}` of a call has {len(text)} characters")
    return text


def _index(value: object) -> int:
    if isinstance(value, int):
        return value
    raise MalformedEvent("`index` of an event is not a number")
