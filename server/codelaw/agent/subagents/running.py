"""Subagents: the kinds that a turn can begin, what each is given, and its run of the engine of every turn (X-4)."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from codelaw.agent.compaction.compacting import Compacting
from codelaw.agent.dialects.native import Native
from codelaw.agent.inputs.turn_context import Kind
from codelaw.agent.recording.history import Past
from codelaw.agent.recording.turn_record import TurnRecord
from codelaw.agent.turn.call import report as report_call
from codelaw.agent.turn.pending import PendingMessages
from codelaw.agent.turn.running import Ending, TurnRun, last_words
from codelaw.agent.turn.turn import TurnLoop
from codelaw.context.escaping import neutralise
from codelaw.domain.chats import Mode
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.extensions import BuiltInAgent
from codelaw.domain.messages import Message, Metadata
from codelaw.domain.results import ToolError, ToolResult
from codelaw.ports.cancelling import to_the_end
from codelaw.templates.render import render
from codelaw.tools.bounds import cut_middle
from codelaw.tools.categories import SEARCH, offered_in
from codelaw.tools.freshness import Ledger
from codelaw.tools.tasks.task import TASK, Described
from codelaw.tools.todo_list import TodoList

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import Dialect
    from codelaw.agent.inputs.turn_context import Agents, TurnInputs
    from codelaw.domain.models import Usage
    from codelaw.domain.results import FileChange
    from codelaw.ports.abilities import Order
    from codelaw.tools.toolbox import Toolbox

EXPLORE = "explore"
BUILT_IN: dict[str, tuple[Mode | None, str, str]] = {
    EXPLORE: ("ask", "reads only", "Finds things out."),
    "plan": ("plan", "reads only", "Studies the code and reports a plan."),
    "general": (None, "", "Does a whole piece of work."),
}
"""The mode of each, what is said of it to the model, which knows it by its text, and to people."""
STRATEGY = "last-n"
"""A child has no history: nothing is to be archived or demoted for it."""


def built_in(mode: Mode) -> tuple[Kind, ...]:
    """The kinds that are always there; only `explore` where the mode reads only (X-1)."""
    return tuple(
        Kind(name, description, render(f"agent_{name}"), own)
        for name, (own, description, _) in BUILT_IN.items()
        if mode == "agent" or name == EXPLORE
    )


def reported_built_in() -> tuple[BuiltInAgent, ...]:
    """The kinds that are always there, as people are told of them."""
    return tuple(BuiltInAgent(name, words, own) for name, (own, _, words) in BUILT_IN.items())


def described(kinds: Sequence[Kind]) -> tuple[Described, ...]:
    """Names and descriptions, as the manual has them."""
    return tuple((kind.name, kind.description) for kind in kinds)


def tools_of(kind: Kind, mode: Mode, toolbox: Toolbox) -> Toolbox:
    """What a child of that kind can call: never more than the turn's own `toolbox`.

    Where that is all of it, it is the same object, and so is the cached prompt: `Task` stands in its manual then, and
    is refused when it is called. Elsewhere `Task` is not in it.
    """
    own = kind.mode or mode
    if own == mode and kind.tools is None and not kind.denied:
        return toolbox
    kept = {
        tool.name
        for tool in toolbox.tools
        if tool.name != TASK
        and offered_in(tool, own)
        and not _named(tool.name, kind.denied)
        and (kind.tools is None or _named(tool.name, kind.tools))
    }
    return toolbox.only(kept)


def _named(tool: str, names: frozenset[str]) -> bool:
    """Whether a list of tools means this one: by its name, or as one of a server's, `mcp__server`."""
    server = tool.rpartition("__")[0] if tool.startswith("mcp__") else ""
    return tool in names or (bool(server) and (server in names or f"{server}__*" in names))


def reads_only(kind: Kind, mode: Mode, toolbox: Toolbox) -> bool:
    """Whether such a child can change nothing, so that several may run beside each other."""
    return all(tool.effect == "read" for tool in tools_of(kind, mode, toolbox).tools)


def inputs_of(kind: Kind, agents: Agents, above: TurnInputs) -> TurnInputs:
    """What a child's views are made of, from those of the turn above it.

    L1 is the turn's own where mode, tools and dialect are (L-6). The law is the same, and so is what is learned of a
    model.
    """
    inputs, effort = above, kind.effort or above.effort
    if kind.model is not None and kind.model.name != above.model_name:
        inputs, effort = above.answered_by(kind.model), kind.effort
    dialect, other = inputs.dialect, inputs.other
    if kind.tools is not None and SEARCH not in kind.tools:
        dialect, other = _without_search(dialect), other and _without_search(other)
    toolbox = tools_of(kind, agents.mode, above.toolbox)
    if dialect.name == "native":
        toolbox = toolbox.calling()
    facts, steps = replace(above.facts, mode=kind.mode or agents.mode), min(agents.steps, kind.steps or agents.steps)
    return replace(
        inputs,
        dialect=dialect,
        other=other,
        toolbox=toolbox,
        facts=facts,
        system=facts.sections(dialect, toolbox),
        limits=replace(inputs.limits, steps=steps, tokens=agents.tokens, seconds=None, above=above.limits.tokens),
        settings=replace(above.settings, strategy=STRATEGY),
        beside=(),
        about={},
        agents=None,
        effort=effort,
    )


def _without_search(dialect: Dialect) -> Dialect:
    if dialect.name != "native":
        return dialect
    return Native(binding=dialect.binding, system_messages=dialect.system_messages)


def task_text(kind: Kind, prompt: str) -> str:
    """The first message of a child: what its kind is told, then its task; neither can forge a reminder (R-5)."""
    return render("agent", text=neutralise(kind.text), prompt=neutralise(prompt))


ENVIRONMENT = "environment"
"""The fragment of the question above that a child is given too."""
LONGEST_REPORT = 24_000
"""Characters of a report; of a longer one the middle is left out."""
MOST_FILES = 100
"""Changed files that are named."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChildTurns:
    """Implements `Subagents` for one turn: its children have its permissions, its law and its way out for events."""

    above: TurnRun
    agents: Agents

    def reads_only(self, kind: str) -> bool:
        known = self.agents.kinds.get(kind)
        return known is None or reads_only(known, self.agents.mode, self.above.inputs.toolbox)

    async def run(self, order: Order) -> ToolResult:
        kind = self.agents.kinds.get(order.kind)
        if kind is None:
            raise ToolFailure("INVALID_PARAM", f"kind is one of: {', '.join(self.agents.kinds)}.")
        run = self._run_of(kind, order)
        record = run.record
        await record.begin()
        ending = await TurnLoop(run).ending()
        changed = {change.path for change in record.changes}
        self.above.environment.ledger.heard(run.environment.ledger, changed)
        await to_the_end(_closed(run, ending))
        if ending.stop == "cancelled":
            raise asyncio.CancelledError
        said, changes = record.record, record.changes
        return report(kind.name, ending, said, steps=record.step, usage=record.usage, changes=changes)

    def _run_of(self, kind: Kind, order: Order) -> TurnRun:
        """A run beside that of the turn above: its calls are judged by the same gate; it has read and planned nothing.

        Its todo list is its own.
        """
        above, inputs = self.above, inputs_of(kind, self.agents, self.above.inputs)
        record = self._record_of(kind, order, inputs)
        past, workspace = Past(record.chat_id, record.store), above.environment.workspace
        own = replace(above.environment, ledger=Ledger(), todos=TodoList(), subagents=None, sees=inputs.sees)
        return replace(
            above,
            record=record,
            inputs=inputs,
            typed=order.prompt,
            pending=PendingMessages(workspace, above.gate),
            past=past,
            compacting=Compacting(past, record.outbox),
            environment=own,
        )

    def _record_of(self, kind: Kind, order: Order, inputs: TurnInputs) -> TurnRecord:
        above = self.above.record
        around = tuple(part for part in above.question.metadata.fragments if part.name == ENVIRONMENT)
        metadata = Metadata(fragments=around, parent=order.call_id)
        task = Message(f"ask_{order.call_id}", above.id, "user", task_text(kind, order.prompt), metadata)
        return TurnRecord(
            chat_id=above.chat_id,
            id=above.id,
            question=task,
            store=above.store,
            outbox=above.outbox,
            inputs=inputs,
            parent=order.call_id,
            agent=kind.name,
            above=above,
            touched=above.touched,
        )


async def _closed(run: TurnRun, ending: Ending) -> None:
    """Write the end of a child that did not finish: a result for each open call, and the marked last word (R-6)."""
    record = run.record
    left = [call for _, call in record.open_calls()]
    if last := last_words(record, ending):
        try:
            await record.store.append(record.chat_id, last)
        except Refusal as refusal:
            _log.warning("the end of subagent %s is not kept: %s", record.parent, refusal.message)
    for call in left:
        report_call(run, call, "interrupted")


def report(
    kind: str,
    ending: Ending,
    said: Sequence[Message],
    *,
    steps: int,
    usage: Usage,
    changes: Sequence[FileChange],
) -> ToolResult:
    """The result of the `Task` call; `said` is what the child said.

    A limit is no success: the result is `partial` then, and has the last that was said in place of an answer.
    """
    calls = Counter(call.tool for message in said for call in message.metadata.calls)
    finished = ending.stop == "finished"
    words = ending.answer if finished else ending.answer or last_said(said)
    data: dict[str, Any] = {
        "kind": kind,
        "ended": ending.stop.replace("_", " "),
        "steps": steps,
        "tokens": usage.total_tokens,
        "tools": dict(sorted(calls.items())),
    }
    changed = list(dict.fromkeys(change.path for change in changes))
    if changed:
        data["changed"] = changed[:MOST_FILES]
    data["report"] = cut_middle(words, LONGEST_REPORT)
    if len(words) > LONGEST_REPORT:
        data["truncated"] = True
    if finished:
        return ToolResult("partial" if "truncated" in data else "success", data, "The subagent has finished.")
    if ending.stop in {"step_limit", "token_limit"}:
        return ToolResult("partial", data, f"The subagent has not finished: {ending.why}. Its last words follow.")
    why = f"The subagent has not finished: {ending.why or ending.stop}."
    return ToolResult("error", data, "", ToolError("EXECUTION_ERROR", why))


def last_said(said: Sequence[Message]) -> str:
    """What a child said last with words of its own; empty where it said nothing."""
    spoken = (message.content.strip() for message in reversed(said) if message.role == "assistant")
    return next((text for text in spoken if text), "")
