"""A streamed reply of Responses, read event by event; nothing of its shape is taken for granted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from codelaw.adapters.models.endpoints import dig
from codelaw.adapters.models.failures import ErrorEvent
from codelaw.adapters.models.replies import (
    LONGEST_NAME,
    MOST_CALLS,
    EndlessReply,
    MalformedEvent,
    ReplyReader,
    arguments_of,
    mapping,
    named,
    string,
    usage_of,
    word,
)
from codelaw.domain.messages import Call, KeptItem
from codelaw.domain.models import Begun, BrokenCall, Delta, Heard, ModelReply, StopReason, TextDelta, ThinkingDelta

_USAGE: Mapping[str, tuple[str, ...]] = {
    "input_tokens": ("input_tokens",),
    "cache_read_tokens": ("input_tokens_details", "cached_tokens"),
    "cache_write_tokens": ("input_tokens_details", "cache_write_tokens"),
    "cache_write_1h_tokens": ("input_tokens_details", "cache_write_tokens_details", "ttl_12h_tokens"),
    "output_tokens": ("output_tokens",),
    "thinking_tokens": ("output_tokens_details", "reasoning_tokens"),
}
_STOP: dict[str | None, StopReason] = {None: "closed", "completed": "end_turn", "content_filter": "refusal"}


@dataclass(slots=True)
class _Item:
    """An item of the output that has begun."""

    body: Mapping[str, Any]
    text: int
    """Characters of text in front of it."""
    calls: int
    """Calls in front of it."""
    pieces: list[str] = field(default_factory=list[str])
    """Of a call's arguments."""
    done: bool = False
    comments: bool = False
    """It is a note on the progress, which is shown as one and goes back as it came."""

    @property
    def kind(self) -> str:
        return word(self.body.get("type"))

    @property
    def written(self) -> str:
        """A call's arguments so far."""
        whole = self.body.get("arguments")
        return whole if self.done and isinstance(whole, str) else "".join(self.pieces)

    @property
    def arguments(self) -> dict[str, Any] | None:
        """None while they are no JSON object."""
        return arguments_of(self.written)


class ResponsesReader(ReplyReader):
    """Takes the events of Responses."""

    def __init__(self, on_delta: Callable[[Delta], Heard], room: int = 1 << 20) -> None:
        """As of any reply."""
        super().__init__(on_delta, room)
        self._items: dict[int, _Item] = {}
        """By their place in the output."""
        self._id = self._refusal = self._removed = ""

    @property
    def could_end(self) -> bool:
        """As of any reply."""
        if self.complete or self._whole:
            return True
        calls = self._calls()
        return bool(calls) and all(call.done and call.arguments is not None for call in calls)

    def take(self, event: object) -> None:
        """As of any reply."""
        if event is None:  # some endpoints mark the end as Chat Completions does
            return
        body = mapping(event, "event")
        self.events += 1
        kind = word(body.get("type"))
        if kind != "response.output_text.delta":
            self.flush()
        match kind:
            case "response.output_text.delta":
                item = self._items.get(self._index(body))
                if item is not None and item.comments:
                    self._note(item, body.get("delta"))
                else:
                    self._say(body.get("delta"))
            case "response.refusal.delta":
                self._refusal += self._piece(body, "delta")
            case "response.reasoning_summary_text.delta":
                self._think((body.get("output_index"), body.get("summary_index")), body.get("delta"))
            case "response.function_call_arguments.delta":
                if (item := self._items.get(self._index(body))) is not None:
                    item.pieces.append(self._piece(body, "delta"))
                self._on_delta(TextDelta(""))  # a sign of content, of which nothing is shown yet
            case "response.output_item.added":
                self._add(self._index(body), mapping(body.get("item"), "item"))
            case "response.output_item.done":
                self._done(self._index(body), mapping(body.get("item"), "item"))
            case "response.created":
                response = mapping(body.get("response"), "response")
                self._id = word(response.get("id"))
                self._on_delta(Begun(self.usage))
            case "response.completed" | "response.incomplete":
                self._end(mapping(body.get("response"), "response"), whole=kind == "response.completed")
            case "response.failed":
                self._count(mapping(body.get("response"), "response"))
                raise ErrorEvent({"error": dig(body, "response", "error")}, "The response failed.")
            case "error":
                raise ErrorEvent(body)
            case _:
                if dig(body, "error") is not None:
                    raise ErrorEvent(body)

    def reply(self) -> ModelReply:
        """As of any reply."""
        calls: list[Call] = []
        broken: list[BrokenCall] = []
        for item in self._calls():
            name, tool, arguments = item.body["call_id"], item.body["name"], item.arguments
            if arguments is None:
                broken.append(BrokenCall(name, tool, item.written))
            else:
                calls.append(Call(name, tool, arguments))
        stop: StopReason = _STOP.get(self._stop, "max_tokens")
        if self._refusal and stop == "end_turn":
            stop = "refusal"
        elif stop == "end_turn" and (calls or broken):
            stop = "tool_use"
        return ModelReply(
            text=self.text,
            stop_reason=stop,
            usage=self.usage,
            calls=tuple(calls),
            broken_calls=tuple(broken),
            items=tuple(self._kept()),
            refusal=(self._refusal or self._stop or "") if stop == "refusal" else "",
            id=self._id,
            cache_miss=self._removed,
            doubted=self.doubted,
        )

    def _calls(self) -> list[_Item]:
        return [item for item in self._items.values() if item.kind == "function_call"]

    def _kept(self) -> list[KeptItem]:
        """Reasoning and notes as they go back; of text its phase, and where it goes on behind a call its place.

        Reasoning that came without its content cannot go back, since the vendor stores none.
        """
        kept: list[KeptItem] = []
        for item in self._items.values():
            bound, phase = item.kind == "reasoning", word(item.body.get("phase"))
            if item.done and (item.comments or (bound and item.body.get("encrypted_content"))):
                body = {name: value for name, value in item.body.items() if name != "status"}
                kept.append(KeptItem(json.dumps(body, ensure_ascii=False), item.text, item.calls, bound=bound))
            elif item.kind == "message" and (item.calls or phase) and not item.comments:
                told = json.dumps({"type": "message", "phase": phase}) if phase else ""
                kept.append(KeptItem(told, item.text, item.calls, bound=not told))
        return kept

    def _index(self, body: Mapping[str, Any]) -> int:
        index = body.get("output_index")
        if type(index) is not int:
            raise MalformedEvent("`output_index` of an event is not a number")
        return index

    def _add(self, index: int, body: Mapping[str, Any]) -> None:
        self._take_room(LONGEST_NAME)
        comments = body.get("phase") == "commentary"
        self._items[index] = _Item(_read(body), self._said, len(self._calls()), comments=comments)
        if len(self._items) > MOST_CALLS:
            raise EndlessReply(f"a reply of more than {MOST_CALLS} calls")

    def _done(self, index: int, body: Mapping[str, Any]) -> None:
        """An item as it is in the end, which alone counts: what had begun may have been less."""
        if index not in self._items:
            self._add(index, body)
        item = self._items[index]
        self._take_room(max(0, len(json.dumps(body)) - len(item.written)) if item.kind != "message" else 0)
        item.body, item.done = _read(body), True

    def _note(self, item: _Item, text: object) -> None:
        piece = string(text, "delta")
        self._take_room(len(piece))
        if piece:
            apart = "\n\n" if self._thought is not None and self._thought is not item else ""
            self._thought = item
            self._on_delta(ThinkingDelta(apart + piece, progress=True))

    def _piece(self, body: Mapping[str, Any], name: str) -> str:
        text = string(body.get(name), name)
        self._take_room(len(text))
        return text

    def _end(self, response: Mapping[str, Any], *, whole: bool) -> None:
        self._count(response)
        self._stop = "completed" if whole else word(dig(response, "incomplete_details", "reason")) or "incomplete"
        removed = response.get("input_transformations")
        self._removed = "messages_changed" if removed else ""
        self.ended = True

    def _count(self, response: Mapping[str, Any]) -> None:
        """What was billed; the vendor counts what its cache gave and took as a part of the input."""
        if not isinstance(response.get("usage"), dict):
            return
        usage, doubted = usage_of(response["usage"], _USAGE, self._usage)
        beside = usage.cache_read_tokens + usage.cache_write_tokens
        self.doubted |= doubted or beside > usage.input_tokens
        self._usage = replace(usage, input_tokens=max(0, usage.input_tokens - beside))


def _read(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """An item as it came; a call that can be none raises MalformedEvent."""
    if item.get("type") == "function_call":
        for name in ("call_id", "name"):
            named(item, name)
    return item
