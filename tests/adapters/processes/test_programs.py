"""What codelaw starts itself comes from outside every workspace and gets an environment of its own (S-5, S-8)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.asking import started
from codelaw.adapters.programs import find_program, own_environment, usable
from tests.fakes.desk import folder, make_desk
from tests.fakes.living import kill, own_seconds


@pytest.fixture
def work(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    (place / ".venv/bin").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    program(place / ".venv/bin/tool")
    return place


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "entry",
    [
        *("{work}/.venv/bin", "", ".", ".venv/bin", "{work}/../{name}/.venv/bin", "{tmp}/linked", "{tmp}/bin"),
        "{tmp}/there",
    ],
)
def test_a_program_of_the_workspace_is_never_found(
    tmp_path: Path, work: Path, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "linked").symlink_to(work / ".venv/bin")
    (tmp_path / "bin/tool").symlink_to(work / ".venv/bin/tool")
    # Out of the workspace and into it again: whoever writes the workspace chooses where this leads.
    (tmp_path / "outside").mkdir()
    program(tmp_path / "outside/tool")
    (work / "way").symlink_to(tmp_path / "outside")
    (tmp_path / "there").symlink_to(work / "way")
    monkeypatch.chdir(work)
    path = entry.format(work=work, tmp=tmp_path, name=work.name)
    assert find_program("tool", {"PATH": path}, [work]) is None
    good = program(tmp_path / "outside/good").parent
    program(good / "tool")
    assert find_program("tool", {"PATH": f"{path}{os.pathsep}{good}"}, [work]) == str(good / "tool")


def test_only_files_that_can_be_run_are_programs(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/tool").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b/tool").write_text("")
    (tmp_path / "c").mkdir()
    os.mkfifo(tmp_path / "c/tool", 0o755)
    (tmp_path / "d").symlink_to("d")
    path = os.pathsep.join(str(tmp_path / name) for name in "abcd")
    assert find_program("tool", {"PATH": path}, []) is None
    assert not usable("/nul\0", [])


def test_the_environment_of_our_own_programs_has_no_key_and_loads_nothing(tmp_path: Path, work: Path) -> None:
    given = {
        "PATH": f"{work}/.venv/bin::bin:/usr/bin:/bin",
        "LD_LIBRARY_PATH": f"{work}/lib:/usr/lib/x",
        "LANG": "C.UTF-8",
        "HOME": str(tmp_path),
    }
    hostile = ["LD_PRELOAD", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "NODE_OPTIONS", "RIPGREP_CONFIG_PATH"]
    hostile += ["GIT_CONFIG_GLOBAL", "GIT_EXEC_PATH", "BASH_ENV", "ENV", "ANTHROPIC_API_KEY", "CODELAW_TOKEN"]
    kept = own_environment(given | dict.fromkeys(hostile, "x"), [work])
    assert kept == {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": "/usr/lib/x", "LANG": "C.UTF-8"}


@pytest.mark.needs("rg")
@pytest.mark.parametrize("without_rg", [True, False])
async def test_a_search_runs_no_rg_of_the_workspace_and_gives_no_key_away(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch, *, without_rg: bool
) -> None:
    seen = tmp_path / "seen"
    spy = f'#!/bin/sh\nenv > {seen}\nexec /usr/bin/env rg "$@"\n'
    program(work / ".venv/bin/rg", spy)
    desk = make_desk(folder(work))
    desk.put("a", "needle\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("PATH", f"{work}/.venv/bin:" + ("" if without_rg else os.environ["PATH"]))
    monkeypatch.setattr(sys, "executable", str(work / ".venv/bin/python"))
    (work / ".venv/bin/python").symlink_to(os.path.realpath("/proc/self/exe"))
    found = await desk("Grep", pattern="needle", glob="a")
    assert found.data["total"] == 1
    assert found.data.get("fallback", False) is without_rg
    assert not seen.exists()
    # One from elsewhere on PATH is run, and is not told the key.
    (tmp_path / "safe").mkdir()
    program(tmp_path / "safe/rg", f"#!/bin/sh\nenv > {seen}\nexit 0\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/safe:/usr/bin:/bin")
    await desk("Grep", pattern="needle", glob="a")
    assert "sk-secret" not in seen.read_text()
    assert "PATH=" in seen.read_text()


@pytest.mark.parametrize("behind", ["", "exec 2>&-; sleep {seconds} & echo $! > behind; "])
async def test_a_program_ends_though_not_all_is_read_and_another_holds_its_pipes(tmp_path: Path, behind: str):
    script = behind.format(seconds=own_seconds()) + "head -c 9000000 /dev/zero; exec sleep 600"
    env = {"PATH": os.environ["PATH"]}
    try:
        async with asyncio.timeout(150):
            async with started("/bin/sh", "-c", script, env=env, cwd=tmp_path) as process:
                await process.stdout.readexactly(1_000_000)
                stream: Any = process.stdout
                while len(stream._buffer) <= 1 << 17:  # beyond which nothing is read from the pipe
                    await asyncio.sleep(0.01)
            assert process.returncode == -signal.SIGKILL
    finally:
        kill(int(line) for file in tmp_path.glob("behind") for line in file.read_text().split())
