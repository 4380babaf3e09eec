"""What a request says beside its messages: how the model is to think (P-6), and how long the cache is to keep it (L-6).

The marks at the end of a request always last five minutes, which the steps of a turn outrun. Those in front may last an
hour: that costs more to write, and pays when people pause for longer than five minutes, and seldom for over an hour. A
vendor may have other times instead of these two (`ModelProfile.lasts`).
Why the cache gave less than it held is told here, too (X-6). Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from codelaw.context.sections import Section, View
from codelaw.domain.chats import Dialect
from codelaw.domain.models import (
    USUAL_LASTS,
    CacheMiss,
    Display,
    Effort,
    Lasts,
    ModelProfile,
    ModelReply,
    ModelRequest,
    Prices,
    Thinking,
    Ttl,
)

_DEEP: frozenset[Effort | None] = frozenset({"xhigh", "max"})
"""Efforts with which thinking is not switched off: models refuse both together, and nobody wants them."""


@dataclass(frozen=True, slots=True)
class Manner:
    """What a request says of thinking; where it says nothing, the model's own default holds."""

    thinking: Thinking | None = None
    display: Display | None = None
    effort: Effort | None = None
    thinks: bool = False
    """Whether the model thinks then, which counts in its output (W-7)."""

    def on(self, request: ModelRequest, room: int = 0) -> ModelRequest:
        """The request with it; where the model thinks then, its reply may have `room` tokens at least."""
        most = max(request.max_tokens, room) if self.thinks else request.max_tokens
        return replace(request, thinking=self.thinking, display=self.display, effort=self.effort, max_tokens=most)


def manner(profile: ModelProfile | None, dialect: Dialect, effort: Effort | None) -> Manner:
    """What is said to a model with that profile; `effort` is what was chosen, None is the vendor's.

    In the native dialect thinking goes back with the step it belongs to: a model that thinks adaptively does, and shows
    notes on its progress, or else a summary.

    In the text dialect it cannot go back, so that every step would pay for it anew. There thoughts are written, and
    what is written stays: a model thinks only where it does so unasked, and is told not to where that can be said. But
    one that may refuse to write its reasoning down has no other place for it: that one goes on thinking.

    An effort that is the model's own default is not said, which is the same to the vendor and to its cache. What a
    profile does not take is left out: whoever takes it from a person refuses it before (`app.efforts`).
    """
    if profile is None:
        return Manner(effort=effort)
    said = effort if effort in profile.efforts and effort != profile.effort else None
    # Without tools one that thinks between their calls alone does not think.
    off: Thinking | None = "disabled" if "disabled" in profile.thinking else None
    off = "between_tools" if "between_tools" in profile.thinking else off
    unasked = profile.thinks in {"unasked", "always"}
    if dialect == "react":
        if off and profile.thinks == "unasked" and not profile.refuses_reasoning and said not in _DEEP:
            return Manner(off, effort=said)
        if not unasked:
            return Manner(effort=said)
    if "adaptive" not in profile.thinking:
        return Manner(effort=said, thinks=unasked)
    # What a person who waits wants to see of it: notes on the progress, else a summary.
    display: Display | None = "summarized" if "summarized" in profile.displays else None
    display = "updates" if "updates" in profile.displays else display
    return Manner("adaptive", display, said, thinks=True)


CacheTtl = Literal["auto", "5m", "1h"]
"""The setting `model.cacheTtl`."""
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
    """Before how many turns people paused: for longer than the shorter time but `within` the longer, and `beyond`."""

    turns: int = 0
    within: int = 0
    beyond: int = 0


def pauses(begun: Iterable[tuple[str, float]], lasts: Lasts = USUAL_LASTS) -> Pauses:
    """From the chats of turns and when these began, in seconds."""
    by_chat: dict[str, list[float]] = {}
    for chat, at in begun:
        by_chat.setdefault(chat, []).append(at)
    gaps = [later - before for times in by_chat.values() for before, later in pairwise(sorted(times))]
    longer, beyond = (sum(gap > seconds for gap in gaps) for seconds in lasts)
    return Pauses(len(gaps), longer - beyond, beyond)


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


def lasting_for(lasts: Lasts, ttl: Ttl) -> float:
    """The seconds of a `Ttl`."""
    return lasts[ttl == "1h"]


LOST = 0.1
"""The share of what the cache held that a miss loses at least: the end of a request may always be another."""
LEAST = 1_024
"""Tokens that it loses at least."""
_CHANGED: Mapping[str, str] = {
    "model": "the model changed",
    "tools": "the tools changed",
    "system": "the system prompt changed",
    "messages": "earlier messages changed",
}
"""By a vendor's reason without its last word: what is said where nothing more is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """A request, and the reply to it, as far as they say what the next request finds in the cache."""

    view: View
    model: str
    tools: tuple[str, ...]
    """Their names."""
    ttl: Ttl
    begun: float
    """In seconds since the epoch: from then on its entries last."""
    reply: ModelReply
    lasts: Lasts = USUAL_LASTS

    @property
    def kept(self) -> int:
        """Tokens that stood in the cache then."""
        return self.reply.usage.cache_read_tokens + self.reply.usage.cache_write_tokens


def missed(before: Sent | None, now: Sent) -> CacheMiss | None:
    """Why `now` has read less than `before` had left; None where it has not, or nobody knows."""
    if before is None or before.kept - now.reply.usage.cache_read_tokens < max(LEAST, LOST * before.kept):
        return None
    said = now.reply.cache_miss
    known: dict[str, str] = {}
    for part, words in _differences(before, now):
        known.setdefault(part, words)
    reported, paused = said.removesuffix("_changed"), now.begun - before.begun
    # What is surely forgotten is lost whatever has changed; the newest marks never last longer than the shorter time.
    shorter = before.lasts[0]
    if paused > lasting_for(before.lasts, before.ttl) or (paused > shorter and not known and reported not in _CHANGED):
        return CacheMiss(said or "expired", f"paused {_spelt(paused)}")
    if reported in _CHANGED:
        return CacheMiss(said, known.get(reported, _CHANGED[reported]))
    return next((CacheMiss(said or f"{part}_changed", words) for part, words in known.items()), None)


def _differences(before: Sent, now: Sent) -> Iterator[tuple[str, str]]:
    """What is not as it was, by the part of the request, the first of each part in its order."""
    if before.model != now.model:
        yield "model", _CHANGED["model"]
    if before.tools != now.tools:
        # They stand in L1 where the vendor is not told of them.
        yield from ((part, _CHANGED["tools"]) for part in ("tools", "system"))
    elif _texts(before.view.layer("L1")) != _texts(now.view.layer("L1")):
        yield "system", _CHANGED["system"]
    elif _texts(before.view.layer("L2")) != _texts(now.view.layer("L2")):
        yield "system", "the law changed"
    was, stands = (_messages(sent.view, "history", "scratchpad") for sent in (before, now))
    if _messages(before.view, "summaries").keys() != _messages(now.view, "summaries").keys():
        yield from ((part, "the chat was compacted") for part in ("system", "messages"))
    elif any(name in stands and stands[name] != shown for name, shown in was.items()):
        yield "messages", "older results were shortened"
    elif any(name not in stands for name in was):
        yield "messages", "earlier messages were left out"


def _texts(sections: Sequence[Section]) -> list[str]:
    return [section.content for section in sections]


def _messages(view: View, *names: str) -> dict[str, tuple[object, ...]]:
    """By its id what is shown of each message in these sections."""
    sections = [one for one in view.sections if one.name in names]
    return {one.id: (one.content, one.metadata.calls) for section in sections for one in section.messages}


def _spelt(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes >= 120:
        return f"{round(seconds / 3600)} hours"
    return "an hour" if minutes == 60 else f"{minutes} minutes"
