"""Kinds of subagents: Markdown files that say what one is for and what it may use (X-4).

Read leniently: what is wrong with one is told and keeps nobody from using it, and fields of others are left alone. But
one whose tools cannot be read does not count, as it would have all of them (S-1).
"""

from __future__ import annotations

import re
from dataclasses import replace

from codelaw.domain.extensions import AgentSheet, Sheet
from codelaw.domain.safety.unseen import without_hidden
from codelaw.skills.front_matter import Written, effort_of, plain_name, written

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
