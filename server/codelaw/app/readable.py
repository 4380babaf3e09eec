"""Which files the deny rules keep from being read (S-1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.rules import parse_all

if TYPE_CHECKING:
    from codelaw.settings import Settings


def readable(settings: Settings) -> Callable[[str], bool]:
    """Whether a path, as it is shown, may be read by the deny rules in force."""
    rules = Rules(deny=tuple(parse_all(settings.permissions.deny)[0]))

    def allowed(path: str) -> bool:
        return judge(CallFacts("Read", "read", path), mode="agent", rules=rules).action != "deny"

    return allowed
