"""What servers say of themselves, as the last modules of L1: bounded, the same bytes each time (L-2, X-3)."""

from __future__ import annotations

from codelaw.context.builder import ViewBudget, fitting_system
from codelaw.context.system.modules import CONNECTOR_SHARE, LONGEST_CONNECTOR, connectors, system_sections
from codelaw.context.tokens import estimate
from codelaw.domain.served import ServedInstructions


def said(count: int, size: int = 5_000) -> tuple[ServedInstructions, ...]:
    return tuple(ServedInstructions(f"s{number}", "plain words " * (size // 12)) for number in range(count))


def test_each_is_cut_and_stands_behind_the_skills_in_the_order_of_the_servers() -> None:
    made = connectors(said(2), {"s0", "s1", "s9"}, 200_000)
    assert [name for name, _ in made] == ["s0", "s1"]
    assert all(
        LONGEST_CONNECTOR < len(text) < LONGEST_CONNECTOR + 500 and text.count("…\n</server-instructions>") == 1
        for _, text in made
    )
    assert connectors(said(2), {"s0", "s1", "s9"}, 200_000) == made
    sections = system_sections(mode="agent", dialect="react", tools_description="", skills="SKILLS", connectors=made)
    assert [section.name for section in sections][-3:] == ["skills", "connectors:s0", "connectors:s1"]
    assert connectors(said(2), {"s1"}, 200_000) == made[1:]


def test_many_share_a_part_of_the_window() -> None:
    names = {f"s{number}" for number in range(40)}
    for window in (16_000, 64_000, 200_000):
        made = connectors(said(40), names, window)
        assert 0 < sum(estimate(text) for _, text in made) <= window * CONNECTOR_SHARE
        assert [name for name, _ in made] == [f"s{number}" for number in range(len(made))]
        assert len({len(text.replace(name, "")) for name, text in made}) == 1, "all are cut alike"


def test_they_go_first_where_the_shares_are_enforced() -> None:
    made = connectors(said(1), {"s0"}, 200_000)
    sections = system_sections(mode="agent", dialect="react", tools_description="", skills="SKILLS", connectors=made)
    whole = sum(section.tokens for section in sections)
    kept, dropped = fitting_system(sections, 0, ViewBudget(whole - 1, (1, 0, 0, 0, 0), enforced=True))
    assert [one.name for one in dropped] == ["connectors:s0"]
    assert kept[-1].name == "skills"
