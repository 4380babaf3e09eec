"""A streamed reply of the Messages API, read event by event."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import astuple, replace
from typing import Any, cast

from codelaw.adapters.models.anthropic_blocks import (
    LONGEST_NAME,
    LONGEST_QUERY,
    MOST_CALLS,
    EndlessReply,
    MalformedEvent,
    OpenCall,
    OpenItem,
    mapping,
    named,
    pages_of,
    refusal_of,
    string,
    usage_of,
    word,
)
from codelaw.domain.messages import Call, KeptItem, KeptItems, WebSearch
from codelaw.domain.models import (
    ApiMessage,
    Begun,
    Block,
    BrokenCall,
    Delta,
    Heard,
    KeptBlock,
    ModelReply,
    StopReason,
    TextBlock,
    TextDelta,
    ThinkingDelta,
    Usage,
)

_WINDOW_FULL = "model_context_window_exceeded"
_PAUSED = "pause_turn"
_STOP: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "stop_sequence": "stop_sequence",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    # They leave an answer that is not whole, which is what `max_tokens` means to the engine.
    _PAUSED: "max_tokens",
    _WINDOW_FULL: "max_tokens",
    "compaction": "max_tokens",
}


GATHERED_FROM = 1 << 16
"""Characters of a reply from which on deltas are told together: each is looked at with the whole."""
_GATHERED = 128
"""Characters of text that are then told together."""


def room_for(max_tokens: int) -> int:
    """Characters that a reply may have, its thinking included: far more than its tokens could spell."""
    return (1 << 20) + 64 * max_tokens


def bytes_for(max_tokens: int) -> int:
    """Bytes that the stream of such a reply may have."""
    return (32 << 20) + 1024 * max_tokens


class ReplyReader:
    """Takes events as they arrive and tells the deltas on; `reply()` gives the whole."""

    def __init__(self, on_delta: Callable[[Delta], Heard], room: int = 1 << 20, *, progress: bool = False) -> None:
        """`room` is how many characters the reply may have; `progress`: its thinking is notes on its progress."""
        self._on_delta = on_delta
        self._progress = progress
        self._room = self._left = room
        self._gathered: list[str] = []
        """Text that is not told yet."""
        self._waiting = 0
        """Characters of it."""
        self._text: list[str] = []
        self._said = 0
        """Characters of the text."""
        self._calls: dict[int, OpenCall] = {}
        self._whole = False
        """The text could end here."""
        self._closed: set[int] = set()
        """The blocks that have come to their end."""
        self._searches: dict[int, OpenCall] = {}
        """Calls of the vendor's own tool, which it runs itself."""
        self._found: dict[str, WebSearch] = {}
        """What came of them, by their ids."""
        self._items: dict[int, OpenItem] = {}
        self._base = self._next = 0
        """Of the places of blocks: the first of this request's, and the first that is free."""
        self._behind_call = False
        """The last block was a call."""
        self._thought: int | None = None
        """The block of which thinking was told last."""
        self._spent = Usage()
        """Of the requests that it goes on from."""
        self._usage = Usage()
        self._attempts = Usage()
        """Of all attempts that the vendor has made for the reply, as far as it tells them apart."""
        self._id = ""
        self._cache_miss = ""
        self._served = ""
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
        """The usage reported so far; later reports replace earlier ones field by field.

        The vendor's total leaves out what its summaries, and models that it asked in vain, have cost.
        """
        return self._spent + Usage(*map(max, astuple(self._usage), astuple(self._attempts)))

    @property
    def filled(self) -> bool:
        """The reply has filled the model's window, and ends there."""
        return self._stop == _WINDOW_FULL

    @property
    def paused(self) -> bool:
        """The vendor wants its blocks back, to go on with tools of its own (X-1)."""
        return self._stop == _PAUSED and not self._calls and any(item.call for item in self._items.values())

    def resume(self) -> ApiMessage:
        """What has come, as it goes back; the next events go on from there."""
        items = self._kept()
        blocks: list[Block] = []
        told, text, kept = 0, self.text, KeptItems("", items)
        for item in items:
            if text[told : item.text].strip():
                blocks.append(TextBlock(text[told : item.text]))
            told = item.text
            blocks.append(KeptBlock(item, kept))
        if text[told:].strip():
            blocks.append(TextBlock(text[told:]))
        self._spent, self._usage, self._attempts = self.usage, Usage(), Usage()
        self._base = self._next
        self._stop, self.ended, self.could_end = None, False, False
        return ApiMessage("assistant", tuple(blocks))

    def _kept(self) -> tuple[KeptItem, ...]:
        return tuple(item.kept() for at, item in sorted(self._items.items()) if at in self._closed)

    def take(self, event: object) -> None:
        """Read one event; unknown ones are skipped. `flush` tells what it may have held back.

        Raises:
            MalformedEvent: it has not the shape it should have.
            EndlessReply: there is no room for it.
        """
        body = mapping(event, "event")
        self.events += 1
        if body.get("type") != "content_block_delta":
            self.flush()
        match body.get("type"):
            case "content_block_delta":
                self._delta(body.get("index"), mapping(body.get("delta"), "delta"))
            case "content_block_start":
                self._start(body.get("index"), mapping(body.get("content_block"), "content_block"))
            case "content_block_stop":
                self._closed.add(self._place(body.get("index")))
            case "message_start":
                message = mapping(body.get("message"), "message")
                self._id = word(message.get("id"))
                self._diagnosed(message)
                self._count(message.get("usage"))
                self._on_delta(Begun(self.usage))
            case "message_delta":
                delta = mapping(body.get("delta"), "delta")
                reason, sequence = delta.get("stop_reason"), delta.get("stop_sequence")
                if isinstance(reason, str):
                    self._stop = reason
                if isinstance(sequence, str):
                    self._stopped_by = sequence
                self._refusal = refusal_of(delta.get("stop_details"))
                self._diagnosed(body)
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
            items=self._kept(),
            refusal=self._refusal if stop == "refusal" else "",
            id=self._id,
            cache_miss=self._cache_miss,
            served=self._served,
            doubted=self.doubted,
        )

    def flush(self) -> None:
        """Tell what came together."""
        if self._gathered:
            piece = "".join(self._gathered)
            self._gathered.clear()
            self._waiting = 0
            heard = self._on_delta(TextDelta(piece))
            self.enough, self._whole = self.enough or heard is True, heard == "whole"

    def _place(self, index: object) -> int:
        """Of a block, among those of all requests."""
        if not isinstance(index, int):
            raise MalformedEvent("`index` of an event is not a number")
        self._next = max(self._next, self._base + index + 1)
        return self._base + index

    def _start(self, index: object, block: Mapping[str, Any]) -> None:
        kind = block.get("type")
        if kind == "text":  # where only the text counts
            if self._behind_call:
                self._items[self._place(index)] = OpenItem(None, self._said, len(self._calls))
            self._behind_call = False
            self._say(block.get("text"))
            return
        place, self._behind_call = self._place(index), kind == "tool_use"
        match kind:
            case "thinking" | "redacted_thinking":
                self._item(place, block)
                if kind == "thinking":
                    self._think(place, block.get("thinking", ""))
            case "tool_use":
                self._calls[place] = self._opened(block)
            case "server_tool_use":
                call = self._opened(block)
                self._item(place, block).call = call
                if call.tool == "web_search":
                    self._searches[place] = call
            case "fallback":
                # Another model goes on from the text alone: it is not given the thinking and the calls of the first.
                self._items.clear()
                self._calls.clear()
                self._searches.clear()
                self._served = word(mapping(block.get("to"), "to").get("model"))
            case "web_search_tool_result":
                self._item(place, block)
                self._found[named(block.get("tool_use_id"), "tool_use_id")] = pages_of(block.get("content"))
            case _:
                pass
        if len(self._calls) + len(self._items) > MOST_CALLS:
            raise EndlessReply(f"a reply of more than {MOST_CALLS} calls")

    def _opened(self, block: Mapping[str, Any]) -> OpenCall:
        """A call; what it needs beside its input is taken from the room."""
        given = block.get("input")
        self._take_room(LONGEST_NAME)
        return OpenCall(
            named(block.get("id"), "id"),
            named(block.get("name"), "name"),
            cast("dict[str, Any]", given) if isinstance(given, dict) else {},
        )

    def _item(self, place: int, block: Mapping[str, Any]) -> OpenItem:
        self._take_room(len(json.dumps(block)))
        item = self._items[place] = OpenItem(dict(block), self._said, len(self._calls))
        return item

    def _delta(self, index: object, delta: Mapping[str, Any]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._say(delta.get("text"))
            case "thinking_delta":
                self._think(self._place(index), delta.get("thinking"))
            case "signature_delta":
                signature = string(delta.get("signature"), "signature")
                self._take_room(len(signature))
                item = self._items.get(self._place(index))
                if item is not None and item.block is not None:
                    item.block["signature"] = signature
            case "input_json_delta":
                place = self._place(index)
                item = self._items.get(place)
                call = self._calls.get(place) or (item.call if item is not None else None)
                if call is not None:
                    piece = string(delta.get("partial_json"), "partial_json")
                    self._take_room(len(piece))
                    call.pieces.append(piece)
                    self._on_delta(TextDelta(""))  # a sign of content, of which nothing is shown yet
            case _:
                pass

    def _searched(self, call: OpenCall) -> WebSearch:
        """A search with what came of it."""
        arguments = call.arguments or {}
        query, found = arguments.get("query"), self._found.get(call.id, WebSearch("", problem="no answer"))
        return replace(found, query=query[:LONGEST_QUERY] if isinstance(query, str) else "")

    def _say(self, text: object) -> None:
        piece = string(text, "text")
        if not piece:
            return
        self._take_room(len(piece))
        self._text.append(piece)
        self._said += len(piece)
        self._gathered.append(piece)
        self._waiting += len(piece)
        if self._room - self._left < GATHERED_FROM or self._waiting >= _GATHERED:
            self.flush()

    def _think(self, place: int, text: object) -> None:
        """More of a block's thinking, which is told."""
        piece = string(text, "thinking")
        self._take_room(len(piece))
        item = self._items.get(place)
        if item is not None:
            item.pieces.append(piece)
        if piece:
            apart = "\n\n" if self._thought not in {None, place} else ""
            self._thought = place
            self._on_delta(ThinkingDelta(apart + piece, self._progress))

    def _take_room(self, characters: int) -> None:
        self._left -= characters
        if self._left < 0:
            raise EndlessReply(f"a reply of more than {self._room} characters")

    def _count(self, usage: object) -> None:
        if isinstance(usage, dict):
            self._usage, doubted = usage_of(cast("dict[str, object]", usage), self._usage)
            self.doubted |= doubted
            attempts = cast("dict[str, object]", usage).get("iterations")
            if isinstance(attempts, list):
                told = [usage_of(one, Usage())[0] for one in cast("list[object]", attempts[:MOST_CALLS])]
                # What was refused before it had said anything costs nothing.
                self._attempts = sum((one for one in told if one.output_tokens), Usage())
        else:
            self.doubted |= usage is not None

    def _diagnosed(self, body: Mapping[str, Any]) -> None:
        """Why the cache missed, if that is told."""
        found: object = body
        for key in ("diagnostics", "cache_miss_reason", "type"):
            found = cast("dict[str, object]", found).get(key) if isinstance(found, Mapping) else None
        self._cache_miss = word(found) or self._cache_miss
