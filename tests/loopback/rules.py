"""What the vendor refuses of a request, as a table to be held against its documents: a rule, its page, its words.

Each rule reads the whole request and gives the message of the 400, or None. What a thinking block is bound to is in
`claude`, and what is refused of every model and by every endpoint is in `checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.loopback.models import EFFORTS, Model, known

UPDATES = "thinking-display-updates-2026-08-18"
FALLBACK = "server-side-fallback-2026-07-01"

THINKING = frozenset({"thinking", "redacted_thinking"})
EXTRA = "Extra inputs are not permitted"

PLAIN = frozenset({"model", "max_tokens", "messages", "system", "tools", "stop_sequences", "stream"})
"""The fields of a request that a compatible endpoint knows."""
FIELDS: Mapping[str, str | None] = {
    **dict.fromkeys((*PLAIN, "thinking", "output_config", "diagnostics")), "fallbacks": FALLBACK,
}  # fmt: skip
"""Those that codelaw sends, each with the beta that it needs; any other is refused."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the rules look at it."""

    body: Mapping[str, Any]
    model: Model
    betas: frozenset[str]

    @property
    def thinking(self) -> Mapping[str, Any]:
        return self.body.get("thinking") or {}

    @property
    def kind(self) -> str | None:
        """Of thinking; None where nothing is said of it."""
        return self.thinking.get("type")

    @property
    def thinks(self) -> bool:
        if self.kind is None:
            return self.model.default != "off"
        return self.kind not in {"disabled", "between_tools"} or (
            self.kind == "between_tools" and bool(self.body.get("tools"))
        )


Rule = Callable[[Asked], str | None]


def _fields(of: Asked) -> str | None:
    for name in of.body:
        if name not in FIELDS or (FIELDS[name] is not None and FIELDS[name] not in of.betas):
            return f"{name}: {EXTRA}"
    return None


def _kind(of: Asked) -> str | None:
    if of.kind is None or of.kind in of.model.types:
        return None
    if of.kind == "adaptive":
        return "adaptive thinking is not supported on this model"
    instead = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
    return f'"thinking.type.{of.kind}" is not supported for this model. {instead}'


def _thinking_fields(of: Asked) -> str | None:
    allowed = {"adaptive": {"display"}, "enabled": {"display", "budget_tokens"}}
    for name in of.thinking:
        if name != "type" and name not in allowed.get(str(of.kind), set()):
            return f"thinking.{of.kind}.{name}: {EXTRA}"
    return None


def _display(of: Asked) -> str | None:
    display = of.thinking.get("display", "omitted")
    allowed = {"omitted", "summarized"} | ({"updates"} if UPDATES in of.betas and of.model.notes else set())
    return None if display in allowed else "thinking.display: Input should be 'omitted' or 'summarized'"


def _budget(of: Asked) -> str | None:
    if of.kind != "enabled":
        return None
    budget = of.thinking.get("budget_tokens", 0)
    if budget < 1024:
        return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    return None if budget < of.body["max_tokens"] else "`max_tokens` must be greater than `thinking.budget_tokens`."


def _effort(of: Asked) -> str | None:
    effort = (of.body.get("output_config") or {}).get("effort")
    if effort is None:
        return None
    if not of.model.efforts:
        return "This model does not support the effort parameter."
    if effort not in of.model.efforts:
        supported = ", ".join(sorted(of.model.efforts))
        return f"This model does not support effort level '{effort}'. Supported levels: {supported}."
    most = EFFORTS.index(of.model.most_unthinking)
    if of.kind in {"disabled", "between_tools"} and EFFORTS.index(effort) > most:
        return f"output_config.effort '{effort}' is not supported when thinking is disabled on this model."
    return None


def _end(of: Asked) -> str | None:
    """A message that thinking ends."""
    for place, message in enumerate(of.body["messages"]):
        blocks = blocks_of(message)
        if message["role"] == "assistant" and blocks and blocks[-1].get("type") in THINKING:
            return f"messages.{place}: The final block in an assistant message cannot be `thinking`."
    return None


def _system_role(of: Asked) -> str | None:
    messages = of.body["messages"]
    for place, message in enumerate(messages):
        if message["role"] != "system":
            continue
        if not of.model.system_in_messages:
            return "messages: role 'system' is not supported on this model"
        at = f"messages.{place}"
        if extra := set(message) - {"role", "content"}:
            return f"{at}.{min(extra)}: {EXTRA}"
        blocks = blocks_of(message)
        if not blocks:
            return f"{at}: system content must contain at least one block"
        if place == 0:
            return f"{at}: use the top-level 'system' parameter for the initial system prompt"
        if messages[place - 1]["role"] != "user":
            return f"{at}: role 'system' must follow a 'user' message"
        if place + 1 < len(messages) and messages[place + 1]["role"] != "assistant":
            return f"{at}: role 'system' must precede an 'assistant' message or end the array"
        if any(block.get("type") != "text" for block in blocks):
            return f"{at}: role 'system' supports text blocks only"
    return None


def _marks(of: Asked) -> str | None:
    marks = [(at, block, block["cache_control"]) for at, block in marked_blocks(of.body)]
    lived = ""
    for at, block, mark in marks:
        if block.get("type") in THINKING:
            return f"{at}.cache_control: {EXTRA}"
        if block.get("type", "text") == "text" and not block.get("text", "x").strip():
            return f"{at}.text: cache_control cannot be set for empty text blocks"
        if mark.get("type") != "ephemeral" or set(mark) - {"type", "ttl"}:
            return f"{at}.cache_control: Input tag does not match 'ephemeral'"
        ttl = mark.get("ttl", "5m")
        if ttl not in {"5m", "1h"}:
            return f"{at}.cache_control.ephemeral.ttl: Input should be '5m' or '1h'"
        if lived == "5m" and ttl == "1h":
            words = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
            return f"{at}.cache_control.ttl: {words}. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
        lived = ttl
    return None


def _warming(of: Asked) -> str | None:
    if of.body.get("max_tokens") != 0:
        return None
    wrong = {"stream": bool(of.body.get("stream")), 'thinking type "enabled"': of.kind == "enabled"}
    found = next((name for name, given in wrong.items() if given), None)
    return None if found is None else f"max_tokens: 0 is not supported with {found}"


RULES: Sequence[tuple[str, str, Rule]] = (
    ("errors", "a field that is not known, or whose beta header is missing", _fields),
    ("prompt caching", "a warm-up that streams or thinks by a budget", _warming),
    ("thinking", "a type of thinking that the model has not", _kind),
    ("thinking", "a field that the type of thinking has not, or whose beta header is missing", _thinking_fields),
    ("thinking", "a display that the model has not, or whose beta header is missing", _display),
    ("thinking", "a budget below 1 024 tokens, or as large as the output", _budget),
    ("effort", "an effort that the model has not, or has only while it thinks", _effort),
    ("thinking", "a message of the assistant that ends with thinking", _end),
    (
        "mid-conversation system messages",
        "a system message that is misplaced, or on a model without them",
        _system_role,
    ),
    ("prompt caching", "a longer mark behind a shorter, one on thinking or on empty text", _marks),
)
"""In the order in which they are looked at: the vendor's page, what is refused, and the rule."""


def refused(body: Mapping[str, Any], betas: frozenset[str]) -> str | None:
    """The message of the 400 by these rules."""
    model = known(body)
    if model is None:
        return _compatible(body)
    asked = Asked(body, model, betas)
    return next((said for _, _, rule in RULES if (said := rule(asked)) is not None), None)


def _compatible(body: Mapping[str, Any]) -> str | None:
    """An endpoint that only speaks the same language, and knows none of what came later."""
    for name in body:
        if name not in PLAIN:
            return f"{name}: {EXTRA}"
    for place, message in enumerate(body["messages"]):
        if message["role"] not in {"user", "assistant"}:
            return f"messages.{place}.role: Input should be 'user' or 'assistant'"
        for inner, block in enumerate(blocks_of(message)):
            if block.get("type") in THINKING:
                tag = f"Input tag '{block['type']}' found using 'type' does not match any of the expected tags"
                return f"messages.{place}.content.{inner}: {tag}"
    extra = next((at for at, block in marked_blocks(body) if "ttl" in block["cache_control"]), None)
    return None if extra is None else f"{extra}.cache_control.ttl: {EXTRA}"


def marked_blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What has a mark of the cache, with its place, in the order in which the vendor reads: tools, system, messages."""
    rows = [(f"tools.{at}", tool) for at, tool in enumerate(body.get("tools") or ())]
    rows += [(f"system.{at}", block) for at, block in enumerate(system_of(body))]
    for place, message in enumerate(body["messages"]):
        rows += [(f"messages.{place}.content.{at}", block) for at, block in enumerate(blocks_of(message))]
    return ((at, block) for at, block in rows if "cache_control" in block)


def blocks_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The blocks of a message; a bare text is one."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def system_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    system = body.get("system") or []
    return [{"type": "text", "text": system}] if isinstance(system, str) else list(system)


def betas_of(headers: Mapping[str, str]) -> frozenset[str]:
    """The betas that a request's headers ask for."""
    return frozenset(part.strip() for part in headers.get("anthropic-beta", "").split(",") if part.strip())


def paused(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the last message is an answer that the vendor has paused, and that it is to go on with."""
    return any(block.get("type") == "server_tool_use" for block in blocks_of(messages[-1]))
