"""How long the vendor's cache is to keep what stays (L-6): pure, on prices and pauses.

The marks at the end of a request always last five minutes, which the steps of a turn outrun. Those in front may last an
hour: that costs more to write, and pays when people pause for longer than five minutes, and seldom for over an hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from codelaw.domain.models import Prices, Ttl

CacheTtl = Literal["auto", "5m", "1h"]
"""The setting `model.cacheTtl`."""
SECONDS = {"5m": 300.0, "1h": 3600.0}
USUAL_WITHIN, USUAL_BEYOND, USUAL_TURNS = 0.8, 1.4, 10
"""As if so many turns had been seen, with pauses that end within an hour and later: real sessions pause before 22 %."""
COUNTED = 300
"""The newest turns of all chats whose pauses are looked at."""
SPARED = 0.4
"""The share of a request that a pause within the hour leaves in the cache: batches and the newest turn take the rest.

Measured on recorded sessions by `benchmarks/pauses.py`.
"""
ENDING = 1_000
"""Tokens of a turn's end, which the next turn writes with a mark that lasts."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """Before how many turns people paused: for over five minutes but `within` an hour, and `beyond`."""

    turns: int = 0
    within: int = 0
    beyond: int = 0


def pauses(begun: Iterable[tuple[str, float]]) -> Pauses:
    """From the chats of turns and when these began, in seconds."""
    by_chat: dict[str, list[float]] = {}
    for chat, at in begun:
        by_chat.setdefault(chat, []).append(at)
    gaps = [later - before for times in by_chat.values() for before, later in pairwise(sorted(times))]
    beyond = sum(gap > SECONDS["1h"] for gap in gaps)
    return Pauses(len(gaps), sum(gap > SECONDS["5m"] for gap in gaps) - beyond, beyond)


def lasting(wanted: CacheTtl, offered: Sequence[Ttl], prices: Prices | None, seen: Pauses, tokens: int) -> Ttl:
    """How long the marks in front are to last, of a request with so many `tokens` that later ones repeat.

    A pause within the hour costs the writing of what it would have spared, instead of the reading; a longer one costs
    the difference of the two ways to write them all, and so does what each turn adds.
    """
    if "1h" not in offered:
        return "5m"
    if wanted != "auto":
        return wanted
    if prices is None or prices.cache_write_1h is None:
        return "5m"
    turns = seen.turns + USUAL_TURNS
    within, beyond = (seen.within + USUAL_WITHIN) / turns, (seen.beyond + USUAL_BEYOND) / turns
    now = prices.at(tokens)
    dearer = (now.cache_write_1h or now.cache_write) - now.cache_write
    saved = within * SPARED * tokens * (now.cache_write - now.cache_read)
    return "1h" if saved > dearer * (beyond * tokens + ENDING) else "5m"
