"""What is known of programs: which run others, and what a command comes down to (S-1)."""

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
