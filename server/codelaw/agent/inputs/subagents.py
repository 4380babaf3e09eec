"""What kinds of subagents a turn can begin, and what each is given: values in, values out (X-4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.agent.dialects.native import Native
from codelaw.agent.inputs.turn_context import Kind
from codelaw.context.escaping import neutralise
from codelaw.domain.brought import BuiltInAgent
from codelaw.domain.chats import Mode
from codelaw.templates.render import render
from codelaw.tools.categories import SEARCH, offered_in
from codelaw.tools.tasks.task import TASK, Described

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import Dialect
    from codelaw.agent.inputs.turn_context import Agents, TurnInputs
    from codelaw.tools.toolbox import Toolbox

EXPLORE, PLAN, GENERAL = "explore", "plan", "general"
BUILT_IN = (EXPLORE, PLAN, GENERAL)
_MODES: dict[str, Mode] = {EXPLORE: "ask", PLAN: "plan"}
_DESCRIBED = {
    EXPLORE: "reads only",
    PLAN: "reads only",
    GENERAL: "",
}
_TOLD = {
    EXPLORE: "Finds things out.",
    PLAN: "Studies the code and reports a plan.",
    GENERAL: "Does a whole piece of work.",
}
"""What people are told of them; the model knows them by their text."""
STRATEGY = "last-n"
"""A child has no history: nothing is to be archived or demoted for it."""


def built_in(mode: Mode) -> tuple[Kind, ...]:
    """The kinds that are always there; only `explore` where the mode reads only (X-1)."""
    names = BUILT_IN if mode == "agent" else (EXPLORE,)
    return tuple(Kind(name, _DESCRIBED[name], render(f"agent_{name}"), _MODES.get(name)) for name in names)


def told_built_in() -> tuple[BuiltInAgent, ...]:
    """The kinds that are always there, as people are told of them."""
    return tuple(BuiltInAgent(name, _TOLD[name], _MODES.get(name)) for name in BUILT_IN)


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
