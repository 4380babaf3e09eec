"""Which sockets of other programs are hidden from commands (S-4); `tests/attacks` tries to reach them."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from codelaw.adapters.processes.rules import sockets as looking
from codelaw.adapters.processes.rules.sockets import Sockets, answers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the kernel does not tell")
Bind = Callable[..., socket.socket]


@pytest.fixture
def bind() -> Iterator[Bind]:
    with ExitStack() as stack:

        def bound(path: Path, kind: int = socket.SOCK_STREAM) -> socket.socket:
            path.parent.mkdir(parents=True, exist_ok=True)
            made = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            made.setblocking(False)
            # As a container's, whose name leads nowhere from here.
            folder = os.open(path.parent, os.O_PATH)
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
            os.close(folder)
            if kind != socket.SOCK_DGRAM:
                made.listen()
            return made

        yield bound


def found_in(folder: Path, found: Sockets | None = None, **more: bool) -> list[Path]:
    """Those of a workspace; the machine has others."""
    return [one for one in (found or Sockets()).find([folder], **more) if one.is_relative_to(folder)]


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET])
def test_who_listens_is_found_and_does_not_notice(tmp_path: Path, bind: Bind, kind: int):
    one = bind(tmp_path / "ws/tmp" / ("long" * 20) / ("name" * 20), kind)
    assert found_in(tmp_path / "ws") == [tmp_path / "ws/tmp" / ("long" * 20) / ("name" * 20)]
    with pytest.raises(BlockingIOError):
        one.recv(1) if kind == socket.SOCK_DGRAM else one.accept()


def test_a_socket_that_nobody_holds_any_more_can_be_removed_by_a_command(tmp_path: Path, bind: Bind):
    one = bind(tmp_path / "s")
    found = Sockets()
    assert found_in(tmp_path, found) == [tmp_path / "s"]
    one.close()
    assert found_in(tmp_path, found) == []
    assert not answers(str(tmp_path / "s"))
    assert not answers(str(tmp_path / "nothing"))


def test_one_that_opens_between_two_commands_is_found(tmp_path: Path, bind: Bind):
    found = Sockets()
    assert found_in(tmp_path, found) == []
    bind(tmp_path / "sub/s")
    assert found_in(tmp_path, found) == [tmp_path / "sub/s"]


def test_gits_own_are_left_and_with_the_network_all_of_the_workspace(tmp_path: Path, bind: Bind):
    bind(tmp_path / ".git/monitor")
    bind(tmp_path / "server")
    assert found_in(tmp_path) == [tmp_path / "server"]
    assert found_in(tmp_path, inside=False) == []


def test_what_lies_near_the_top_is_looked_at_first(tmp_path: Path, bind: Bind, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(looking, "MOST_FOLDERS", 4)
    for name in ("a/1/2/3/4", "b", "c"):
        bind(tmp_path / name / "s")
    assert found_in(tmp_path) == [tmp_path / "b/s", tmp_path / "c/s"]
