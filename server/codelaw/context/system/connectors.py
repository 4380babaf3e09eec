"""Connector prompts, the last modules of L1: what servers say of their own use, bounded, as foreign text (L-2, X-3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from codelaw.context.observations.layout import foreign
from codelaw.context.tokens import estimate
from codelaw.domain.served import ServedInstructions
from codelaw.templates.render import render

LONGEST = 2_000
"""Characters of what one server says."""
SHORTEST = 200
"""To which all are cut alike where they do not fit; what does not fit then is left out."""
SHARE = 0.02
"""Of the window, for all together."""

Connector = tuple[str, str]
"""A server's name, and its module of L1."""


def connectors(said: Sequence[ServedInstructions], servers: Collection[str], window: int) -> tuple[Connector, ...]:
    """The modules of those of `servers` that say something, in their share of a window of so many tokens.

    `servers` are those with a tool that the turn can call, described or to be found (X-11).
    """
    return _connectors(tuple(one for one in said if one.server in servers), int(window * SHARE))


@lru_cache(maxsize=8)
def _connectors(said: tuple[ServedInstructions, ...], room: int) -> tuple[Connector, ...]:
    longest = LONGEST
    while True:
        made = [(one.server, _module(one, longest)) for one in said]
        left = room - sum(estimate(text) for _, text in made)
        if left >= 0 or longest == SHORTEST:
            break
        longest = max(SHORTEST, longest * 3 // 4)
    while left < 0:
        left += estimate(made.pop()[1])
    return tuple(made)


def _module(said: ServedInstructions, longest: int) -> str:
    text = said.text.strip()
    shown = text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
    return render("connector", server=said.server, text=foreign(shown))
