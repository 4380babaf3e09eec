"""From a chat's settings and the room that is left to what its turn shows of the past (B-1, B-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.context.builder import Gathered, fitting_fragments, fitting_system
from codelaw.context.past.strategies import SUMMARISED, Selection, resolve
from codelaw.context.system.law import tokens_of

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.domain.messages import Fragment
    from codelaw.transcript.transcript import Transcript

WORK = 8
"""The part of the room that recent rounds leave to the turn itself, its calls and what they bring."""
NARROWED = 0.7
"""Of what the view may have: where rounds are left out because the window is in danger, enough of them go at once."""
_SCALE = 100_000


def layered(inputs: TurnInputs) -> Selection:
    """What a compaction works on, whatever the chat's strategy: all that is not archived."""
    return Selection(limit=inputs.settings.history_limit, summary_room=inputs.summary_room, maker=_maker(inputs))


def _maker(inputs: TurnInputs) -> str:
    return "" if inputs.dialect.binding is None else inputs.dialect.binding.maker


def select(inputs: TurnInputs, transcript: Transcript, *, asked: int) -> Selection:
    """What a turn shows, from its first step to its last; `asked` are the estimated tokens of the input.

    `auto` is decided here (B-1). The same state and the same question give the same selection.
    """
    settings = inputs.settings
    strategy = resolve(settings.strategy, len(transcript.unwithdrawn))
    by_auto = settings.strategy == "auto"
    if strategy == "layered" and not inputs.budget.enforced:
        return layered(inputs)
    selection = Selection(
        strategy,
        by_auto,
        settings.history_limit,
        inputs.summary_room,
        None,
        recent_min=settings.recent_min,
        recent_max=settings.recent_max,
        rounds=settings.window,
        summary=settings.summary,
        thread=transcript.thread if settings.summary and strategy in SUMMARISED else None,
        maker=_maker(inputs),
    )
    left = recent_room(inputs, asked=asked)
    if strategy == "span-retrieval" and not inputs.budget.enforced:
        return selection.narrowed(int(left * (1 - settings.retrieval_share)))
    return selection.narrowed(left) if selection.narrows or inputs.budget.enforced else selection


def recent_room(inputs: TurnInputs, *, asked: int) -> int:
    """Estimated tokens for the recent rounds: what is available, and no more than their share where it is enforced."""
    left = available(inputs, asked=asked)
    if not inputs.budget.enforced:
        return left
    law = tokens_of(inputs.law)
    fixed = tokens_of(fitting_system(inputs.system, law, inputs.budget)[0]) + law + asked
    return min(left, inputs.budget.recent(fixed=fixed))


def available(inputs: TurnInputs, *, asked: int) -> int:
    """Estimated tokens that L1, law and input leave to the past, with room for the turn's own work."""
    return max(0, estimated(inputs, inputs.room) * (WORK - 1) // WORK - inputs.fixed - asked)


def span_budget(inputs: TurnInputs, *, asked: int) -> int:
    """Estimated tokens that spans may take of what is available; of a budget that is enforced, at most their share."""
    room = int(available(inputs, asked=asked) * inputs.settings.retrieval_share)
    return min(room, inputs.budget.share("retrieved")) if inputs.budget.enforced else room


def estimated(inputs: TurnInputs, tokens: int) -> int:
    """How many estimated tokens really are `tokens` (W-4)."""
    return tokens * _SCALE // max(1, inputs.corrected(_SCALE))


def gathered(inputs: TurnInputs, beside: tuple[Fragment, ...]) -> Gathered:
    """What stands around the past, as far as its shares allow (B-2)."""
    system, gone = fitting_system(inputs.system, tokens_of(inputs.law), inputs.budget)
    beside, away = fitting_fragments(beside, inputs.budget)
    return Gathered(system, inputs.law, beside, (*gone, *away))
