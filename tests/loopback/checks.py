"""What the vendor refuses, and what it would bill: a strict reading of a request's body."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from codelaw.domain.media.images import image_of
from tests.loopback.models import known
from tests.loopback.rules import FIELDS, blocks_of, paused, system_of
from tests.loopback.spoken import unpaired

LARGEST_BODY = 32 << 20
"""Bytes of a request."""
MOST_OUTPUT = 64_000
CHARACTERS = 4.0
"""Characters of one of the vendor's tokens, unless a test says otherwise."""
COSTS = {"input_tokens": 1.0, "cache_creation_input_tokens": 1.25, "cache_read_input_tokens": 0.1}
"""Input cost units of a token."""

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_BLOCK_FIELDS = {
    "text": {"text"},
    "tool_use": {"id", "name", "input"},
    "tool_result": {"tool_use_id", "content", "is_error"},
    "image": {"source"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
}
_MEDIA_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_MOST_PICTURES = 100


def refusal(body: Any, window: int, characters: float = CHARACTERS) -> str | None:
    """Why the vendor would answer 400, in its words; None for a good request."""
    wrong = malformed(body)
    if wrong is not None:
        return wrong
    tokens = count(body, characters)
    return f"prompt is too long: {tokens} tokens > {window} maximum" if tokens > window else None


def malformed(body: Any) -> str | None:
    """Why the vendor would not even count the request; None for a well-formed one of any length."""
    if not isinstance(body, dict):
        return "Input should be a valid dictionary"
    for field in ("model", "max_tokens", "messages"):
        if field not in body:
            return f"{field}: Field required"
    model = known(body)
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < (1 if model is None else 0):
        return "max_tokens: Input should be greater than or equal to 1"
    most = MOST_OUTPUT if model is None else model.output
    if body["max_tokens"] > most:
        return f"max_tokens: {body['max_tokens']} > {most}, which is the maximum allowed number of output tokens"
    for field in body:
        if field not in FIELDS:
            return f"{field}: Extra inputs are not permitted"
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "The request body is not valid JSON: no low surrogate in string"
    marks = json.dumps(body).count('"cache_control": {')
    if marks > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    for place, block in enumerate(body.get("system") or ()):
        if block.get("type", "text") != "text":
            return f"system.{place}.type: Input should be 'text'"
        if not block.get("text", "").strip():
            return f"system.{place}: text content blocks must contain non-whitespace text"
    names = [tool.get("name", "") for tool in body.get("tools") or ()]
    for place, tool in enumerate(body.get("tools") or ()):
        if tool.get("type") == "web_search_20250305":
            if tool.get("name") != "web_search" or not {"type", "name", "max_uses", "cache_control"}.issuperset(tool):
                return f"tools.{place}: the search is named web_search and has no schema"
            continue
        if not _TOOL_NAME.fullmatch(tool.get("name", "")) or "input_schema" not in tool:
            return f"tools.{place}: a tool needs a name and an input_schema"
    if len(set(names)) < len(names):
        return "tools: Tool names must be unique."
    for place, sequence in enumerate(body.get("stop_sequences") or ()):
        if not sequence.strip():
            return f"stop_sequences.{place}: each stop sequence must contain non-whitespace"
    systems = model is not None and model.system_in_messages
    wrong = _messages(body["messages"], tools=bool(names), systems=systems)
    return wrong or (unpaired(body["messages"]) if not names else None)


def uncounted(body: Any) -> str | None:
    """Why the vendor would not count a request that is sent to be counted, which asks for no answer."""
    for field in ("max_tokens", "stop_sequences", "stream"):
        if field in body:
            return f"{field}: Extra inputs are not permitted"
    return malformed({**body, "max_tokens": 1})


def count(body: Mapping[str, Any], characters: float = CHARACTERS) -> int:
    """The vendor's tokens of a prompt, here simply by characters."""
    return int(sum(piece.size for piece in pieces(body)) / characters)


def cost(usage: Mapping[str, int]) -> float:
    """Input cost units: an input token is 1, one written to the cache 1.25, one read from it 0.1."""
    return sum(usage.get(name, 0) * price for name, price in COSTS.items())


def _messages(messages: Any, *, tools: bool, systems: bool) -> str | None:
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    open_calls: list[str] = []
    known: set[str] = set()
    previous = "assistant"
    for place, message in enumerate(messages):
        if systems and place and message.get("role") == "system":
            continue
        if set(message) - {"role", "content"}:
            return f"messages.{place}: Extra inputs are not permitted"
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant"):
            return f"messages.{place}.role: Input should be 'user' or 'assistant'"
        if role == previous:
            return f'messages: roles must alternate between "user" and "assistant", but found multiple "{role}" roles'
        previous = role
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks:
            return f"messages.{place}: all messages must have non-empty content"
        results = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
        if sorted(results) != sorted(open_calls):
            missing = set(open_calls) - set(results)
            if missing:
                words = "`tool_use` ids were found without `tool_result` blocks immediately after"
                return f"messages.{place - 1}: {words}: {min(missing)}"
            if len(set(results)) < len(results):
                return f"messages.{place}: each tool_use must have a single result. Found multiple: {results[0]}"
            return f"messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {results[0]}"
        if any(block.get("type") != "tool_result" for block in blocks[: len(results)]):
            return f"messages.{place}: `tool_result` blocks must come first"
        open_calls = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        if len(set(open_calls)) < len(open_calls) or known & set(open_calls):
            return f"messages.{place}: `tool_use` ids must be unique"
        known.update(open_calls)
        if open_calls and not tools:
            return "Requests which include `tool_use` or `tool_result` blocks must define tools"
        for inner, block in enumerate(blocks):
            wrong = _content(block, role)
            if wrong is not None:
                return f"messages.{place}.content.{inner}: {wrong}"
    if sum(len(_pictures(message["content"])) for message in messages) > _MOST_PICTURES:
        return f"messages: Too many images: at most {_MOST_PICTURES} are allowed"
    if previous != "user" and not paused(messages):
        return "This model does not support assistant message prefill. The conversation must end with a user message."
    return None


def _content(block: Mapping[str, Any], role: str) -> str | None:
    kind = block.get("type", "")
    if kind in _BLOCK_FIELDS and (extra := set(block) - _BLOCK_FIELDS[kind] - {"type", "cache_control"}):
        return f"{min(extra)}: Extra inputs are not permitted"
    match kind:
        case "text":
            if not block.get("text", "").strip():
                return "text content blocks must contain non-whitespace text"
        case "tool_use":
            if role != "assistant":
                return "`tool_use` blocks can only be in `assistant` messages"
            if not isinstance(block.get("input"), dict):
                return "tool_use.input: Input should be a valid dictionary"
            if not _TOOL_NAME.fullmatch(block.get("name", "")):
                return "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
            if not re.fullmatch(r"[a-zA-Z0-9_-]+", block.get("id", "")):
                return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        case "tool_result":
            if role != "user":
                return "`tool_result` blocks can only be in `user` messages"
            if block.get("is_error") and not block.get("content"):
                return "tool_result: content cannot be empty if `is_error` is true"
            if isinstance(block.get("content"), list):
                return _within(block)
        case "image":
            if role != "user":
                return "`image` blocks can only be in `user` messages"
            return _picture(block.get("source"))
        case "server_tool_use" | "web_search_tool_result":
            if role != "assistant":
                return f"`{kind}` blocks can only be in `assistant` messages"
        case "thinking" | "redacted_thinking":
            if role != "assistant":
                return f"`{kind}` blocks can only be in `assistant` messages"
            if set(block) != {"type", *_BLOCK_FIELDS[kind]}:
                return f"{kind}: Field required"
        case other:
            return f"Input tag '{other}' found does not match any of the expected tags"
    return None


def _within(result: Mapping[str, Any]) -> str | None:
    """What is wrong with the blocks of a result."""
    for place, block in enumerate(result["content"]):
        if block.get("type") not in {"text", "image"}:
            return f"tool_result.content.{place}: Input tag '{block.get('type')}' found does not match"
        if result.get("is_error") and block["type"] != "text":
            return "all content must be type `text` if `is_error` is true"
        wrong = _content(block, "user")
        if wrong is not None:
            return f"tool_result.content.{place}: {wrong}"
    return None


def _picture(source: Any) -> str | None:
    if not isinstance(source, dict) or source.keys() != {"type", "media_type", "data"} or source["type"] != "base64":
        return "image.source: Field required"
    if source["media_type"] not in _MEDIA_TYPES:
        return "image.source.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
    try:
        found = image_of(base64.b64decode(source["data"], validate=True))
    except ValueError:
        return "image.source.base64: Could not process image"
    named = found.media_type == source["media_type"]
    return None if named else "image.source.base64.data: the image appears to be of another media type"


def _pictures(blocks: Any) -> list[Mapping[str, Any]]:
    """The pictures among blocks, and within results."""
    listed = blocks if isinstance(blocks, list) else []
    inner = [block["content"] for block in listed if block.get("type") == "tool_result"]
    own = [block for block in listed if block.get("type") == "image"]
    return [*own, *(picture for content in inner for picture in _pictures(content))]


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of the prompt."""

    where: str
    """`tools`, `system`, or the path of its message."""
    kind: str
    text: bytes
    """Its value without the mark."""
    size: int
    """Characters."""
    ttl: str | None
    """How long what ends here is to be kept; None without a mark."""


def pieces(body: Mapping[str, Any], hidden: Container[str] = ()) -> list[Piece]:
    """Each block of the prompt in the order in which the vendor reads it, those at the paths `hidden` left out."""
    rows = [("tools", "tools", tool) for tool in body.get("tools") or ()]
    rows += [("system", "system", block) for block in system_of(body)]
    for place, message in enumerate(body.get("messages") or ()):
        for inner, block in enumerate(blocks_of(message)):
            rows.append((f"messages.{place}.content.{inner}", message["role"], block))
    found: list[Piece] = []
    for where, role, block in rows:
        if where in hidden:
            continue
        plain = {key: value for key, value in block.items() if key != "cache_control"}
        text = (role + json.dumps(plain, ensure_ascii=False)).encode()
        size = len(text)
        for picture in _pictures([plain]):
            data = picture["source"]["data"]
            size += int(image_of(base64.b64decode(data)).tokens * CHARACTERS) - len(data)
        mark = block.get("cache_control")
        ttl = None if mark is None else mark.get("ttl", "5m")
        found.append(Piece(where, block.get("type", "text"), text, size, ttl))
    return found
