"""Finds kinds of subagents: those of a workspace and of its user (X-4)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.agent.dialects.choosing import DialectFacts
from codelaw.agent.inputs.turn_context import Kind
from codelaw.agent.subagents.running import BUILT_IN, built_in, reported_built_in
from codelaw.app import models
from codelaw.app.choices import problem
from codelaw.app.extensions.finding import markdown_files, problem_notice, text_of
from codelaw.app.models import Told
from codelaw.domain.chats import Mode, Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.extensions import AgentList, AgentSheet

if TYPE_CHECKING:
    from codelaw.ports.workspace import Workspace
    from codelaw.settings.model import Settings
import re

from codelaw.domain.extensions import Sheet
from codelaw.domain.safety.unseen import without_hidden
from codelaw.skills.front_matter import Written, effort_of, plain_name, written

MOST_AGENTS = 100
"""In one place."""


@dataclass(frozen=True, slots=True)
class FoundAgents:
    """The kinds that people have brought along, in a stable order, each name once."""

    agents: tuple[AgentSheet, ...] = ()
    problems: tuple[str, ...] = ()
    refused: tuple[AgentSheet, ...] = ()
    """Files that do not count."""

    @property
    def notice(self) -> Notice | None:
        """What the user is told of them; None where nothing is wrong."""
        return problem_notice("agent_problem", self.problems)


class BroughtAgents:
    """Looks anew at each turn. Of two kinds with one name the workspace's counts, in the order of `PLACES`."""

    def __init__(self, own: Sequence[Path]) -> None:
        self._own = tuple(own)

    async def found(self, workspace: Workspace, *, restricted: bool) -> FoundAgents:
        """All that there are; `workspace` is what the rules let be read.

        Where the editor does not trust the folder its kinds do not count (S-7).
        """
        read: list[AgentSheet] = []
        places = [(place, ENDING) for place in PLACES]
        files = await markdown_files(workspace, places, self._own, most=MOST_AGENTS, restricted=restricted)
        for path, _, found in files:
            if not (name := name_of(path)):
                continue
            sheet = replace(found, name=name)
            try:
                text = await text_of(workspace, sheet, 4 * LONGEST_AGENT)
                read.append(await asyncio.to_thread(agent, sheet, text))
            except ToolFailure as failure:
                read.append(AgentSheet(sheet, "", "", problem=f"It cannot be read: {failure.message}"))
        return _ranked(read)

    async def kinds(
        self, workspace: Workspace, settings: Settings, mode: Mode, asked: str, *, restricted: bool, reported: Told
    ) -> tuple[tuple[Kind, ...], Notice | None]:
        """The kinds that a turn of the model `asked` offers, and what is wrong with those that people bring along."""
        if not settings.agents.enabled:
            return (), None
        found = _fitting(await self.found(workspace, restricted=restricted), settings, asked, reported)
        searching = settings.tools.web_search and not restricted
        brought = tuple(_kind(one, settings, asked, reported, searching=searching) for one in found.agents)
        return (*built_in(mode), *brought), found.notice

    async def listed(self, workspace: Workspace, settings: Settings, *, restricted: bool, reported: Told) -> AgentList:
        """The kinds as people are told of them, each with the model that it would have in a new chat."""
        asked = models.answerer(settings).name
        found = _fitting(await self.found(workspace, restricted=restricted), settings, asked, reported)
        brought = (
            replace(one, model=models.alias(settings, one.model, asked) if one.model else "")
            for one in (*found.agents, *found.refused)
        )
        by_name = sorted(brought, key=lambda one: (one.sheet.name.casefold(), one.refused))
        return AgentList(settings.agents.enabled, (*reported_built_in(), *by_name))


def _fitting(found: FoundAgents, settings: Settings, asked: str, reported: Told) -> FoundAgents:
    """Without the models that a workspace may not choose, and the efforts that a model does not take; both are told."""
    kept: list[AgentSheet] = []
    problems = [*found.problems]
    for one in found.agents:
        fit = one
        if dearer := models.dearer(models.alias(settings, one.model, asked), asked, own=one.sheet.own):
            fit = replace(fit, model="")
        unfit = problem(models.profile_of(models.alias(settings, fit.model, asked), reported), one.effort)
        if unfit:
            fit = replace(fit, effort=None)
        wrong = [*filter(None, (dearer, unfit))]
        problems += [f"{one.sheet.shown}: {said}" for said in wrong]
        kept.append(replace(fit, problem=" ".join(filter(None, (one.problem, *wrong)))))
    return replace(found, agents=tuple(kept), problems=tuple(problems))


def _kind(sheet: AgentSheet, settings: Settings, asked: str, reported: Told, *, searching: bool) -> Kind:
    """A kind as its file tells it, with what is known of the model that it names: at the same endpoint (P-4)."""
    name = models.alias(settings, sheet.model, asked)
    facts = None if name == asked else models.facts_of(settings, name, reported, DialectFacts(searching=searching))
    return Kind(
        sheet.sheet.name,
        sheet.description,
        sheet.body,
        tools=None if sheet.tools is None else frozenset(sheet.tools),
        denied=frozenset(sheet.disallowed_tools),
        model=facts,
        steps=sheet.max_turns,
        effort=sheet.effort,
    )


def _ranked(read: Sequence[AgentSheet]) -> FoundAgents:
    """Each name once, sorted; a kind that is built in cannot be replaced, and one without a text is none."""
    kept: dict[str, AgentSheet] = {}
    problems: list[str] = []
    refused: list[AgentSheet] = []
    for one in read:
        name, problem = one.sheet.name, one.problem
        if name in BUILT_IN:
            problem = f"The kind {name} is built in, and the file does not count."
        elif name in kept:
            problem = f"The kind {name} is told by {kept[name].sheet.shown} already, which counts."
        elif one.body:
            kept[name] = one
        if problem:
            problems.append(f"{one.sheet.shown}: {problem}")
        if kept.get(name) is not one:
            refused.append(replace(one, problem=problem, refused=True))
    by_name = sorted(kept.values(), key=lambda one: one.sheet.name)
    agents = tuple(replace(one, description=one.description or one.body[:100]) for one in by_name)
    return FoundAgents(agents, tuple(problems), tuple(refused))


PLACES = (".codelaw/agents", ".claude/agents")
"""Where a workspace folder has them; of two with one name the first counts."""
ENDING = ".md"
LONGEST_AGENT = 100_000
"""Characters of a file (S-6)."""
LONGEST_BODY = 20_000
"""Characters that such a subagent is told."""
LONGEST_DESCRIPTION = 1_024
SAME_MODEL = frozenset({"", "inherit", "default"})
_RESTRICTING = {"tools": "tools", "disallowedtools": "disallowedTools"}
"""Fields that take tools away, as they are spelt."""
_TOOLS = {"WebFetch": "web_fetch", "WebSearch": "web_search", "Skill": "load_skill"}
"""Names that files in use give to tools of ours."""
_COUNT = re.compile(r"[1-9][0-9]{0,5}")


def name_of(path: str) -> str:
    """What a file is called by where its head says nothing, from its path below the folder; empty where it is none."""
    name = path.removesuffix(ENDING).rpartition("/")[2] if path.endswith(ENDING) else ""
    return plain_name(name)


def agent(sheet: Sheet, text: str) -> AgentSheet:
    """Read a kind's file; its head may call it otherwise than its file is called."""
    found = written(text[:LONGEST_AGENT])
    problems = [found.problem]
    said = plain_name(found.fields.get("name", "").strip())
    description = " ".join(without_hidden(found.fields.get("description", "")).split())
    if not description:
        problems.append("It has no description: a model cannot tell when to use it.")
    body = found.body.strip()
    if unread := [spelt for name, spelt in _RESTRICTING.items() if name in found.unread]:
        # What it may not use is not known; without a text it does not count.
        problems, body = [found.problem, f"Its `{unread[0]}` cannot be read, so that the file does not count."], ""
    elif not body:
        problems.append("It has no text below its head.")
    elif len(body) > LONGEST_BODY:
        problems.append(f"Its text has {len(body)} characters; the first {LONGEST_BODY} count.")
    steps = found.fields.get("maxturns", "").strip()
    if steps and _COUNT.fullmatch(steps) is None:
        problems.append("Its maxTurns is not a number, and does not count.")
        steps = ""
    effort, wrong = effort_of(found)
    problems.append(wrong)
    model = " ".join(found.fields.get("model", "").split())[:200]
    return AgentSheet(
        sheet=replace(sheet, name=said or sheet.name),
        description=description[:LONGEST_DESCRIPTION],
        body=body[:LONGEST_BODY],
        tools=_tools(found, "tools"),
        disallowed_tools=_tools(found, "disallowedtools") or (),
        model="" if model.lower() in SAME_MODEL else model,
        max_turns=int(steps) if steps else None,
        problem=" ".join(filter(None, problems)),
        effort=effort,
    )


def _tools(found: Written, field: str) -> tuple[str, ...] | None:
    """The tools of a field, a list or a line with commas; None where it names none or all."""
    listed = found.lists.get(field)
    if listed is None:
        line = found.fields.get(field)
        if line is None or line.strip() in {"", "*"}:
            return None
        listed = tuple(line.split(","))
    # What a name has in brackets is a rule of another program: codelaw judges each call by its own.
    names = (one.partition("(")[0].strip() for one in listed)
    return tuple(dict.fromkeys(_TOOLS.get(name, name) for name in names if name))
