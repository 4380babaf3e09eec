"""Programs that a line brings to another name, and what it makes and then runs (S-1).

A rule that denies `curl` names a program: a copy of it, a link to it and what was written from it are no other.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from codelaw.permissions.shell import Simple, Word, goes_to, listed, program, unquoted

_COPIERS = listed("cp mv ln link install dd rsync scp")
_PRINTERS = listed("cat tac head tail tee base64 xxd")
_LOCATORS = listed("which whereis type command realpath readlink")
_INSTALLED = re.compile(r"(?:\w+=)?/(?:.+/)?s?bin/([^/]+)", re.DOTALL)
_MAGIC = re.compile(r"[*?\[{$`]")
MOST = 100
"""Folders that a line goes to and names that it makes; of one with more it is not certain what it runs (S-6)."""
Command = tuple[Word, ...]


def brought(commands: Sequence[Command], parts: Sequence[Simple]) -> Iterator[tuple[str | None, bool]]:
    """The programs that a line copies, moves, links or writes elsewhere: the name, and whether that is certain.

    A name is None where it is a pattern. `commands` is all that the line comes down to.
    """
    located = {word.value: part.text for part in parts if program(part.command) in _LOCATORS for word in part.command}
    folders = ["", *(place.value or "" for place in map(goes_to, commands) if place)]
    written = any(part.writes for part in parts) or any(program(command) == "tee" for command in commands)
    brings = _COPIERS | _PRINTERS if written else _COPIERS
    words = [word for command in commands if program(command) in brings for word in command[1:]]
    words += [word for part in parts for word in part.targets]
    for word in dict.fromkeys(words):
        text = word.value or unquoted(word.raw)
        for folder in dict.fromkeys(folders[:MOST]):
            if found := _INSTALLED.fullmatch(posixpath.normpath(posixpath.join(folder, text))):
                yield (None, False) if word.value is None and _MAGIC.search(found[1]) else (found[1], True)
        if word.value is None:
            for name, said in located.items():
                yield posixpath.basename(name or ""), said in word.raw


def runs_what_it_makes(commands: Sequence[Command], parts: Sequence[Simple]) -> bool:
    """Whether a line may run, by its path, a file that it has written, copied or linked itself."""
    makers = _COPIERS | {"tee"}
    words = [word for command in commands if program(command) in makers for word in command[1:]]
    words += [word for part in parts for word in part.writes]
    made = {posixpath.normpath((word.value or word.raw).partition("=")[2] or word.value or word.raw) for word in words}
    by_name = any(word.raw.startswith("PATH=") for part in parts for word in part.words)
    run = {command[0].value or "" for command in commands} if made else set[str]()
    run = {one for one in run if by_name or "/" in one}
    if len(made) * len(run) > MOST * MOST or any(word.value is None for word in words):
        return bool(run)
    names = {posixpath.basename(one) for one in made}
    return any(posixpath.basename(one) in names or posixpath.dirname(posixpath.normpath(one)) in made for one in run)
