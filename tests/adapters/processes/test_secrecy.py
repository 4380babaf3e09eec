"""The server keeps its memory to itself, and takes its commands along when it is killed (S-4, S-5)."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.processes.inside import as_ordinary_user, line
from tests.adapters.processes.ordinary import python, started
from tests.fakes.living import kill

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has this")


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that an ordinary user can get to; `tmp_path` is the own one of whoever runs the tests."""
    with tempfile.TemporaryDirectory(prefix="codelaw-ordinary-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_no_other_program_of_the_user_reads_the_servers_environment(home: Path):
    how = started(home, ANTHROPIC_API_KEY="SECRET" + "MARK")
    server = subprocess.Popen(
        [python(), "-m", "codelaw", "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how
    )
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
        server.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        server.stdin.flush()
        assert server.stdout.readline().startswith(b"Content-Length")
        for name in ("environ", "mem", "maps", "root/"):
            read = subprocess.run(
                ["head", "-c", "1000", f"/proc/{server.pid}/{name}"], capture_output=True, check=False, **how
            )
            assert b"Permission denied" in read.stderr, name
            assert b"MARK" not in read.stdout
        # What it starts is as open as ever.
        child = subprocess.run(["cat", "/proc/self/environ"], capture_output=True, check=True, **how)
        assert b"MARK" in child.stdout
    finally:
        server.kill()
        server.communicate()


def living(token: str) -> list[int]:
    found: list[int] = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if token.encode() in file.read_bytes().split(b"\0") and b") Z " not in (file.parent / "stat").read_bytes():
                found.append(int(file.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("kind", [pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock"])
def test_of_a_killed_server_nothing_stays(home: Path, kind: str):
    """As an ordinary user, by a signal that nobody can catch."""
    token = f"41{os.getpid()}{kind == 'landlock':d}"
    (home / "ws").mkdir()
    command = f"touch begun; (setsid sleep {token} &) ; trap '' TERM; sleep {token}; sleep {token}"
    server = subprocess.Popen(
        line(kind, home / "ws", home / "own", command),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **started(home),
    )
    assert server.stdout is not None

    def begun() -> bool:
        deadline = time.monotonic() + 150
        while time.monotonic() < deadline and server.poll() is None:
            if (home / "ws/begun").exists() and len(living(token)) >= 2:
                return True
            time.sleep(0.02)
        return False

    try:
        if not begun():
            server.kill()
            said = server.stdout.read().decode()
            assert json.loads(said)["kind"] is None, said
            pytest.skip(said)
        server.send_signal(signal.SIGKILL)
        server.wait()
        for _ in range(3000):
            if not living(token):
                break
            time.sleep(0.05)
        assert living(token) == []
    finally:
        kill(living(token))
        server.kill()
        server.wait()
        server.stdout.close()


@pytest.mark.needs("bwrap")
def test_an_ordinary_users_command_sets_nothing_in_the_kernel_and_reads_none_of_its_secrets(home: Path):
    command = (
        "find /proc/sys /proc/irq /proc/bus /proc/fs /proc/acpi /proc/scsi /proc/tty /proc/sysrq-trigger"
        " -writable 2>/dev/null; cat /proc/kcore /proc/keys /proc/key-users /proc/kmsg /proc/kallsyms /proc/timer_list"
        " 2>/dev/null | head -c 100; echo end"
    )
    means, *ended = as_ordinary_user(home, "bubblewrap", command)
    if means["kind"] is None:
        pytest.skip(means["detail"])
    assert ended[0]["out"] == "end\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="a folder of somebody else's is needed")
def test_a_socket_in_a_folder_of_somebody_elses_stops_no_command(home: Path):
    """Such a folder lets nobody list it: what would be hidden in it could not be left out of what may be seen."""
    with tempfile.TemporaryDirectory(prefix="codelaw-others-") as name, socket.socket(socket.AF_UNIX) as listening:
        folder = Path(name, "shown")
        folder.mkdir()
        (folder / "said").write_text("word")
        listening.bind(str(folder / "socket"))
        listening.listen()
        Path(name).chmod(0o711)
        means, *ended = as_ordinary_user(home, "landlock", f"cat {folder}/said; echo end", SEEN_TEMPORARY="1")
    if means["kind"] is None:
        pytest.skip(means["detail"])
    assert ended[0]["out"] == "wordend\n", ended
