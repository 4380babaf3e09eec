"""What the vendor's models of today take, refuse and forget, as rules that can be held against its documents.

`MODELS` has the facts of each model. `Account.judge` reads a request as the vendor does: it gives the text of the
refusal, or which thinking blocks are dropped. Thinking is signed here too: a signature is bound to the account, the
model, the block's own text, the thinking block before it, and all that stood before it in the request.
"""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

EFFORTS = ("low", "medium", "high", "xhigh", "max")
BINDING = "thinking-binding-controls-2026-08-01"
UPDATES = "thinking-display-updates-2026-08-18"
THINKING = frozenset({"thinking", "redacted_thinking"})
BOUND = "The block is bound to a different conversation."
CONTROL = '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block"'
PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."

Kind = Literal["adaptive", "between_tools", "enabled", "disabled"]


@dataclass(frozen=True, slots=True)
class Model:
    """The facts of one model."""

    types: frozenset[Kind]
    """What `thinking.type` may be."""
    default: Literal["thinks", "always", "off"] = "thinks"
    """Without `thinking`."""
    effort: str = "high"
    efforts: tuple[str, ...] = EFFORTS
    most_unthinking: str = "max"
    """The highest effort beside `disabled` and `between_tools`."""
    output: int = 128_000
    window: int = 1_000_000
    cacheable: int = 512
    """Tokens of the shortest prefix that is cached."""
    checks_prefix: bool = False
    """Whether a thinking block counts only where all that stood before it is as it was."""
    reads: frozenset[str] = frozenset()
    """Whose thinking it reads besides its own."""
    account_bound: bool = False
    forced_tools: bool = True
    """Whether `tool_choice` may be `any` or `tool`."""
    system_in_messages: bool = True
    prefill: bool = False
    omits: bool = True
    """Whether thinking has no text unless `display` asks for it."""


def _kinds(*names: Kind) -> frozenset[Kind]:
    return frozenset(names)


_OLD = frozenset({"claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-5",
                  "claude-sonnet-4-5", "claude-haiku-4-5"})  # fmt: skip
_FIVE = _OLD | {"claude-opus-5", "claude-sonnet-5"}
MODELS: Mapping[str, Model] = {
    "claude-sonnet-5-5": Model(_kinds("adaptive", "between_tools"), most_unthinking="high", checks_prefix=True,
                               reads=_OLD | {"claude-sonnet-5", "claude-haiku-5-5"}, account_bound=True,
                               forced_tools=False),
    "claude-opus-5-5": Model(_kinds("adaptive"), "always", "medium", checks_prefix=True, forced_tools=False,
                             reads=_FIVE | {"claude-sonnet-5-5", "claude-haiku-5-5"}),
    "claude-haiku-5-5": Model(_kinds("adaptive", "disabled"), effort="medium", most_unthinking="high",
                              checks_prefix=True, reads=_OLD | {"claude-sonnet-5"}, account_bound=True),
    "claude-fable-5-1": Model(_kinds("adaptive"), "always", checks_prefix=True, forced_tools=False,
                              reads=_FIVE | {"claude-opus-5-5"}),
    "claude-opus-5": Model(_kinds("adaptive", "disabled"), most_unthinking="high", reads=_OLD),
    "claude-sonnet-5": Model(_kinds("adaptive", "disabled"), cacheable=1024, reads=_OLD, system_in_messages=False),
    "claude-opus-4-8": Model(_kinds("adaptive", "disabled"), "off", cacheable=1024, reads=_OLD),
    "claude-opus-4-6": Model(_kinds("adaptive", "enabled", "disabled"), "off", cacheable=4096, reads=_OLD, omits=False,
                             efforts=("low", "medium", "high", "max"), system_in_messages=False),
    "claude-sonnet-4-5": Model(_kinds("enabled", "disabled"), "off", efforts=(), output=64_000, window=200_000,
                               cacheable=1024, reads=_OLD, system_in_messages=False, prefill=True, omits=False),
}  # fmt: skip
"""`enabled` needs `budget_tokens`. A name that is not here is read without any of this, as compatible endpoints do."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of a request."""

    refusal: str | None = None
    """The message of the 400."""
    transformed: tuple[Mapping[str, str], ...] = ()
    """`input_transformations` of the answer: thinking that was dropped."""


@dataclass(slots=True)
class Account:
    """An account of the vendor: signs thinking, and judges what comes back."""

    name: str = "org-1"
    enforced: bool = True
    """Whether a mismatch is refused where the request does not say what to do."""
    seal: bytes = b"vendor"
    given: dict[str, str] = field(default_factory=dict[str, str])
    """Signatures by the digest of what stood before, so that a test can tell what could have gone back."""

    def judge(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Judged:
        """Read a request by the rules of its model."""
        model = MODELS.get(str(body.get("model")))
        if model is None:
            return Judged(next((f"{name}: Extra inputs are not permitted" for name in _NEW if name in body), None))
        wrong = _parameters(body, model, _betas(headers))
        if wrong is not None:
            return Judged(wrong)
        return self._thinking(body, model)

    def thinks(self, body: Mapping[str, Any]) -> bool:
        """Whether an answer to `body` begins with thinking."""
        model = MODELS.get(str(body.get("model")))
        asked = (body.get("thinking") or {}).get("type")
        if model is None or (model.default == "off" and asked is None):
            return False
        return asked not in {"disabled", "between_tools"} or (asked == "between_tools" and bool(body.get("tools")))

    def shown(self, body: Mapping[str, Any], text: str, *, note: bool) -> str:
        """The text of a thinking block as the request wants it; `note`: it tells the user how the work goes."""
        omits = MODELS[str(body["model"])].omits
        display = (body.get("thinking") or {}).get("display", "omitted" if omits else "summarized")
        return text if display == "summarized" or (note and display == "updates") else ""

    def sign(self, body: Mapping[str, Any], before: Sequence[Mapping[str, Any]], text: str) -> str:
        """The signature of a thinking block that an answer to `body` gives behind its blocks `before`."""
        thinking = [block for _, _, block in _thinking_of(body["messages"])] + [
            block for block in before if block["type"] in THINKING
        ]
        facts = {
            "model": body["model"],
            "account": self.name,
            "text": _digest(text),
            "prefix": _prefix(body, len(body["messages"]), before),
            "after": _digest(_secret(thinking[-1])) if thinking else "",
        }
        signature = self._sealed(facts)
        self.given[facts["prefix"]] = signature
        return signature

    def answered(self, body: Mapping[str, Any], wanted: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The thinking in front of an answer, signed: the blocks `wanted`, else an empty one where the model thinks."""
        if not self.thinks(body):
            return []
        blocks: list[dict[str, Any]] = []
        for block in wanted or ({"type": "thinking", "thinking": "Let me see."},):
            if block["type"] == "redacted_thinking":
                blocks.append({"type": "redacted_thinking", "data": self.sign(body, blocks, "")})
                continue
            text = self.shown(body, block["thinking"], note=block.get("note", False))
            blocks.append({"type": "thinking", "thinking": text, "signature": self.sign(body, blocks, text)})
        return blocks

    def lost(self, body: Mapping[str, Any]) -> list[str]:
        """Places of assistant messages in `body` whose thinking was given, could go back, and does not."""
        places: list[str] = []
        for place, message in enumerate(body["messages"]):
            if message["role"] == "assistant" and self.given.get(_prefix(body, place, ())) is not None:
                kinds = {block["type"] for block in _blocks(message)}
                places += [f"messages.{place}"] if not kinds & THINKING else []
        return places

    def _sealed(self, facts: Mapping[str, str]) -> str:
        text = json.dumps(facts, sort_keys=True).encode()
        seal = hmac.new(self.seal, text, sha256).digest()[:12]
        return base64.b64encode(seal + text).decode()

    def _opened(self, block: Mapping[str, Any]) -> dict[str, str] | None:
        try:
            raw = base64.b64decode(_secret(block), validate=True)
            facts: dict[str, str] = json.loads(raw[12:])
        except (ValueError, KeyError):
            return None
        return facts if self._sealed(facts) == _secret(block) else None

    def _thinking(self, body: Mapping[str, Any], model: Model) -> Judged:
        binding = (body.get("thinking") or {}).get("block_binding", {}).get("prefix_mismatch_behavior")
        dropped: list[Mapping[str, str]] = []
        previous: Mapping[str, Any] | None = None
        last = max((at for at, message in enumerate(body["messages"]) if message["role"] == "assistant"), default=-1)
        for place, inner, block in _thinking_of(body["messages"]):
            path = f"messages.{place}.content.{inner}"
            facts = self._opened(block)
            if facts is None:
                return Judged(f"{path}: Invalid `signature` in `thinking` block.")
            if facts["text"] != _digest(block.get("thinking", "")):
                changed = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"
                return Judged(changed if place == last else f"{path}: Invalid `signature` in `thinking` block.")
            reason = self._unreadable(facts, str(body["model"]), model)
            if reason is None and model.checks_prefix and not _fits(body, place, inner, facts, previous):
                if binding != "drop_block" and (binding == "error" or self.enforced):
                    advice = f"Remove the block, or set {CONTROL}."
                    return Judged(f"{path}: Invalid `signature` in `thinking` block. {BOUND} {advice}")
                reason = "prefix_binding_mismatch"
            previous = block
            if reason is not None:
                dropped.append({"type": "thinking_dropped", "path": path, "reason": reason})
        return Judged(None, tuple(dropped))

    def _unreadable(self, facts: Mapping[str, str], name: str, model: Model) -> str | None:
        if facts["model"] != name and facts["model"] not in model.reads:
            return "model_binding_mismatch"
        maker = MODELS[facts["model"]]
        return "organization_binding_mismatch" if maker.account_bound and facts["account"] != self.name else None


_NEW = ("output_config", "diagnostics", "fallbacks", "compaction", "context_management")


def _parameters(body: Mapping[str, Any], model: Model, betas: frozenset[str]) -> str | None:
    """What is wrong with the request's own fields."""
    if body.get("max_tokens", 1) > model.output:
        most = "which is the maximum allowed number of output tokens"
        return f"max_tokens: {body['max_tokens']} > {model.output}, {most}"
    thinking = body.get("thinking")
    kind = None if thinking is None else thinking.get("type")
    if thinking is not None:
        wrong = _asked(thinking, kind, body, model, betas)
        if wrong is not None:
            return wrong
    effort = (body.get("output_config") or {}).get("effort")
    if effort is not None:
        if effort not in model.efforts:
            return f"output_config.effort '{effort}' is not supported for this model."
        unthinking = kind in {"disabled", "between_tools"}
        if unthinking and EFFORTS.index(effort) > EFFORTS.index(model.most_unthinking):
            return f"output_config.effort '{effort}' is not supported when thinking is disabled on this model."
    choice = (body.get("tool_choice") or {}).get("type")
    if choice in {"any", "tool"} and not model.forced_tools:
        return 'tool_choice: type "tool" and "any" are not supported for this model.'
    last = body["messages"][-1]
    on = any(block["type"] == "server_tool_use" for block in _blocks(last))
    if not model.prefill and last["role"] == "assistant" and not on:
        return PREFILL
    for place, message in enumerate(body["messages"]):
        if message["role"] == "system" and (not model.system_in_messages or place == 0):
            return f"messages.{place}.role: Input should be 'user' or 'assistant'"
    return _marks(body)


def _asked(
    thinking: Mapping[str, Any], kind: Any, body: Mapping[str, Any], model: Model, betas: frozenset[str]
) -> str | None:
    if kind not in model.types:
        if kind == "adaptive":
            return "adaptive thinking is not supported on this model"
        return f'"thinking.type.{kind}" is not supported for this model.'
    allowed = {"adaptive": {"display", "block_binding"}, "enabled": {"display", "block_binding", "budget_tokens"}}
    for name in thinking:
        if name != "type" and name not in allowed.get(kind, set()):
            return f"thinking.{kind}.{name}: Extra inputs are not permitted"
    if "block_binding" in thinking and BINDING not in betas:
        return "block_binding: Extra inputs are not permitted"
    if thinking.get("display") == "updates" and UPDATES not in betas:
        return "thinking.display: Input should be 'omitted' or 'summarized'"
    if kind == "enabled" and not 1024 <= thinking.get("budget_tokens", 0) < body["max_tokens"]:
        return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    return None


def _marks(body: Mapping[str, Any]) -> str | None:
    """What is wrong with the marks of the cache: at most four, the longer-lived first, none on thinking."""
    listed = [*(body.get("tools") or ()), *_system(body), *(one for m in body["messages"] for one in _blocks(m))]
    marks = [(block, block["cache_control"]) for block in listed if "cache_control" in block]
    if len(marks) > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
    if any(block.get("type") in THINKING for block, _ in marks):
        return "cache_control: Extra inputs are not permitted"
    spans = [mark.get("ttl", "5m") for _, mark in marks]
    if set(spans) - {"5m", "1h"}:
        return "cache_control.ephemeral.ttl: Input should be '5m' or '1h'"
    if spans != sorted(spans):
        return "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    return None


def _fits(
    body: Mapping[str, Any], place: int, inner: int, facts: Mapping[str, str], previous: Mapping[str, Any] | None
) -> bool:
    """Whether all before a block is as it was; thinking may be missing from the front, not from within."""
    before = _blocks(body["messages"][place])[:inner]
    if facts["prefix"] != _prefix(body, place, before):
        return False
    return previous is None or facts["after"] == _digest(_secret(previous))


def _prefix(body: Mapping[str, Any], place: int, before: Sequence[Mapping[str, Any]]) -> str:
    """The digest of what stands before a block, thinking and the marks of the cache left out."""
    tools = [_plain(tool) for tool in body.get("tools") or () if not tool.get("defer_loading")]
    messages = [
        (message["role"], [_plain(block) for block in _blocks(message) if block["type"] not in THINKING])
        for message in body["messages"][:place]
        if message["content"]
    ]
    # A client may give the calls of an answer ids of its own.
    own = [_plain(block, "id") for block in before if block["type"] not in THINKING]
    return _digest(json.dumps([[_plain(block) for block in _system(body)], tools, messages, own], sort_keys=True))


def _plain(block: Mapping[str, Any], *hidden: str) -> dict[str, Any]:
    """A block's value: how it is spelt is free."""
    plain = {key: value for key, value in block.items() if key != "cache_control" and key not in hidden}
    if plain.get("type") == "tool_result" and isinstance(plain.get("content"), str):
        plain["content"] = [{"type": "text", "text": plain["content"]}]
    return plain


def _thinking_of(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    for place, message in enumerate(messages):
        for inner, block in enumerate(_blocks(message)):
            if block["type"] in THINKING:
                yield place, inner, block


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _system(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    system = body.get("system") or []
    return [{"type": "text", "text": system}] if isinstance(system, str) else list(system)


def _secret(block: Mapping[str, Any]) -> str:
    return str(block["data"] if block["type"] == "redacted_thinking" else block["signature"])


def _betas(headers: Mapping[str, str]) -> frozenset[str]:
    return frozenset(part.strip() for part in headers.get("anthropic-beta", "").split(",") if part.strip())


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
