"""Keeping a turn inside the window: one loop that asks what is to be done, does it, and asks again.

What is to be done `window_plan` decides.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.agent.inputs.surroundings import Surroundings, behind, layered, reminders, select, surroundings
from codelaw.agent.model_calls.caching import COUNTED, Pauses, lasting, pauses
from codelaw.agent.turn.unseen_changes import ask_about_unseen
from codelaw.agent.turn.window_plan import (
    STEP,
    Action,
    Compact,
    Compactions,
    Demote,
    FitProgress,
    Lighten,
    Moment,
    Narrow,
    Refuse,
    Send,
    Shorten,
    Wait,
    before_first_step,
    heard,
    is_due,
    next_action,
    unkept,
)
from codelaw.context.builder import build
from codelaw.context.past.projection import in_turn
from codelaw.context.sections import message_tokens
from codelaw.domain.chats import Notice
from codelaw.domain.checkpoints import Aside
from codelaw.domain.errors import ModelFailure, Refusal

if TYPE_CHECKING:
    from codelaw.agent.compaction.compaction_plan import Cause
    from codelaw.agent.inputs.turn_context import HistoryState, TurnInputs
    from codelaw.agent.turn.running import TurnRun
    from codelaw.context.past.strategies import Selection
    from codelaw.context.sections import View


class WindowFitter:
    """One run's way of staying inside the window."""

    def __init__(self, run: TurnRun) -> None:
        self.run, self.record = run, run.record
        self.past, self.compacting = run.past, run.compacting
        self._selected: Selection | None = None
        """What the turn shows of the past, decided once (B-1); None for all that no compaction has archived."""
        self._progress = FitProgress()
        self._around: Surroundings | None = None
        """What stands around the past in the newest view."""
        self._compacting: tuple[bool, int] | None = None
        """While a compaction is waited for: whether this turn began it, and the generation of the history before it."""

    async def prepare(self) -> None:
        """Before the first step: wait for a settled history, compact when it is due (W-2), demote what is old (C-6)."""
        self.run.inputs = replace(self.run.inputs, system=self.run.redaction.value(self.run.inputs.system))
        if self.compacting.in_flight:
            await self._do(Wait())
        if self.run.inputs.settings.strategy != "layered" or self.run.inputs.budget.enforced:
            await self._look_up()
            asked = message_tokens(self.record.question)
            self._selected = await asyncio.to_thread(select, self.run.inputs, self.past.transcript, asked=asked)
        await self._settle_ttl()
        await self.past.shorten(unkept(self.run.inputs, self.past.transcript))
        now = await self._now()
        action = await asyncio.to_thread(before_first_step, now, self.run.typed, time.time())
        if action is not None:
            await self._do(action)

    async def view(self) -> View:
        """The view of the coming step, which leaves room for an answer.

        Raises:
            Refusal: `context_overflow`: it does not, whatever is shortened.
        """
        self._progress = replace(self._progress, step=STEP, refused=None)
        return await self._fitting(await self._now())

    async def after_overflow(self, view: View, failure: ModelFailure) -> View:
        """A smaller view after the vendor said that one was too long: the next measure that makes it smaller (W-6).

        Raises:
            Refusal: `context_overflow`: there is none left.
        """
        learned = heard(self.run.inputs, self._progress, view, failure)
        self.run.inputs, self._progress = learned.inputs, learned.progress
        if learned.limit is not None:
            self.run.house.measures.shrink(self.run.inputs.model_name, learned.limit)
        if isinstance(learned.action, Refuse):
            raise _refusal(learned.action)
        return view if learned.action is not None else await self._fitting(await self._now(view))

    def learn(self, view: View, reported: int) -> None:
        """Take in the tokens of input that the model has reported for a view (W-4)."""
        if not self.run.inputs.dialect.system_messages:
            self.run.house.measures.plain.add(self.run.inputs.model_name)
        known = self.run.house.measures.learn(self.run.inputs.model_name, view, reported)
        self.run.inputs = replace(self.run.inputs, calibration=known)

    async def _fitting(self, now: Moment) -> View:
        """Do what is decided until the view can be sent."""
        while True:
            if now.near:
                # A long history is gone through away from the event loop.
                action, self._progress = await asyncio.to_thread(next_action, now, self._progress)
            else:
                action, self._progress = next_action(now, self._progress)
            match action:
                case Send(view):
                    await self._freeze(now.selection)
                    self.past.sent, self.past.ttl = view.named("history"), self.run.inputs.ttl
                    return view
                case Refuse():
                    raise _refusal(action)
                case _:
                    await self._do(action)
            now = await self._now()

    async def _do(self, action: Action) -> None:
        match action:
            case Wait():
                self._compacting = False, self.past.generation
                await self.compacting.settled()
                self._compacting = None
            case Compact(cause):
                await self._compact(cause)
            case Narrow(selection):
                self._selected = selection
            case Demote(demotions):
                await self.past.shorten(demotions)
            case Shorten(scratchpad):
                self.record.scratchpad = list(scratchpad)
            case Lighten():
                self.run.inputs, self.record.beside = replace(self.run.inputs, beside=()), ()
            case Send() | Refuse():
                pass

    async def _now(self, view: View | None = None) -> Moment:
        """All there is to decide on, with the law and the history as they are now; a `view` that was sent stays."""
        selection = self._selected if self._selected is not None else layered(self.run.inputs)
        inputs = self.run.inputs if view is not None else await self._look_up()
        history = await self._state(selection)
        opened, said = self.record, in_turn(self.record.question, self.record.scratchpad)
        self._around = around = surroundings(
            inputs,
            history,
            opened.question,
            said,
            reminders(inputs, self.run.environment.todos.now, self.run.typed or opened.question.content),
            beside=opened.beside,
            asides=opened.asides,
            freezing=selection.keeps_bytes,
        )
        now = Moment(
            inputs=around.inputs,
            selection=selection,
            history=history,
            archive=history,
            view=view or build(history.view, behind(said, around.behind), opened.question, around.gathered),
            turn_id=opened.id,
            scratchpad=opened.scratchpad,
            record=opened.record,
            compactions=Compactions(self.compacting.in_flight, self.compacting.paused),
        )
        if not now.layered or not (now.near or is_due(now, self.run.typed)):
            return now
        archive = history
        if selection != layered(inputs):
            archive = await self._state(layered(inputs))
        newest = await self.compacting.newest()
        compactions = Compactions(self.compacting.in_flight, self.compacting.paused, newest)
        return replace(now, archive=archive, compactions=compactions)

    async def _state(self, selection: Selection) -> HistoryState:
        # A long history is gone through away from the event loop; its view is kept for the steps.
        if self.past.is_known(selection):
            return self.past.state(selection)
        return await asyncio.to_thread(self.past.state, selection)

    async def _look_up(self) -> TurnInputs:
        """The inputs with the law as it is now (L-4)."""
        law = await self.run.laws.layer()
        if await ask_about_unseen(self.run):
            law = await self.run.laws.layer()
        self.run.inputs = replace(self.run.inputs, law=law)
        return self.run.inputs

    async def _settle_ttl(self) -> None:
        """Decide how long the vendor's cache keeps what stays, once, so that marks do not come and go (L-6)."""
        inputs, seen, used = self.run.inputs, Pauses(), self.past.last_usage
        if inputs.settings.cache_ttl == "auto" and "1h" in inputs.ttls:
            seen = pauses(await self.record.store.begun(COUNTED), inputs.lasts)
        tokens = inputs.corrected(inputs.fixed) if used is None else used.total_tokens
        self.run.inputs = replace(
            inputs, ttl=lasting(inputs.settings.cache_ttl, inputs.ttls, inputs.prices, seen, tokens)
        )

    async def _freeze(self, selection: Selection) -> None:
        """From now on all of this stands where it is sent, and when the turn has ended where that saves anything."""
        around, opened = self._around, self.record
        assert around is not None  # noqa: S101 - narrowing; the view that is sent was made with it
        beside, about = around.gathered.beside, self.run.inputs.about
        kept = [
            *around.head,
            *(
                Aside(opened.question.id, one.name, one.text, tuple(about.get(one.name, ())))
                for one in beside
                if one not in opened.beside
            ),
        ]
        opened.beside = beside
        if around.behind:
            opened.scratchpad = [*behind(opened.scratchpad, around.behind)]
            kept += [Aside(opened.scratchpad[-1].id, one.name, one.text) for one in around.behind]
        if self.run.inputs.settings.economy and selection.keeps_bytes:
            await opened.freeze(kept)

    async def _compact(self, cause: Cause) -> None:
        """Compact; a cancel of the turn ends a compaction that the turn began."""
        joined = self.compacting.in_flight
        self._compacting = not joined, self.past.generation
        try:
            inputs = self._around.inputs if self._around is not None else self.run.inputs
            report = await self.compacting.begin(inputs, cause, self.record).result()
            if report.checkpoint_id is not None:
                self.record.last_usage = None  # it says nothing of the new view (W-2)
        except asyncio.CancelledError:
            if not joined:
                await self.compacting.cancel()
            raise
        except Refusal as refusal:
            if refusal.code != "chat_busy":
                raise
            self.record.notice(Notice("warning", "compaction_stale", refusal.message))
        self._compacting = None

    def timed_out(self, seconds: float) -> tuple[str, str]:
        """What the user is told of a turn that took too long, and can do; a compaction is named, and failed (K-7)."""
        message = f"The turn took longer than turn.timeoutSeconds ({seconds:g} s)"
        if self._compacting is None:
            return f"{message}.", "Raise the limit or ask for less at once."
        own, generation = self._compacting
        if not own:
            after = "it waited for a compaction of the chat, which goes on"
        elif generation == self.past.generation:
            after = "it was still compacting the chat. That was stopped, and the history is as it was"
            self.compacting.failures += 1
            if self.compacting.paused:
                after = f"{after}. Automatic compaction is paused until somebody asks for one"
        else:
            after = "it had just compacted the chat, which stays so"
        hint = "Raise the limit, or compact the chat before you send the message again: that has a limit of its own."
        return f"{message}: {after}.", hint


def _refusal(reported: Refuse) -> Refusal:
    return Refusal("context_overflow", reported.message, reported.hint)
