"""The rolling summary: when it is due, what is summed up next, and how a model is asked for it (B-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codelaw.context.past.spans import speaker, spoken
from codelaw.context.past.strategies import cut_to, fitting, newest, round_tokens
from codelaw.context.shortening.demotion import demoted
from codelaw.context.tokens import estimate
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Message
from codelaw.templates.render import render
from codelaw.transcript.transcript import Round, Transcript, rounds

LONGEST = 2_000
"""Tokens of a rolling summary at most."""
SMALLEST = 200
"""Tokens that it may have even in a small budget."""
LEAVES = 4
"""The part of a sliding window that leaves it at once."""
_WORDS = 0.35
"""Words that make a token, careful: a model told its limit passes it a little."""
_CHARACTERS = 3
"""Of a token, roughly: where a message must be cut to fit."""


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """What a sliding window shows at most."""

    rounds: int
    room: int
    """Estimated tokens."""

    def over(self, behind: Sequence[Round]) -> int:
        """How many of the rounds behind the summary leave the window now, from the oldest; 0 while all have room.

        With those that must, a quarter of the window leaves at once: a summary is asked for only now and then, and
        meanwhile the window begins with the same bytes (L-6).
        """
        if len(fitting(behind, room=self.room, most=self.rounds)) == len(behind):
            return 0
        return len(behind) - len(fitting(behind, room=_stays(self.room), most=_stays(self.rounds)))


@dataclass(frozen=True, slots=True)
class Due:
    """What is summed up next."""

    before: str
    """The summary so far; empty for the first."""
    said: str
    """What was said since, quoted."""
    covers: str
    """The newest turn that is in it."""
    messages: int


def unsummarised(transcript: Transcript, *, recent_min: int = 0) -> tuple[Round, ...]:
    """The rounds that no rolling summary knows, without the newest that hold `recent_min` messages."""
    summary, turns = transcript.thread, transcript.turns
    if summary is None or summary.covers not in turns:
        waiting = rounds(transcript.shown)
    else:
        last = turns[summary.covers]
        waiting = rounds([one for one in transcript.unwithdrawn if turns[one.turn_id] > last])
    return waiting[: len(waiting) - len(newest(waiting, at_least=recent_min))]


def due(
    transcript: Transcript, *, recent_min: int, above: int, room: int, window: SlidingWindow | None = None
) -> Due | None:
    """What to sum up now (B-3): what has left a sliding `window`; without one, all but the newest above `above` tokens.

    At most `room` tokens at once, the oldest first; the next turn goes on from there. A round that is longer by itself
    loses the middle of its messages.
    """
    if window is not None:
        behind = unsummarised(transcript)
        waiting = behind[: window.over(behind)]
    else:
        waiting = unsummarised(transcript, recent_min=recent_min)
        waiting = waiting if sum(map(round_tokens, waiting)) > above else ()
    if not waiting:
        return None
    texts: list[str] = []
    used = messages = 0
    for place, round_ in enumerate(waiting):
        text = _quoted(round_, None)
        tokens = estimate(text)
        if tokens > room and place == 0:
            text = cut_to(_quoted(round_, max(40, room * _CHARACTERS // len(round_.messages))), room)
            tokens = estimate(text)
        if texts and used + tokens > room:
            break
        texts.append(text)
        used += tokens
        messages += len(round_.messages)
    return Due(_before(transcript), "\n\n".join(texts), waiting[len(texts) - 1].turn_id, messages)


def _stays(whole: int) -> int:
    return whole - whole // LEAVES


def limit(budget_share: int) -> int:
    """Tokens that a rolling summary may have, given those of the view that are for summaries."""
    return max(SMALLEST, min(LONGEST, budget_share))


def request_texts(part: Due, limit_tokens: int) -> tuple[str, str]:
    """The system text and the user message of the call that brings the summary up to date."""
    words = max(50, int(limit_tokens * _WORDS) // 10 * 10)
    asked = render("thread_summary_part", before=part.before, said=part.said, words=words)
    return render("thread_summary"), asked


def is_request(system: str) -> bool:
    """Whether a system text is that of a call for a rolling summary."""
    return system == render("thread_summary")


def _before(transcript: Transcript) -> str:
    """The summary so far; in its absence what compactions have written."""
    if transcript.thread is not None and transcript.thread.covers in transcript.turns:
        return transcript.thread.text
    return "\n\n".join(summary.content for summary in transcript.summaries)


def _quoted(round_: Round, characters: int | None) -> str:
    """A round with its results and long arguments as one line each."""
    short: Sequence[Message] = demoted(
        round_.messages, {Demotion(one.id, part) for one in round_.messages for part in ("result", "arguments")}
    )
    return "\n".join(f"{speaker(one)}: {spoken(one, characters)}" for one in short)
