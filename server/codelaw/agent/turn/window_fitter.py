"""Keeping a turn inside the window: before it, at each of its steps, and when the vendor says it is too long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from codelaw.agent.compaction.compaction_plan import Cause, floor, plan, savings
from codelaw.agent.compaction.watermark import GROWTH
from codelaw.agent.inputs.selection import NARROWED, estimated, gathered, layered, select
from codelaw.agent.model_calls.recovery import TOO_LONG_HINT
from codelaw.context.builder import build
from codelaw.context.past.projection import LASTING, in_turn, unsaid
from codelaw.context.sections import message_tokens
from codelaw.context.shortening.economy import thin
from codelaw.context.shortening.relief import relieve, truncate
from codelaw.context.system.pin import active_task, pin
from codelaw.context.tokens import LEAST_OUTPUT, far_off, trigger_estimate
from codelaw.domain.chats import Notice
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.errors import ModelFailure, Refusal
from codelaw.domain.messages import Fragment
from codelaw.templates.render import render
from codelaw.tools.keeping.todos import recap
from codelaw.tools.todo_list import TodoList
from codelaw.transcript.summaries.compaction import due

if TYPE_CHECKING:
    from codelaw.agent.compaction.compacting import Compacting
    from codelaw.agent.inputs.measures import Measures
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.history import Past
    from codelaw.agent.recording.open_turn import OpenTurn
    from codelaw.context.builder import History
    from codelaw.context.past.strategies import Selection
    from codelaw.context.sections import View
    from codelaw.domain.messages import Message

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


@dataclass(slots=True)
class Fitting:
    """One turn's way of staying inside the window."""

    open: OpenTurn
    inputs: TurnInputs
    """Its window shrinks when the vendor takes less."""
    past: Past
    compacting: Compacting
    todos: TodoList
    measures: Measures
    """The session's, which is told what the vendor says of the model (W-4)."""
    _rungs: list[str] = field(default_factory=lambda: ["compact", "compress", "truncate"])
    """What is left to try in this turn when the vendor refuses its length, in order, each once (W-6)."""
    _selected: Selection | None = None
    """What the turn shows of the past, decided once (B-1); None for all that no compaction has archived."""
    _typed: str = ""
    _doubted: bool = False
    """The vendor has once refused the length with numbers that cannot be."""
    _tried: int | None = None
    """Tokens at which finished rounds were last to be archived while the turn ran."""
    _compacting: tuple[bool, int] | None = None
    """While a compaction is waited for: whether this turn began it, and the generation of the history before it."""

    async def prepare(self, typed: str) -> None:
        """Before the first step: wait for a settled history, compact when it is due (W-2), demote what is old (C-6)."""
        await self._settled()
        inputs, past = self.inputs, self.past
        self._typed = typed
        beside = message_tokens(self.open.question)
        if inputs.settings.strategy != "layered" or inputs.budget.enforced:
            await self._look_up()
            self._selected = await asyncio.to_thread(select, self.inputs, past.transcript, asked=beside)
        if not inputs.economical:
            # Without a cache nothing is saved by the same bytes (C-6).
            whole = [Demotion(message_id, "cut") for message_id in past.transcript.whole.values()]
            await past.shorten([*whole, *(Demotion(message_id, "aside") for message_id in past.transcript.beside)])
        # A long history is gone through away from the event loop; its view is kept for the steps.
        history = await asyncio.to_thread(past.history, self.selection)
        shown = history.rounds.messages if history.rounds else ()
        if self.selection.strategy == "layered" and due(
            past.last_usage.total_tokens if past.last_usage is not None else 0,
            trigger_estimate(typed),
            window=inputs.limits.window,
            threshold=inputs.settings.threshold,
            messages=len(shown),
            min_messages=inputs.settings.min_messages,
        ):
            if self.compacting.paused:
                return
            view = await self._build()
            if not await self._waits(view):
                await self._compact(self._cause("threshold", view))
                return
        past_tokens = sum(section.tokens for section in (history.summaries, history.rounds) if section is not None)
        view = beside + past_tokens + sum(section.tokens for section in inputs.system)
        if not shown or self.selection.ignores_cuts or inputs.corrected(view) < floor(inputs):
            return
        if not inputs.economical:
            return
        cold = past.cold(time.time())
        demotions = await asyncio.to_thread(savings, shown, past.transcript.demoted, inputs, view, cold=cold)
        await past.shorten(demotions)

    def learn(self, view: View, reported: int) -> None:
        """Take in the tokens of input that the model has reported for a view (W-4)."""
        known = self.measures.learn(self.inputs.model_name, view, reported)
        self.inputs = replace(self.inputs, calibration=known)

    async def _look_up(self) -> TurnInputs:
        """The inputs with the law as it is now (L-4)."""
        self.inputs = replace(self.inputs, law=await self.inputs.laws.layer())
        return self.inputs

    @property
    def selection(self) -> Selection:
        """What the turn shows of the past."""
        return self._selected if self._selected is not None else layered(self.inputs)

    async def view(self) -> View:
        """The view of the coming step, which leaves room for an answer.

        Raises:
            Refusal: `context_overflow`: it does not, whatever is shortened.
        """
        view = await self._build()
        if self._tokens(view) >= self.inputs.mark or not self._fits(view):
            view = await self._archive(view)
        if not self._fits(view) and "compact" in self._rungs:
            self._rungs.remove("compact")
            view = await self._make_room(view)
        if not self._fits(view):
            # In one big step: shortening a little at every step would cost the prompt cache each time.
            view = await self._shorten(view, self.inputs.low_water)
        if not self._fits(view):
            view = await self._truncate(view, self.inputs.room)
        if not self._fits(view):
            view = await self._shorten(view, self.inputs.room, all_of_it=True)
        if not self._fits(view) and self.inputs.beside:
            view = await self._without_beside()
        if not self._fits(view):
            raise self._overflow(view)
        self.past.sent = view.named("history")
        return view

    async def after_overflow(self, view: View, failure: ModelFailure) -> View:
        """A smaller view after the vendor said that one was too long: the next rung that makes it smaller (W-6).

        The same one, once in a turn, when what it said cannot be: nothing is shortened, or believed, for that.

        Raises:
            Refusal: `context_overflow`: there is none left.
        """
        sent = self._tokens(view)
        if far_off(sent, failure.size, failure.limit):
            if self._doubted:
                message = f"About {sent} tokens were sent, and the endpoint refuses them as too long. It says:"
                raise Refusal("context_overflow", f"{message} {failure.message}", NONSENSE_HINT)
            self._doubted = True
            return view
        if failure.limit is not None:
            self.measures.shrink(self.inputs.model_name, failure.limit)
            # In our measure, where the vendor told how long it found the prompt.
            self._shrink(int(failure.limit * min(1.0, sent / (failure.size or sent))))
            goal = min(self.inputs.room, int(sent * _MARGIN))
        else:
            self._shrink(int(sent * _MARGIN))
            goal = sent // 2
        while self._rungs:
            match self._rungs.pop(0):
                case "compact":
                    smaller = await self._make_room(view, goal)
                case "compress":
                    smaller = await self._shorten(view, goal)
                case _:
                    smaller = await self._truncate(view, goal)
            if self._tokens(smaller) < sent:
                return smaller
        if self.inputs.beside:
            smaller = await self._without_beside()
            if self._tokens(smaller) < sent:
                return smaller
        raise self._overflow(view, failure.message)

    def _shrink(self, window: int) -> None:
        """From now on this turn stays inside a smaller window."""
        limits = self.inputs.limits
        window = min(max(2 * LEAST_OUTPUT, window), limits.window)
        reserve = min(limits.reserve, max(LEAST_OUTPUT, window // 10))
        own = self.inputs.settings.summary_model in {None, self.inputs.model_name}
        self.inputs = replace(
            self.inputs,
            limits=replace(limits, window=window, reserve=reserve),
            summary_window=min(self.inputs.summary_window, window) if own else self.inputs.summary_window,
        )

    def _tokens(self, view: View) -> int:
        return self.inputs.corrected(view.tokens)

    def _fits(self, view: View) -> bool:
        return self._tokens(view) <= self.inputs.room

    async def _build(self) -> View:
        inputs = await self._look_up()
        told = recap(self.todos.now)
        tail = [Fragment("todo", render("todo", recap=told))] if told else []
        if inputs.settings.pin:
            tail.append(pin(active_task(self._typed or self.open.question.content, told)))
        history = self.past.history(self.selection)
        around = gathered(inputs, self._unsaid(history), tuple(tail))
        await self._freeze(around.beside)
        return build(history, in_turn(self.open.question, self.open.scratchpad), self.open.question, around)

    def _unsaid(self, history: History) -> tuple[Fragment, ...]:
        """What stands beside the question: in the order in which it came there, and nothing that the view says already.

        What a compaction takes away is said again.
        """
        more = unsaid([one for one in self.inputs.beside if one not in self.open.beside], history)
        return (*self.open.beside, *more)

    async def _freeze(self, beside: tuple[Fragment, ...]) -> None:
        """From now on these stand beside the question; they stay there as shown where that saves anything (L-3)."""
        new = [one for one in beside if one not in self.open.beside and one.name in LASTING]
        if new and self.inputs.economical and self.selection.keeps_bytes:
            await self.open.freeze(new, self.inputs.about)
        self.open.beside = beside

    async def _without_beside(self) -> View:
        """What was only lent to the question goes before the question does."""
        self.inputs, self.open.beside = replace(self.inputs, beside=()), ()
        return await self._build()

    async def _archive(self, view: View) -> View:
        """Finished rounds to their least, before anything of the running turn gives way (C-5): archived, then thinned.

        The check of W-2 before a later step; the first one follows the check that `prepare` has made.
        """
        await self._settled()
        view = await self._build()
        tokens, history = self._tokens(view), view.named("history")
        if self.selection.strategy != "layered" or self.compacting.paused or tokens < self.inputs.mark:
            return view
        tried = self._tried is not None and tokens - self._tried < self.inputs.limits.window / GROWTH
        if tried or history is None or not self.open.scratchpad:
            return view
        if len(history.messages) < self.inputs.settings.min_messages or await self._waits(view):
            return view
        cause, again = self._cause("threshold", view), self._tried is not None
        self._tried = tokens
        if again:
            # Nothing joins the finished rounds while a turn runs: what was said of them once need not be said again.
            state = await asyncio.to_thread(self.past.state, layered(self.inputs))
            planned = await asyncio.to_thread(plan, state, self.inputs, cause)
            if not planned.changes:
                return view
        await self._compact(cause)
        return await self._build()

    async def _shorten(self, view: View, goal: int, *, all_of_it: bool = False) -> View:
        """Oldest observations of this turn as the history will have them, down to `goal` tokens."""
        over = self._tokens(view) - goal
        opened = self.open
        shorter = relieve(opened.scratchpad, opened.record, to_free=over, all_of_it=all_of_it)
        return await self._with(shorter, view)

    async def _truncate(self, view: View, goal: int) -> View:
        """Results of this turn that are oversized by themselves, head and tail."""
        over = self._tokens(view) - goal
        bound = max(500, min(self.inputs.limits.window, goal) // OVERSIZED)
        shorter = truncate(self.open.scratchpad, bound=bound) if over > 0 else self.open.scratchpad
        return await self._with(shorter, view)

    async def _with(self, scratchpad: Sequence[Message], view: View) -> View:
        if scratchpad is self.open.scratchpad:
            return view
        self.open.scratchpad = list(scratchpad)
        return await self._build()

    async def _make_room(self, view: View, goal: int | None = None) -> View:
        """Archive and thin the finished rounds until the view fits, or as far as that goes."""
        if self.selection.strategy != "layered":
            return await self._narrow(view, min(goal or self.inputs.room, self.inputs.room))
        await self._settled()
        await self._compact(self._cause("overflow", view, min(goal or self.inputs.room, self.inputs.room)))
        return await self._build()

    async def _narrow(self, view: View, goal: int) -> View:
        """Fewer of the newest rounds, down to one, and that one thinned: for strategies that archive nothing (W-6)."""
        history, selection = view.named("history"), self.selection
        if history is None or not selection.narrows:
            return view
        least = int(goal * NARROWED)
        self._selected = selection.narrowed(estimated(self.inputs, least) - view.tokens + history.tokens)
        view = await self._build()
        history, over = view.named("history"), self._tokens(view) - least
        if self._tokens(view) <= goal or history is None or selection.ignores_cuts:
            return view
        chosen = thin(history.messages, self.past.transcript.demoted, to_free=over)
        return await self._build() if await self.past.shorten(chosen) else view

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

    async def _settled(self) -> None:
        """Wait for a compaction that somebody else began."""
        if self.compacting.in_flight:
            self._compacting = False, self.past.generation
            await self.compacting.settled()
            self._compacting = None

    async def _waits(self, view: View) -> bool:
        """Whether a compaction would come too soon after the one before (K-8)."""
        beside = sum(size for _, size in _around(view))
        return await self.compacting.waits(self.inputs, view=self._tokens(view), beside=beside)

    def _cause(self, reason: Literal["threshold", "overflow"], view: View, goal: int | None = None) -> Cause:
        return Cause(reason, _around(view), goal, self.open.id)

    async def _compact(self, cause: Cause) -> None:
        """Compact; a cancel of the turn ends a compaction that the turn began."""
        joined = self.compacting.in_flight
        self._compacting = not joined, self.past.generation
        try:
            report = await self.compacting.run(self.inputs, cause, self.open)
            if report.checkpoint_id is not None:
                self.open.last_usage = None  # it says nothing of the new view (W-2)
        except asyncio.CancelledError:
            if not joined:
                await self.compacting.cancel()
            raise
        except Refusal as refusal:
            if refusal.code != "chat_busy":
                raise
            self.open.notice(Notice("warning", "compaction_stale", refusal.message))
        self._compacting = None

    def _overflow(self, view: View, said: str = "") -> Refusal:
        sizes = ", ".join(f"{section.name} {section.tokens}" for section in view.sections)
        told = f" The vendor says: {said}" if said else ""
        return Refusal(
            "context_overflow",
            f"About {self._tokens(view)} tokens do not fit into the window of {self.inputs.limits.window}, "
            f"with {self.inputs.limits.reserve} kept for the answer: {sizes}.{told}",
            FULL_HINT if self.selection.ignores_cuts else TOO_LONG_HINT,
        )


def _around(view: View) -> tuple[tuple[str, int], ...]:
    """What stands around the history, L1 and law aside: names and estimated tokens."""
    return tuple((one.name, one.tokens) for one in view.sections if one.layer not in {"L1", "L2", "L3"})
