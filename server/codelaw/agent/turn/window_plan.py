"""Deciding how a turn stays inside the window: values in, an action out (W-2, W-6, C-5, C-6, K-8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from codelaw.agent.compaction.compaction_plan import Cause, plan, savings
from codelaw.agent.compaction.watermark import GROWTH, CompactionEnd, waits
from codelaw.agent.inputs.surroundings import NARROWED, estimated
from codelaw.agent.model_calls.recovery import TOO_LONG_HINT
from codelaw.context.shortening.economy import thin
from codelaw.context.shortening.scratchpad import shrink_scratchpad, truncate
from codelaw.context.system.law import tokens_of
from codelaw.context.tokens import LEAST_OUTPUT, far_off, trigger_estimate
from codelaw.domain.checkpoints import Demotion
from codelaw.transcript.transcript import due

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import HistoryState, TurnInputs
    from codelaw.context.past.strategies import Selection
    from codelaw.context.sections import View
    from codelaw.domain.errors import ModelFailure
    from codelaw.domain.messages import Message
    from codelaw.transcript.transcript import Transcript

OVERSIZED = 8
"""A result longer than this part of the window is truncated when nothing else helps (W-6)."""
FULL_HINT = (
    "The strategy `full` shows every round. Choose another one for this chat (layered, last-n, summary+recent, "
    "span-retrieval, sliding-window), start a new chat, or choose a model with a larger window."
)
NONSENSE_HINT = (
    "That cannot be, so nothing was shortened. Send the message again; if it stays so, check model.baseUrl and what "
    "stands between codelaw and the model, or start a new chat."
)
_MARGIN = 0.9
"""Of a limit that a vendor told: estimates are not exact."""

Measure = Literal["archive", "compact", "thin", "shorten", "truncate", "shorten all", "lighten"]
STEP: tuple[Measure, ...] = ("archive", "compact", "shorten", "truncate", "shorten all", "lighten")
"""What a step tries, in order, as long as its view does not fit."""
LADDER: tuple[Measure, ...] = ("compact", "shorten", "truncate", "lighten")
"""What a turn tries when the vendor refuses its length, in order, each once (W-6)."""


@dataclass(frozen=True, slots=True, eq=False)
class Send:
    """The model is asked with this view."""

    view: View


@dataclass(frozen=True, slots=True)
class Wait:
    """A compaction that somebody else began comes first."""


@dataclass(frozen=True, slots=True, eq=False)
class Compact:
    """The finished rounds are compacted."""

    cause: Cause


@dataclass(frozen=True, slots=True)
class Narrow:
    """Fewer of the newest rounds are shown, by a strategy that archives nothing."""

    selection: Selection


@dataclass(frozen=True, slots=True)
class Demote:
    """Messages of finished rounds are shown shorter from now on (C-6)."""

    demotions: tuple[Demotion, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Shorten:
    """The running turn shows its own messages like this from now on (C-5)."""

    scratchpad: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Lighten:
    """What was only lent to the question goes before the question does."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Nothing makes the view fit (`context_overflow`)."""

    message: str
    hint: str


Action = Send | Wait | Compact | Narrow | Demote | Shorten | Lighten | Refuse


@dataclass(frozen=True, slots=True)
class Compactions:
    """What is known of the chat's compactions."""

    in_flight: bool = False
    """Somebody's runs now."""
    paused: bool = False
    """Automatic ones have failed too often (K-7)."""
    newest: CompactionEnd | None = None
    """How the newest one ended; looked up near the window only."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """All that is known when something is to be decided."""

    inputs: TurnInputs
    selection: Selection
    history: HistoryState
    """As the selection shows it."""
    archive: HistoryState
    """As `layered` shows it, which is what a compaction works on."""
    view: View
    turn_id: str
    scratchpad: Sequence[Message] = ()
    record: Sequence[Message] = ()
    """The same messages as the history will have them."""
    compactions: Compactions = Compactions()

    @property
    def tokens(self) -> int:
        """Of the whole view, corrected."""
        return self.inputs.corrected(self.view.tokens)

    @property
    def fits(self) -> bool:
        """Whether the view leaves room for an answer."""
        return self.tokens <= self.inputs.room

    @property
    def near(self) -> bool:
        """Whether the view is so long that finished rounds should give way."""
        return self.tokens >= self.inputs.mark or not self.fits

    @property
    def layered(self) -> bool:
        """Whether the strategy archives."""
        return self.selection.strategy == "layered"


@dataclass(frozen=True, slots=True)
class Refused:
    """What the vendor has found too long."""

    sent: int
    """Tokens, as we count them."""
    goal: int
    """Tokens to come down to."""
    said: str


@dataclass(frozen=True, slots=True)
class FitProgress:
    """What a turn has tried in order to stay inside the window."""

    step: tuple[Measure, ...] = STEP
    """What is left to try at this step."""
    ladder: tuple[Measure, ...] = LADDER
    """What is left to try in this turn when the vendor refuses its length."""
    refused: Refused | None = None
    """None before the step's view was sent."""
    doubted: bool = False
    """The vendor has once refused the length with numbers that cannot be."""
    archived_at: int | None = None
    """Tokens at which finished rounds were last to be archived while the turn ran."""

    @property
    def left(self) -> tuple[Measure, ...]:
        """What is left to try now."""
        return self.step if self.refused is None else self.ladder

    def having(self, left: tuple[Measure, ...]) -> FitProgress:
        """With this left to try now."""
        return replace(self, step=left) if self.refused is None else replace(self, ladder=left)


@dataclass(frozen=True, slots=True)
class Heard:
    """What follows from a vendor's refusal of a view's length."""

    inputs: TurnInputs
    """With the window that the vendor really has."""
    progress: FitProgress
    limit: int | None = None
    """Tokens that the vendor takes, where it told them."""
    action: Send | Refuse | None = None
    """Where nothing is to be tried."""


def is_due(now: Moment, typed: str) -> bool:
    """Whether the trigger of W-2 is reached before the first step."""
    used = now.history.last_usage
    return now.layered and due(
        used.total_tokens if used is not None else 0,
        trigger_estimate(typed),
        window=now.inputs.limits.window,
        threshold=now.inputs.settings.threshold,
        messages=len(now.history.shown),
        min_messages=now.inputs.settings.min_messages,
    )


def unkept(inputs: TurnInputs, transcript: Transcript) -> tuple[Demotion, ...]:
    """What is shown shorter at once: all there is where economy is off (C-6)."""
    if inputs.settings.economy:
        return ()
    whole = [Demotion(message_id, "cut") for message_id in transcript.whole.values()]
    return (*whole, *(Demotion(message_id, "aside") for message_id in transcript.beside))


def before_first_step(now: Moment, typed: str, at: float) -> Compact | Demote | None:
    """Compact when it is due (W-2), else demote what is old when that pays (C-6); `at` in seconds since the epoch."""
    if is_due(now, typed):
        if now.compactions.paused:
            return None
        if not _too_soon(now):
            return Compact(_cause(now))
    inputs, history, shown = now.inputs, now.history, now.history.shown
    if not shown or now.selection.ignores_cuts:
        return None
    asked = now.view.named("question")
    past = [history.view.summaries, history.view.rounds, asked, *inputs.system]
    tokens = tokens_of([section for section in past if section is not None])
    chosen = savings(history.transcript, shown, inputs, tokens, cold=history.lapsed(at, inputs.lasts))
    return Demote(chosen) if chosen else None


def next_action(now: Moment, progress: FitProgress) -> tuple[Action, FitProgress]:
    """What brings the view into the window, or below the length that was refused; and what is left to try after it.

    Finished rounds give way before anything of the running turn does (C-5).
    """
    while not _enough(now, progress):
        if not progress.left:
            return _refusal(now, progress), progress
        measure, *left = progress.left
        if now.compactions.in_flight and (measure == "archive" or (measure == "compact" and now.layered)):
            return Wait(), progress
        action, progress = _tried(measure, now, progress.having(tuple(left)))
        if action is not None:
            return action, progress
    return Send(now.view), progress


def heard(inputs: TurnInputs, progress: FitProgress, view: View, failure: ModelFailure) -> Heard:
    """What the vendor's refusal of a view teaches: a smaller window, and a length to come down to (W-6).

    Of numbers that cannot be nothing is believed: the same view is sent again, once in a turn.
    """
    sent = inputs.corrected(view.tokens)
    if far_off(sent, failure.size, failure.limit):
        message = f"About {sent} tokens were sent, and the endpoint refuses them as too long. It says:"
        again = Refuse(f"{message} {failure.message}", NONSENSE_HINT) if progress.doubted else Send(view)
        return Heard(inputs, replace(progress, doubted=True), action=again)
    if failure.limit is None:
        smaller = shrunk(inputs, int(sent * _MARGIN))
        goal = sent // 2
    else:
        # In our measure, where the vendor told how long it found the prompt.
        smaller = shrunk(inputs, int(failure.limit * min(1.0, sent / (failure.size or sent))))
        goal = min(smaller.room, int(sent * _MARGIN))
    return Heard(smaller, replace(progress, refused=Refused(sent, goal, failure.message)), failure.limit)


def shrunk(inputs: TurnInputs, window: int) -> TurnInputs:
    """The inputs with a window of so many tokens, if theirs is larger."""
    limits = inputs.limits
    window = min(max(2 * LEAST_OUTPUT, window), limits.window)
    reserve = min(limits.reserve, max(LEAST_OUTPUT, window // 10))
    own = inputs.settings.summary_model in {None, inputs.model_name}
    return replace(
        inputs,
        limits=replace(limits, window=window, reserve=reserve, output=reserve),
        summary_window=min(inputs.summary_window, window) if own else inputs.summary_window,
    )


def _enough(now: Moment, progress: FitProgress) -> bool:
    first = progress.left[:1]
    if progress.refused is None:
        return now.fits and not (first == ("archive",) and now.near)
    pending = first == ("thin",) and now.tokens > progress.refused.goal
    return now.tokens < progress.refused.sent and not pending


def _tried(measure: Measure, now: Moment, progress: FitProgress) -> tuple[Action | None, FitProgress]:
    """The action of a measure; None where it changes nothing."""
    refused, room, pad = progress.refused, now.inputs.room, now.scratchpad
    goal = room if refused is None else refused.goal
    match measure:
        case "archive":
            return _archived(now, progress)
        case "compact":
            return _compacted(now, progress, goal)
        case "thin":
            over = now.tokens - int(goal * NARROWED)
            chosen = thin(now.history.shown, now.history.transcript.demoted, to_free=over)
            fits = now.tokens <= goal or now.selection.ignores_cuts
            return (Demote(chosen) if chosen and not fits else None), progress
        case "shorten":
            # In one big step: shortening a little at every step would cost the prompt cache each time.
            target = now.inputs.low_water if refused is None else goal
            shorter = shrink_scratchpad(pad, now.record, to_free=now.tokens - target)
        case "shorten all":
            shorter = shrink_scratchpad(pad, now.record, to_free=now.tokens - room, all_of_it=True)
        case "truncate":
            bound = max(500, min(now.inputs.limits.window, goal) // OVERSIZED)
            shorter = truncate(pad, bound=bound) if now.tokens > goal else pad
        case "lighten":
            return (Lighten() if now.inputs.beside else None), progress
    return (None if shorter is pad else Shorten(tuple(shorter))), progress


def _archived(now: Moment, progress: FitProgress) -> tuple[Compact | None, FitProgress]:
    """Finished rounds to their least, before anything of the running turn gives way (C-5): archived, then thinned.

    The check of W-2 before a later step; the first one follows the check of `before_first_step`.
    """
    inputs, tokens, before = now.inputs, now.tokens, progress.archived_at
    if not now.layered or now.compactions.paused or tokens < inputs.mark or not now.scratchpad:
        return None, progress
    if before is not None and tokens - before < inputs.limits.window / GROWTH:
        return None, progress
    shown = now.view.named("history")
    if shown is None or len(shown.messages) < inputs.settings.min_messages or _too_soon(now):
        return None, progress
    cause, progress = _cause(now), replace(progress, archived_at=tokens)
    # Nothing joins the finished rounds while a turn runs: what was said of them once need not be said again.
    if before is not None and not plan(now.archive, inputs, cause).changes:
        return None, progress
    return Compact(cause), progress


def _compacted(now: Moment, progress: FitProgress, goal: int) -> tuple[Compact | Narrow | None, FitProgress]:
    """Finished rounds down to `goal`, once in a turn: archived, or left out of the view (W-6)."""
    if progress.refused is None:
        if "compact" not in progress.ladder:
            return None, progress
        progress = replace(progress, ladder=tuple(one for one in progress.ladder if one != "compact"))
    if now.layered:
        return Compact(_cause(now, goal)), progress
    history = now.view.named("history")
    if history is None or not now.selection.narrows:
        return None, progress
    room = estimated(now.inputs, int(goal * NARROWED)) - now.view.tokens + history.tokens
    return Narrow(now.selection.narrowed(room)), progress.having(("thin", *progress.left))


def _too_soon(now: Moment) -> bool:
    """Whether a compaction would come too soon after the one before (K-8)."""
    beside = sum(size for _, size in _around(now.view))
    return waits(now.archive, now.inputs, now.compactions.newest, view=now.tokens, beside=beside)


def _cause(now: Moment, goal: int | None = None) -> Cause:
    return Cause("threshold" if goal is None else "overflow", _around(now.view), goal, now.turn_id)


def _around(view: View) -> tuple[tuple[str, int], ...]:
    """What stands around the history, L1 and law aside: names and estimated tokens."""
    return tuple((one.name, one.tokens) for one in view.sections if one.layer not in {"L1", "L2", "L3"})


def _refusal(now: Moment, progress: FitProgress) -> Refuse:
    sizes = ", ".join(f"{section.name} {section.tokens}" for section in now.view.sections)
    said = progress.refused.said if progress.refused is not None else ""
    reported = f" The vendor says: {said}" if said else ""
    limits = now.inputs.limits
    return Refuse(
        f"About {now.tokens} tokens do not fit into the window of {limits.window}, "
        f"with {limits.reserve} kept for the answer: {sizes}.{reported}",
        FULL_HINT if now.selection.ignores_cuts else TOO_LONG_HINT,
    )
