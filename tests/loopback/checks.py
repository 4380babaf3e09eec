"""What the vendor refuses, and what it would bill: a strict reading of a request's body."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_LOOKBACK = 20


def refusal(body: Any, window: int) -> str | None:
    """Why the vendor would answer 400, in its words; None for a good request."""
    if not isinstance(body, dict):
        return "Input should be a valid dictionary"
    for field in ("model", "max_tokens", "messages"):
        if field not in body:
            return f"{field}: Field required"
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
        return "max_tokens: Input should be greater than or equal to 1"
    for field in ("temperature", "top_p", "top_k"):
        if field in body:
            return f"`{field}` is deprecated for this model."
    marks = json.dumps(body).count('"cache_control": {')
    if marks > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    for place, block in enumerate(body.get("system") or ()):
        if not block.get("text", "").strip():
            return f"system.{place}: text content blocks must contain non-whitespace text"
    for place, tool in enumerate(body.get("tools") or ()):
        if not _TOOL_NAME.fullmatch(tool.get("name", "")) or "input_schema" not in tool:
            return f"tools.{place}: a tool needs a name and an input_schema"
    for place, sequence in enumerate(body.get("stop_sequences") or ()):
        if not sequence.strip():
            return f"stop_sequences.{place}: each stop sequence must contain non-whitespace"
    wrong = _messages(body["messages"])
    if wrong is not None:
        return wrong
    tokens = count(body)
    return f"prompt is too long: {tokens} tokens > {window} maximum" if tokens > window else None


def count(body: Mapping[str, Any]) -> int:
    """The vendor's tokens of a prompt, here: four characters each."""
    return sum(size for _, size, _ in _pieces(body)) // 4


def _messages(messages: Any) -> str | None:
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    open_calls: list[str] = []
    previous = "assistant"
    for place, message in enumerate(messages):
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
                return f"messages.{place - 1}: `tool_use` ids were found without `tool_result` blocks: {min(missing)}"
            return f"messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {results[0]}"
        if results and blocks[0].get("type") != "tool_result":
            return f"messages.{place}: `tool_result` blocks must come first"
        open_calls = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        for inner, block in enumerate(blocks):
            wrong = _content(block, role)
            if wrong is not None:
                return f"messages.{place}.content.{inner}: {wrong}"
    if messages[-1]["role"] != "user":
        return "This model does not support assistant message prefill. The conversation must end with a user message."
    return None


def _content(block: Mapping[str, Any], role: str) -> str | None:
    match block.get("type"):
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
        case other:
            return f"Input tag '{other}' found does not match any of the expected tags"
    return None


class PrefixCache:
    """An exact-prefix prompt cache: what is marked is written, the longest prefix known is read."""

    def __init__(self) -> None:
        self._written: set[str] = set()

    def usage(self, body: Mapping[str, Any], output: int) -> dict[str, int]:
        """The usage to report, and the prefixes marked in `body` kept for the next request."""
        digest = sha256(str(body.get("model")).encode())
        total = read = marked = 0
        prefixes: list[tuple[str, int]] = []
        writes: list[str] = []
        for text, size, mark in _pieces(body):
            digest.update(text)
            total += size
            prefixes.append((digest.hexdigest(), total))
            if mark:
                marked = total
                writes.append(prefixes[-1][0])
                hits = [end for known, end in prefixes[-_LOOKBACK:] if known in self._written]
                read = max([read, *hits])
        self._written.update(writes)
        return {
            "input_tokens": (total - marked) // 4,
            "cache_creation_input_tokens": (marked - read) // 4,
            "cache_read_input_tokens": read // 4,
            "output_tokens": output,
        }


def _pieces(body: Mapping[str, Any]) -> list[tuple[bytes, int, bool]]:
    """Each block of the prompt in order: its bytes without the mark, its size, whether it is marked."""
    rows = [("tools", tool) for tool in body.get("tools") or ()]
    system = body.get("system") or ()
    rows += [("system", block) for block in ([{"text": system}] if isinstance(system, str) else system)]
    for message in body.get("messages") or ():
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        rows += [(message["role"], block) for block in blocks]
    pieces: list[tuple[bytes, int, bool]] = []
    for where, block in rows:
        plain = {key: value for key, value in block.items() if key != "cache_control"}
        text = (where + json.dumps(plain, ensure_ascii=False)).encode()
        pieces.append((text, len(text), "cache_control" in block))
    return pieces
