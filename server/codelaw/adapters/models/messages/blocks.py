"""The parts of a streamed reply of the Messages API: blocks still coming, and what the vendor reports of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from codelaw.adapters.models.endpoints import dig
from codelaw.adapters.models.replies import arguments_of, word
from codelaw.domain.messages import FoundPage, KeptItem, WebSearch

_MOST_PAGES = 50
USAGE: Mapping[str, tuple[str, ...]] = {
    "input_tokens": ("input_tokens",),
    "cache_read_tokens": ("cache_read_input_tokens",),
    "cache_write_tokens": ("cache_creation_input_tokens",),
    "output_tokens": ("output_tokens",),
    "web_searches": ("server_tool_use", "web_search_requests"),
    "cache_write_1h_tokens": ("cache_creation", "ephemeral_1h_input_tokens"),
    "thinking_tokens": ("output_tokens_details", "thinking_tokens"),
}
"""Where the vendor reports what we call so."""


@dataclass(slots=True)
class OpenBlock:
    """A block that is still coming: a call, or what goes back as it came (P-5); of text behind a call, its place."""

    body: dict[str, Any]
    """As it started."""
    text: int
    """Characters of text in front of it."""
    calls: int
    """Calls in front of it."""
    pieces: list[str] = field(default_factory=list[str])
    """Of its input, or of its thinking."""
    closed: bool = False

    @property
    def kind(self) -> str:
        """The vendor's word for what it is."""
        return self.body["type"]

    @property
    def written(self) -> str:
        """Its pieces so far."""
        return "".join(self.pieces)

    @property
    def arguments(self) -> dict[str, Any] | None:
        """Of a call; None while they are no JSON object."""
        whole = self.body.get("input")
        return cast("dict[str, Any]", whole) if whole and not self.written.strip() else arguments_of(self.written)

    def kept(self) -> KeptItem:
        """What is kept of it."""
        if self.kind == "text":
            return KeptItem("", self.text, self.calls)
        body = self.body
        if self.kind == "server_tool_use":
            body = {**body, "input": self.arguments or {}}
        elif self.pieces:
            body = {**body, "thinking": self.written}
        bound = self.kind in {"thinking", "redacted_thinking"}
        return KeptItem(json.dumps(body, ensure_ascii=False), self.text, self.calls, bound=bound)


def pages_of(result: Mapping[str, Any]) -> WebSearch:
    """What a search gave: a list of pages, or an error."""
    content = result.get("content")
    if isinstance(content, dict):
        return WebSearch("", problem=word(dig(result, "content", "error_code")) or "unknown")
    rows = cast("list[object]", content)[:_MOST_PAGES] if isinstance(content, list) else []
    pages = [FoundPage(word(dig(row, "title")), word(dig(row, "url"))) for row in rows]
    return WebSearch("", tuple(page for page in pages if page.url))
