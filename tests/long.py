"""What only `dev.py test --all` runs, and why. `tests/conftest.py` marks it; this is the one place that chooses.

The quick check keeps a test of every rule and of every room. It leaves out what repeats one: the same in another
database, transport or dialect, more rows of a table, more examples. A file that is named runs whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent

PLACES: dict[str, tuple[str, ...]] = {
    "breaks or attacks it": ("attacks", "breakers", "injection", "scenarios/test_bad_days.py", "scenarios/test_bad_stores.py"),
    "starts real editors": ("editors", "lsp/test_editor_client.py", "scenarios/test_vscode_edits.py"),
    "is a matrix": (
        "scenarios/test_edits.py", "scenarios/test_ends.py", "scenarios/test_freshness_matrix.py",
        "scenarios/test_grants.py", "scenarios/test_strategies.py", "scenarios/test_trust.py",
        "scenarios/test_who_answers.py",
    ),
    "kills or stops at many moments": (
        "agent/test_interrupts.py", "scenarios/test_killed_commands.py", "scenarios/test_killed_compaction.py",
        "scenarios/test_killed_embedding.py", "scenarios/test_stop.py",
        "adapters/stores/test_killed.py::test_servers_killed_while_they_write_lose_nothing_that_was_stored",
        "adapters/stores/test_set_aside.py::test_killed_while_setting_aside_nothing_is_lost",
        "scenarios/test_revert.py::test_a_kill_at_any_moment_of_the_turn_or_of_the_revert",
    ),
    "goes on for long, or by chance": (
        "agent/test_whole_answers.py", "scenarios/test_keeping.py",
        "scenarios/test_overflow.py", "scenarios/test_questions.py", "scenarios/test_headless.py", "scenarios/test_trace.py",
        "adapters/workspace/test_search.py::test_both_engines_agree_on_made_up_patterns",
        "agent/test_compaction_growth.py",
        "agent/test_window_plan.py::test_any_turn_ends_with_a_view_that_fits_or_a_refusal_and_the_question_stands_in_it_once",
        "agent/test_compaction_plan.py::test_none_begins_by_itself_before_the_view_has_grown_by_a_tenth",
        "lsp/test_wire.py::test_a_client_that_does_not_read_blocks_nobody",
        "scenarios/test_whole_turn.py::test_two_chats_run_side_by_side_and_the_rest_is_answered_meanwhile",
    ),
    "says in a whole turn what the tests of the view and of the plan say in values": (
        "agent/test_compaction_meanwhile.py", "agent/test_findings.py", "agent/test_full_results.py",
        "agent/test_strategies.py",
    ),
    "says of another database what is said of the first": (
        "scenarios/test_team_store.py", "adapters/stores/postgresql/test_suites.py",
        "adapters/stores/test_two_servers.py",
    ),
}  # fmt: skip
"""Folders, files and tests (`FILE::test`), each below what it does; all tests of a folder or a file are long."""

WHOLE = frozenset(TESTS / place for places in PLACES.values() for place in places if "::" not in place)
SINGLE = frozenset(place for places in PLACES.values() for place in places if "::" in place)

DEAR = frozenset({"adapters", "agent", "cli", "lsp", "scenarios", "tools"})
"""Rooms whose tests start servers, processes and databases, or have hundreds of seeds."""
ROWS_OF_THE_DEAR = 2
ROWS = 20
"""Of a table of more rows the quick check takes so many, the first and the last among them."""

EXAMPLES = 25
"""Examples that Hypothesis draws in the quick check, where a test does not say how many it needs."""


def quick(config: pytest.Config) -> bool:
    """Whether this run leaves the long tests out."""
    return config.option.markexpr == "not long"


def evenly(rows: int, kept: int) -> set[int]:
    """The numbers of `kept` rows of a table: first, last, and between them at equal distances; all if it has no more."""
    return set(range(rows)) if rows <= kept else {round(at * (rows - 1) / (kept - 1)) for at in range(kept)}


def long_ones(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Those of the collected tests that are long."""
    found: list[pytest.Item] = []
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        test = item.nodeid.partition("[")[0]
        if WHOLE & {item.path, item.path.parent} or test.removeprefix("tests/") in SINGLE or _again(item):
            found.append(item)
        else:
            tables.setdefault(test, []).append(item)
    for rows in tables.values():
        room = rows[0].path.relative_to(TESTS).parts[0]
        chosen = evenly(len(rows), ROWS_OF_THE_DEAR if room in DEAR else ROWS)
        found += [item for number, item in enumerate(rows) if number not in chosen]
    return found


def _again(item: pytest.Item) -> bool:
    """A test of the agent a second time, in the other dialect; `agent/dialects` is where that matters most."""
    spec: Any = getattr(item, "callspec", None)
    return item.path.parent == TESTS / "agent" and spec is not None and spec.indices.get("dialect", 0) > 0
