"""The files of a workspace that a server of its own is started from, held to what the user has let start (X-3).

A server runs outside of the sandbox. Whoever may write its program, a command in the sandbox too, would leave it with
the next start.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from codelaw.adapters.mcp.means import ServerFailure
from codelaw.adapters.texts import beginning
from codelaw.domain.served import Pin, Program

LARGEST = 50_000_000
"""Bytes of such a file."""
MOST = 50
"""Files of one server."""


def pins(program: Program, folder: Path) -> tuple[Pin, ...]:
    """The files below `folder` that the words of a program name, each as it is now. Touches the disk.

    Raises:
        ServerFailure: one is too large, or cannot be read, or there are too many.
    """
    root = Path(os.path.realpath(folder))
    cwd = program.cwd or root
    found: dict[Path, Pin] = {}
    for name in _names(program):
        path = Path(os.path.realpath(cwd / name))
        if path in found or root not in path.parents or not os.path.isfile(path):  # noqa: PTH113 - it never raises
            continue
        digest = _digest(path)
        if digest is None or len(found) == MOST:
            message = f"Its file {path.relative_to(root)} is too large, cannot be read, or is one of too many."
            raise ServerFailure(message)
        found[path] = Pin(path, path.relative_to(root).as_posix(), digest)
    return tuple(found.values())


def check(program: Program) -> None:
    """See to it that the files are still what they were. Touches the disk.

    Raises:
        ServerFailure: one is not.
    """
    for pin in program.pins:
        if _digest(pin.path) != pin.digest:
            message = f"{pin.shown} is not what you have let start any more."
            raise ServerFailure(message)


def _digest(path: Path) -> str | None:
    content = beginning(path, LARGEST + 1)
    return None if content is None or len(content) > LARGEST else hashlib.sha256(content).hexdigest()


def _names(program: Program) -> Iterator[str]:
    """What may be the path of a file: words, what stands behind `=`, modules of Python, values of variables."""
    words = (program.command, *program.args)
    for place in program.env.get("PATH", "").split(os.pathsep) if "PATH" in program.env else ():
        yield f"{place or '.'}/{program.command}"
    for value in program.env.values():
        yield value
        yield value.rpartition("=")[2].rpartition(" ")[2]
    for before, word in zip(("", *words), words, strict=False):
        yield word
        if "=" in word:
            yield word.partition("=")[2]
        if before == "-m":
            module = word.replace(".", "/")
            yield from (f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py")
