"""L1: the system modules in their fixed order (L-2, L-3).

CORE, SOUL, PERSONA where there is one, TOOLS, WORKFLOW, MEMORY, MODE; then the skills index and a connector prompt of
each server, when there are any. Nothing here may depend on time, place or open files: for the same mode, tools, dialect
and persona the bytes are the same in every process.
"""

from __future__ import annotations

from functools import lru_cache

from codelaw.context.sections import Section, text_section
from codelaw.context.system.connectors import Connector
from codelaw.context.system.persona import persona_module
from codelaw.domain.chats import Dialect, Mode
from codelaw.templates.render import render

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
    told = {"dialect": dialect, "reasoning": reasoning, "as_text": as_text}
    tools = render("tools", tools_description=tools_description, **told)
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
