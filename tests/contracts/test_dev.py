"""`dev.py test` runs what a path needs, fails when a stage fails, and tells what it skipped."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from scripts.dev import running, stages
from scripts.dev.bare import bare
from scripts.dev.base import ROOT, Unavailable
from scripts.dev.running import Outcome
from scripts.dev.stages import Stage
from tests import long


def pytest_paths(*paths: str) -> list[str]:
    """What pytest gets to run for these paths."""
    (stage,) = [stage for stage in stages.of_paths(paths) if stage.name == "tests"]
    return [word for word in stage.command if word.startswith("tests")]


@pytest.mark.parametrize(("everything", "left_out"), [(True, False), (False, True)])
def test_only_the_quick_check_leaves_long_tests_out(*, everything: bool, left_out: bool) -> None:
    command = stages.whole(everything=everything)[-1].command
    assert ("not long" in command) is left_out
    assert ("--durations=30" in command) is everything


def test_a_file_runs_whole_and_a_folder_without_its_long_tests() -> None:
    file, folder, room = "tests/breakers/test_kills.py", "tests/scenarios", "tests/attacks/"
    assert "not long" not in stages.of_paths([file])[-1].command
    assert "not long" not in stages.of_paths([room])[-1].command, "all of it is long, so nothing would be left"
    assert "not long" in stages.of_paths([folder])[-1].command
    assert "not long" in stages.of_paths([folder, room])[-1].command


@pytest.mark.parametrize(
    ("path", "stage_names", "tests"),
    [
        ("tests/domain/test_hosts.py::test_x", "format lint tests", ["tests/domain/test_hosts.py::test_x"]),
        ("server/codelaw/memory", "format lint types imports tests", ["tests/memory"]),
        ("README.md", "tests", ["tests/contracts"]),
        ("editor-client/test/host/patch.test.ts", "client lint,client style,client test", None),
    ],
)
def test_a_path_needs_what_it_may_break(path: str, stage_names: str, tests: list[str] | None) -> None:
    named = [stage.name for stage in stages.of_paths([path])]
    assert named == stage_names.split("," if "," in stage_names else " ")
    assert tests is None or pytest_paths(path) == tests


def test_a_module_needs_the_tests_that_name_it() -> None:
    found = pytest_paths("server/codelaw/domain/safety/hosts.py")
    assert "tests/domain/test_hosts.py" in found
    assert len(found) < 10


def script(name: str, code: str, lane: str = stages.CHECKS) -> Stage:
    return Stage(name, ("python", "-c", code), lane)


def test_a_failed_stage_fails_the_whole_and_stops_no_other(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    outcomes = running.run_all(
        [
            script("bad", "print('what is wrong'); raise SystemExit(3)"),
            script("good", "print('nothing to see')"),
            script("shown", "print('SKIPPED [2] tests/a.py:1: no nvim')", stages.TESTS),
        ]
    )
    assert outcomes == [Outcome("bad", 3), Outcome("good", 0), Outcome("shown", 0, ("[2] tests/a.py:1: no nvim",))]
    assert running.report(outcomes) == 1
    out, err = capfdbinary.readouterr()
    assert b"what is wrong" in out
    assert b"nothing to see" not in out
    assert b"no nvim" in out
    assert b"failed: bad" in err


WHO = """
import json, os, pathlib, shutil, pytest, codelaw
here = pathlib.Path().resolve()
print(json.dumps({
    "root": os.geteuid() == 0,
    "found": [name for name in ("bwrap", "node", "npm", "psql", "rg", "ps", "gcc", "git", "sh") if shutil.which(name)],
    "own": pathlib.Path(codelaw.__file__).is_relative_to(here),
    "installed": [name for name in (".venv/bin/python", ".ruff_cache", "editor-client/node_modules") if (here / name).exists()],
    "written": (here / "written").write_text("yes"),
}))
"""


def test_a_bare_machine_has_next_to_nothing_and_is_an_ordinary_users(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    try:
        with bare() as machine:
            [outcome] = running.run_all([script("who", WHO)], machine)
            assert (machine.root / "dev.py").read_bytes() == (ROOT / "dev.py").read_bytes()
    except Unavailable as reason:
        pytest.skip(str(reason))
    out, err = capfdbinary.readouterr()
    assert outcome.status == 0, err
    assert json.loads(out) == {
        "root": False,
        "found": ["git", "sh"],
        "own": True,
        "installed": [".venv/bin/python"],
        "written": 3,
    }
    assert not machine.root.exists()


def test_what_is_long_is_there() -> None:
    for place in (place for places in long.PLACES.values() for place in places):
        path, _, test = place.partition("::")
        assert (long.TESTS / path).exists(), place
        assert not test or f"def {test}(" in (long.TESTS / path).read_text("utf-8"), place


def test_of_every_other_room_the_quick_check_takes_something() -> None:
    assert {f"tests/{place.relative_to(long.TESTS)}" for place in long.WHOLE if place.is_dir()} == stages.LONG_ROOMS


def test_the_quick_check_leaves_out_long_files_and_other_rows() -> None:
    files = ["tests/breakers/test_clocks.py", "tests/tools/test_merging.py"]
    command = [sys.executable, "-m", "pytest", *files, "-m", "not long", "--co", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = done.stdout.splitlines()
    assert not [name for name in found if "test_clocks" in name]
    seeds = "tests/tools/test_merging.py::test_every_line_is_the_persons_or_the_originals_or_nothing_is_changed"
    assert [name for name in found if name.startswith(seeds)] == [f"{seeds}[0]", f"{seeds}[399]"]
