"""The rolling summary: when it is due, what is summed up next, and how a model is asked for it (B-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codelaw.context.past.quoting import speaker, spoken
from codelaw.context.past.strategies import cut_to, newest, round_tokens
from codelaw.context.shortening.demotion import demoted
from codelaw.context.tokens import estimate
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Message
from codelaw.templates.render import render
from codelaw.transcript.rounds import Round, rounds
from codelaw.transcript.transcript import Transcript

LONGEST = 2_000
"""Tokens of a rolling summary at most."""
SMALLEST = 200
"""Tokens that it may have even in a small budget."""
_WORDS = 0.35
"""Words that make a token, careful: a model told its limit passes it a little."""
_CHARACTERS = 3
"""Of a token, roughly: where a message must be cut to fit."""


@dataclass(frozen=True, slots=True)
class Window:
    """What a sliding window shows at most behind its summary."""

    rounds: int
    room: int
    """Estimated tokens."""


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


def unsummarised(transcript: Transcript, *, recent_min: int, window: Window | None = None) -> tuple[Round, ...]:
    """The rounds that no rolling summary knows, without the newest that hold `recent_min` messages.

    With a `window` only as many of the newest as it has room for, but at least the very newest, which it always shows.
    """
    summary, turns = transcript.thread, transcript.turns
    if summary is None or summary.covers not in turns:
        waiting = rounds(transcript.shown)
    else:
        last = turns[summary.covers]
        waiting = rounds([one for one in transcript.unwithdrawn if turns[one.turn_id] > last])
    stay = len(newest(waiting, at_least=recent_min))
    if window is not None:
        stay = min(max(1, stay), _shown(waiting, window))
    return waiting[: len(waiting) - stay]


def due(transcript: Transcript, *, recent_min: int, above: int, room: int, window: Window | None = None) -> Due | None:
    """What to sum up now; None while it has no more than `above` tokens (B-3).

    A sliding `window` begins where the summary ends: it is due as well as soon as the window has no room for all that
    the summary does not know. At most `room` tokens at once, the oldest first; the next turn goes on from there. A
    round that is longer by itself loses the middle of its messages.
    """
    waiting = unsummarised(transcript, recent_min=recent_min, window=window)
    behind = unsummarised(transcript, recent_min=0)
    over = window is not None and _shown(behind, window) < len(behind)
    if not waiting or (sum(map(round_tokens, waiting)) <= above and not over):
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


def _shown(waiting: Sequence[Round], window: Window) -> int:
    """How many of the newest rounds a sliding window shows; the newest in any case."""
    shown = used = 0
    for round_ in reversed(waiting[len(waiting) - window.rounds if len(waiting) > window.rounds else 0 :]):
        used += round_tokens(round_)
        if shown and used > window.room:
            break
        shown += 1
    return shown


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
