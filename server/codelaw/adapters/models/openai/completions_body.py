"""The request body of Chat Completions, for whoever speaks only that (P-4, P-5).

A kept item is a part of an assistant message: its fields go back into that message, its `content` in front of the text
that followed, and those of its one `tool_calls` entry into the next call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from functools import partial
from hashlib import sha256
from typing import Any

from codelaw.adapters.models.spelling import Images, SpeltMessages, as_bytes, base64_of, dump
from codelaw.domain.media.images import Image
from codelaw.domain.models import ApiMessage, CallBlock, ImageBlock, KeptBlock, ModelRequest, ResultBlock, TextBlock

_OPTIONAL = (
    "stream_options",
    "max_tokens",
    "reasoning_effort",
    "reasoning_content",
    "reasoning_details",
    "reasoning",
    "extra_content",
)
"""Fields that not every endpoint takes; without `max_tokens` it is `max_completion_tokens`."""
_UNKNOWN = re.compile(
    r"extra (?:inputs|fields)|forbidden|not permitted|unknown|unrecogni[sz]ed|un(?:expected|supported)|not supported",
    re.IGNORECASE,
)
_NO_REASONING = "without reasoning"
_NO_SIGNATURE = "without signature"
_NO_USER = "user behind tool"
_WANTED = {
    _NO_REASONING: re.compile(r"reasoning_content.*must be passed back", re.DOTALL),
    _NO_SIGNATURE: re.compile(r"missing a `?thought_signature"),
    _NO_USER: re.compile(r"Unexpected role 'user' after role 'tool'"),
}
"""What an endpoint wants of messages that other models have written, and how it says so."""
_UNSIGNED = {"extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}}
"""What the vendor has documented for a call that it has not made itself."""
_LONG_ID = 9


def learned(words: str) -> frozenset[str]:
    """What to do otherwise after a refusal in these words: fields to leave out, and what is wanted of messages."""
    found = {name for name, pattern in _WANTED.items() if pattern.search(words)}
    if not found and _UNKNOWN.search(words):
        found = {name for name in _OPTIONAL if re.search(rf"(?<!\w){name}(?!\w)", words)}
    return frozenset(found)


class CompletionsWriter:
    """Writes bodies. Equal requests give equal bytes."""

    def __init__(self) -> None:
        self._without: frozenset[str] = frozenset()
        self._messages = SpeltMessages(_spelt)

    def write(self, request: ModelRequest, without: frozenset[str] = frozenset()) -> bytes:
        """The whole body, as the endpoint wants it by what was `learned`. No cache is marked."""
        if without != self._without:
            self._without, self._messages = without, SpeltMessages(partial(_spelt, without=without))
        limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
        options: dict[str, object] = {
            "stream_options": {"include_usage": True},
            "reasoning_effort": request.effort,
        }
        fields: dict[str, object] = {"model": request.model, limit: request.max_tokens, "stream": True}
        fields |= {name: value for name, value in options.items() if value and name not in without}
        if request.tools:
            fields["tools"] = [
                {
                    "type": "function",
                    "function": {"name": one.name, "description": one.description, "parameters": one.input_schema},
                }
                for one in request.tools
            ]
        system = [as_bytes(dump({"role": "system", "content": _joined(request.system)}))] if request.system else []
        messages = b",".join([*system, *filter(None, self._messages.of(request))])
        return b"".join([as_bytes(dump(fields))[:-1], b',"messages":[', messages, b"]}"])


def _spelt(message: ApiMessage, images: Images, without: Container[str] = ()) -> str:
    rows = [_assistant(message, without)] if message.role == "assistant" else _others(message, images, without)
    return ",".join(map(dump, rows))


def _others(message: ApiMessage, images: Images, without: Container[str]) -> list[dict[str, Any]]:
    """Results, then all else: pictures of results too, for which the wire has no place in them."""
    rows: list[dict[str, Any]] = []
    texts: list[TextBlock] = []
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case ResultBlock(call_id, text):
                seen = [_picture(one, block.instead, images) for one in block.images]
                unseen = [one["text"] for one in seen if one["type"] == "text"]
                rows.append({"role": "tool", "tool_call_id": _id(call_id), "content": "\n\n".join([text, *unseen])})
                parts += [one for one in seen if one["type"] != "text"]
            case TextBlock():
                texts.append(block)
                parts.append(_text(block.text))
            case ImageBlock(image, instead):
                parts.append(_picture(image, instead, images))
            case _:
                pass
    if rows and parts and _NO_USER in without:
        rows.append({"role": "assistant", "content": "…"})
    # Many take a list only from who sends pictures.
    plain = len(texts) == len(parts)
    if parts:
        rows.append({"role": message.role, "content": _joined(texts) if plain else parts})
    return rows


def _assistant(message: ApiMessage, without: Container[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    parts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    of_call: dict[str, Any] = {}
    for block in message.blocks:
        match block:
            case TextBlock(text):
                parts.append(_text(text))
            case KeptBlock(item) if item.body:
                kept: dict[str, Any] = json.loads(item.body)
                if "type" in kept:  # of another wire
                    continue
                parts += kept.pop("content", [])
                for one in kept.pop("tool_calls", []):
                    of_call |= one
                fields |= kept
            case CallBlock(call):
                if not calls and _NO_SIGNATURE in without:
                    of_call = {**_UNSIGNED, **of_call}
                function = {"name": call.tool, "arguments": dump(dict(call.arguments))}
                extra = {name: value for name, value in of_call.items() if name not in without}
                calls.append({"id": _id(call.id), "type": "function", "function": function, **extra})
                of_call = {}
            case _:
                pass
    if calls and _NO_REASONING in without:
        fields.setdefault("reasoning_content", "")
    texts = [part["text"] for part in parts if part.get("type") == "text"]
    content = "\n\n".join(texts) or None if len(texts) == len(parts) else parts
    known = {name: value for name, value in fields.items() if name not in without}
    return {"role": "assistant", "content": content, **known, **({"tool_calls": calls} if calls else {})}


def _joined(blocks: tuple[TextBlock, ...] | list[TextBlock]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _picture(image: Image, instead: str, images: Images) -> dict[str, Any]:
    """A picture, or the words in its place where its bytes are not sent."""
    content = images.get(image.digest)
    if content is None:
        return _text(instead)
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{base64_of(content)}"}}


def _id(call_id: str) -> str:
    """Of letters and digits, so many: one vendor takes no other id, and all take these."""
    return sha256(call_id.encode(errors="surrogatepass")).hexdigest()[:_LONG_ID]
