"""What codelaw starts itself comes from outside every workspace and gets an environment of its own (S-5, S-8)."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.asking import started
from codelaw.adapters.programs import find_program, own_environment, usable
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
