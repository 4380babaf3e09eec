"""Flags by which a program writes, runs something else, or leaves the place its name promises (S-1).

A rule such as `Bash(git grep:*)` speaks of a program that reads; `git grep --open-files-in-pager=evil` does more, in
any of the spellings that the program takes for this flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from codelaw.permissions.outgrowing import PROGRAMS
from codelaw.permissions.programs import program
from codelaw.permissions.shell import Word

_GIT_WITHOUT_SHORT = re.compile(
    "add|blame|branch|cat-file|checkout|cherry-pick|commit|describe|diff|fetch|log|ls-files|ls-tree|merge|merge-base|mv"
    "|pull|push|reflog|remote|reset|restore|rev-list|rev-parse|revert|rm|shortlog|show|show-ref|stash|status|switch|tag"
)
"""Subcommands none of whose own short options runs or writes anything else; of others, a bundle may hold one."""
_GIT_SHORT = re.compile(r"-[a-zA-Z0-9]*[oOxu].*", re.DOTALL)

_ADDRESS = r"(?:\d+|\$|/[^/\\\n]*/)"


def _sed_command(group: int) -> str:
    text = rf"(?:(?!\{group})[^\\\n]|\\.)*\{group}"
    return (
        rf"\s*(?:{_ADDRESS}(?:,\+?{_ADDRESS})?)?\s*!?\s*"
        rf"(?:[pdq=lnNgGhHxPD]|s([/|#,:@]){text}{text}[gpI0-9]*)\s*"
    )


_SED_SCRIPT = re.compile(rf"{_sed_command(1)}(?:;{_sed_command(2)})?")
"""One or two commands that only print: others write files or run commands."""

_NO_OPTION = re.compile(r"[\w./~@:%+,^=][^$`]*|\"[\w./@:%+,^=][^\"\\]*\"|[<>]\([^$`]*|\{\}")
"""The raw text of a word that is not known and yet cannot become, or split off, an option."""


_EVALUATED = frozenset(
    ["read", "declare", "typeset", "local", "export", "readonly", "let", "unset", "mapfile", "readarray"]
)
"""Builtins that take names, and run what stands in the subscript of one."""
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
SUBSCRIPT = re.compile(r"\[.*[$`]", re.DOTALL)
"""What bash evaluates where it takes it for the subscript of a name."""


def escape_flag(command: tuple[Word, ...], beyond: int) -> str | None:
    """The first argument behind the first `beyond` words by which the program outgrows a prefix rule.

    An argument that the shell makes only when it runs, and that may be such a flag, counts.
    """
    at = next(escape_flags(command, beyond), None)
    return None if at is None else command[at].raw


def escape_flags(command: tuple[Word, ...], beyond: int) -> Iterator[int]:
    """The places of all such arguments."""
    name = program(command)
    outgrowing = PROGRAMS.get(name)
    for at, word in enumerate(command):
        if outgrowing is None or at < beyond:
            continue
        if word.value is None:
            outgrown = outgrowing.any_word or not _NO_OPTION.fullmatch(word.raw)
        else:
            outgrown = outgrowing.has(word.value) or (name == "git" and _is_git_bundle(command, word.value))
        if outgrown:
            yield at
    own = {"sed": _sed_script, "tar": _tar_bundle}.get(name)
    if own and (found := own(command, beyond)) is not None:
        yield found
    yield from (at for at in evaluated(command) if at >= beyond)


def evaluated(command: tuple[Word, ...]) -> Iterator[int]:
    """The arguments of a builtin in which the shell itself looks for commands: `test -v 'a[$(x)]'`."""
    name = program(command)
    values = [word.value for word in command[1:]]
    if name in _EVALUATED:
        for at, word in enumerate(command[1:], 1):
            named = _ASSIGNED.match(word.raw) is None if word.value is None else SUBSCRIPT.search(word.value)
            if named:
                yield at
    elif name == "printf" and (not values or (values[0] is not None and not values[0].startswith("-v"))):
        return
    elif name in ("test", "[", "printf") and any(value is None or value[:2] in ("-v", "-R") for value in values):
        for at, value in enumerate(values, 1):
            before = values[at - 2] if at > 1 else "-v" if name == "printf" else ""
            if (value is None and before in ("-v", "-R", None)) or (value is not None and SUBSCRIPT.search(value)):
                yield at


def harmless_sed(script: str) -> bool:
    """Whether a script of sed only prints."""
    return _SED_SCRIPT.fullmatch(script) is not None


def _is_git_bundle(command: tuple[Word, ...], argument: str) -> bool:
    if not _GIT_SHORT.fullmatch(argument):
        return False
    return not _GIT_WITHOUT_SHORT.fullmatch(command[1].value or "")


def _sed_script(command: tuple[Word, ...], beyond: int) -> int | None:
    """The place of the script, when it may do more than print; `-e` and `-f` are flags of their own."""
    for index, word in enumerate(command[1:], 1):
        if word.value is None or not word.value.startswith("-") or word.value == "-":
            harmless = word.value is not None and _SED_SCRIPT.fullmatch(word.value)
            return None if harmless or index < beyond else index
    return None


def _tar_bundle(command: tuple[Word, ...], beyond: int) -> int | None:
    """The old style: `tar cIf program …`."""
    first = command[1] if len(command) > 1 >= beyond else None
    if first is None or (first.value is not None and not re.fullmatch(r"[a-zA-Z]*[IF][a-zA-Z]*", first.value)):
        return None
    return 1
