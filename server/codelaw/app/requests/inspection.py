"""The answer to what would be sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.adapters.tokenizer import Counter, load_counter
from codelaw.agent.inputs.surroundings import behind, layered, reminders, select, surroundings
from codelaw.agent.inputs.turn_context import HistoryState
from codelaw.app.servers.telling import STARTING
from codelaw.context.builder import History, build, report
from codelaw.context.calibration import mixture
from codelaw.context.past.projection import in_turn
from codelaw.context.sections import View, message_tokens
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import Message
from codelaw.domain.reports import ContextReport, Dropped
from codelaw.tools.categories import offers
from codelaw.tools.tasks.task import TASK
from codelaw.tools.toolbox import every_tool
from codelaw.transcript.transcript import Transcript

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.chat.retrieved_context import Beside
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.app.plans import TurnPlan
    from codelaw.settings.model import Settings
    from codelaw.tools.toolbox import Toolbox


COUNT_SECONDS = 20
"""How long the vendor may take to count."""
_STAYS = "This chat has not left this machine, and was not sent to be counted."
_EMPTY = "There is no message yet that could be counted."
_NOBODY = "Nobody counts tokens where this model is asked."


async def inspect(
    plan: TurnPlan,
    agent: AgentChat | None,
    settings: Settings,
    inputs: TurnInputs,
    beside: Beside,
    *,
    asked: bool,
) -> tuple[View, ContextReport]:
    """The view that a message sent now would begin with; while a turn runs, the view of its next step.

    Its tokens are corrected by what is known of the model (W-4).
    """
    running = agent.opened if agent is not None else None
    question: Message | None = None
    if running is not None:
        question = running.question
    elif asked:
        question = plan.asked
    selection, history = layered(inputs), HistoryState(Transcript(), History.of(()))
    if agent is not None:
        size = message_tokens(question) if question is not None else 0
        selection = await asyncio.to_thread(select, inputs, agent.past.transcript, asked=size)
        history = await asyncio.to_thread(agent.past.state, selection)
    scratchpad = in_turn(running.question, running.scratchpad) if running is not None else ()
    sent = running.beside if running is not None else ()
    step = surroundings(
        inputs if sent else replace(inputs, beside=tuple(beside.fragments)),
        history,
        question,
        scratchpad,
        reminders(inputs, agent.todos.now if agent is not None else (), question.content if question else ""),
        beside=sent,
        asides=running.asides if running is not None else (),
        freezing=selection.keeps_bytes,
    )
    around, shown = step.gathered, {one.name for one in step.gathered.beside}
    reported = "it stands behind an earlier question"
    said = [Dropped(one.name, reported) for one in beside.fragments if one.name not in shown]
    late = [Dropped("MCP server", one.message) for one in plan.notices if one.code == STARTING]
    left_out = (*around.dropped, *beside.dropped, *said, *late, *_to_find(inputs.toolbox), *_of_children(agent))
    around = replace(around, dropped=left_out)
    view = build(history.view, behind(scratchpad, step.behind), question, around)
    texts = await asyncio.to_thread(inputs.dialect.texts, view, inputs.toolbox)
    tokens: list[int]
    known = inputs.calibration
    of_claude = known.ratio(inputs.model_name) != 1 or inputs.model_name.startswith(("claude", "offline"))
    count = None if of_claude else await _counter()
    if count is None:
        parts = [mixture([section]) for section in view.sections]
        tokens = [
            known.apply(inputs.model_name, section.tokens, part)
            for section, part in zip(view.sections, parts, strict=True)
        ]
    else:
        # The estimate is made for Claude, and closer there than another vendor's tokenizer.
        tokens = await asyncio.to_thread(lambda: [count(text) for text in texts])
    made = await asyncio.to_thread(
        report,
        view,
        texts,
        window=inputs.limits.window,
        threshold=settings.context.threshold,
        strategy=inputs.settings.strategy,
        tokens=tokens,
        kept=history.view.kept,
        budget=inputs.budget,
    )
    tools = offers(every_tool(), inputs.toolbox.tools, plan.mode, searching=plan.searching)
    return view, replace(made, model=inputs.model_name, dialect=inputs.dialect.name, tools=tools)


async def _counter() -> Counter | None:
    """Another vendor's tokenizer; None where it is not installed, as in the extension's own environment at first."""
    try:
        return await load_counter()
    except ImportError:
        return None


def _of_children(agent: AgentChat | None) -> Iterator[Dropped]:
    """The steps of subagents, of which the view has the reports (X-4)."""
    shown = agent.past.transcript.shown if agent is not None else ()
    reports = sum(message.role == "tool" and message.metadata.tool_name == TASK for message in shown)
    if reports:
        why = f"the view has {reports} of their reports; each step stands in the record"
        yield Dropped("steps of subagents", why)


def _to_find(toolbox: Toolbox) -> Iterator[Dropped]:
    """The tools that the view does not describe (X-11)."""
    if toolbox.deferred:
        why = "their manuals together exceed tools.mcpShare of the window; find_tools finds them"
        yield Dropped(f"{toolbox.deferred} MCP tools", why)


async def counted(view: View, report: ContextReport, inputs: TurnInputs, *, stays: bool) -> ContextReport:
    """The report with the vendor's count of the view, or with a sentence why there is none (W-4).

    `stays`: the chat's text has not left this machine, and does not for a count (P-4).
    """
    if stays:
        return replace(report, exact_problem=_STAYS)
    if not any(section.messages for section in view.sections):
        return replace(report, exact_problem=_EMPTY)
    made = await asyncio.to_thread(
        inputs.dialect.request, view, model=inputs.model_name, max_tokens=1, toolbox=inputs.toolbox
    )
    try:
        async with asyncio.timeout(COUNT_SECONDS):
            tokens = await inputs.model.count(inputs.manner.on(made))
    except ModelFailure as failure:
        return replace(report, exact_problem=f"The vendor did not count: {failure.message}")
    except TimeoutError:
        return replace(report, exact_problem=f"The vendor did not count within {COUNT_SECONDS} seconds.")
    return replace(report, exact_tokens=tokens, exact_problem=_NOBODY if tokens is None else "")
