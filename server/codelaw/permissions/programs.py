"""What is known of programs: which run others (S-1)."""

from __future__ import annotations

import posixpath
import re

from codelaw.permissions.shell import Word


def listed(text: str) -> frozenset[str]:
    """The words of a table, which are easier to look over side by side."""
    return frozenset(text.split())


RUNNERS = listed(
    "builtin bunx busybox caffeinate chroot chrt command coproc dbus-run-session doas docker entr env exec expect"
    " fakeroot fd fdfind find flock hatch ionice kubectl ltrace nice nohup nox npx nsenter parallel pipenv pkexec"
    " pnpx podman poetry proot rlwrap runuser rush script setarch setsid ssh start-stop-daemon stdbuf strace su sudo"
    " systemd-run taskset time timeout tox toybox trap unbuffer unshare uv uvx watch xargs xvfb-run"
)
"""They run the command that follows in their arguments."""

SHELLS = frozenset(
    ["sh", "bash", "zsh", "dash", "ksh", "mksh", "fish", "ash", "csh", "tcsh", "rbash", "pwsh", "powershell"]
)
"""They run text."""

INTERPRETER = re.compile(
    r"python[\d.]*|pypy[\d.]*|ipython|node|nodejs|deno|bun|tsx|ts-node|ruby|irb|perl[\d.]*|php[\d.]*|lua[\d.]*|tclsh|julia"
    r"|Rscript|osascript|[gmn]?awk|sed|gdb|lldb|jshell|groovy|guile|ghci|iex|elixir|erl"
)
"""Programs that run code of their own language, from their arguments or their standard input."""


def program(command: tuple[Word, ...]) -> str:
    """The program's name without its folder; empty when it cannot be known."""
    return posixpath.basename(command[0].value or "") if command else ""
