"""`dev.py test` runs what a path needs, fails when a stage fails, and tells what it skipped."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from scripts.dev import running, stages
from scripts.dev.bare import bare
from scripts.dev.base import ROOT, Problem, Unavailable
from scripts.dev.running import Outcome
from scripts.dev.stages import Stage
from tests import long


def names(*paths: str) -> list[str]:
    return [stage.name for stage in stages.of_paths(paths)]


def pytest_paths(*paths: str) -> list[str]:
    """What pytest gets to run for these paths."""
    (stage,) = [stage for stage in stages.of_paths(paths) if stage.name == "tests"]
    return [word for word in stage.command if word.startswith("tests")]


def test_all_stages_are_in_the_whole_check() -> None:
    whole = [stage.name for stage in stages.whole(everything=True)]
    assert whole[:4] == ["format", "lint", "imports", "types"]
    assert {"client check", "client lint", "client test", "client build", "tests"} <= set(whole)


@pytest.mark.parametrize(("everything", "left_out"), [(True, False), (False, True)])
def test_only_the_quick_check_leaves_long_tests_out(*, everything: bool, left_out: bool) -> None:
    command = stages.whole(everything=everything)[-1].command
    assert ("not long" in command) is left_out
    assert ("--durations=30" in command) is everything


def test_a_test_needs_itself_and_no_types() -> None:
    assert names("tests/domain/test_hosts.py") == ["format", "lint", "tests"]
    assert pytest_paths("tests/domain/test_hosts.py::test_x") == ["tests/domain/test_hosts.py::test_x"]


def test_a_file_runs_whole_and_a_folder_without_its_long_tests() -> None:
    file, folder, room = "tests/breakers/test_kills.py", "tests/scenarios", "tests/attacks/"
    assert "not long" not in stages.of_paths([file])[-1].command
    assert "not long" not in stages.of_paths([room])[-1].command, "all of it is long, so nothing would be left"
    assert "not long" in stages.of_paths([folder])[-1].command
    assert "not long" in stages.of_paths([folder, room])[-1].command


def test_a_module_needs_the_tests_that_name_it() -> None:
    assert names("server/codelaw/domain/safety/hosts.py") == ["format", "lint", "types", "imports", "tests"]
    assert "tests/domain/test_hosts.py" in pytest_paths("server/codelaw/domain/safety/hosts.py")
    assert len(pytest_paths("server/codelaw/domain/safety/hosts.py")) < 10


def test_a_room_needs_its_tests() -> None:
    assert pytest_paths("server/codelaw/memory") == ["tests/memory"]


def test_a_document_needs_the_contracts() -> None:
    assert names("README.md") == ["tests"]
    assert pytest_paths("README.md", "docs/rules.md") == ["tests/contracts"]


def test_a_test_of_the_extension_needs_no_python() -> None:
    assert names("editor-client/test/host/patch.test.ts") == ["client lint", "client style", "client test"]


def test_a_source_of_the_extension_needs_its_types_too() -> None:
    given = stages.of_paths(["editor-client/src/plain.ts"])
    assert [stage.name for stage in given] == ["client lint", "client style", "client check", "client test"]
    assert given[-1].command[-1] == "src/plain.ts"


@pytest.mark.parametrize("path", ["tests/nowhere.py", "", "../elsewhere"])
def test_a_path_that_is_not_here_is_refused(path: str) -> None:
    with pytest.raises(Problem):
        stages.of_paths([path])


def test_paths_are_read_from_the_folder_where_they_are_typed() -> None:
    typed = ["test_hosts.py::test_x", "../cli", str(ROOT / "docs")]
    read = running.relative(typed, ROOT / "tests" / "domain")
    assert read == ["tests/domain/test_hosts.py::test_x", "tests/cli", "docs"]


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


def test_a_program_that_cannot_be_started_is_a_failure() -> None:
    outcomes = running.run_all([Stage("gone", ("no-such-program",)), Stage("here", ("python", "-c", ""), "tests")])
    assert [outcome.status != 0 for outcome in outcomes] == [True, False]


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


def test_a_skip_is_told_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert running.report([Outcome("tests", 0, ("[1] tests/a.py:1: no nvim",)), Outcome("lint", 0)]) == 0
    said = capsys.readouterr().err
    assert "skipped: tests: [1] tests/a.py:1: no nvim" in said
    assert "all is well" not in said


def test_nothing_that_ran_is_a_failure() -> None:
    assert running.report([]) == 1


def test_skips_are_read_under_colours() -> None:
    summary = b"x.\n\x1b[33mSKIPPED\x1b[0m [1] tests/a.py:3: why\n==== 1 passed, 1 skipped ====\n"
    assert running.skipped(summary) == ("[1] tests/a.py:3: why",)


@pytest.mark.parametrize(
    "wrong", [["fix", "tests"], ["test", "--all", "tests"], ["test", "--all", "--bare"], ["vsix", "--", "-x"], ["what"]]
)
def test_a_command_line_that_means_nothing_is_refused(wrong: list[str]) -> None:
    done = subprocess.run([sys.executable, "dev.py", *wrong], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage:" in done.stderr


def test_ci_ends_with_a_bare_machine_and_everything_and_their_status() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert "set -euo pipefail" in lines
    assert lines[-2:] == ["python3 dev.py test --bare", "python3 dev.py test --all"]


def test_what_is_long_is_there() -> None:
    for place in (place for places in long.PLACES.values() for place in places):
        path, _, test = place.partition("::")
        assert (long.TESTS / path).exists(), place
        assert not test or f"def {test}(" in (long.TESTS / path).read_text("utf-8"), place


def test_of_every_other_room_the_quick_check_takes_something() -> None:
    assert {f"tests/{place.relative_to(long.TESTS)}" for place in long.WHOLE if place.is_dir()} == stages.LONG_ROOMS


def test_rows_are_taken_evenly_with_both_ends() -> None:
    assert long.evenly(1, 2) == {0}
    assert long.evenly(2, 2) == {0, 1}
    assert long.evenly(400, 2) == {0, 399}
    assert long.evenly(9, 3) == {0, 4, 8}
    assert len(long.evenly(400, 20)) == 20


def test_the_quick_check_leaves_out_long_files_long_tests_other_rows_and_the_second_dialect() -> None:
    files = [
        "breakers/test_clocks.py",
        "adapters/stores/test_killed.py",
        "agent/test_steering.py",
        "tools/test_merging.py",
    ]
    command = [sys.executable, "-m", "pytest", *(f"tests/{file}" for file in files), "-m", "not long", "--co", "-q"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    found = done.stdout.splitlines()
    assert not [name for name in found if "test_clocks" in name or "native" in name or "grow_for_ever" in name]
    assert [name for name in found if "test_steering.py" in name and "[react" in name]
    assert [name for name in found if "test_killed.py" in name]
    seeds = "tests/tools/test_merging.py::test_every_line_is_the_persons_or_the_originals_or_nothing_is_changed"
    assert [name for name in found if name.startswith(seeds)] == [f"{seeds}[0]", f"{seeds}[399]"]
