"""What is known of programs: which run others, which flags turn a reading program into a writing one (S-1)."""

from __future__ import annotations

import posixpath
import re

from codelaw.permissions.shell import Simple, Word, read

RUNNERS = frozenset(
    {
        "builtin",
        "bunx",
        "busybox",
        "caffeinate",
        "chroot",
        "chrt",
        "command",
        "coproc",
        "dbus-run-session",
        "doas",
        "docker",
        "entr",
        "env",
        "exec",
        "expect",
        "fakeroot",
        "fd",
        "fdfind",
        "find",
        "flock",
        "hatch",
        "ionice",
        "kubectl",
        "ltrace",
        "nice",
        "nohup",
        "nox",
        "npx",
        "nsenter",
        "parallel",
        "pipenv",
        "pkexec",
        "pnpx",
        "podman",
        "poetry",
        "proot",
        "rlwrap",
        "runuser",
        "rush",
        "script",
        "setarch",
        "setsid",
        "ssh",
        "start-stop-daemon",
        "stdbuf",
        "strace",
        "su",
        "sudo",
        "systemd-run",
        "taskset",
        "time",
        "timeout",
        "tox",
        "toybox",
        "trap",
        "unbuffer",
        "unshare",
        "uv",
        "uvx",
        "watch",
        "xargs",
        "xvfb-run",
    }
)
"""They run the command that follows in their arguments."""

SHELLS = frozenset(
    ["sh", "bash", "zsh", "dash", "ksh", "mksh", "fish", "ash", "csh", "tcsh", "rbash", "pwsh", "powershell"]
)
"""They run text."""

_TEXT_RUNNERS = SHELLS | frozenset({"eval", "source", "."})

_ESCAPES: dict[str, re.Pattern[str]] = {
    "find": re.compile(r"-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)"),
    "fd": re.compile(r"-[a-z]*[xX].*|--exec.*"),
    "fdfind": re.compile(r"-[a-z]*[xX].*|--exec.*"),
    "rg": re.compile(r"--pre(=.*)?|--hostname-bin.*"),
    "sort": re.compile(r"-[a-zA-Z]*o.*|--o.*|--compress-p.*|-T.*|--temp.*"),
    "tree": re.compile(r"-[a-zA-Z]*o.*"),
    "tar": re.compile(
        r"--to-c.*|--use-c.*|-[a-zA-Z]*I.*|--checkpoint-a.*|--rsh-c.*|--info-s.*|--new-v.*|-[a-zA-Z]*F.*"
    ),
    "git": re.compile(
        r"-c|-c.+|--config-env.*|--exec-path.*|--git-dir.*|--work-tree.*|-C|--namespace.*"
        r"|--outp.*|--ext-d.*|--textc.*|--open-f.*|-O.*|--upload-p.*|--receive-p.*|--exec.*|-x"
    ),
    "curl": re.compile(r"-[a-zA-Z]*[oOKT].*|--output.*|--remote-name.*|--config.*|--upload.*"),
    "wget": re.compile(r"--use-askpass.*|--execute.*|-e.*"),
    "sed": re.compile(r"-[a-zA-Z]*i.*|--in-p.*"),
    "date": re.compile(r"-s.*|--set.*"),
    "man": re.compile(r"-[a-zA-Z]*[PH].*|--pager.*|--html.*"),
    "less": re.compile(r"-[a-zA-Z]*[oO].*|\+.*|--log.*"),
    "go": re.compile(r"-exec.*|-toolexec.*|-vettool.*"),
    "pytest": re.compile(r"-p|-p.+|-c|-c.+|--rootdir.*|-o|-o.+|--override.*|--confcutdir.*|--basetemp.*"),
    "make": re.compile(
        r"-[a-zA-Z]*[fCI].*|--file.*|--makefile.*|--directory.*|--eval.*|--include-d.*|[A-Za-z_]\w*[:?+!]?=.*"
    ),
    "npm": re.compile(r"--prefix.*|--script-shell.*|--node-options.*|--userconfig.*|-C|--globalconfig.*"),
}
"""Flags by which a program writes, runs something else, or leaves the place its name promises."""


def escape_flag(command: tuple[Word, ...], beyond: int) -> str | None:
    """The first argument behind the first `beyond` words by which the program outgrows a prefix rule."""
    name = program(command)
    pattern = _ESCAPES.get(name)
    if pattern is None:
        return None
    for word in command[beyond:]:
        if word.value is not None and pattern.fullmatch(word.value):
            return word.raw
    return None


def program(command: tuple[Word, ...]) -> str:
    """The program's name without its folder; empty when it cannot be known."""
    return posixpath.basename(command[0].value or "") if command else ""


def inner_commands(part: Simple, depth: int = 0) -> tuple[list[tuple[Word, ...]], bool]:
    """Every command that `part` may come down to, itself first; and whether it may run something unseen."""
    command = part.command
    found = [command] if command else []
    hidden = bool(command) and command[0].value is None
    name = program(command)
    if name in RUNNERS:
        found += [command[index:] for index in range(1, len(command))]
        hidden = hidden or any(word.value is None for word in command[1:])
    shells = [tail for tail in found if program(tail) in _TEXT_RUNNERS]
    for tail in shells:
        for text in _texts(tail):
            parts = None if text is None or depth > 4 else read(text)
            if parts is None:
                hidden = True
                continue
            for inner in parts:
                deeper, unseen = inner_commands(inner, depth + 1)
                found += deeper
                hidden = hidden or unseen
    return found, hidden


def _texts(command: tuple[Word, ...]) -> list[str | None]:
    """The texts a shell or `eval` may run; None for one that cannot be known."""
    values = [word.value for word in command[1:]]
    if program(command) == "eval":
        return [" ".join(value for value in values if value is not None) if None not in values else None]
    if not any(value is None or re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", value) for value in values):
        return [None]  # a script, or its standard input
    return [value for value in values if value is None or not value.startswith("-")]
