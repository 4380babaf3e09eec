"""A server that nobody can hear or speak to ends at once, and says why (V-3)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SERVER = [sys.executable, "-m", "codelaw", "serve", "--stdio"]
OUTPUT = "codelaw: Standard output is closed: there is nobody to serve\n"
INPUT = "codelaw: Standard input is closed: there is nobody to serve\n"


@contextmanager
def unread() -> Iterator[int]:
    """The end of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def ended(shell: str, *, stdout: int = subprocess.PIPE) -> tuple[int, str]:
    """Status and standard error of a server whose streams the shell has turned; its input stays open."""
    command = ["sh", "-c", f'exec "$@" {shell}', "sh", *SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            return process.wait(150), process.stderr.read().decode()
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("shell", "said"),
    [(">&-", OUTPUT), ("<&-", INPUT), ("<&- >&-", INPUT), (">/dev/null", OUTPUT), ("1</dev/zero", OUTPUT)],
)
def test_closed_from_the_start(shell: str, said: str) -> None:
    assert ended(shell) == (1, said)


def test_without_a_place_to_say_it() -> None:
    assert ended(">&- 2>&-") == (1, "")


def test_a_pipe_whose_reader_is_gone() -> None:
    with unread() as writer:
        assert ended("", stdout=writer) == (1, OUTPUT)
