"""Shares, their tracker, and what goes when they are enforced (B-2)."""

from __future__ import annotations

import pytest

from codelaw.context.builder import (
    PARTS,
    ViewBudget,
    budget_report,
    fitting_fragments,
    fitting_system,
    part_of,
)
from codelaw.context.sections import Section, text_section
from codelaw.domain.messages import Fragment


def sized(layer, name: str, tokens: int) -> Section:
    return Section(layer, name, tokens, content="x")


@pytest.mark.parametrize(
    ("total", "shares", "expected"),
    [
        (48_000, (20, 10, 10, 55, 5), [9_600, 4_800, 4_800, 26_400, 2_400]),
        (1_001, (20, 10, 10, 55, 5), [200, 100, 100, 550, 50]),
        (1_000, (2, 1, 1, 1, 0), [400, 200, 200, 200, 0]),
        (0, (20, 10, 10, 55, 5), [0, 0, 0, 0, 0]),
    ],
)
def test_a_total_is_parted_by_the_ratio_of_its_shares(total, shares, expected):
    budget = ViewBudget(total, shares)
    assert [budget.share(part) for part in PARTS] == expected


@pytest.mark.parametrize(
    ("layer", "name", "part"),
    [
        ("L1", "core", "system"), ("L2", "law", "system"), ("L3", "summaries", "summary"), ("L3", "history", "recent"),
        ("turn", "question", "input"), ("turn", "spans", "retrieved"), ("turn", "memories", "retrieved"),
        ("turn", "scratchpad", "recent"), ("turn", "todo", "input"), ("tail", "pin", "input"),
    ],
)  # fmt: skip
def test_every_section_counts_for_one_part(layer, name, part):
    assert part_of(sized(layer, name, 1)) == part


def test_the_report_has_all_parts_and_says_which_are_over():
    sections = [sized("L1", "core", 150), sized("L2", "law", 60), sized("L3", "history", 550)]
    lines = budget_report([(section, section.tokens) for section in sections], ViewBudget(1_000))
    assert [(line.part, line.share, line.tokens, line.over) for line in lines] == [
        ("system", 200, 210, True),
        ("summary", 100, 0, False),
        ("retrieved", 100, 0, False),
        ("recent", 550, 550, False),
        ("input", 50, 0, False),
    ]


SYSTEM = (
    sized("L1", "core", 100), sized("L1", "tools", 100), sized("L1", "skills", 50), sized("L1", "connectors:github", 70),
    sized("L1", "connectors:mail", 30), sized("L1", "mcp", 20),
)  # fmt: skip


@pytest.mark.parametrize(
    ("share", "law", "gone"),
    [
        (370, 0, []),
        (369, 0, ["connectors:github"]),
        (299, 0, ["connectors:github", "connectors:mail"]),
        (269, 0, ["connectors:github", "connectors:mail", "mcp"]),
        (249, 0, ["connectors:github", "connectors:mail", "mcp", "skills"]),
        (100, 0, ["connectors:github", "connectors:mail", "mcp", "skills"]),
        (370, 300, ["connectors:github", "connectors:mail", "mcp", "skills"]),
    ],
)
def test_of_l1_only_whole_optional_modules_go_and_the_law_never(share, law, gone):
    kept, dropped = fitting_system(SYSTEM, law, ViewBudget(share * 5, enforced=True))
    assert [entry.name for entry in dropped] == gone
    assert [section.name for section in kept] == [one.name for one in SYSTEM if one.name not in gone]


def test_what_was_retrieved_fits_its_share_whole_or_is_left_out():
    fragments = (Fragment("spans", "word " * 100), Fragment("profile", "short"), Fragment("memories", "word " * 100))
    one = text_section("turn", "spans", fragments[0].text).tokens
    kept, dropped = fitting_fragments(fragments, ViewBudget((one + 5) * 10, enforced=True))
    assert [fragment.name for fragment in kept] == ["spans", "profile"]
    assert [entry.name for entry in dropped] == ["memories"]


def test_recents_leave_the_shares_of_what_is_retrieved_and_summarised_free():
    budget = ViewBudget(1_000, enforced=True)
    assert budget.recent(fixed=100) == 550
    assert budget.recent(fixed=400) == 400
    assert budget.recent(fixed=900) == 0
