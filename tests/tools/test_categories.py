"""The founding table of tool categories: conditions and modes (X-1, S1)."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.tools.categories import CATEGORIES, MODES, offers
from codelaw.tools.toolbox import default_toolbox, every_tool

READING = {"LS", "Glob", "Grep", "Read", "Diagnostics", "Definition", "References", "memory_search"}
ALL = READING | {"Edit", "MultiEdit", "Write", "Bash", "TodoWrite", "Rename", "QuickFix", "memory_save"}


@pytest.mark.parametrize(("mode", "names"), [("agent", ALL), ("ask", READING), ("plan", READING | {"TodoWrite"})])
def test_the_modes_offer_what_the_rule_says(mode: Any, names: set[str]):
    every = default_toolbox(services=("diagnostics", "definition", "references", "rename", "quickFix"), memory=True)
    offered = set(every.for_mode(mode).names)
    assert offered & ALL == names


def test_every_tool_has_one_row_and_its_modes_fit_what_it_does():
    for tool in every_tool():
        rows = [row for row in CATEGORIES if tool.name in row.tools]
        assert len(rows) == 1, tool.name
        everywhere = MODES[rows[0].reach] == {"agent", "ask", "plan"}
        assert everywhere == (tool.effect == "read") or rows[0].name == "many tools", tool.name


def test_the_report_says_why_a_tool_is_not_offered():
    reported = {
        one.name: one for one in offers(every_tool(), default_toolbox(memory=True).for_mode("plan").tools, "plan")
    }
    assert (reported["Read"].offered, reported["Read"].category, reported["Read"].reason) == (
        True,
        "files, reading",
        "always",
    )
    assert (reported["Bash"].offered, reported["Bash"].reason) == (False, "the mode plan only reads")
    assert (reported["Rename"].offered, reported["Rename"].reason) == (False, "the mode plan only reads")
    assert (reported["Definition"].offered, reported["Definition"].reason) == (
        False,
        "not enabled: the editor lends the service",
    )
    assert (reported["memory_search"].offered, reported["memory_search"].reason) == (True, "memory.enabled")
    assert reported["TodoWrite"].offered
