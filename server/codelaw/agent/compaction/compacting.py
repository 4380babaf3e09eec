"""Compaction: one at a time for each chat; joined, cancelled, and paused when it keeps failing (K-6, K-7)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from codelaw.agent.compaction.compaction_plan import Cause, CompactionPlan, plan, report_of, shown_tokens
from codelaw.agent.compaction.summarising import Audience, Summariser, SummaryCalls
from codelaw.agent.compaction.watermark import CompactionEnd, ended, held_up
from codelaw.agent.hooks.running import Hooks
from codelaw.agent.inputs.surroundings import as_sent, layered
from codelaw.agent.inputs.turn_context import HistoryState, TurnInputs
from codelaw.agent.recording.history import Past
from codelaw.agent.recording.outbox import Outbox
from codelaw.agent.recording.turn_record import TurnRecord
from codelaw.context.tokens import estimate
from codelaw.domain.checkpoints import Checkpoint, CompactionReason, CompactionReport, SummarySource
from codelaw.domain.errors import ModelFailure, Refusal
from codelaw.domain.events import CompactionEvent, CompactionPhase, HookMoment
from codelaw.domain.messages import Message
from codelaw.ports.cancelling import give_cancel
from codelaw.transcript.summaries.summary import archive_text, sizes
from codelaw.transcript.summaries.summary_check import BadSummary

TIMED_OUT = "Summary generation timed out, keeping recent history only."
"""Shown exactly so (K-6)."""
NEVER_BEGUN = CompactionReport(
    compacted=False,
    reason="cancelled",
    message=(CANCELLED := "The compaction was cancelled; the history is as it was."),
)
IGNORED = "The strategy `full` shows every round all the same; what was archived counts for the other strategies."
FAILURES = 3
"""Failures in a row after which automatic compactions pause (K-7)."""

_log = logging.getLogger(__name__)


class RunningCompaction:
    """The handle of a compaction in flight: awaited by several, cancelled by any."""

    def __init__(self, work: Coroutine[Any, Any, CompactionReport]) -> None:
        self._work = asyncio.create_task(work, name="compaction")
        self._stopped = False

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._work.done()

    def cancel(self) -> None:
        """Stop it; the view stays as it was. May be called again."""
        if not self._stopped:
            self._stopped = True
            give_cancel(self._work)

    async def result(self) -> CompactionReport:
        """Its report. Cancelling the awaiter does not cancel it.

        Raises:
            Refusal: the store or another server is in the way; the view is as it was.
        """
        await asyncio.wait([self._work])
        # Stopped before it had begun, which is no reason to stop who waits for it.
        return NEVER_BEGUN if self._work.cancelled() else self._work.result()


@dataclass(slots=True)
class Compacting:
    """One chat's compactions."""

    past: Past
    outbox: Outbox
    hooks: Hooks | None = None
    """Those that run before and after one (X-7)."""
    failures: int = 0
    """Automatic ones that failed, in a row."""
    fewest: int | None = None
    """Rounds that stayed, fewer than `keepRounds`, when that was told last."""
    _flight: RunningCompaction | None = field(default=None, repr=False)
    _last: tuple[int, CompactionEnd | None] | None = field(default=None, repr=False)
    """How the newest one ended, and the generation of the history for which that is known."""

    @property
    def in_flight(self) -> bool:
        """Whether one runs now."""
        return self._flight is not None and not self._flight.over

    @property
    def paused(self) -> bool:
        """Whether automatic compactions have failed too often; one that is asked for starts them again (K-7)."""
        return self.failures >= FAILURES

    def begin(self, inputs: TurnInputs, cause: Cause, turn: TurnRecord | None = None) -> RunningCompaction:
        """Compact, or join the one in flight.

        A `turn` that needs it pays for it, and is told what its user should know.
        """
        if self._flight is None or self._flight.over:
            begun, _ = as_sent(inputs, self.past.transcript)
            job = _Compaction(self, begun, cause, Audience(self.outbox, turn))
            self._flight = RunningCompaction(job.run())
        return self._flight

    async def newest(self) -> CompactionEnd | None:
        """How the newest one has ended, also after a restart; None when that says nothing of the view (K-8)."""
        past = self.past
        if self._last is None or self._last[0] != past.generation:
            try:
                event = await past.store.last_compaction(past.chat_id)
            except Refusal as refusal:
                _log.info("how the last compaction ended is not known: %s", refusal.message)
                event = None
            reported = event.event if event is not None else None
            report = reported.report if isinstance(reported, CompactionEvent) else None
            self._last = past.generation, ended(past.transcript, event.turn_id if event is not None else "", report)
        return self._last[1]

    def remember(self, turn_id: str, report: CompactionReport) -> None:
        """Keep how the newest one has ended."""
        self._last = self.past.generation, ended(self.past.transcript, turn_id, report)

    async def settled(self) -> None:
        """Wait until none is in flight; how it ended is not the waiter's business (K-7)."""
        if self._flight is not None:
            with suppress(Refusal):
                await self._flight.result()

    async def cancel(self) -> bool:
        """Stop the one in flight and wait until it has; False when there was none. The view stays as it was."""
        flight = self._flight
        if flight is None or flight.over:
            return False
        flight.cancel()
        await self.settled()
        return True


@dataclass(slots=True)
class _Compaction:
    """One compaction from its start to its report. Nothing is changed before all of it is ready (K-6)."""

    of: Compacting
    inputs: TurnInputs
    cause: Cause
    audience: Audience
    _started: float = 0.0
    """By the loop's clock, which never jumps."""
    _failed: bool = False
    """No summary could be had."""
    _plan: CompactionPlan | None = None
    _shown: tuple[int, int] | None = None
    """Tokens before and after in the view of another strategy than `layered`."""

    async def run(self) -> CompactionReport:
        self._started = asyncio.get_running_loop().time()
        if self.cause.asked_for:
            self.of.failures = 0
        self._phase("started")
        try:
            await self._hooked("PreCompact")
            report = self._explained(await self._compact())
            self.of.remember(self.cause.turn_id, report)
        except asyncio.CancelledError:
            report = self._report("cancelled", CANCELLED)
            self._phase("cancelled", report)
            return report
        except Refusal:
            self._fail("")  # who asked is told why by the refusal itself
            raise
        except Exception:  # noqa: BLE001 - a bug leaves the history as it was, and the turn goes on (R-10)
            _log.exception("a compaction failed")
            return self._fail("codelaw failed inside; the log says why.")
        self._phase("failed" if self._failed and not report.compacted else "finished", report)
        try:
            await self._hooked("PostCompact", {"compacted": report.compacted, "reason": report.reason})
        except asyncio.CancelledError:
            _log.info("hooks after a compaction were cancelled; it was done")
        return report

    async def _hooked(self, event: HookMoment, about: Mapping[str, Any] | None = None) -> None:
        """Run the hooks around a compaction, which none of them stops (X-7)."""
        if self.of.hooks is None:
            return
        trigger = "manual" if self.cause.asked_for else "auto"
        said = await self.of.hooks.run(event, trigger, {"trigger": trigger, **(about or {})})
        if said.verdict == "deny":
            self.audience.warned("hook_ignored", f"A hook cannot stop a compaction ({event}): {said.reason}")

    async def _compact(self) -> CompactionReport:
        state = await asyncio.to_thread(self.of.past.state, layered(self.inputs))
        self._plan = planned = await asyncio.to_thread(plan, state, self.inputs, self.cause)
        self._shown = await asyncio.to_thread(shown_tokens, planned, self.of.past.transcript, self.inputs)
        if not planned.changes:
            return self._report(planned.idle)
        if not planned.archived:
            return await self._swap(planned, None, planned.idle)
        if self.of.paused and not self.cause.asked_for:  # the model has failed too often (K-7)
            return await self._cut(planned, "automatic summaries are paused after failures in a row")
        self._phase("summarising")
        parts = sizes(self.inputs.limits.window, self.inputs.settings.index_tokens)
        writer = Summariser(self.inputs, parts, SummaryCalls(self.inputs.model, self.audience))
        text, problem = None, ""
        try:
            async with asyncio.timeout(self.inputs.settings.summary_timeout_seconds):
                warm = self.inputs.caches and not state.cold(time.time(), self.inputs.ttl, self.inputs.lasts)
                text = await writer.write(planned.history, planned.archived_view, warm=warm)
        except TimeoutError:
            problem = TIMED_OUT
        except BadSummary as bad:
            problem = f"the model's summary could not be used: {bad}"
        except ModelFailure as failure:
            problem = failure.message.rstrip(".")
        if text is not None:
            self.of.failures = 0
            return await self._swap(planned, text, self.cause.reason)
        self.of.failures += not self.cause.asked_for
        self._failed = True
        if problem is TIMED_OUT:
            self._warn(TIMED_OUT, "summary_timed_out")
            return await self._swap(planned, None, "summary_timed_out", TIMED_OUT)
        if planned.tokens_before <= (self.inputs.room if self.cause.goal is None else self.cause.goal):
            message = f"The history was left as it is: {problem}."
            self._warn(message)
            return self._report("summary_failed", message)
        return await self._cut(planned, problem)

    async def _cut(self, planned: CompactionPlan, problem: str) -> CompactionReport:
        """Keep the newest rounds although there is no summary of the others, because all do not fit (K-6)."""
        message = f"The oldest {len(planned.archived)} rounds were cut without a summary: {problem}."
        self._warn(message)
        return await self._swap(planned, None, "summary_failed", message)

    async def _swap(
        self, planned: CompactionPlan, text: str | None, reason: CompactionReason, message: str = ""
    ) -> CompactionReport:
        """Store the checkpoint and show the new view, in one moment."""
        past, id_ = self.of.past, uuid4().hex[:12]
        summary = await asyncio.to_thread(self._summary, planned, text, id_) if planned.archived else None
        by: SummarySource = "none" if text is None else "model"
        first, count = planned.kept[0].turn_id, len(planned.archived)
        try:
            cut = Checkpoint(id_, first, time.time(), count, summary, by=by, demotions=planned.demotions)
            await past.reshape(cut)
            # The new view is made here, away from the event loop; the report counts it.
            await asyncio.to_thread(past.state, layered(self.inputs))
            self._shown = await asyncio.to_thread(shown_tokens, planned, past.transcript, self.inputs, id_)
        except asyncio.CancelledError:
            # The cancel came too late: what is stored is what is shown.
            if id_ not in {cut.id for cut in past.transcript.checkpoints}:
                raise
        if text is not None:
            self._report_fewer(len(planned.kept))
        return replace(self._report(reason, message, id_), summary=by)

    def _report_fewer(self, stay: int) -> None:
        """Tell that fewer rounds stay than was asked for, at each step down once (K-8)."""
        wanted, window = self.inputs.settings.keep_rounds, self.inputs.limits.window
        if self.cause.asked_for or stay >= min(wanted, self.of.fewest or wanted):
            return
        self.of.fewest = stay
        rounds = f"the newest {stay} rounds stay" if stay > 1 else "the newest round stays"
        message = f"The window of {window} tokens is small for turns like these: {rounds} in view, not {wanted}"
        self.audience.warned("fewer_rounds", f"{message} (context.keepRounds), so that the next turns have room.")

    def _summary(self, planned: CompactionPlan, text: str | None, id_: str) -> Message:
        parts = sizes(self.inputs.limits.window, self.inputs.settings.index_tokens)
        archived = [message for round_ in planned.archived for message in round_.messages]
        started = self.of.past.transcript.started
        content = archive_text(text, archived, started, parts, kept=planned.kept_view, count=estimate)
        return Message(f"summary_{id_}", planned.archived[-1].turn_id, "summary", content)

    def _report(self, reason: CompactionReason, message: str = "", checkpoint: str | None = None) -> CompactionReport:
        seconds = asyncio.get_running_loop().time() - self._started
        if self._plan is None:
            return CompactionReport(compacted=False, reason=reason, seconds=round(seconds, 3), message=message)
        report = report_of(
            self._plan, self._now, self.inputs, reason, seconds=seconds, message=message, checkpoint=checkpoint
        )
        if self._shown is None:
            return report
        before, after = self._shown
        if not message and report.compacted and self.inputs.settings.strategy == "full":
            message = IGNORED
        return replace(report, tokens_before=before, tokens_after=after, message=message)

    def _explained(self, report: CompactionReport) -> CompactionReport:
        """The report, which says what keeps the view above the low-water mark after one that began by itself (K-8)."""
        if self.cause.asked_for or self._plan is None or self._shown is not None or report.message:
            return report
        why = held_up(self._now, self.inputs, around=self.cause.around, tokens=report.tokens_after)
        return replace(report, message=why)

    @property
    def _now(self) -> HistoryState:
        return self.of.past.state(layered(self.inputs))

    def _phase(self, phase: CompactionPhase, report: CompactionReport | None = None) -> None:
        self.audience.hears(CompactionEvent(phase, report, self.of.past.store.owner))

    def _fail(self, why: str) -> CompactionReport:
        self.of.failures += not self.cause.asked_for
        report = self._report("summary_failed", why)
        self._phase("failed", report)
        return report

    def _warn(self, message: str, code: str = "summary_failed") -> None:
        self.audience.warned(code, message)
        if self.of.failures == FAILURES:
            message = f"Automatic compaction is paused after {FAILURES} failures in a row; ask for one to start again."
            self.audience.warned("compaction_paused", message)
