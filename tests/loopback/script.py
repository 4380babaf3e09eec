"""What the loopback vendor is told to answer: replies, and the faults of the model's side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Literal

from tests.loopback.claude import Account
from tests.loopback.rules import THINKING

Break = Literal["reset_before", "reset", "end", "error_event", "bad_line", "silence", "hang"]
Event = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorReply:
    """One answer to `/v1/messages`, or one way of not answering.

    A call is `{"id"?, "name", "input"}`, or has `"json"` in place of `input`: the text sent as its arguments.
    """

    text: str = ""
    thinking: str = ""
    calls: Sequence[Mapping[str, Any]] = ()
    blocks: Sequence[Mapping[str, Any]] = ()
    """Thinking, in order: `{"type": "thinking", "thinking", "note"?}` or `{"type": "redacted_thinking"}`, in front of
    text and calls, or of the call that `"call"` counts, or behind the last; signed, and one empty without any, where an account thinks."""
    searches: Sequence[Mapping[str, Any]] = ()
    """Of the vendor's own tool, before the text: `{"query", "pages": [[title, url]]}`, or `"error"` for the pages."""
    stop_reason: str | None = None
    """None: `tool_use` with calls, `stop_sequence` where a stop sequence cuts the text, else `end_turn`."""
    stop_details: Mapping[str, Any] | None = None
    """Of a refusal: `{"category", "explanation"}`."""
    stop_sequence: str | None = None
    """Named with a `stop_reason` of that kind."""
    usage: Mapping[str, int] | None = None
    """None: simulated, with an exact-prefix cache."""
    chunk: int = 24
    """Characters in a delta."""
    delay: float = 0.0
    """Seconds before each event."""
    wait: float = 0.0
    """Seconds before the first byte."""
    status: int = 200
    error_type: str = "api_error"
    error_message: str = "Something went wrong."
    headers: Mapping[str, str] | None = None
    broken: Break | None = None
    """How the answer breaks, in the middle of its text deltas."""
    behind: bool = False
    """It breaks behind its last block instead, before the vendor says why it stops."""
    silence: float = 20.0
    """Seconds without a byte, for `silence`; the stream goes on afterwards."""
    when_contains: str | None = None
    """Given only to a request whose body contains this."""
    times: int = 1
    """How often it is given; 0 is for ever."""

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> VendorReply:
        """Read from JSON; unknown fields are an error."""
        unknown = set(value) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"unknown fields of a reply: {sorted(unknown)}")
        return cls(**value)


def fault(name: str, text: str = "The whole answer, in a few pieces.", **options: Any) -> VendorReply:
    """One of the faults below, by name; what follows it is another reply's business."""
    once = 3 if name.endswith("_thrice") else 1
    known: dict[str, dict[str, Any]] = {
        "429": {"status": 429, "error_type": "rate_limit_error", "error_message": "Too many requests.",
                "headers": {"retry-after": "1"}, "times": once},
        "529": {"status": 529, "error_type": "overloaded_error", "error_message": "Overloaded", "times": once},
        "500": {"status": 500, "error_message": "Internal server error"},
        "401": {"status": 401, "error_type": "authentication_error", "error_message": "invalid x-api-key"},
        "403": {"status": 403, "error_type": "permission_error", "error_message": "not allowed"},
        "413": {"status": 413, "error_type": "request_too_large", "error_message": "Request exceeds the maximum size"},
        "prompt_too_long": {"status": 400, "error_type": "invalid_request_error",
                            "error_message": "prompt is too long: 213462 tokens > 200000 maximum"},
        "reset_before": {"broken": "reset_before"},
        "reset_midstream": {"text": text, "broken": "reset"},
        "no_message_stop": {"text": text, "broken": "end"},
        "error_event": {"text": text, "broken": "error_event"},
        "overloaded_event": {"text": text, "broken": "error_event", "error_type": "overloaded_error"},
        "bad_data_line": {"text": text, "broken": "bad_line"},
        "slow_events": {"text": text, "delay": 0.05},
        "silence": {"text": text, "broken": "silence"},
        "hang": {"broken": "hang"},
        "bad_json_call": {"calls": [{"name": "Read", "json": '{"path": "a.py", '}]},
        "unknown_tool": {"calls": [{"name": "NoSuchTool", "input": {"x": 1}}]},
        "empty_reply": {},
        "max_tokens": {"text": text, "stop_reason": "max_tokens"},
        "refusal": {"text": "", "stop_reason": "refusal"},
    }  # fmt: skip
    key = name.removesuffix("_once").removesuffix("_thrice")
    return VendorReply(**(known[key] | options))


def events(
    reply: VendorReply,
    request: Mapping[str, Any],
    usage: Mapping[str, Any],
    number: int,
    *,
    account: Account | None = None,
    transformed: Sequence[Mapping[str, str]] = (),
    diagnosis: Mapping[str, Any] | None = None,
) -> Iterator[Event]:
    """The events of a whole stream, in the vendor's order.

    `transformed` is the thinking that was dropped, `diagnosis` what the vendor says of its cache where it was asked.
    """
    _, stop, sequence = _stopped(reply, request)
    given_in = {key: value for key, value in usage.items() if key != "output_tokens"}
    message = {
        "id": f"msg_{number:04}", "type": "message", "role": "assistant", "content": [],
        "model": request.get("model"), "stop_reason": None, "stop_sequence": None,
        "usage": given_in | {"output_tokens": 1},
    }  # fmt: skip
    if transformed:
        message["input_transformations"] = [dict(one) for one in transformed]
    if diagnosis is not None:
        message["diagnostics"] = dict(diagnosis)
    yield "message_start", {"type": "message_start", "message": message}
    yield "ping", {"type": "ping"}
    content: list[Mapping[str, Any]] = []
    for block, start, deltas in _content(reply, request, number, account):
        yield from _block(len(content), start, deltas)
        content.append(block)
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": sequence, **_details(reply)},
            "usage": {"output_tokens": usage["output_tokens"], **_searched(reply), **_thought(content)},
        },
    )
    yield "message_stop", {"type": "message_stop"}


def whole(
    reply: VendorReply, request: Mapping[str, Any], usage: Mapping[str, Any], number: int, *, account: Account | None
) -> dict[str, Any]:
    """The same answer in one piece."""
    _, stop, sequence = _stopped(reply, request)
    content = [dict(block) for block, _, _ in _content(reply, request, number, account)]
    named = {"id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": request.get("model")}
    stopped = {"stop_reason": stop, "stop_sequence": sequence, **_details(reply)}
    return named | {"content": content, **stopped, "usage": {**usage, **_searched(reply), **_thought(content)}}


def received(rows: Iterable[Event]) -> list[dict[str, Any]]:
    """The blocks that a client has in the end which keeps everything."""
    made: dict[int, dict[str, Any]] = {}
    written: dict[int, str] = {}
    fields = {"thinking_delta": "thinking", "signature_delta": "signature", "text_delta": "text"}
    for name, event in rows:
        if name == "content_block_start":
            made[event["index"]] = dict(event["content_block"])
        elif name == "content_block_delta":
            place, delta = event["index"], event["delta"]
            if (field := fields.get(delta["type"])) is not None:
                made[place][field] += delta[field]
            else:
                written[place] = written.get(place, "") + delta["partial_json"]
    for place, text in written.items():
        made[place]["input"] = text
        with suppress(ValueError):
            made[place]["input"] = json.loads(text or "{}")
    return [made[place] for place in sorted(made)]


_Part = tuple[Mapping[str, Any], Mapping[str, Any], Sequence[Mapping[str, Any]]]
"""A block as a client has it in the end, how it begins, and what follows."""


def _content(reply: VendorReply, request: Mapping[str, Any], number: int, account: Account | None) -> Iterator[_Part]:
    """The blocks of an answer in their order."""
    size, (text, _, _) = reply.chunk, _stopped(reply, request)
    said: list[Mapping[str, Any]] = []
    for block in _wanted(reply, request, account):
        if account is not None and "call" not in block:
            said.append(account.thought(request, said, block))
            yield _thinking(said[-1], size)
    if reply.thinking and account is None:
        yield _thinking({"type": "thinking", "thinking": reply.thinking, "signature": "c2lnbmVk"}, size)
    for place, search in enumerate(reply.searches):
        for part in _search(search, f"srvtoolu_{number:04}_{place}", size):
            said.append(part[0])
            yield part
    if text:
        said.append({"type": "text", "text": text})
        deltas = [{"type": "text_delta", "text": piece} for piece in _parts(text, size)]
        yield said[-1], {"type": "text", "text": ""}, deltas
    for place in range(len(reply.calls) + 1):
        for block in _wanted(reply, request, account):
            if account is not None and block.get("call") == place:
                said.append(account.thought(request, said, block))
                yield _thinking(said[-1], size)
        if place == len(reply.calls):
            return
        call = reply.calls[place]
        raw = call.get("json")
        arguments = raw if raw is not None else json.dumps(call["input"]) if call["input"] else ""
        start = {
            "type": "tool_use",
            "name": call["name"],
            "input": {},
            "id": call.get("id", f"toolu_{number:04}_{place}"),
        }
        said.append({**start, "input": call.get("input", {})})
        pieces = ["", *_parts(arguments, size)]
        yield said[-1], start, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _wanted(reply: VendorReply, request: Mapping[str, Any], account: Account | None) -> Sequence[Mapping[str, Any]]:
    """The thinking of an answer: what is scripted, else an empty block where the model thinks and has not refused."""
    if account is None or not account.thinks(request):
        return ()
    refused = reply.stop_reason == "refusal" and not (reply.text or reply.calls)
    return reply.blocks or (() if refused else ({"type": "thinking", "thinking": "Let me see."},))


def _thinking(block: Mapping[str, Any], size: int) -> _Part:
    """A block of thinking; one without text has one empty delta."""
    if block["type"] == "redacted_thinking":
        return block, block, []
    deltas = [{"type": "thinking_delta", "thinking": part} for part in _parts(block["thinking"], size) or [""]]
    signed = {"type": "signature_delta", "signature": block["signature"]}
    return block, {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]


def _search(search: Mapping[str, Any], name: str, size: int) -> Iterator[_Part]:
    start = {"type": "server_tool_use", "id": name, "name": "web_search", "input": {}}
    asked = {"query": search["query"]}
    parts = [{"type": "input_json_delta", "partial_json": part} for part in _parts(json.dumps(asked), size)]
    yield {**start, "input": asked}, start, parts
    pages = [
        {"type": "web_search_result", "title": title, "url": url, "encrypted_content": "Zm9v", "page_age": None}
        for title, url in search.get("pages", ())
    ]
    error = {"type": "web_search_tool_result_error", "error_code": search.get("error")}
    found = {"type": "web_search_tool_result", "tool_use_id": name, "content": error if "error" in search else pages}
    yield found, found, []


def _thought(content: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What of the output was thought."""
    blocks = sum(block["type"] in THINKING for block in content)
    return {"output_tokens_details": {"thinking_tokens": 50 * blocks}} if blocks else {}


def _details(reply: VendorReply) -> dict[str, Any]:
    return {} if reply.stop_details is None else {"stop_details": dict(reply.stop_details)}


def _searched(reply: VendorReply) -> dict[str, Any]:
    """What is charged for the searches that went well."""
    made = sum("error" not in search for search in reply.searches)
    return {"server_tool_use": {"web_search_requests": made}} if reply.searches else {}


def _stopped(reply: VendorReply, request: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """The text as stop sequences cut it, the stop reason, and the sequence that did."""
    found = [(at, sequence) for sequence in request.get("stop_sequences", ()) if (at := reply.text.find(sequence)) >= 0]
    if found and reply.stop_reason is None:
        at, sequence = min(found)
        return reply.text[:at], "stop_sequence", sequence
    usual = "tool_use" if reply.calls else "end_turn"
    return reply.text, reply.stop_reason or usual, reply.stop_sequence


def _block(index: int, start: Mapping[str, Any], deltas: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
    yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": dict(start)}
    for delta in deltas:
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": dict(delta)}
    yield "content_block_stop", {"type": "content_block_stop", "index": index}


def _parts(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), max(1, size))]
