"""What stays of a search for tools: the names by which they can be called (X-11, C-1, C-6)."""

from __future__ import annotations

import json
from typing import Any

from codelaw.context.escaping import json_line
from codelaw.context.observations.text import observation_text
from codelaw.context.shortening.compressor import compress
from codelaw.context.shortening.demotion import demoted
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Message, Metadata
from codelaw.domain.results import ToolResult

NAMES = [f"mcp__github__do_{number}_things" for number in range(5)]
DATA: dict[str, Any] = {
    "query": "do things",
    "total": 300,
    "tools": [{"name": name, "manual": f"{name}[{{a: str}}]\nDoes things.\n  a: What."} for name in NAMES],
}


def cut(data: dict[str, Any] = DATA) -> str:
    return json_line(compress("find_tools", ToolResult("success", data, "").envelope(), "r3"))


def test_skills_stand_below_the_tools():
    skills = [{"name": "pdf", "description": "Fills in\nforms"}]
    data = {"query": "x", "total": 0, "tools": [], "skills": skills}
    result = ToolResult("success", data, "0 tools and 1 skills found. Load one.")
    shown = observation_text("find_tools", json_line(result.observation()))
    assert shown.splitlines() == [
        "find_tools x: 0 of 0 tools", "skills:", " pdf: Fills in\\u000aforms", "note:", " Load one.",
    ]  # fmt: skip


def test_the_history_keeps_the_names():
    kept = json.loads(cut())
    assert kept["data"] == {
        "query": "do things", "total": 300, "tools": [{"name": name} for name in NAMES], "truncated": True,
    }  # fmt: skip
    shown = observation_text("find_tools", cut()).splitlines()
    assert shown == ['find_tools "do things": 5 of 300 tools; whole: result:r3', *(f" {name}" for name in NAMES)]


def test_a_demoted_search_keeps_them_too():
    message = Message("m", "t", "tool", cut(), Metadata(tool_name="find_tools", call_id="c", ref="r3", as_text=True))
    (short,) = demoted([message], {Demotion("m", "result")})
    assert short.content != message.content
    assert all(name in observation_text("find_tools", short.content) for name in NAMES)
