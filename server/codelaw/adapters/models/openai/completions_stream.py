"""A streamed reply of Chat Completions, read chunk by chunk from endpoints of which no two stream alike (P-4, P-5)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

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
from codelaw.domain.models import Begun, BrokenCall, Delta, Heard, ModelReply, StopReason, TextDelta

_USAGE: Mapping[str, tuple[str, ...]] = {
    "input_tokens": ("prompt_tokens",),
    "cache_write_tokens": ("prompt_tokens_details", "cache_write_tokens"),
    "output_tokens": ("completion_tokens",),
    "thinking_tokens": ("completion_tokens_details", "reasoning_tokens"),
}
_CACHED = (("prompt_tokens_details", "cached_tokens"), ("prompt_cache_hit_tokens",), ("cached_tokens",))
"""Where vendors tell what their cache gave."""
_STOP: dict[str, StopReason] = {
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "model_length": "max_tokens",
    "content_filter": "refusal",
}
"""All others are an end."""
_FAILED = {"error": "api_error", "insufficient_system_resource": "overloaded_error"}
_OPEN, _CLOSE = "<think>", "</think>"
_BLANK = 64
"""Characters at most in front of a tag."""
_TOKENS = re.compile(r'\\.|["{}\[\]\\]', re.DOTALL)
_SHOWN = ("reasoning_content", "reasoning")
"""Fields with thinking in plain text; the first counts where both come."""


@dataclass(slots=True)
class _Call:
    """A call that has begun."""

    id: str
    tool: str
    index: object
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    """What its vendor wants back with it."""
    text: int = 0
    """Characters of text in front of it."""
    pieces: list[str] = field(default_factory=list[str])
    _size: int = 0
    _begun: bool = False
    _depth: int = 0
    _quoted: bool = False
    _rest: str = ""

    def add(self, piece: str) -> None:
        """More of its arguments; where they end is known without reading them again."""
        self.pieces.append(piece)
        self._size += len(piece)
        text, self._rest = self._rest + piece, ""
        for one in _TOKENS.findall(text):
            if one == "\\":  # what it escapes has not come yet
                self._rest = one
            elif one == '"':
                self._quoted = not self._quoted
            elif len(one) == 1 and not self._quoted:
                self._begun = True
                self._depth += 1 if one in "{[" else -1

    @property
    def closed(self) -> bool:
        """Its arguments have come to an end, if they are an object."""
        return self._begun and not (self._depth or self._quoted)

    def says(self, piece: str) -> bool:
        """Whether a piece is all of its arguments."""
        return len(piece) == self._size and piece == self.written

    @property
    def written(self) -> str:
        return "".join(self.pieces)

    @property
    def arguments(self) -> dict[str, Any] | None:
        """None while they are no JSON object."""
        written = self.written.strip()
        return {} if written == "null" else arguments_of(written)  # some write so that there are none


class CompletionsReader(ReplyReader):
    """Takes chunks, or a whole completion where an endpoint does not stream."""

    def __init__(self, on_delta: Callable[[Delta], Heard], room: int = 1 << 20) -> None:
        """As of any reply."""
        super().__init__(on_delta, room)
        self._calls: list[_Call] = []
        self._choice: object = None
        self._id = self._refusal = ""
        self._held: str | None = ""
        """The beginning of the text, while it may be a tag; None once it is known."""
        self._inside = self._behind = False
        """Of thinking that is written into the text, and right behind it."""
        self._reasoning: dict[str, list[str]] = {}
        """By the field in which it came."""
        self._details: list[dict[str, Any]] = []
        self._parts: list[tuple[int, dict[str, Any]]] = []
        """Blocks of thinking within the content, each with the characters of text in front of it."""

    @property
    def could_end(self) -> bool:
        """As of any reply."""
        return self.complete or self._whole or (bool(self._calls) and all(call.closed for call in self._calls))

    def take(self, event: object) -> None:
        """As of any reply."""
        if event is None:
            self._done()
            return
        if isinstance(event, list):  # of errors
            raise ErrorEvent(cast("object", event))
        body = mapping(event, "event")
        if body.get("error") or body.get("object") == "error":
            raise ErrorEvent(body)
        choices = body.get("choices")
        usage = body.get("usage") or dig(body, "x_groq", "usage")
        if not isinstance(choices, list):
            self._count(usage)
            return
        first = not self.events
        self.events += 1
        self._id = self._id or word(body.get("id"))
        chosen = next(filter(self._is_ours, cast("list[object]", choices)), None)
        self._count(usage or dig(chosen, "usage"))
        if first:
            self._on_delta(Begun(self.usage))
        if chosen is not None:
            self._read(mapping(chosen, "choice"))

    def flush(self) -> None:
        """As of any reply, with what was held back as a possible tag."""
        if held := self._held:
            self._held = "" if self._inside else None
            (self._think_in_text if self._inside else self._say)(held)
        super().flush()

    def reply(self) -> ModelReply:
        """As of any reply."""
        # Broken calls stand last, wherever they came.
        read = sorted(((call, call.arguments) for call in self._calls), key=lambda one: one[1] is None)
        stop: StopReason = "closed" if self._stop is None else _STOP.get(self._stop, "end_turn")
        if stop == "end_turn" and self._calls:
            stop = "tool_use"
        elif stop == "end_turn" and self._refusal:
            stop = "refusal"
        return ModelReply(
            text=self.text,
            stop_reason=stop,
            usage=self.usage,
            calls=tuple(Call(call.id, call.tool, arguments) for call, arguments in read if arguments is not None),
            broken_calls=tuple(BrokenCall(call.id, call.tool, call.written) for call, none in read if none is None),
            items=tuple(self._kept([call for call, _ in read])),
            refusal=(self._refusal or self._stop or "") if stop == "refusal" else "",
            id=self._id,
            doubted=self.doubted,
        )

    def _done(self) -> None:
        """The mark at the end has come: whoever sets it has said all, with a reason or without."""
        self.ended = True
        if self.events and self._stop is None:
            self._stop = "stop"

    def _is_ours(self, choice: object) -> bool:
        index = dig(choice, "index") or 0
        self._choice = index if self._choice is None else self._choice
        return index == self._choice

    def _read(self, choice: Mapping[str, Any]) -> None:
        delta = mapping(choice.get("delta") or choice.get("message") or {}, "delta")
        self._reason(delta)
        content = delta.get("content")
        if isinstance(content, list):
            for part in cast("list[object]", content):
                self._part(mapping(part, "content"))
        elif content is not None:
            self._write(string(content, "content"))
        self._refusal = word(self._refusal + word(delta.get("refusal")))
        calls = delta.get("tool_calls")
        for call in cast("list[object]", calls) if isinstance(calls, list) else ():
            self._call(mapping(call, "tool_calls"))
        # Some write more behind a colon.
        if stop := word(choice.get("finish_reason")).partition(":")[0]:
            self.flush()
            if stop in _FAILED:
                raise ErrorEvent({"error": {"type": _FAILED[stop], "message": f"The reply ended by `{stop}`."}})
            self._stop = stop

    def _reason(self, delta: Mapping[str, Any]) -> None:
        shown = next(((name, piece) for name in _SHOWN if isinstance(piece := delta.get(name), str) and piece), None)
        details = delta.get("reasoning_details")
        if shown is not None:
            self.flush()
            self._reasoning.setdefault(shown[0], []).append(self._think("reasoning", shown[1]))
        for one in cast("list[object]", details) if isinstance(details, list) else ():
            row = mapping(one, "reasoning_details")
            self._take_room(len(json.dumps(row)))
            text = self._detail(row)
            if shown is None:
                self._think("reasoning", text)

    def _detail(self, row: Mapping[str, Any]) -> str:
        """One more, or more of the last: text, which is given, comes in pieces, all else whole."""
        last = self._details[-1] if self._details else None
        same = last is not None and all(last.get(name) == row.get(name) for name in ("type", "index"))
        pieces = {name: string(row[name], name) for name in ("text", "summary") if row.get(name) is not None}
        if last is None or not same or not (pieces or row.get("signature")):
            if len(self._details) >= MOST_CALLS:
                raise EndlessReply(f"a reply of more than {MOST_CALLS} parts of reasoning")
            self._details.append(dict(row))
        else:
            known = {name: value for name, value in row.items() if value is not None}
            last |= known | {name: (last.get(name) or "") + piece for name, piece in pieces.items()}
        return "".join(pieces.values())

    def _part(self, part: Mapping[str, Any]) -> None:
        """A part of a content that is a list."""
        if part.get("type") == "text":
            self._write(string(part.get("text"), "text"))
        elif part.get("type") == "thinking":
            self._take_room(len(json.dumps(part)))
            inner = part.get("thinking")
            rows = cast("list[object]", inner) if isinstance(inner, list) else [{"text": inner or ""}]
            text = "".join(piece for row in rows if isinstance(piece := dig(row, "text"), str))
            self.flush()
            self._think("part", text)
            if not self._parts or self._parts[-1][0] != self._said:
                if len(self._parts) >= MOST_CALLS:
                    raise EndlessReply(f"a reply of more than {MOST_CALLS} parts of reasoning")
                self._parts.append((self._said, {"type": "thinking", "thinking": [{"type": "text", "text": ""}]}))
            body = self._parts[-1][1]
            body |= {name: value for name, value in part.items() if name != "thinking" and value is not None}
            body["thinking"][0]["text"] += text

    def _write(self, piece: str) -> None:
        """More of the content, at whose beginning some write their thinking."""
        if self._held is None:
            piece = piece.lstrip() if self._behind else piece
            self._behind = self._behind and not piece
            self._say(piece)
            return
        self._held += piece
        if not self._inside:
            begun = self._held.lstrip()
            if begun.startswith(_OPEN):
                self._inside, self._held = True, begun.removeprefix(_OPEN)
            elif not _OPEN.startswith(begun) or len(self._held) > _BLANK:
                held, self._held = self._held, None
                self._say(held)
                return
        if self._inside:
            thought, end, rest = self._held.partition(_CLOSE)
            if end:
                self._held, self._inside, self._behind = None, False, True
                self._think_in_text(thought)
                self._write(rest)
                return
            kept = next((size for size in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:size])), 0)
            self._held = thought[len(thought) - kept :]
            self._think_in_text(thought[: len(thought) - kept])

    def _think_in_text(self, piece: str) -> None:
        self._think("text", piece)

    def _call(self, body: Mapping[str, Any]) -> None:
        function = mapping(body.get("function") or {}, "function")
        given = function.get("arguments")
        piece = json.dumps(given, ensure_ascii=False) if isinstance(given, dict) else string(given or "", "arguments")
        self._take_room(len(piece))
        call = self._found(body, word(body.get("id")), word(function.get("name")), piece)
        if call is None:
            self.flush()
            self._take_room(LONGEST_NAME)
            call = _Call(word(body.get("id")), named(function, "name"), body.get("index"), text=self._said)
            self._calls.append(call)
            if len(self._calls) > MOST_CALLS:
                raise EndlessReply(f"a reply of more than {MOST_CALLS} calls")
        elif call.closed and call.says(piece):
            piece = ""  # said again
        if piece:
            call.add(piece)
        if isinstance(extra := body.get("extra_content"), dict):
            self._take_room(len(json.dumps(extra)))
            call.extra["extra_content"] = extra
        self._on_delta(TextDelta(""))  # a sign of content, of which nothing is shown yet

    def _found(self, body: Mapping[str, Any], name: str, tool: str, piece: str) -> _Call | None:
        """The call that is gone on with; None for another one, of whose name we are told.

        An index tells calls apart where it rises, an id where it differs; where neither does, arguments that have come
        to an end do.
        """
        index = body.get("index")
        newest = reversed(self._calls)
        if type(index) is int:
            found = next((call for call in newest if call.index == index), None)
        elif name:
            found = next((call for call in newest if call.id == name), None)
        else:
            found = next(newest, None)
        if not tool:
            found = found or (self._calls[-1] if self._calls else None)
            if found is None:
                raise MalformedEvent("a call has no name")
            return found
        if found is None or (name and found.id and name != found.id) or tool != found.tool:
            return None
        another = found.closed and piece.strip() and not found.says(piece)
        return None if another else found

    def _kept(self, calls: list[_Call]) -> Iterator[KeptItem]:
        """What goes back, under the names under which it came; what may not be whole does not."""
        if not (self.complete or self._said or calls):
            return
        if self._details:
            yield _item({"reasoning_details": self._details})
        elif name := next((name for name in _SHOWN if name in self._reasoning), ""):
            yield _item({name: "".join(self._reasoning[name])})
        for at, part in self._parts:
            yield _item({"content": [part]}, at)
        for place, call in enumerate(calls):
            if call.extra:
                yield _item({"tool_calls": [call.extra]}, call.text, place)

    def _count(self, said: object) -> None:
        """What was billed. Vendors count what their cache gave into the input, and some thinking beside the output."""
        if not isinstance(said, dict):
            return
        usage = cast("dict[str, object]", said)
        found, doubted = usage_of(usage, _USAGE, replace(self._usage, input_tokens=0))
        cached = [usage_of(usage, {"cache_read_tokens": path}, found)[0].cache_read_tokens for path in _CACHED]
        known = replace(found, cache_read_tokens=max(cached))
        beside = known.cache_read_tokens + known.cache_write_tokens
        self.doubted |= doubted or beside > known.input_tokens
        total = usage_of(usage, {"output_tokens": ("total_tokens",)}, found)[0].output_tokens
        output = max(known.output_tokens, total - known.input_tokens) if known.input_tokens else known.output_tokens
        self._usage = replace(known, input_tokens=max(0, known.input_tokens - beside), output_tokens=output)


def _item(body: Mapping[str, Any], text: int = 0, calls: int = 0) -> KeptItem:
    return KeptItem(json.dumps(body, ensure_ascii=False), text, calls)
