"""A streamed reply of the Messages API, read event by event; nothing of its shape is taken for granted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import astuple, replace
from typing import Any, cast

from codelaw.adapters.models.endpoints import dig
from codelaw.adapters.models.messages.blocks import USAGE, OpenBlock, pages_of
from codelaw.adapters.models.replies import (
    LONGEST_NAME,
    MOST_CALLS,
    EndlessReply,
    MalformedEvent,
    ReplyReader,
    mapping,
    named,
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


class MessageReader(ReplyReader):
    """Takes the events of the Messages API."""

    def __init__(self, on_delta: Callable[[Delta], Heard], room: int = 1 << 20, *, progress: bool = False) -> None:
        """As of any reply."""
        super().__init__(on_delta, room, progress=progress)
        self._blocks: list[OpenBlock] = []
        """In the order in which they have begun: some endpoints give several the same index."""
        self._open: dict[int, OpenBlock] = {}
        """The newest block of each index."""
        self._last = ""
        """The kind of the newest block."""
        self._spent = Usage()
        """Of the requests that it goes on from."""
        self._attempts = Usage()
        """Of all attempts that the vendor has made for the reply, as far as it tells them apart."""
        self._id = self._cache_miss = self._served = self._stopped_by = self._refusal = ""

    @property
    def could_end(self) -> bool:
        """Nothing need follow: the vendor said why it stopped, or what has come can be run (R-3)."""
        if self.complete or self._whole or not self._of("tool_use"):
            return self.complete or self._whole
        searches = [block for block in self._of("server_tool_use") if block.body["name"] == "web_search"]
        calls = self._of("tool_use")
        return (
            all(block.closed for block in [*calls, *searches])
            and all(call.arguments is not None for call in calls)
            and all(self._found(search) is not None for search in searches)
        )

    @property
    def usage(self) -> Usage:
        """The usage of all that it goes on from.

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
        return self._stop == _PAUSED and not self._of("tool_use") and bool(self._of("server_tool_use"))

    def resume(self) -> ApiMessage:
        """What has come, as it goes back; the next events go on from there."""
        blocks: list[Block] = []
        sent, text, kept = 0, self.text, KeptItems("", self._kept())
        for item in kept.items:
            blocks += [TextBlock(text[sent : item.text])] if text[sent : item.text].strip() else []
            blocks.append(KeptBlock(item, kept))
            sent = item.text
        blocks += [TextBlock(text[sent:])] if text[sent:].strip() else []
        self._spent, self._usage, self._attempts = self.usage, Usage(), Usage()
        self._open.clear()
        self._stop, self.ended = None, False
        return ApiMessage("assistant", tuple(blocks))

    def take(self, event: object) -> None:
        body = mapping(event, "event")
        self.events += 1
        kind = body.get("type")
        if kind != "content_block_delta":
            self.flush()
        match kind:
            case "content_block_delta":
                self._delta(body.get("index"), mapping(body.get("delta"), "delta"))
            case "content_block_start":
                self._start(body.get("index"), mapping(body.get("content_block"), "content_block"))
            case "content_block_stop":
                if (block := self._block(body.get("index"))) is not None:
                    block.closed = True
            case "message_start":
                message = mapping(body.get("message"), "message")
                self._id = word(message.get("id"))
                self._count(message)
                self._on_delta(Begun(self.usage))
            case "message_delta":
                delta = mapping(body.get("delta"), "delta")
                self._stop = word(delta.get("stop_reason")) or self._stop
                self._stopped_by = word(delta.get("stop_sequence")) or self._stopped_by
                details = [word(dig(delta, "stop_details", name)) for name in ("category", "explanation")]
                self._refusal = ": ".join(filter(None, details))
                self._count(body)
            case "message_stop":
                self.ended = True
            case _:
                pass

    def reply(self) -> ModelReply:
        calls: list[Call] = []
        broken: list[BrokenCall] = []
        for block in self._of("tool_use"):
            name, tool, arguments = block.body["id"], block.body["name"], block.arguments
            if arguments is None:
                broken.append(BrokenCall(name, tool, block.written))
            else:
                calls.append(Call(name, tool, arguments))
        searches: list[WebSearch] = []
        for block in self._of("server_tool_use"):
            if block.body["name"] == "web_search":
                query = dig(block.arguments, "query")
                found = self._found(block) or WebSearch("", problem="no answer")
                searches.append(replace(found, query=query[:LONGEST_NAME] if isinstance(query, str) else ""))
        stop = "closed" if self._stop is None and self.enough else _STOP.get(self._stop or "", "end_turn")
        return ModelReply(
            text=self.text,
            stop_reason=stop,
            usage=self.usage,
            calls=tuple(calls),
            broken_calls=tuple(broken),
            stopped_by=self._stopped_by if stop == "stop_sequence" else "",
            searches=tuple(searches),
            items=self._kept(),
            refusal=self._refusal if stop == "refusal" else "",
            id=self._id,
            cache_miss=self._cache_miss,
            served=self._served,
            doubted=self.doubted,
        )

    def _of(self, kind: str) -> list[OpenBlock]:
        return [block for block in self._blocks if block.kind == kind]

    def _kept(self) -> tuple[KeptItem, ...]:
        return tuple(block.kept() for block in self._blocks if block.closed and block.kind != "tool_use")

    def _block(self, index: object) -> OpenBlock | None:
        if not isinstance(index, int):
            raise MalformedEvent("`index` of an event is not a number")
        return self._open.get(index)

    def _start(self, index: object, body: Mapping[str, Any]) -> None:
        kind, before = body.get("type"), self._last
        self._last = word(kind)
        match kind:
            case "text":  # where only the text counts
                if before == "tool_use":
                    self._add(index, {"type": kind})
                self._say(body.get("text"))
            case "thinking":
                self._take_room(len(json.dumps(body)))
                self._more(self._add(index, body), body.get("thinking", ""))
            case "tool_use" | "server_tool_use":
                self._take_room(LONGEST_NAME + len(json.dumps(body)))
                self._add(index, {**body, "id": named(body, "id"), "name": named(body, "name")})
            case "redacted_thinking" | "web_search_tool_result":
                self._take_room(len(json.dumps(body)))
                self._add(index, body)
            case "fallback":
                # Another model goes on from the text alone: it is not given the thinking and the calls of the first.
                self._blocks.clear()
                self._open.clear()
                self._served = word(dig(body, "to", "model"))
            case _:
                pass

    def _add(self, index: object, body: Mapping[str, Any]) -> OpenBlock:
        self._block(index)  # which is a number
        block = OpenBlock(dict(body), self._said, len(self._of("tool_use")))
        self._open[cast("int", index)] = block
        self._blocks.append(block)
        if len(self._blocks) > MOST_CALLS:
            raise EndlessReply(f"a reply of more than {MOST_CALLS} calls")
        return block

    def _delta(self, index: object, delta: Mapping[str, Any]) -> None:
        kind = delta.get("type")
        if kind == "text_delta":
            self._say(delta.get("text"))
            return
        block = self._block(index) if kind in {"thinking_delta", "signature_delta", "input_json_delta"} else None
        if kind == "thinking_delta":
            self._more(block, delta.get("thinking"))
        elif kind == "signature_delta" and block is not None:
            block.body["signature"] = self._piece(delta, "signature")
        elif kind == "input_json_delta" and block is not None:
            block.pieces.append(self._piece(delta, "partial_json"))
            self._on_delta(TextDelta(""))  # a sign of content, of which nothing is shown yet

    def _more(self, block: OpenBlock | None, thinking: object) -> None:
        piece = self._think(id(block), thinking)
        if block is not None:
            block.pieces.append(piece)

    def _piece(self, delta: Mapping[str, Any], name: str) -> str:
        text = string(delta.get(name), name)
        self._take_room(len(text))
        return text

    def _found(self, search: OpenBlock) -> WebSearch | None:
        """What came of a search of the vendor's; None as long as nothing has come."""
        results = self._of("web_search_tool_result")
        found = (block.body for block in results if block.body.get("tool_use_id") == search.body["id"])
        return next(map(pages_of, found), None)

    def _count(self, body: Mapping[str, Any]) -> None:
        """What the vendor reports of the tokens, and why its cache missed."""
        self._cache_miss = word(dig(body, "diagnostics", "cache_miss_reason", "type")) or self._cache_miss
        usage = body.get("usage")
        if not isinstance(usage, dict):
            self.doubted |= usage is not None
            return
        self._usage, doubted = usage_of(body["usage"], USAGE, self._usage)
        self.doubted |= doubted
        attempts = dig(body, "usage", "iterations")
        if isinstance(attempts, list):
            spent = [usage_of(one, USAGE, Usage())[0] for one in cast("list[object]", attempts)[:MOST_CALLS]]
            # What was refused before it had said anything costs nothing.
            self._attempts = sum((one for one in spent if one.output_tokens), Usage())
