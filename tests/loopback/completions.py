"""Strict vendors of Chat Completions on loopback: how each streams, and what goes wrong there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from hashlib import sha256
from typing import Any

from tests.loopback.completion_rules import FLAVOURS, Flavour, Refusal, refusals, signature_of
from tests.loopback.http import LoopbackServer, Received, reset, send
from tests.loopback.script import VendorReply


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
                elif reply.broken == "bad_line":
                    _chunk(writer, b'data: {"choices": [{\n\n')
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


async def _left(reader: asyncio.StreamReader, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return not await reader.read(1)
    except (TimeoutError, ConnectionError) as error:
        return isinstance(error, ConnectionError)
