"""An account of the vendor: it signs thinking, and says of what comes back whether it counts, as its documents do.

A signature is bound to the account, the model, the block's own text, the thinking block before it, and all that stood
before it in the request. `judge` gives the text of the refusal, or which thinking blocks are dropped; what is refused
for other reasons is the table in `rules`, and the facts of the models are in `models`.
"""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from tests.loopback.models import MODELS, Model, known
from tests.loopback.rules import THINKING, Asked, betas_of, blocks_of, refused, system_of

BOUND = "The block is bound to a different conversation."
MODIFIED = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of a request."""

    refusal: str | None = None
    """The message of the 400."""
    transformed: tuple[Mapping[str, str], ...] = ()
    """`input_transformations` of the answer: thinking that was dropped."""

    @property
    def dropped(self) -> frozenset[str]:
        """The paths of what the model does not see."""
        return frozenset(one["path"] for one in self.transformed if one["type"] == "thinking_dropped")


@dataclass(slots=True)
class Account:
    """An account of the vendor: signs thinking, and judges what comes back."""

    name: str = "org-1"
    seal: bytes = b"vendor"
    given: dict[str, str] = field(default_factory=dict[str, str])
    """Signatures by the digest of what stood before, so that a test can tell what could have gone back."""

    def judge(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Judged:
        """Read a request by the rules of its model."""
        wrong = refused(body, betas_of(headers))
        model = known(body)
        if wrong is not None or model is None:
            return Judged(wrong)
        return self._thinking(body, model)

    def thinks(self, body: Mapping[str, Any]) -> bool:
        """Whether an answer to `body` begins with thinking."""
        model = known(body)
        return model is not None and Asked(body, model, frozenset()).thinks

    def shown(self, body: Mapping[str, Any], text: str, *, note: bool) -> str:
        """The text of a thinking block as the request wants it; `note`: it tells the user how the work goes."""
        omits = MODELS[str(body["model"])].omits
        display = (body.get("thinking") or {}).get("display", "omitted" if omits else "summarized")
        return text if display == "summarized" or (note and display == "updates") else ""

    def thought(
        self, body: Mapping[str, Any], before: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A block of thinking, signed, that an answer to `body` gives behind its blocks `before`."""
        if wanted["type"] == "redacted_thinking":
            return {"type": "redacted_thinking", "data": self.sign(body, before, "")}
        text = self.shown(body, wanted["thinking"], note=wanted.get("note", False))
        return {"type": "thinking", "thinking": text, "signature": self.sign(body, before, text)}

    def sign(self, body: Mapping[str, Any], before: Sequence[Mapping[str, Any]], text: str) -> str:
        """The signature of a thinking block that an answer to `body` gives behind its blocks `before`."""
        thinking = [block for _, _, block in _thinking_of(body["messages"])] + [
            block for block in before if block["type"] in THINKING
        ]
        facts = {
            "model": body["model"],
            "account": self.name,
            "text": _digest(text),
            "prefix": _behind(self._prefixes(body)[-1], before),
            "after": _digest(_secret(thinking[-1])) if thinking else "",
        }
        signature = self._sealed(facts)
        self.given[facts["prefix"]] = signature
        return signature

    def lost(self, body: Mapping[str, Any]) -> list[str]:
        """Places of assistant messages in `body` whose thinking was given, could go back, and does not."""
        places: list[str] = []
        prefixes = self._prefixes(body)
        for place, message in enumerate(body["messages"]):
            if message["role"] == "assistant" and self.given.get(_behind(prefixes[place], ())) is not None:
                kinds = {block["type"] for block in blocks_of(message)}
                places += [f"messages.{place}"] if not kinds & THINKING else []
        return places

    def _sealed(self, facts: Mapping[str, str]) -> str:
        text = json.dumps(facts, sort_keys=True).encode()
        seal = hmac.new(self.seal, text, sha256).digest()[:12]
        return base64.b64encode(seal + text).decode()

    def _opened(self, secret: str) -> dict[str, str] | None:
        try:
            raw = base64.b64decode(secret, validate=True)
            facts: dict[str, str] = json.loads(raw[12:])
        except ValueError:
            return None
        return facts if self._sealed(facts) == secret else None

    def _prefixes(self, body: Mapping[str, Any]) -> list[str]:
        """The digest of what stands in front of each message, and of the whole, thinking and marks left out."""
        digest = _head(body)
        found = [digest]
        for message in body["messages"]:
            blocks = [block for block in blocks_of(message) if block["type"] not in THINKING]
            if blocks:
                plain = [_plain(block) for block in blocks]
                digest = _digest(digest + message["role"] + json.dumps(plain, sort_keys=True))
            found.append(digest)
        return found

    def _thinking(self, body: Mapping[str, Any], model: Model) -> Judged:
        dropped: list[Mapping[str, str]] = []
        previous: Mapping[str, Any] | None = None
        prefixes = self._prefixes(body)
        last = max((at for at, message in enumerate(body["messages"]) if message["role"] == "assistant"), default=-1)
        for place, inner, block in _thinking_of(body["messages"]):
            path = f"messages.{place}.content.{inner}"
            facts = self._opened(_secret(block))
            if facts is None:
                return Judged(f"{path}: Invalid `signature` in `thinking` block.")
            if facts["text"] != _digest(block.get("thinking", "")):
                return Judged(MODIFIED if place == last else f"{path}: Invalid `signature` in `thinking` block.")
            reason = self._unreadable(facts, str(body["model"]), model)
            if reason is None and model.checks_prefix:
                prefix = _behind(prefixes[place], blocks_of(body["messages"][place])[:inner])
                # Thinking may be missing from the front, not from within.
                chained = previous is None or facts["after"] == _digest(_secret(previous))
                if facts["prefix"] != prefix or not chained:
                    return Judged(f"{path}: Invalid `signature` in `thinking` block. {BOUND} Remove the block.")
            previous = block
            if reason is not None:
                dropped.append({"type": "thinking_dropped", "path": path, "reason": reason})
        return Judged(None, tuple(dropped))

    def _unreadable(self, facts: Mapping[str, str], name: str, model: Model) -> str | None:
        if facts["model"] != name and facts["model"] not in model.reads:
            return "model_binding_mismatch"
        maker = MODELS[facts["model"]]
        return "organization_binding_mismatch" if maker.account_bound and facts["account"] != self.name else None


def _head(body: Mapping[str, Any]) -> str:
    """The digest of system and tools."""
    tools = [_plain(tool) for tool in body.get("tools") or () if not tool.get("defer_loading")]
    return _digest(json.dumps([[_plain(block) for block in system_of(body)], tools], sort_keys=True))


def _behind(prefix: str, before: Sequence[Mapping[str, Any]]) -> str:
    """The digest of a prefix with those blocks of an answer that stand before one of its own."""
    # A client may give the calls of an answer ids of its own.
    own = [_plain(block, "id") for block in before if block["type"] not in THINKING]
    return _digest(prefix + json.dumps(own, sort_keys=True))


def _plain(block: Mapping[str, Any], *hidden: str) -> dict[str, Any]:
    """A block's value: how it is spelt is free."""
    plain = {key: value for key, value in block.items() if key != "cache_control" and key not in hidden}
    if plain.get("type") == "tool_result" and isinstance(plain.get("content"), str):
        plain["content"] = [{"type": "text", "text": plain["content"]}]
    return plain


def _thinking_of(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    for place, message in enumerate(messages):
        for inner, block in enumerate(blocks_of(message)):
            if block["type"] in THINKING:
                yield place, inner, block


def _secret(block: Mapping[str, Any]) -> str:
    return str(block["data"] if block["type"] == "redacted_thinking" else block["signature"])


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
