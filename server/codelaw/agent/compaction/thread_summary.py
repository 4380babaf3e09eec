"""Keeping a chat's rolling summary up to date, behind the user's back and never in the way (B-3, B-8)."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace

from codelaw.agent.compaction.summarising import SummaryCalls, SummaryPrompt
from codelaw.agent.inputs.surroundings import estimated, recent_room
from codelaw.agent.inputs.turn_context import TurnInputs
from codelaw.agent.recording.history import Past
from codelaw.agent.recording.outbox import Outbox
from codelaw.context.calibration import Calibration
from codelaw.context.past.strategies import SUMMARISED, resolve
from codelaw.context.past.thread import SlidingWindow, due, limit, request_texts
from codelaw.context.sections import message_tokens
from codelaw.context.tokens import estimate
from codelaw.domain.checkpoints import ThreadSummary
from codelaw.domain.errors import ModelFailure, Refusal
from codelaw.domain.events import NoticeEvent
from codelaw.domain.models import Usage
from codelaw.transcript.summaries.summary_check import BadSummary, check
from codelaw.transcript.transcript import Transcript

UPDATED = "thread_summary_updated"
FAILED = "thread_summary_failed"
_OUTPUT = 2
"""Times its limit that a summary may take to be written, and to be kept."""
PATIENCE = 3
"""Failures in a row that cost something, after which more and more turns go by before the next attempt."""
MOST_PASSED = 31
"""Turns."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Rolling:
    """One chat's rolling summary: one call at a time, begun after a turn, awaited by nobody."""

    past: Past
    outbox: Outbox
    inputs: TurnInputs | None = None
    """Of the latest turn."""
    failures: int = 0
    """In a row, those that a model was paid for."""
    passing: int = 0
    """Turns that go by without an attempt."""
    _work: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def in_flight(self) -> bool:
        """Whether a call runs now."""
        return self._work is not None and not self._work.done()

    def after_turn(self, known: Calibration) -> None:
        """Bring the summary up to date if it is due and the chat shows one. What fails is tried again next time.

        A model that never writes one that can be used would be paid for it after every turn: it is asked less and less.
        """
        if self.inputs is None:
            return
        inputs = replace(self.inputs, calibration=known)
        settings, seen = inputs.settings, self.past.transcript
        strategy = resolve(settings.strategy, len(seen.unwithdrawn))
        if self.in_flight or strategy not in SUMMARISED or not settings.summary:
            return
        if self.passing:
            self.passing -= 1
            return
        calls = SummaryCalls(inputs.model)
        self._work = asyncio.create_task(self._run(inputs, seen, calls), name="rolling summary")

    async def settled(self) -> None:
        """Wait until none is in flight."""
        if self._work is not None:
            await asyncio.wait([self._work])

    async def cancel(self) -> None:
        """Stop the one in flight, and wait until it has."""
        if self._work is not None and not self._work.done():
            self._work.cancel()
            await asyncio.wait([self._work])

    async def _run(self, inputs: TurnInputs, seen: Transcript, calls: SummaryCalls) -> None:
        """Never raises but for a cancel."""
        why = ""
        try:
            await self._update(inputs, seen, calls)
        except BadSummary as bad:
            why = f"the model's text could not be used: {bad}"
        except ModelFailure as failure:
            why = failure.message.rstrip(".")
        except TimeoutError:
            why = f"it took longer than context.summaryTimeoutSeconds ({inputs.settings.summary_timeout_seconds:g} s)"
        except Refusal as refusal:
            # The chat is gone, or another server was faster: there is nothing to tell the user.
            if refusal.code not in {"chat_not_found", "chat_busy"}:
                why = refusal.message.rstrip(".")
        except Exception:  # noqa: BLE001 - a bug leaves the summary as it was, and stops no turn (B-8)
            _log.exception("a rolling summary failed")
            why = "codelaw failed inside; the log says why"
        if why:
            self._failed(why, calls.spent)

    async def _update(self, inputs: TurnInputs, seen: Transcript, calls: SummaryCalls) -> None:
        settings = inputs.settings
        limit_tokens = limit(inputs.budget.share("summary"))
        room = max(1_000, estimated(inputs, inputs.summary_window) // 2 - limit_tokens * _OUTPUT)
        window = None
        if resolve(settings.strategy, len(seen.unwithdrawn)) == "sliding-window":
            # The next question is taken to be as long as the last one.
            asked = next((message_tokens(one) for one in reversed(seen.messages) if one.role == "user"), 0)
            window = SlidingWindow(settings.window, recent_room(inputs, asked=asked))
        part = await asyncio.to_thread(
            due, seen, recent_min=settings.recent_min, above=settings.summarise_above, room=room, window=window
        )
        if part is None:
            return
        async with asyncio.timeout(settings.summary_timeout_seconds):
            system, asked = await asyncio.to_thread(request_texts, part, limit_tokens)
            most = limit_tokens * _OUTPUT
            reply = await calls.reply(SummaryPrompt.fresh(inputs, system).request(asked, most))
            text = await asyncio.to_thread(check, reply, limit_tokens=most, count=estimate)
        summary = ThreadSummary(text, part.covers, time.time())
        self.failures = 0
        if await self.past.summarise(summary, seen):
            message = f"The summary of the conversation now speaks of {part.messages} messages more"
            self.outbox.report(NoticeEvent("info", UPDATED, f"{message} ({_cost(calls.spent)})."))

    def _failed(self, why: str, paid: Usage) -> None:
        message = f"The summary of the conversation could not be brought up to date: {why}."
        spent, again = "", "The next turn tries again."
        if paid.total_tokens:
            spent = f" It cost {_cost(paid)}."
            self.failures += 1
            self.passing = min(MOST_PASSED, 2 ** max(0, self.failures - PATIENCE) - 1)
        if self.passing:
            again = f"It is tried again when {self.passing} more turns have ended, as it failed so often."
        self.outbox.report(NoticeEvent("warning", FAILED, f"{message} {again}{spent}"))


def _cost(paid: Usage) -> str:
    """What was billed, in words."""
    return f"{paid.total_tokens - paid.output_tokens} tokens read, {paid.output_tokens} written"
