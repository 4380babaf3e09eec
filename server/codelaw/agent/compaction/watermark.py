"""When a compaction may begin by itself again, and what kept the last one above the low-water mark (K-8)."""

from __future__ import annotations

from dataclasses import dataclass

from codelaw.agent.inputs.turn_context import HistoryState, TurnInputs
from codelaw.context.sections import message_tokens
from codelaw.context.system.law import tokens_of
from codelaw.domain.checkpoints import CompactionReport
from codelaw.transcript.transcript import Transcript

GROWTH = 10
"""The part of the window by which the view grows before a compaction begins by itself again."""
_IDLE = frozenset({"rounds_not_enough", "below_low_water"})
_NAMES = {"question": "your message", "scratchpad": "the steps of this turn", "todo": "the todo list"}


@dataclass(frozen=True, slots=True)
class CompactionEnd:
    """How the newest compaction of a chat ended."""

    turn_id: str
    """The turn that ran meanwhile; empty when none did."""
    tokens: int
    """Of the whole view."""


def ended(transcript: Transcript, turn_id: str, report: CompactionReport | None) -> CompactionEnd | None:
    """The end that a report tells of; None when the view is not what that compaction left.

    That is so after a failure, a cancel, and when its checkpoint was undone.
    """
    if report is None:
        return None
    if report.checkpoint_id is None:
        return CompactionEnd(turn_id, report.tokens_after) if report.reason in _IDLE else None
    known = report.checkpoint_id in {checkpoint.id for checkpoint in transcript.checkpoints}
    return CompactionEnd(turn_id, report.tokens_after) if known else None


def grown(state: HistoryState, inputs: TurnInputs, last: CompactionEnd | None, *, view: int, beside: int) -> int | None:
    """Tokens that a view of `view` tokens has more than when its history was last reshaped; None: it never was.

    `beside` is what of the view is neither L1 nor law nor history, in estimated tokens. All of it follows from what is
    stored: what came after the checkpoint, the restore or the withdrawn turn that settled the usage (W-2), and the size
    at which the newest compaction ended. A turn that was compacted while it ran and has become a shorter round since
    is no growth.
    """
    since_settled = _since(state, inputs, state.settled, beside)
    if last is None:
        return since_settled
    since_turn = _since(state, inputs, last.turn_id, beside)
    more = view - last.tokens if since_turn is None else max(view - last.tokens, since_turn)
    return more if since_settled is None else min(more, since_settled)


def waits(state: HistoryState, inputs: TurnInputs, last: CompactionEnd | None, *, view: int, beside: int) -> bool:
    """Whether a compaction that nobody asked for has to wait: it would do again what the last one did (K-8).

    Never in danger: a view that leaves no room for an answer is not to wait.
    """
    if view > inputs.room:
        return False
    growth = grown(state, inputs, last, view=view, beside=beside)
    return growth is not None and growth < inputs.limits.window / GROWTH


def held_up(state: HistoryState, inputs: TurnInputs, *, around: tuple[tuple[str, int], ...], tokens: int) -> str:
    """What keeps a view of `tokens` tokens above the low-water mark, the largest first, for a person.

    Empty when it is not above. The sizes in `around` are estimated tokens.
    """
    mark = inputs.low_water
    if tokens <= mark:
        return ""
    history, rounds = state.view, len(state.transcript.kept)
    newest = f"the newest {rounds} rounds, of which {inputs.settings.keep_rounds} stay (context.keepRounds)"
    if rounds <= inputs.settings.keep_rounds:
        newest = "the newest round" if rounds == 1 else f"the newest {rounds} rounds (context.keepRounds keeps them)"
    sized = [
        (newest, history.rounds.tokens if history.rounds else 0),
        ("the summaries", history.summaries.tokens if history.summaries else 0),
        ("the system prompt with its tools", tokens_of(inputs.system)),
        ("the law", tokens_of(inputs.law)),
        *((_NAMES.get(name, name), size) for name, size in around),
    ]
    parts = sorted(((size, name) for name, size in sized if size > 0), reverse=True)
    reported = ", ".join(f"{name} {inputs.corrected(size)}" for size, name in parts)
    sentence = f"The context holds about {tokens} tokens and could not come down to {mark}: {reported}."
    more = inputs.limits.window // GROWTH
    if tokens + more <= inputs.mark:
        return sentence
    return f"{sentence} The next compaction waits until it has grown by {more} tokens or the window is full."


def _since(state: HistoryState, inputs: TurnInputs, turn_id: str, beside: int) -> int | None:
    """Corrected tokens of what has come after a finished turn; None when there is no such turn."""
    turns = state.transcript.turns
    if turn_id not in turns:
        return None
    newer = (one for one in state.shown if turns.get(one.turn_id, 0) > turns[turn_id])
    return inputs.corrected(beside + sum(map(message_tokens, newer)))
