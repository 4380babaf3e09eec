"""docs/rules.md is complete, and nothing refers to a rule that is not in it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
RULE = re.compile(r"\b([A-Z]-\d+a?)\b")
FAMILIES = "LRTCMFWKHBXPSEDV"
DEFINED = re.compile(r"^- \*\*([A-Z]-\d+a?)\*\*", re.MULTILINE)


def defined() -> list[str]:
    return DEFINED.findall((ROOT / "docs" / "rules.md").read_text("utf-8"))


def mentioned() -> dict[str, set[str]]:
    """Rule ids in code, tests and documents, with the files that name them."""
    places: dict[str, set[str]] = {}
    files = [ROOT / "ARCHITECTURE.md", ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]
    for folder in ("server", "tests", "benchmarks"):
        files += sorted((ROOT / folder).rglob("*.py"))
    for path in files:
        if path != Path(__file__):
            for rule in RULE.findall(path.read_text("utf-8")):
                if rule[0] in FAMILIES:
                    places.setdefault(rule, set()).add(path.relative_to(ROOT).as_posix())
    return places


def test_no_rule_is_defined_twice() -> None:
    ids = defined()
    assert len(ids) > 90
    assert sorted(ids) == sorted(set(ids))


def test_every_rule_that_is_named_exists() -> None:
    known = set(defined())
    assert {rule: files for rule, files in mentioned().items() if rule not in known} == {}


def test_the_ids_of_a_family_leave_no_gap() -> None:
    numbers: dict[str, set[int]] = {}
    for rule in defined():
        numbers.setdefault(rule[0], set()).add(int(rule[2:].rstrip("a")))
    assert set(numbers) == set(FAMILIES)
    for family, found in numbers.items():
        assert found == set(range(1, max(found) + 1)), family
