"""Runs child turns: the engine of every turn, with a scratchpad, tools and limits of its own (X-4)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codelaw.agent.compaction.compacting import Compacting
from codelaw.agent.inputs.subagents import inputs_of, reads_only, task_text
from codelaw.agent.recording.history import Past, to_the_end
from codelaw.agent.recording.open_turn import OpenTurn
from codelaw.agent.subagents.reporting import report
from codelaw.agent.turn.execution import Executor
from codelaw.agent.turn.notes import Notes
from codelaw.agent.turn.turn import Ending, Turn, last_words
from codelaw.agent.turn.window_fitter import WindowFitter
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.messages import Message, Metadata
from codelaw.tools.freshness import Ledger
from codelaw.tools.todo_list import TodoList

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import Agents, Kind, TurnInputs
    from codelaw.agent.turn.laws import TurnLaws
    from codelaw.domain.results import ToolResult
    from codelaw.ports.subagents import Order

ENVIRONMENT = "environment"
"""The fragment of the question above that a child is given too."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChildTurns:
    """Implements `Subagents` for one turn: its children have its permissions, its law and its way out for events."""

    above: Executor
    fitter: WindowFitter
    """Of the turn above."""
    agents: Agents

    @property
    def inputs(self) -> TurnInputs:
        """Of the turn above, as they are now."""
        return self.fitter.inputs

    def reads_only(self, kind: str) -> bool:
        known = self.agents.by_name.get(kind)
        return known is None or reads_only(known, self.agents.mode, self.inputs.toolbox)

    async def run(self, order: Order) -> ToolResult:
        kind = self.agents.by_name.get(order.kind)
        if kind is None:
            raise ToolFailure("INVALID_PARAM", f"kind is one of: {', '.join(self.agents.by_name)}.")
        inputs = inputs_of(kind, self.agents, self.inputs)
        opened = self._opened(kind, order, inputs)
        await opened.begin()
        laws = replace(self.fitter.laws, inputs=inputs, open=opened)
        executor = self._executor(opened, inputs, laws)
        past = Past(opened.chat_id, opened.store)
        todos = executor.environment.todos
        compacting = Compacting(past, opened.outbox)
        known = (past, compacting, todos, laws, self.fitter.measures, executor.redaction)
        fitter = WindowFitter(opened, inputs, *known)
        ending = await Turn(opened, order.prompt, fitter, executor).run()
        changed = {change.path for change in opened.changes}
        self.above.environment.ledger.heard(executor.environment.ledger, changed)
        await to_the_end(asyncio.ensure_future(_closed(opened, ending, executor)))
        if ending.stop == "cancelled":
            raise asyncio.CancelledError
        said, changes = opened.record, opened.changes
        return report(kind.name, ending, said, steps=opened.step, usage=opened.usage, changes=changes)

    def _opened(self, kind: Kind, order: Order, inputs: TurnInputs) -> OpenTurn:
        above = self.above.open
        around = tuple(part for part in above.question.metadata.fragments if part.name == ENVIRONMENT)
        metadata = Metadata(fragments=around, parent=order.call_id)
        task = Message(f"ask_{order.call_id}", above.id, "user", task_text(kind, order.prompt), metadata)
        return OpenTurn(
            chat_id=above.chat_id,
            id=above.id,
            question=task,
            store=above.store,
            outbox=above.outbox,
            compressing=above.compressing,
            keeping=inputs.settings.economy,
            as_text=above.as_text,
            pictures=above.pictures,
            model=inputs.model_name,
            prices=inputs.prices,
            parent=order.call_id,
            agent=kind.name,
            above=above,
            touched=above.touched,
        )

    def _executor(self, opened: OpenTurn, inputs: TurnInputs, laws: TurnLaws) -> Executor:
        """The calls of a child are judged by the same gate; it has read nothing yet, and its todo list is its own."""
        above = self.above
        own = replace(above.environment, ledger=Ledger(), todos=TodoList(), subagents=None)
        environment = replace(own, sees=inputs.sees)
        return Executor(
            open=opened,
            toolbox=inputs.toolbox,
            environment=environment,
            gate=above.gate,
            notes=Notes(environment.workspace, above.gate),
            held=above.held,
            redaction=above.redaction,
            recorder=above.recorder,
            hooks=above.hooks,
            laws=laws,
        )


async def _closed(opened: OpenTurn, ending: Ending, executor: Executor) -> None:
    """Write the end of a child that did not finish: a result for each open call, and the marked last word (R-6)."""
    left = [call for _, call in opened.open_calls()]
    if last := last_words(opened, ending):
        try:
            await opened.store.append(opened.chat_id, last)
        except Refusal as refusal:
            _log.warning("the end of subagent %s is not kept: %s", opened.parent, refusal.message)
    for call in left:
        executor.tell(call, "interrupted")
