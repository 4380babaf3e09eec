"""The parts of a streamed reply of the Messages API: blocks that are still coming, and what the vendor tells of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from codelaw.domain.messages import FoundPage, KeptItem, WebSearch
from codelaw.domain.models import Usage

_USAGE: Mapping[str, tuple[str, ...]] = {
    "input_tokens": ("input_tokens",),
    "cache_read_tokens": ("cache_read_input_tokens",),
    "cache_write_tokens": ("cache_creation_input_tokens",),
    "output_tokens": ("output_tokens",),
    "web_searches": ("server_tool_use", "web_search_requests"),
    "cache_write_1h_tokens": ("cache_creation", "ephemeral_1h_input_tokens"),
    "thinking_tokens": ("output_tokens_details", "thinking_tokens"),
}
"""Where the vendor tells what we call so."""

MOST_TOKENS = 100_000_000
"""Of one reply, of any kind; whoever reports more, or less than none, is not believed."""
MOST_CALLS = 256
"""Of one reply."""
LONGEST_NAME = 1_000
"""Characters of a tool's name, or of a call's id."""
LONGEST_QUERY = 1_000
"""Characters of a search that are kept, and of a title or an address that it gave."""
MOST_PAGES = 50
"""Of one search that are kept."""

THINKING = frozenset({"thinking", "redacted_thinking"})


class MalformedEvent(ValueError):
    """An event has not the shape it should have."""


class EndlessReply(ValueError):
    """The reply is larger than any that was asked for."""


@dataclass(slots=True)
class OpenCall:
    """A call whose input is still coming."""

    id: str
    tool: str
    given: dict[str, Any]
    """The input of the start event; empty when it is streamed."""
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        """Its input so far, as it was written."""
        return "".join(self.pieces)

    @property
    def arguments(self) -> dict[str, Any] | None:
        """None while they are no JSON object."""
        text = self.text
        return _arguments(text) if text.strip() else self.given


@dataclass(slots=True)
class OpenItem:
    """A block that goes back as it came: thinking, and the vendor's own tools with their results (P-5).

    Without a `block` it only says that text follows a call there.
    """

    block: dict[str, Any] | None
    """As it started."""
    text: int
    calls: int
    pieces: list[str] = field(default_factory=list[str])
    """Of the thinking's text."""
    call: OpenCall | None = None
    """Whose input arrives in pieces."""

    def kept(self) -> KeptItem:
        """What is kept of it."""
        block = self.block
        if block is None:
            return KeptItem("", self.text, self.calls)
        if self.call is not None:
            block = {**block, "input": self.call.arguments or {}}
        elif self.pieces:
            block = {**block, "thinking": "".join(self.pieces)}
        bound = block.get("type") in THINKING
        return KeptItem(json.dumps(block, ensure_ascii=False), self.text, self.calls, bound=bound)


def word(value: object) -> str:
    """A short word of the vendor's; empty when it is none."""
    return value if isinstance(value, str) and len(value) <= LONGEST_NAME else ""


def usage_of(usage: object, known: Usage) -> tuple[Usage, bool]:
    """`known` with what is told anew, and whether some of that cannot be."""
    told: dict[str, int] = {}
    doubted = False
    for name, path in _USAGE.items():
        value = usage
        for key in path:
            value = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
        most = MOST_CALLS if name == "web_searches" else MOST_TOKENS
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
            told[name] = value
        else:
            doubted |= value is not None
    return replace(known, **told), doubted


def refusal_of(details: object) -> str:
    """The category of a refusal and its explanation, as far as they are told."""
    fields = cast("dict[str, object]", details) if isinstance(details, dict) else {}
    told = [fields.get("category"), fields.get("explanation")]
    return ": ".join(text[:LONGEST_NAME] for text in told if isinstance(text, str) and text)


def pages_of(content: object) -> WebSearch:
    """What a search gave: a list of pages, or an error."""
    if isinstance(content, dict):
        code = cast("dict[str, object]", content).get("error_code")
        return WebSearch("", problem=code[:LONGEST_NAME] if isinstance(code, str) else "unknown")
    rows = cast("list[object]", content) if isinstance(content, list) else []
    pages = [cast("dict[str, object]", row) for row in rows[:MOST_PAGES] if isinstance(row, dict)]
    told = ((page.get("title"), page.get("url")) for page in pages)
    kept = (tuple(text[:LONGEST_QUERY] if isinstance(text, str) else "" for text in one) for one in told)
    return WebSearch("", tuple(FoundPage(title, url) for title, url in kept if url))


def _arguments(text: str) -> dict[str, Any] | None:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def mapping(value: object, name: str) -> Mapping[str, Any]:
    """`value`, if it is an object; raises MalformedEvent."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    raise MalformedEvent(f"`{name}` of an event is not an object")


def string(value: object, name: str) -> str:
    """`value`, if it is a string; raises MalformedEvent."""
    if isinstance(value, str):
        return value
    raise MalformedEvent(f"`{name}` of an event is not a string")


def named(value: object, name: str) -> str:
    """`value`, if it can be a name; raises MalformedEvent."""
    text = string(value, name)
    if len(text) > LONGEST_NAME:
        raise MalformedEvent(f"`{name}` of a call has {len(text)} characters")
    return text
