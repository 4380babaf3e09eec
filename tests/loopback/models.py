"""The facts of the vendor's models, one row each, as its pages on models, thinking, effort and the cache give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

EFFORTS = ("low", "medium", "high", "xhigh", "max")

Kind = Literal["adaptive", "between_tools", "enabled", "disabled"]


@dataclass(frozen=True, slots=True)
class Model:
    """The facts of one model."""

    types: frozenset[Kind]
    """What `thinking.type` may be; `enabled` needs `budget_tokens`."""
    default: Literal["thinks", "always", "off"] = "thinks"
    """Without `thinking`."""
    efforts: tuple[str, ...] = EFFORTS
    most_unthinking: str = "max"
    """The highest effort beside `disabled` and `between_tools`."""
    output: int = 128_000
    cacheable: int = 512
    """Tokens of the shortest prefix that is cached."""
    checks_prefix: bool = False
    """Whether a thinking block counts only where all that stood before it is as it was."""
    reads: frozenset[str] = frozenset()
    """Whose thinking it reads besides its own."""
    account_bound: bool = False
    """Whether its thinking counts on the account alone that it was made for."""
    system_in_messages: bool = True
    omits: bool = True
    """Whether thinking has no text unless `display` asks for it."""
    notes: bool = False
    """Whether longer text between calls comes as thinking of its own, which `display` `updates` shows."""
    strips: bool = False
    """Whether the thinking of finished turns is taken out before it reads them."""


def _kinds(*names: Kind) -> frozenset[Kind]:
    return frozenset(names)


_OLD = frozenset({"claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-5",
                  "claude-sonnet-4-5", "claude-haiku-4-5"})  # fmt: skip
_FIVE = _OLD | {"claude-opus-5", "claude-sonnet-5"}
_4_6 = ("low", "medium", "high", "max")

MODELS: Mapping[str, Model] = {
    "claude-sonnet-5-5": Model(_kinds("adaptive", "between_tools"), most_unthinking="high", checks_prefix=True,
                               reads=_OLD | {"claude-sonnet-5", "claude-haiku-5-5"}, account_bound=True, notes=True),
    "claude-opus-5-5": Model(_kinds("adaptive"), "always", checks_prefix=True, notes=True,
                             reads=_FIVE | {"claude-sonnet-5-5", "claude-haiku-5-5"}),
    "claude-haiku-5-5": Model(_kinds("adaptive", "disabled"), most_unthinking="high",
                              checks_prefix=True, reads=_OLD | {"claude-sonnet-5"}, account_bound=True),
    "claude-fable-5-2": Model(_kinds("adaptive"), "always", checks_prefix=True, notes=True),
    "claude-fable-5-1": Model(_kinds("adaptive"), "always", checks_prefix=True, notes=True,
                              reads=_FIVE | {"claude-opus-5-5"}),
    "claude-opus-5": Model(_kinds("adaptive", "disabled"), most_unthinking="high", reads=_OLD),
    "claude-sonnet-5": Model(_kinds("adaptive", "disabled"), cacheable=1024, reads=_OLD, system_in_messages=False),
    "claude-opus-4-8": Model(_kinds("adaptive", "disabled"), "off", cacheable=1024, reads=_OLD),
    "claude-opus-4-7": Model(_kinds("adaptive", "disabled"), "off", cacheable=2048, reads=_OLD,
                             system_in_messages=False),
    "claude-opus-4-6": Model(_kinds("adaptive", "enabled", "disabled"), "off", efforts=_4_6, cacheable=4096, reads=_OLD,
                             system_in_messages=False, omits=False),
    "claude-sonnet-4-6": Model(_kinds("adaptive", "enabled", "disabled"), "off", efforts=_4_6, output=64_000,
                               cacheable=1024, reads=_OLD, system_in_messages=False, omits=False),
    "claude-opus-4-5": Model(_kinds("enabled", "disabled"), "off", efforts=EFFORTS[:3], output=64_000,
                             cacheable=4096, reads=_OLD, system_in_messages=False,
                             omits=False),
    "claude-sonnet-4-5": Model(_kinds("enabled", "disabled"), "off", efforts=(), output=64_000,
                               cacheable=1024, reads=_OLD, system_in_messages=False,
                               omits=False, strips=True),
    "claude-haiku-4-5": Model(_kinds("enabled", "disabled"), "off", efforts=(), output=64_000,
                              cacheable=4096, reads=_OLD, system_in_messages=False,
                              omits=False, strips=True),
}  # fmt: skip
"""A name that is not here is read without any of this, as compatible endpoints do."""


def known(body: Mapping[str, object]) -> Model | None:
    """The row of the model that a request names."""
    return MODELS.get(str(body.get("model")))
