"""The end of a process: at once, and nothing that was said is lost (V-3)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

SERVER = str(Path(__file__).parents[2] / "server")


def run(program: str, stdout: int | IO[str] = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """A process whose command line is `program` instead of one of ours."""
    whole = f"import sys; sys.path.insert(0, {SERVER!r})\nfrom codelaw.cli import main as entries\n{program}"
    command = [sys.executable, "-I", "-c", whole]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=150, check=False)


def test_the_interpreter_is_not_taken_apart() -> None:
    """What only the taking apart would do: destroy what a module holds, and wait for threads that do not end."""
    ended = run(
        "import threading, time\n"
        "class Kept:\n"
        "    def __del__(self, say=sys.stderr.write):\n"
        "        say('destroyed')\n"
        "kept = Kept()\n"
        "threading.Thread(target=time.sleep, args=[987654]).start()\n"
        "entries.main = lambda: 143\n"
        "entries.entry()\n"
    )
    assert (ended.returncode, ended.stderr) == (143, "")


def test_what_waits_for_the_end_is_done() -> None:
    """A log that keeps records, a function for the end, and output that is longer than a buffer."""
    ended = run(
        "import atexit, logging, logging.handlers\n"
        "kept = logging.handlers.MemoryHandler(99, target=logging.StreamHandler(sys.stderr))\n"
        "logging.getLogger().addHandler(kept)\n"
        "def main():\n"
        "    logging.warning('logged')\n"
        "    atexit.register(lambda: sys.stdout.write('last'))\n"
        "    sys.stdout.write('x' * 300000)\n"
        "    return 0\n"
        "entries.main = main\n"
        "entries.entry()\n"
    )
    assert ended.returncode == 0
    assert ended.stdout == "x" * 300000 + "last"
    assert ended.stderr == "logged\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_no_success() -> None:
    with Path("/dev/full").open("w") as full:
        ended = run("entries.main = lambda: print('x') or 0\nentries.entry()", stdout=full)
    assert ended.returncode == 1
    assert ended.stderr == "codelaw: the output could not be written: No space left on device\n"


def test_a_reader_that_has_gone_is_told_nothing() -> None:
    ended = run(
        "import os\n"
        "read, write = os.pipe()\n"
        "os.dup2(write, 1)\n"
        "os.close(read); os.close(write)\n"
        "entries.main = lambda: print('x') or 0\n"
        "entries.entry()\n"
    )
    assert (ended.returncode, ended.stderr) == (1, "")
