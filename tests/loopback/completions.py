"""Strict vendors of Chat Completions on loopback: what each refuses, in its words, and how each streams."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256
from typing import Any, Literal

from tests.loopback.http import LoopbackServer, Received, reset, send
from tests.loopback.script import VendorReply

_FIELDS = frozenset({
    "model", "messages", "max_tokens", "stream", "stream_options", "tools", "tool_choice", "reasoning_effort", "stop",
})  # fmt: skip
_SAID = frozenset({"role", "content", "tool_calls"})
_CALLED = frozenset({"id", "type", "function"})
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SKIP = "skip_thought_signature_validator"
Refusal = tuple[int, str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavour:
    """How one vendor differs from the others."""

    thinks: Literal["", "reasoning_content", "reasoning", "details", "parts", "tag"] = ""
    """Where its thinking stands."""
    signed: bool = False
    """The first of parallel calls is signed, and refused without."""
    wants_thinking: bool = False
    """A turn with calls is refused without the thinking."""
    index: bool = True
    """Calls have an index."""
    pieces: bool = True
    """Arguments come in pieces; else each call comes whole, beside the reason to stop."""
    called: str = "tool_calls"
    """Why it stops for calls."""
    usage: Literal["asked", "always", "choice", "x_groq"] = "asked"
    done: bool = True
    fields: frozenset[str] = _FIELDS
    said: frozenset[str] = _SAID
    """Fields of what an assistant has said."""
    unknown: Literal["400", "422", "groq", "google"] = "400"
    """How it refuses a field."""
    errors: Literal["wrapped", "list", "flat", "number"] = "wrapped"
    user_behind_tool: bool = True
    ids: str = r".{1,64}"
    lists: bool = True
    """Text may be a list of parts."""


FLAVOURS: Mapping[str, Flavour] = {
    "openai": Flavour(),
    "newer": Flavour(fields=_FIELDS - {"max_tokens"} | {"max_completion_tokens"}),
    "gemini": Flavour(signed=True, index=False, pieces=False, called="stop", usage="always", done=False,
                      unknown="google", errors="list"),
    "mistral": Flavour(thinks="parts", pieces=False, usage="always", unknown="422", errors="flat", ids="[a-zA-Z0-9]{9}",
                       user_behind_tool=False, fields=_FIELDS - {"stream_options", "reasoning_effort"}),
    "deepseek": Flavour(thinks="reasoning_content", wants_thinking=True, said=_SAID | {"reasoning_content"},
                        lists=False),
    "openrouter": Flavour(thinks="details", said=_SAID | {"reasoning", "reasoning_details"}, errors="number"),
    "groq": Flavour(thinks="reasoning", usage="x_groq", unknown="groq", pieces=False),
    "moonshot": Flavour(thinks="reasoning_content", said=_SAID | {"reasoning_content"}, usage="choice"),
    "ollama": Flavour(thinks="reasoning", said=_SAID | {"reasoning"}, index=False, pieces=False),
    "plain400": Flavour(thinks="tag", fields=_FIELDS - {"stream_options", "reasoning_effort"}, lists=False),
    "plain422": Flavour(fields=_FIELDS - {"stream_options", "reasoning_effort"}, unknown="422", done=False),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer byte for byte."""

    body: bytes
    content_type: str = "text/event-stream"
    status: int = 200


@dataclass(slots=True)
class Asked(Received):
    """A request, with what came of it."""

    status: int = 0
    refused: str | None = None
    closed_early: bool = False

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def said(self) -> list[dict[str, Any]]:
        return [message for message in self.json()["messages"] if message["role"] == "assistant"]


class CompletionsVendor(LoopbackServer):
    """Answers `/v1/chat/completions` by its script, as one of the vendors does."""

    def __init__(self, flavour: str, *replies: VendorReply | Raw, buffered: bool = False) -> None:
        """`buffered`: what stands in between gives the whole stream at once."""
        super().__init__()
        self.flavour = FLAVOURS[flavour]
        self.script = list(replies)
        self.requests: list[Asked] = []
        self.given: list[Any] = []
        """The thinking of each reply that had some, as it goes back."""
        self._buffered = buffered

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def refused(self) -> list[str]:
        return [asked.refused for asked in self.requests if asked.refused is not None]

    @property
    def answered(self) -> list[Asked]:
        return [asked for asked in self.requests if asked.status == 200 and asked.method == "POST"]

    async def answer(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        asked = Asked(*astuple(request))
        self.requests.append(asked)
        if request.path.startswith("/v1/models/"):
            name = request.path.removeprefix("/v1/models/")
            if "nobody" in name:
                return await self._error(asked, writer, (404, f"The model `{name}` does not exist", "model_not_found"))
            return await send(writer, 200, {"id": name, "object": "model"})
        if (request.method, request.path) != ("POST", "/v1/chat/completions"):
            return await self._error(asked, writer, (404, f"Invalid URL ({request.method} {request.path})", None))
        refused = next(refusals(self.flavour, asked.json()), None) or self._foreign(asked)
        if refused is not None:
            asked.refused = refused[1]
            return await self._error(asked, writer, refused)
        if not self.script:
            return await self._error(asked, writer, (500, "the script has no reply for this request", None))
        reply = self.script.pop(0)
        if isinstance(reply, Raw):
            asked.status = reply.status
            head = f"HTTP/1.1 {reply.status} X\r\ncontent-length: {len(reply.body)}\r\n"
            kind = f"content-type: {reply.content_type}\r\n" if reply.content_type else ""
            writer.write(f"{head}{kind}\r\n".encode() + reply.body)
            await writer.drain()
            return True
        if reply.wait:
            await asyncio.sleep(reply.wait)
        if reply.broken == "reset_before":
            return await reset(writer)
        if reply.status >= 400:
            return await self._error(asked, writer, (reply.status, reply.error_message, reply.error_type), reply)
        return await self._stream(asked, reply, reader, writer)

    async def _error(
        self, asked: Asked, writer: asyncio.StreamWriter, refusal: Refusal, reply: VendorReply | None = None
    ) -> bool:
        asked.status = refusal[0]
        return await send(writer, refusal[0], self._error_body(refusal), dict((reply and reply.headers) or {}))

    def _error_body(self, refusal: Refusal) -> Any:
        status, message, code = refusal
        if status == 422 and message.startswith("body"):
            place, _, said = message.partition(": ")
            return {"detail": [{"type": "extra_forbidden", "loc": place.split("."), "msg": said, "input": 1}]}
        match self.flavour.errors:
            case "list":
                return [{"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}]
            case "flat":
                return {"object": "error", "message": message, "type": code or "invalid_request_error", "code": None}
            case "number":
                return {"error": {"code": status, "message": message}}
            case "wrapped":
                kind = "invalid_request_error" if status < 500 else "server_error"
                return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    def _foreign(self, asked: Asked) -> Refusal | None:
        """Thinking that this vendor has not given, or that was altered."""
        for message in asked.said:
            for back in _returned(message):
                if back not in self.given:
                    return 400, "This fake has not given this thinking.", None
        return None

    async def _stream(
        self, asked: Asked, reply: VendorReply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        asked.status = 200
        rows = list(self.chunks(asked, reply, len(self.requests)))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n")
        for name, value in (reply.headers or {}).items():
            writer.write(f"{name}: {value}\r\n".encode())
        writer.write(b"\r\n")
        if self._buffered:
            rows = [b"".join(rows)]
        middle = len(rows) - 1 if reply.behind else next(
            (place for place, row in enumerate(rows) if place > 1 and b'"delta": {"content"' in row), 1
        )  # fmt: skip
        for place, row in enumerate(rows):
            if place == middle and reply.broken is not None:
                if reply.broken == "silence":
                    await writer.drain()
                    asked.closed_early = await _left(reader, reply.silence)
                    if asked.closed_early:
                        return False
                elif reply.broken == "reset":
                    return await reset(writer)
                elif reply.broken == "error_event":
                    body = self._error_body((503, reply.error_message, reply.error_type))
                    _chunk(writer, b"data: %b\n\n" % json.dumps(body).encode())
                    break
                else:
                    break
            _chunk(writer, row)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def chunks(self, asked: Asked, reply: VendorReply, number: int) -> Iterator[bytes]:
        """The stream, event by event."""
        for body in self.bodies(asked, reply, number):
            yield b"data: %b\n\n" % json.dumps(body).encode()
        if self.flavour.done:
            yield b"data: [DONE]\n\n"

    def bodies(self, asked: Asked, reply: VendorReply, number: int) -> Iterator[dict[str, Any]]:
        """Thinking, text, calls, the reason to stop, usage."""
        body, how = asked.json(), self.flavour
        named = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}

        def chunk(delta: Mapping[str, Any], stop: str | None = None, **more: Any) -> dict[str, Any]:
            return {**named, "choices": [{"index": 0, "delta": dict(delta), "finish_reason": stop, **more}]}

        yield chunk({"role": "assistant", "content": ""})
        if reply.thinking:
            self.given.append(_given(how, reply.thinking))
            yield from map(chunk, _thinking(how, reply.thinking, reply.chunk))
        yield from (chunk({"content": piece}) for piece in _pieces(reply.text, reply.chunk))
        calls = list(_calls(how, reply, number, body["model"]))
        if how.pieces:
            for whole in calls:
                first = {**whole, "function": {**whole["function"], "arguments": ""}}
                yield chunk({"tool_calls": [first]})
                for piece in _pieces(whole["function"]["arguments"], reply.chunk):
                    yield chunk({"tool_calls": [{"index": whole.get("index"), "function": {"arguments": piece}}]})
        stop = {"max_tokens": "length", "refusal": "content_filter", None: how.called if calls else "stop"}
        last = {"tool_calls": calls} if calls and not how.pieces else {}
        sent = len(asked.body) // 4
        usage = {"prompt_tokens": sent, "completion_tokens": 40, "total_tokens": sent + 40,
                 "prompt_tokens_details": {"cached_tokens": 8},
                 "completion_tokens_details": {"reasoning_tokens": 16}}  # fmt: skip
        if how.signed:  # what it thinks is in the total alone
            usage |= {"completion_tokens": 24}
        ended = stop.get(reply.stop_reason, reply.stop_reason)
        match how.usage:
            case "asked":
                yield chunk(last, ended)
                if body.get("stream_options", {}).get("include_usage"):
                    yield {**named, "choices": [], "usage": usage}
            case "always":
                yield {**chunk(last, ended), "usage": usage}
            case "choice":
                yield chunk(last, ended, usage=usage)
            case "x_groq":
                yield {**chunk(last, ended), "x_groq": {"id": "req_1", "usage": usage}}


def _chunk(writer: asyncio.StreamWriter, piece: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[place : place + size] for place in range(0, len(text), size))


def _given(how: Flavour, thinking: str) -> Any:
    match how.thinks:
        case "details":
            return [
                {"type": "reasoning.text", "format": "f-v1", "index": 0, "text": thinking, "signature": "c2ln"},
                {"type": "reasoning.encrypted", "format": "f-v1", "index": 1, "data": "ZW5j"},
            ]
        case "parts":
            return {"type": "thinking", "thinking": [{"type": "text", "text": thinking}], "closed": True}
        case _:
            return thinking


def _returned(message: Mapping[str, Any]) -> Iterator[Any]:
    yield from (message[name] for name in ("reasoning_details", "reasoning_content", "reasoning") if message.get(name))
    if isinstance(content := message.get("content"), list):
        yield from (part for part in content if part["type"] == "thinking")


def _thinking(how: Flavour, text: str, size: int) -> Iterator[dict[str, Any]]:
    pieces = list(_pieces(text, size))
    match how.thinks:
        case "details":
            row = {"type": "reasoning.text", "format": "f-v1", "index": 0}
            for piece in pieces:
                yield {"content": "", "reasoning": piece, "reasoning_details": [{**row, "text": piece}]}
            yield {"content": "", "reasoning_details": [{**row, "text": "", "signature": "c2ln"}]}
            sealed = {"type": "reasoning.encrypted", "format": "f-v1", "index": 1, "data": "ZW5j"}
            yield {"content": "", "reasoning_details": [sealed]}
        case "parts":
            for piece in pieces:
                yield {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]}
            yield {"content": [{"type": "thinking", "thinking": [], "closed": True}]}
        case "tag":
            yield from ({"content": piece} for piece in _pieces(f"\n<think>{text}</think>\n\n", 3))
        case name if name:
            yield from ({"content": "", name: piece} for piece in pieces)
        case _:
            pass


def _calls(how: Flavour, reply: VendorReply, number: int, model: str) -> Iterator[dict[str, Any]]:
    for place, call in enumerate(reply.calls):
        arguments = call["json"] if "json" in call else json.dumps(call["input"])
        name = call.get("id", sha256(f"{number}.{place}".encode()).hexdigest()[:9])
        made: dict[str, Any] = {"index": place} if how.index else {}
        made |= {"id": name, "type": "function", "function": {"name": call["name"], "arguments": arguments}}
        if how.signed and not place:
            signature = signature_of(model, made["function"])
            made["extra_content"] = {"google": {"thought_signature": signature}}
        yield made


def signature_of(model: str, function: Mapping[str, Any]) -> str:
    """What the vendor seals a call with."""
    try:
        arguments = json.dumps(json.loads(function["arguments"]), sort_keys=True)
    except ValueError:
        arguments = "{}"
    return sha256(f"{model}|{function['name']}|{arguments}".encode()).hexdigest()[:24]


async def _left(reader: asyncio.StreamReader, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return not await reader.read(1)
    except (TimeoutError, ConnectionError) as error:
        return isinstance(error, ConnectionError)


def refusals(how: Flavour, body: Mapping[str, Any]) -> Iterator[Refusal]:
    """What the vendor says of a request that it does not take."""
    if "max_tokens" in body and "max_tokens" not in how.fields:
        said = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        yield 400, said, "unsupported_parameter"
    yield from (_unknown(how, "body", name) for name in sorted(body.keys() - how.fields))
    if not body.get("stream"):
        yield 400, "This fake wants `stream`.", None
    for tool in body.get("tools", ()):
        function = tool["function"]
        if tool.keys() != {"type", "function"} or function.keys() != {"name", "description", "parameters"}:
            yield 400, "Invalid value for 'tools'.", None
        if not _NAME.fullmatch(function["name"]):
            yield 400, "Invalid 'tools[0].function.name': string does not match pattern.", None
    yield from _in_messages(how, body["model"], body["messages"])


def _unknown(how: Flavour, place: str, name: str) -> Refusal:
    match how.unknown:
        case "422":
            return 422, f"{place if place == 'body' else f'body.{place}'}.{name}: Extra inputs are not permitted", None
        case "groq":
            return 400, f"'{place}' : property '{name}' is unsupported", None
        case "google":
            said = f"Invalid JSON payload received. Unknown name \"{name}\" at '{place}': Cannot find field."
            return 400, said, None
        case "400":
            return 400, f"Unrecognized request argument supplied: {name}", None


def _in_messages(how: Flavour, model: str, messages: Sequence[Mapping[str, Any]]) -> Iterator[Refusal]:
    open_calls: list[str] = []
    before = ""
    for place, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        if role != "tool" and open_calls:
            said = ("An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                    f"'tool_call_id'. The following tool_call_ids did not have response messages: {open_calls}")  # fmt: skip
            yield 400, said, None
        if role == "user" and before == "tool" and not how.user_behind_tool:
            yield 400, "Unexpected role 'user' after role 'tool'", "invalid_request_message_order"
        match role:
            case "system" | "user":
                yield from _content(how, place, message, {"role", "content"}, {"text", "image_url"})
                if not content:
                    yield 400, f"messages[{place}] has no content.", None
            case "tool":
                yield from _content(how, place, message, {"role", "content", "tool_call_id"}, {"text"})
                if message["tool_call_id"] not in open_calls:
                    said = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
                    yield 400, f"Invalid parameter: {said}", None
                else:
                    open_calls.remove(message["tool_call_id"])
            case "assistant":
                known = {"text", "thinking"} if how.thinks == "parts" else {"text"}
                yield from _content(how, place, message, how.said, known)
                calls = message.get("tool_calls", [])
                if not content and not calls:
                    yield 400, "Assistant message must have either content or tool_calls, but not none of both.", None
                yield from _in_calls(how, model, place, message)
                open_calls = [call["id"] for call in calls]
                if len(open_calls) != len(set(open_calls)):
                    yield 400, f"Duplicate value for 'tool_call_id' in messages[{place}].", None
            case _:
                yield 400, f"Invalid value: '{role}'.", None
        before = role
    if before not in {"user", "tool"}:
        yield 400, f"Expected last role User or Tool for serving but got {before}", None


def _in_calls(how: Flavour, model: str, place: int, message: Mapping[str, Any]) -> Iterator[Refusal]:
    calls = message.get("tool_calls", [])
    if calls and how.wants_thinking and "reasoning_content" not in message:
        yield 400, "The `reasoning_content` in the thinking mode must be passed back to the API.", None
    for number, call in enumerate(calls):
        function = call["function"]
        for name in call.keys() - _CALLED - ({"extra_content"} if how.signed else set()):
            yield _unknown(how, f"messages.{place}.tool_calls.{number}", name)
        if not re.fullmatch(how.ids, call["id"]):
            yield 400, f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9.", None
        if not _NAME.fullmatch(function["name"]) or not isinstance(json.loads(function["arguments"]), dict):
            yield 400, f"Invalid 'messages[{place}].tool_calls[{number}].function'.", None
        if how.signed and not number:
            given = call.get("extra_content", {}).get("google", {}).get("thought_signature")
            if given is None:
                said = (f"Function call is missing a thought_signature in functionCall parts. This is required for "
                        f"tools to work correctly. Additional data, function call `{function['name']}`.")  # fmt: skip
                yield 400, said, None
            elif given not in {signature_of(model, function), SKIP}:
                yield 400, "Thought signature is not valid.", None


def _content(
    how: Flavour, place: int, message: Mapping[str, Any], fields: set[str] | frozenset[str], parts: set[str]
) -> Iterator[Refusal]:
    for name in sorted(message.keys() - fields):
        yield _unknown(how, f"messages.{place}", name)
    if isinstance(content := message.get("content"), list):
        if not how.lists and {part["type"] for part in content} == {"text"}:
            yield 400, f"messages[{place}]: content: invalid type: sequence, expected a string", None
        for part in content:
            if part["type"] not in parts:
                yield 400, f"Invalid value: '{part['type']}' in messages[{place}].", None
