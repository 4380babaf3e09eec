"""Deciding what a compaction archives, keeps and thins: values in, a plan out (K-2, K-8, C-6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from codelaw.agent.compaction.watermark import GROWTH
from codelaw.agent.inputs.surroundings import layered, select
from codelaw.agent.inputs.turn_context import HistoryState, TurnInputs
from codelaw.context.builder import History
from codelaw.context.past.projection import as_shown, body_room, carried, lasting, project
from codelaw.context.sections import message_tokens
from codelaw.context.shortening import economy
from codelaw.context.shortening.demotion import demoted
from codelaw.context.shortening.economy import TYPICAL, Terms
from codelaw.domain.checkpoints import CompactionReason, CompactionReport, Demotion
from codelaw.domain.messages import Message
from codelaw.transcript.summaries.summary import sizes
from codelaw.transcript.transcript import Cut, Round, Transcript, cut

SMALL = 64_000
"""Tokens of a window below which `keep_rounds` gives way, so that a compaction frees enough (K-8)."""
TURNS = 8
"""Turns like the last ones that have room after archiving in a small window, until a model is asked again."""
WHOLE = 2
"""Turns that always have room as they are, the running one among them: thinning comes before a summary."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a compaction is wanted."""

    reason: Literal["threshold", "manual", "overflow"]
    around: tuple[tuple[str, int], ...] = ()
    """What the view will hold besides L1, the law and the history: names and estimated tokens."""
    goal: int | None = None
    """Tokens the whole view must come down to, when the window is in danger (W-6)."""
    turn_id: str = ""
    """The turn that runs meanwhile."""

    @property
    def beside(self) -> int:
        """Estimated tokens of all that stands around the history, L1 and law aside."""
        return sum(size for _, size in self.around)

    @property
    def running(self) -> int:
        """Estimated tokens of the running turn's steps."""
        return sum(size for name, size in self.around if name == "scratchpad")

    @property
    def asked_for(self) -> bool:
        """Whether a person wants it: then exactly `keep_rounds` rounds stay (K-8)."""
        return self.reason == "manual"


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """What to do. Tokens are corrected estimates of the whole view."""

    history: History
    """The view as it is, which the summary call repeats (K-4)."""
    archived: tuple[Round, ...]
    kept: tuple[Round, ...]
    demotions: tuple[Demotion, ...]
    tokens_before: int
    fixed: int
    """Estimated tokens of all that is not a round."""
    idle: CompactionReason
    """Why nothing is done, when nothing is (K-8)."""

    @property
    def changes(self) -> bool:
        """Whether the view would be another one."""
        return bool(self.archived or self.demotions)

    @property
    def archived_view(self) -> tuple[Message, ...]:
        """The archived messages as the model has seen them."""
        gone = {round_.turn_id for round_ in self.archived}
        return tuple(message for message in _messages(self.history) if message.turn_id in gone)

    @property
    def kept_view(self) -> tuple[Message, ...]:
        """The messages that the view goes on to show in full."""
        gone = {round_.turn_id for round_ in self.archived}
        thinned = {demotion.message_id for demotion in self.demotions}
        shown = _messages(self.history)
        return tuple(message for message in shown if message.turn_id not in gone and message.id not in thinned)


def _messages(history: History) -> Sequence[Message]:
    return history.rounds.messages if history.rounds else ()


def plan(state: HistoryState, inputs: TurnInputs, cause: Cause) -> CompactionPlan:
    """Cheapest first: demote what is old, archive whole rounds, thin what must stay.

    `state` is seen as `layered` shows it.
    """
    history, rounds = state.view, state.transcript.kept
    shown = _messages(history)
    before = inputs.fixed + cause.beside
    before += history.summaries.tokens if history.summaries else 0
    view = before + (history.rounds.tokens if history.rounds else 0)
    known = state.transcript.demoted
    # What follows the cut is written anew in any case, so demoting costs nothing more: as if the cache were cold.
    saved = savings(state.transcript, shown, inputs, view, cold=True)
    weighed = _Weighed(rounds, shown, known, saved, inputs, record=whole(state.transcript))
    summary = sizes(inputs.limits.window, inputs.settings.index_tokens).total
    # The skills that these rounds have loaded stand behind the summary.
    bodies, _ = carried([one for round_ in rounds for one in round_.messages], body_room(inputs.summary_room))
    fixed = before + summary + sum(map(message_tokens, bodies))
    left, bounds = weighed.with_(saved, before), _bounds(weighed, state.transcript, fixed, cause)
    parted, demotions = Cut((), rounds), saved
    idle: CompactionReason = "rounds_not_enough"
    few = not rounds or (len(rounds) <= inputs.settings.keep_rounds and cause.goal is None)
    thinned = weighed.thinned(rounds, before, inputs.low_water) if few or bounds is not None else ()
    shorter = weighed.with_(thinned, before)
    frees = inputs.corrected(view) - shorter >= inputs.limits.window // GROWTH
    if not few and not cause.asked_for and left <= _goal(inputs, cause):
        # Cheap measures are enough, or nothing was to be done at all.
        idle = "below_low_water"
    elif (few and bounds is None) or (bounds is not None and (few or frees) and shorter <= bounds.thinned):
        demotions = thinned
    elif bounds is None:
        parted, demotions = _parted(weighed, fixed, cause)
    else:
        parted, demotions = _fewer(weighed, fixed, bounds.archived)
    return CompactionPlan(
        history=history,
        archived=parted.archived,
        kept=parted.kept,
        demotions=demotions,
        tokens_before=inputs.corrected(view),
        fixed=before,
        idle=idle,
    )


def report_of(
    planned: CompactionPlan,
    state: HistoryState,
    inputs: TurnInputs,
    reason: CompactionReason,
    *,
    seconds: float,
    message: str,
    checkpoint: str | None,
) -> CompactionReport:
    """What came of a plan; without a checkpoint the view is as it was. `state` is what it is now."""
    after = planned.tokens_before
    if checkpoint is not None:
        history = state.view
        grown = sum(section.tokens for section in (history.summaries, history.rounds) if section is not None)
        was = planned.history.summaries.tokens if planned.history.summaries else 0
        after = inputs.corrected(planned.fixed - was + grown)
    return CompactionReport(
        compacted=checkpoint is not None and bool(planned.archived),
        reason=reason,
        rounds_archived=len(planned.archived) if checkpoint is not None else 0,
        rounds_kept=len(state.transcript.kept),
        tokens_before=planned.tokens_before,
        tokens_after=after,
        seconds=round(seconds, 3),
        checkpoint_id=checkpoint,
        thinned=len(planned.demotions) if checkpoint is not None else 0,
        message=message,
    )


def shown_tokens(
    planned: CompactionPlan, transcript: Transcript, inputs: TurnInputs, checkpoint: str | None = None
) -> tuple[int, int] | None:
    """Tokens of the view before and after, as the chat's own strategy shows it; None for `layered`, whose plan it is.

    Without a checkpoint both are the view as it is.
    """
    base = planned.fixed - (planned.history.summaries.tokens if planned.history.summaries else 0)
    asked = base - inputs.fixed
    before = transcript.restored(checkpoint) or transcript if checkpoint is not None else transcript
    sizes: list[int] = []
    for state in (before, transcript):
        selection = select(inputs, state, asked=asked)
        if selection == layered(inputs):
            return None
        history = project(state, selection)
        shown = sum(section.tokens for section in (history.summaries, history.rounds) if section is not None)
        sizes.append(inputs.corrected(base + shown))
    return sizes[0], sizes[1]


def _goal(inputs: TurnInputs, cause: Cause) -> int:
    return inputs.low_water if cause.goal is None else min(inputs.low_water, cause.goal)


def savings(
    transcript: Transcript, shown: Sequence[Message], inputs: TurnInputs, view: int, *, cold: bool
) -> tuple[Demotion, ...]:
    """What economy shortens of `shown` in a view of `view` estimated tokens (C-6); nothing when the setting is off.

    Where no vendor keeps anything the cache is always cold.
    """
    prices, cold = inputs.prices or TYPICAL, cold or not inputs.caches
    terms = Terms(inputs.limits.window, prices, cold=cold, effort=inputs.bound_effort)
    tokens = inputs.corrected(view)
    if not inputs.settings.economy or tokens < terms.floor:
        return ()
    stays = lasting(shown, inputs.limits.window)
    return economy.plan(shown, transcript.demoted, whole(transcript), tokens=tokens, terms=terms, lasting=stays)


def whole(transcript: Transcript) -> Mapping[str, Message]:
    """The results that the view may show whole, as the history has them, by id (C-6)."""
    return {one.id: one for one in transcript.shown if one.role == "tool" and one.metadata.whole}


@dataclass(frozen=True, slots=True, eq=False)
class _Weighed:
    """The rounds of a view, and what they weigh when some of their messages are shown shorter."""

    rounds: tuple[Round, ...]
    shown: Sequence[Message]
    known: frozenset[Demotion]
    """What is demoted already."""
    saved: tuple[Demotion, ...]
    """What is demoted for economy."""
    inputs: TurnInputs
    record: Mapping[str, Message]
    """As `whole` has it."""

    def sizes(self, demotions: AbstractSet[Demotion] | Sequence[Demotion]) -> Counter[str]:
        """Corrected tokens of each round, by turn."""
        sizes = Counter[str]()
        for message in demoted(self.shown, self.known | set(demotions), self.record):
            sizes[message.turn_id] += message_tokens(message)
        return Counter({turn: self.inputs.corrected(tokens) for turn, tokens in sizes.items()})

    def with_(self, demotions: Sequence[Demotion], fixed: int, kept: Sequence[Round] | None = None) -> int:
        """Corrected tokens of a view of these rounds, by default all, beside `fixed` estimated tokens."""
        stay = {round_.turn_id for round_ in (self.rounds if kept is None else kept)}
        shorter = demoted(self.shown, self.known | set(demotions), self.record)
        return self.inputs.corrected(fixed + sum(message_tokens(one) for one in shorter if one.turn_id in stay))

    def thinned(self, kept_rounds: Sequence[Round], fixed: int, to: int) -> tuple[Demotion, ...]:
        """The demotions of rounds that stay: those for economy, and what more it takes to come down to `to` (K-8)."""
        stay = {round_.turn_id for round_ in kept_rounds}
        kept = [message for message in self.shown if message.turn_id in stay]
        ids = {message.id for message in kept}
        own = tuple(demotion for demotion in self.saved if demotion.message_id in ids)
        over = self.with_(own, fixed, kept_rounds) - to
        if over <= 0:
            return own
        stays = lasting(self.shown, self.inputs.limits.window)
        return (*own, *economy.thin(kept, self.known | set(own), to_free=over, lasting=stays))


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Tokens that a view may have after a compaction, so that turns like the last ones have room (K-8)."""

    thinned: int
    """Where thinning was enough: no more is freed where the newest round stays alone."""
    archived: int


def _bounds(of: _Weighed, transcript: Transcript, fixed: int, cause: Cause) -> _Bounds | None:
    """None where `keep_rounds` does not give way: in larger windows, and where a person wants the compaction."""
    inputs, last = of.inputs, of.rounds[-TURNS:]
    if cause.asked_for or not last or inputs.limits.window >= SMALL:
        return None
    said = as_shown([one for round_ in last for one in round_.messages], transcript)
    whole = sum(map(message_tokens, said)) // len(last)
    sized = of.sizes(of.thinned(of.rounds, 0, 0))
    coming = sum(sized[round_.turn_id] for round_ in last) * (TURNS - 1) // len(last)
    free = max(inputs.corrected(max(0, WHOLE * whole - cause.running)), inputs.limits.window // GROWTH)
    most = (inputs.mark if cause.goal is None else min(inputs.mark, cause.goal)) - free
    alone = of.with_(of.saved, fixed, last[-1:])
    return _Bounds(max(most, inputs.low_water, alone), most - coming)


def _parted(of: _Weighed, fixed: int, cause: Cause) -> tuple[Cut, tuple[Demotion, ...]]:
    """At least `keep_rounds` stay, and come down to the mark; fewer of them only in danger (K-2, K-8)."""
    inputs, base = of.inputs, of.inputs.corrected(fixed)
    room = 0 if cause.asked_for else inputs.low_water - base
    parted = cut(of.rounds, keep=inputs.settings.keep_rounds, room=room, sizes=of.sizes(of.saved))
    demotions = of.thinned(parted.kept, fixed, inputs.low_water)
    # With room to grow, or the next compaction would not be allowed to wait (K-8).
    if cause.goal is not None and of.with_(demotions, fixed, parted.kept) > cause.goal - inputs.limits.window // GROWTH:
        # Well below the goal, or the next step would be in danger again.
        parted = cut(of.rounds, keep=1, room=min(cause.goal, inputs.low_water) - base, sizes=of.sizes(demotions))
    return parted, demotions


def _fewer(of: _Weighed, fixed: int, most: int) -> tuple[Cut, tuple[Demotion, ...]]:
    """As many of the newest `keep_rounds` as leave a view of `most` tokens when they are thinned, at least one (K-8).

    More rounds stay only where these need not be thinned for it.
    """
    inputs, room = of.inputs, most - of.inputs.corrected(fixed)
    keep, low = inputs.settings.keep_rounds, min(most, inputs.low_water)
    newest = of.rounds[-keep:]
    kept = cut(newest, keep=1, room=room, sizes=of.sizes(of.thinned(newest, fixed, low))).kept
    parted = Cut(of.rounds[: -len(kept)], kept)
    if len(kept) == keep:
        parted = cut(of.rounds, keep=keep, room=low - inputs.corrected(fixed), sizes=of.sizes(of.saved))
    return parted, of.thinned(parted.kept, fixed, inputs.low_water if len(kept) == 1 else low)
