"""Every attack of the table does what is expected of it: it is held, or it is known and said (S-1 to S-8)."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.attacks.ordinary import ROOT, Unavailable, ordinary
from tests.attacks.row import Attack, Means
from tests.attacks.running import label, rows_of
from tests.attacks.table import KNOWN_AT_MOST, TABLE

FEWEST = 250
REQUIRED = "attacks" in os.environ.get("CODELAW_TEST_REQUIRE", "").split(",")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only")
Outcomes = dict[tuple[str, str], dict]


@pytest.fixture(scope="session")
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What came of the attacks that are asked for; they run once, whoever of several test processes comes first."""
    names = sorted({label(*attack) for item in request.session.items if (attack := _attack_of(item)) is not None})
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    with (shared / "attacks.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = shared / "attacks.json"
        if not file.exists():
            file.write_text(json.dumps(_run(names)))
    reported = json.loads(file.read_text())
    if isinstance(reported, str):
        if REQUIRED:
            pytest.fail(reported, pytrace=False)
        pytest.skip(reported)
    return {(one["name"], one["means"]): one for one in reported}


def _attack_of(item: pytest.Item) -> tuple[Attack, Means] | None:
    given = getattr(getattr(item, "callspec", None), "params", {}) if item.path == Path(__file__) else {}
    return (given["row"], given["means"]) if "row" in given else None


def _run(names: list[str]) -> list[dict] | str:
    """The outcomes, or why there are none."""
    try:
        with ordinary() as user:
            child = user.start("-m", "tests.attacks.child")
            said, _ = child.communicate("\n".join(names))
    except Unavailable as reason:
        return f"no ordinary user can run the attacks here: {reason}"
    assert child.returncode == 0, f"the process that attacks ended with {child.returncode}"
    return [json.loads(line) for line in said.splitlines()]


@pytest.mark.parametrize(
    ("row", "means"), [pytest.param(row, means, id=f"{row.name}-{means}") for row, means in rows_of(TABLE)]
)
def test_an_attack(outcomes: Outcomes, row: Attack, means: Means):
    outcome = outcomes[row.name, means]
    if not outcome["ran"]:
        # Only what a machine may honestly lack; whatever else did not run is a mistake of the table's.
        if row.needs or outcome["note"].startswith(("bubblewrap", "landlock", "its landlock", "the kernel has no")):
            pytest.skip(outcome["note"])
        pytest.fail(f"it did not run: {outcome['note']}", pytrace=False)
    if row.sentence(means):
        assert outcome["breaches"], f"it is held by now, and need not be known: {outcome['note']}"
    else:
        assert outcome["breaches"] == [], outcome["note"]


def test_every_name_is_of_one_attack():
    assert [name for name, count in Counter(row.name for row in TABLE).items() if count > 1] == []


def test_there_are_enough_of_them_and_none_is_known_where_all_is_held():
    assert len(TABLE) >= FEWEST
    known = {means for row in TABLE for means in row.means if row.sentence(means) and not row.meanwhile}
    assert known <= {"landlock", "none"}


def test_what_is_known_is_said_and_does_not_grow():
    said = " ".join((ROOT / "docs" / "safety.md").read_text("utf-8").split())
    assert [row.name for row, means in rows_of(TABLE) if row.sentence(means) not in said] == []
    for means, most in KNOWN_AT_MOST.items():
        assert sum(1 for row, by in rows_of(TABLE) if by == means and row.sentence(means)) <= most, means


def test_each_aim_is_reached_where_nothing_holds():
    """Proof that a breach would be seen, whatever the attack is after."""
    commands = [row for row in TABLE if "bubblewrap" in row.means]
    assert {row.aim for row in commands} - {"exhaust"} <= {row.aim for row in commands if row.sentence("none")}
