"""Which files that other programs obey a command names, so that an approval of it can open them (S-8)."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from codelaw.domain.safety.obeyed import about
from codelaw.permissions.obeying import LOOP, only_reads, pieces, settings, spoken
from codelaw.permissions.programs import program
from codelaw.permissions.runs import inner_commands
from codelaw.permissions.shell import Simple, read

MOST = 200
"""Paths of one command; what it names beyond is asked about when it fails there."""
_MOVERS = frozenset({"cd", "pushd"})


def named_paths(command: str) -> tuple[str, ...]:
    """The paths that a command is seen to name and other programs obey: absolute, or relative to where it starts.

    They come from the words as they are written: what a variable or a pattern stands for is not among them.
    """
    parts = read(command)
    texts = [command] if parts is None else _texts(command, parts)
    found = [piece for piece in pieces(texts) if spoken([piece]) is not None]
    for part in parts or ():
        if any(settings(one) for one in inner_commands(part)[0]):
            found += about(part.text)
    folders = [".", *_folders(parts or ())]
    paths = (posixpath.normpath(posixpath.join(folder, name)) for folder in folders for name in found)
    return tuple(dict.fromkeys(paths))[:MOST]


def _texts(command: str, parts: Sequence[Simple]) -> list[str]:
    """The words by which files are changed: not those of programs that only read."""
    texts: list[str] = []
    for part in parts:
        reads = only_reads(part.command)
        written = [target for target in part.targets if target.raw in part.writes]
        for word in written if reads else (*part.words, *written):
            value = word.raw if word.value is None else word.value
            texts.append(value)
            if value.startswith("-") and not value.startswith("--"):
                texts.append(value[2:])
    if not all(only_reads(part.command) for part in parts):
        texts += LOOP.findall(command)
    return texts


def _folders(parts: Sequence[Simple]) -> list[str]:
    """Where the command goes, as far as its words say."""
    found: list[str] = []
    for part in parts:
        if program(part.command) in _MOVERS and len(part.command) > 1 and (value := part.command[1].value):
            found.append(posixpath.join(found[-1] if found else ".", value))
    return found[:8]
