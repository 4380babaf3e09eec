"""What of a chat's past each strategy shows, from values to values (B-1, B-3).

Each keeps rounds whole, so that no call is parted from its result, and the newest first. Rounds that would go over the
room for what is recent are left out, oldest first; the newest stays in any case, and what is too big then is the
ladder's business (C-5, W-6).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from codelaw.context.sections import message_tokens
from codelaw.context.tokens import estimate
from codelaw.domain.chats import Strategy
from codelaw.domain.checkpoints import ThreadSummary
from codelaw.domain.messages import Message
from codelaw.domain.reports import Dropped
from codelaw.templates.render import render
from codelaw.transcript.transcript import Round, newest_fitting

Resolved = Literal["layered", "full", "last-n", "summary+recent", "span-retrieval", "sliding-window"]

LAST = 30
"""Messages that `last-n` shows; those of tools count (B-3)."""
SUMMARISED: frozenset[Strategy] = frozenset({"summary+recent", "sliding-window"})
"""The strategies that show a rolling summary."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A strategy and its measures, the same for all steps of a turn. Tokens are estimates."""

    strategy: Resolved = "layered"
    by_auto: bool = False
    """`auto` has chosen it: then even `full` gives way to the window."""
    limit: int = 0
    """User turns shown at most, whatever the strategy; 0 for all (H-5)."""
    summary_room: int | None = None
    """Tokens for summaries; None for all they need."""
    room: int | None = None
    """Tokens for the recent rounds; None for all they need."""
    last: int = LAST
    recent_min: int = 4
    """Messages that stay whatever `recent_max` says."""
    recent_max: int = 20
    rounds: int = 20
    """Of the sliding window at most."""
    summary: bool = True
    """Whether a rolling summary is wanted."""
    thread: ThreadSummary | None = None
    """The rolling summary as it was when the turn began: one that is written meanwhile is shown by the next (L-6)."""
    maker: str = ""
    """Whose kept items are shown; those of others are not sent (P-5)."""

    @property
    def ignores_cuts(self) -> bool:
        """Whether archived and demoted messages are shown whole all the same (B-1)."""
        return self.strategy == "full"

    @property
    def keeps_bytes(self) -> bool:
        """Whether results stand as their turns showed them until a batch (C-6).

        A strategy that leaves rounds out begins its requests anew at every turn: there is nothing to save.
        """
        return self.strategy in {"layered", "full"}

    @property
    def narrows(self) -> bool:
        """Whether rounds may be left out when the window is in danger: not of a history that was wanted in full."""
        return self.strategy not in {"layered", "full"} or (self.strategy == "full" and self.by_auto)

    def narrowed(self, room: int) -> Selection:
        """With less room for the recent rounds."""
        return replace(self, room=max(0, room if self.room is None else min(room, self.room)))


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What a strategy chooses from."""

    rounds: tuple[Round, ...]
    """In order, repaired, as the view may show them."""
    archived: tuple[Message, ...] = ()
    """Summaries of what compactions have archived, as many as there is room for."""
    uncovered: tuple[Message, ...] = ()
    """Those of them that the rolling summary does not speak of."""
    thread: Message | None = None
    """The rolling summary as it is shown, if it is not stale (B-3)."""
    covered: int = 0
    """How many of `rounds` are in it, from the oldest."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownPast:
    """What is shown of it."""

    summaries: tuple[Message, ...]
    rounds: tuple[Round, ...]
    dropped: tuple[Dropped, ...] = ()


def resolve(strategy: Strategy, messages: int) -> Resolved:
    """The strategy itself; what `auto` chooses for a chat of that many messages (B-1)."""
    if strategy != "auto":
        return strategy
    if messages < 20:
        return "full"
    if messages < 50:
        return "last-n"
    return "summary+recent" if messages <= 100 else "span-retrieval"


def choose(material: Material, selection: Selection) -> ShownPast:
    """What the selection's strategy shows of the material, and why the rest is left out."""
    rounds, thread, strategy = material.rounds, material.thread, selection.strategy
    summarised = strategy in SUMMARISED
    shown, why = f"{strategy} shows the newest {selection.recent_max} messages", ""
    match strategy:
        case "layered" | "full":
            kept = rounds
        case "last-n":
            kept, why = newest(rounds, at_least=selection.last), f"last-n shows the newest {selection.last} messages"
        case "summary+recent":
            kept, why = _recent(rounds, selection), shown
        case "span-retrieval":
            # What is found among the older ones stands beside the question (B-4).
            kept, why = _recent(rounds, selection), f"{shown}, and what it finds among the older ones"
        case "sliding-window":
            kept, why = _window(material, selection), f"sliding-window shows the newest {selection.rounds} rounds"
            why = why if thread is None else "the rolling summary tells of them"
    dropped: list[Dropped] = []
    older = len(rounds) - len(kept)
    if older:
        messages = sum(len(round_.messages) for round_ in rounds[:older])
        dropped.append(Dropped("rounds left out", f"{older} older rounds ({messages} messages): {why}"))
    if selection.room is not None:
        fit = fitting(kept, room=selection.room)
        if over := len(kept) - len(fit):
            reason = f"{over} rounds that the {selection.room} tokens for recent rounds have no room for"
            dropped.append(Dropped("rounds over budget", reason))
        kept = fit
    unknown = len(rounds) - len(kept) - (material.covered if thread is not None else 0)
    if summarised and unknown > 0 and selection.summary:
        reason = f"{unknown} of the older rounds are not in the rolling summary yet"
        dropped.append(Dropped("not summarised", reason))
    # The archive's own summaries stand as long as there is no rolling one.
    rolling = thread if summarised else None
    summaries = material.archived if rolling is None else (*material.uncovered, rolling)
    return ShownPast(summaries, kept, tuple(dropped))


def _window(material: Material, selection: Selection) -> tuple[Round, ...]:
    """The rounds behind the rolling summary: none is in neither, and none in both.

    Where these leave half of the window empty, the newest rounds fill it, also those that the summary tells of. Without
    a rolling summary in sight the newest rounds stand alone.
    """
    rounds = material.rounds
    if not selection.summary:
        return rounds[-max(1, selection.rounds) :]
    if material.thread is None:
        return rounds
    behind = rounds[material.covered :]
    half = None if selection.room is None else selection.room // 2
    if len(fitting(behind, room=half, most=selection.rounds // 2)) < len(behind):
        return behind
    return fitting(rounds, room=selection.room, most=selection.rounds)


def newest(rounds: Sequence[Round], *, at_least: int) -> tuple[Round, ...]:
    """The newest rounds that hold at least so many messages; all when there are fewer."""
    place, found = len(rounds), 0
    while place > 0 and found < at_least:
        place -= 1
        found += len(rounds[place].messages)
    return tuple(rounds[place:])


def fitting(rounds: Sequence[Round], *, room: int | None, most: int | None = None) -> tuple[Round, ...]:
    """The newest rounds that fit into `room` tokens together, at most `most`; the very newest in any case."""
    kept = tuple(rounds if most is None else rounds[-max(1, most) :])
    return kept if room is None else kept[len(kept) - newest_fitting(list(map(round_tokens, kept)), room) :]


def round_tokens(round_: Round) -> int:
    """Estimated tokens of a round as it is sent."""
    return sum(map(message_tokens, round_.messages))


def cut_to(text: str, room: int) -> str:
    """The first lines of a text that fit into `room` tokens, its end marked with an ellipsis; all of it when it fits.

    A first line that is longer than that loses its end.
    """
    if estimate(text) <= room:
        return text
    lines = text.split("\n")
    fit = bisect_right(range(1, len(lines)), room, key=lambda count: estimate("\n".join([*lines[:count], "…"])))
    kept = "\n".join(lines[:fit])
    if not kept.strip():
        fit = bisect_right(range(1, len(text)), room - 1, key=lambda count: estimate(text[:count].rstrip()))
        kept = text[:fit].rstrip()
    return f"{kept}\n…"


def _recent(rounds: Sequence[Round], selection: Selection) -> tuple[Round, ...]:
    """The newest rounds of at most `recent_max` messages together, and of at least `recent_min` however many it takes.

    Whole rounds: the newest is there even when it alone is longer.
    """
    place, found = len(rounds), 0
    while place > 0:
        more = found + len(rounds[place - 1].messages)
        if more > selection.recent_max and found >= max(1, selection.recent_min):
            break
        place, found = place - 1, more
    return tuple(rounds[place:])


def thread_message(text: str, covers: str, room: int | None) -> Message:
    """The rolling summary as the view shows it, cut to `room` tokens."""
    shown = render("thread", summary=text)
    if room is not None and estimate(shown) > room:
        shown = cut_to(shown, room)
    return Message(f"thread_{covers}", "", "summary", shown)


def reported(selection: Selection, material: Material, chosen: ShownPast) -> str:
    """What is shown, in one line for a person."""
    messages = sum(len(round_.messages) for round_ in chosen.rounds)
    parts = [f"{len(chosen.rounds)} of {len(material.rounds)} rounds ({messages} messages)"]
    if chosen.summaries:
        parts.append(f"{len(chosen.summaries)} {'summary' if len(chosen.summaries) == 1 else 'summaries'}")
    line = ", ".join(parts)
    return f"auto chose {selection.strategy}: {line}" if selection.by_auto else line
