"""Strict vendors of Chat Completions on loopback: how each streams, and what goes wrong there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from tests.loopback.completion_rules import FLAVOURS, Flavour, refusals, signature_of
from tests.loopback.script import VendorReply
from tests.loopback.scripted import Asked, Raw, Refusal, ScriptedVendor


class CompletionsVendor(ScriptedVendor[VendorReply | Raw]):
    """Answers `/v1/chat/completions` by its script, as one of the vendors does."""

    path = "/v1/chat/completions"

    def __init__(self, flavour: str, *replies: VendorReply | Raw, buffered: bool = False) -> None:
        """`buffered`: what stands in between gives the whole stream at once."""
        super().__init__(*replies)
        self.flavour = FLAVOURS[flavour]
        self.given: list[Any] = []
        """The thinking of each reply that had some, as it goes back."""
        self._buffered = buffered

    def judge(self, asked: Asked) -> Refusal | None:
        return next(refusals(self.flavour, asked.json), None) or self._foreign(asked)

    def error(self, refusal: Refusal) -> Any:
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

    def rows(self, asked: Asked, reply: VendorReply) -> list[bytes]:
        rows = list(self.chunks(asked, reply, len(self.requests)))
        return [b"".join(rows)] if self._buffered else rows

    def error_row(self, reply: VendorReply) -> bytes:
        return b"data: %b\n\n" % json.dumps(self.error((503, reply.error_message, reply.error_type))).encode()

    def is_text(self, row: bytes) -> bool:
        return b'"delta": {"content"' in row

    def chunks(self, asked: Asked, reply: VendorReply, number: int) -> Iterator[bytes]:
        """The stream, event by event."""
        for body in self.bodies(asked, reply, number):
            yield b"data: %b\n\n" % json.dumps(body).encode()
        if self.flavour.done:
            yield b"data: [DONE]\n\n"

    def bodies(self, asked: Asked, reply: VendorReply, number: int) -> Iterator[dict[str, Any]]:
        """Thinking, text, calls, the reason to stop, usage."""
        body, how = asked.json, self.flavour
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
        if how.beside:
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
