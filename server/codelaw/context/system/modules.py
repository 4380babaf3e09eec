"""L1: the system modules in their fixed order, and the pinned instruction at the end of the view (L-2, L-3, L-7, L-8).

CORE, SOUL, PERSONA where there is one, TOOLS, WORKFLOW, MEMORY, MODE; then the skills index and a connector prompt of
each server, when there are any (X-2, X-3). Nothing of these may depend on time, place or open files: for the same mode,
tools, dialect and persona the bytes are the same in every process.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from codelaw.context.escaping import one_name
from codelaw.context.observations.layout import foreign
from codelaw.context.sections import Section, text_section
from codelaw.context.tokens import estimate
from codelaw.domain.chats import Dialect, Mode
from codelaw.domain.extensions import Skill
from codelaw.domain.listing import clipped
from codelaw.domain.messages import Fragment
from codelaw.domain.safety.own_tags import escape, plain
from codelaw.domain.served import ServedInstructions
from codelaw.templates.render import render

LONGEST_PERSONA = 8_000
"""Characters of a persona: some two thousand tokens in every request."""

# What nobody sees, and a model reads all the same. What joins letters in scripts and pictures stays.
_UNSEEN = re.compile("[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\uffa0]")
_UNSEEN_TAGS = re.compile("[\U000e0000-\U000e0fff]")
_OWN_TAG = re.compile(r"<(?=\s*/?\s*persona)", re.IGNORECASE)


def persona_module(text: str | None) -> str:
    """The module; empty where there is no persona.

    The text keeps its lines. It can end no block of ours and speak for no role, and holds nothing that a person does
    not see; it is a value of the template, so that a placeholder in it stays what it is.
    """
    if not text or not text.strip():
        return ""
    seen = _UNSEEN_TAGS.sub("", _UNSEEN.sub("", text))
    return render("persona", persona=_OWN_TAG.sub("&lt;", escape(seen)).strip())


LONGEST_CONNECTOR = 2_000
"""Characters of what one server says."""
SHORTEST_CONNECTOR = 200
"""To which all are cut alike where they do not fit; what does not fit then is left out."""
CONNECTOR_SHARE = 0.02
"""Of the window, for all together."""

Connector = tuple[str, str]
"""A server's name, and its module of L1."""


def connectors(said: Sequence[ServedInstructions], servers: Collection[str], window: int) -> tuple[Connector, ...]:
    """The modules of those of `servers` that say something, in their share of a window of so many tokens.

    `servers` are those with a tool that the turn can call, described or to be found (X-11).
    """
    return _connectors(tuple(one for one in said if one.server in servers), int(window * CONNECTOR_SHARE))


@lru_cache(maxsize=8)
def _connectors(said: tuple[ServedInstructions, ...], room: int) -> tuple[Connector, ...]:
    longest = LONGEST_CONNECTOR
    while True:
        made = [(one.server, _module(one, longest)) for one in said]
        left = room - sum(estimate(text) for _, text in made)
        if left >= 0 or longest == SHORTEST_CONNECTOR:
            break
        longest = max(SHORTEST_CONNECTOR, longest * 3 // 4)
    while left < 0:
        left += estimate(made.pop()[1])
    return tuple(made)


def _module(said: ServedInstructions, longest: int) -> str:
    return render("connector", server=said.server, text=foreign(clipped(said.text.strip(), longest)))


SCHEMAS = "schemas"
"""The section of the tool schemas in the native dialect; vendors put them before the system prompt."""


@lru_cache(maxsize=16)
def system_sections(
    *,
    mode: Mode,
    dialect: Dialect,
    tools_description: str,
    reasoning: bool = True,
    schemas: str = "",
    remembering: bool = False,
    persona: str | None = None,
    as_text: bool = True,
    skills: str = "",
    connectors: tuple[Connector, ...] = (),
) -> tuple[Section, ...]:
    """The L1 sections. `tools_description` describes the enabled tools only.

    With `reasoning` the text dialect asks for a thought in front of each action, else for a status (R-3). `schemas` is
    what the request says of them outside the system prompt: counted and shown here, sent there. With `remembering` the
    MEMORY module speaks of long-term memory too. `persona` is the user's own text. `as_text` says in which form results
    are shown (C-7). `skills` is the index of skills, which may be empty (X-2), `connectors` is what servers say of
    themselves (X-3).
    """
    short, way = "" if mode == "agent" else "_short", {"agent": "", "ask": "_short", "plan": "_plan"}[mode]
    reported = {"dialect": dialect, "reasoning": reasoning, "as_text": as_text}
    tools = render("tools", tools_description=tools_description, **reported)
    modules = {
        SCHEMAS: schemas,
        "core": render("core"),
        "soul": render("soul"),
        "persona": persona_module(persona),
        "tools": tools,
        "workflow": render(f"workflow{way}"),
        "memory": render(f"memory{short}", remembering=remembering),
        "mode": render(f"{mode}_mode"),
        "skills": skills,
        **{f"connectors:{server}": text for server, text in connectors},
    }
    return tuple(text_section("L1", name, text) for name, text in modules.items() if text)


GOAL_CHARACTERS = 200

_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>", re.DOTALL)
_TAG = re.compile(r"<(?=\s*/?\s*(?:system-reminder|pin)\b)", re.IGNORECASE)


def pin(question: str, recap: str = "") -> Fragment:
    """The goal of a turn and how far it has come: stands last in the view, and is never stored (L-6, L-8).

    `question` is as typed or as stored: its beginning is the goal. `recap` is that of the todo list (T-7).
    """
    words = _TAG.sub("&lt;", plain(_REMINDER.sub("", question)).strip())
    goal = words if len(words) <= GOAL_CHARACTERS else f"{words[:GOAL_CHARACTERS]}..."
    return Fragment("pin", render("pin", goal=goal, status=recap))


INDEX_SHARE = 0.02
"""Of the window, for the whole index."""
_SHORT = 200
"""Characters of a description where not all lines fit whole."""


@dataclass(frozen=True, slots=True)
class SkillIndex:
    """The index as it stands in L1, and what it has no room for."""

    text: str
    """Empty where there is no skill."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Names and descriptions, for find_tools to search (X-11)."""


def skill_index(skills: Sequence[Skill], window: int) -> SkillIndex:
    """The index in its share of a window, in the order of `skills`.

    Where not all fit, descriptions are cut; what does not fit then is counted, and left to find_tools.
    """
    return _index(tuple((one.sheet.name, one.description) for one in skills), int(window * INDEX_SHARE))


@lru_cache(maxsize=8)
def _index(skills: tuple[tuple[str, str], ...], room: int) -> SkillIndex:
    if not skills:
        return SkillIndex("")
    whole = [_line(name, description) for name, description in skills]
    text = render("skills", lines=whole, more=0)
    if estimate(text) <= room:
        return SkillIndex(text)
    short = [_line(name, clipped(description, _SHORT)) for name, description in skills]
    left = room - estimate(render("skills", lines=[], more=len(short)))
    kept: list[str] = []
    for line in short:
        left -= estimate(f"{line}\n")
        if left < 0:
            break
        kept.append(line)
    return SkillIndex(render("skills", lines=kept, more=len(short) - len(kept)), skills[len(kept) :])


def _line(name: str, description: str) -> str:
    return f"- {name}: {one_name(description)}" if description else f"- {name}"
