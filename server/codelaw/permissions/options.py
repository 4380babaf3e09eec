"""The answers offered when a call is asked about (S-2)."""

from __future__ import annotations

import posixpath
import re

from codelaw.domain.permissions import ApprovalOption
from codelaw.permissions.flags import escape_flag
from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.programs import RUNNERS, SHELLS, program
from codelaw.permissions.rules import RuleError, escape_path, parse
from codelaw.permissions.shell import read

_SUBCOMMANDS = frozenset(
    [
        "git",
        "npm",
        "pnpm",
        "yarn",
        "cargo",
        "go",
        "docker",
        "kubectl",
        "gh",
        "pip",
        "uv",
        "poetry",
        "dotnet",
        "mvn",
        "gradle",
        "bundle",
        "rake",
        "ruff",
    ]
)
"""Programs whose first argument says what they do."""
_CARRIERS = {
    "git": frozenset(["bisect", "config", "difftool", "filter-branch", "hook", "mergetool", "rebase", "submodule"]),
    "gh": frozenset(["alias", "api", "extension"]),
    "npm": frozenset(["config", "set"]),
    "yarn": frozenset(["config", "node"]),
    "docker": frozenset(["run", "exec"]),
    "kubectl": frozenset(["run", "exec", "debug"]),
}
"""Subcommands that run, or lay down for later, whatever follows."""
_INTERPRETER = re.compile(r"python[\d.]*|pypy\d*|ipython|node|deno|bun|tsx|ts-node|ruby|irb|perl|php|lua|[gmn]?awk|sed")
_READERS = frozenset(
    [
        "ls",
        "cat",
        "head",
        "tail",
        "wc",
        "grep",
        "rg",
        "stat",
        "file",
        "du",
        "df",
        "which",
        "uname",
        "pytest",
        "mypy",
        "pyright",
        "eslint",
        "tsc",
        "jest",
        "vitest",
        "make",
    ]
)
"""Programs that may be allowed by name."""
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")
SHOWN = 120
"""Characters of a rule that every client shows whole; a longer one is not offered."""
_UNSEEN = re.compile("  |[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]")
"""What is printable and yet not seen, or not seen as it is."""


def options_for(facts: CallFacts) -> tuple[ApprovalOption, ...]:
    """Once, always in this chat, always for a pattern, reject.

    A standing answer is offered where a sensible rule exists, and only when the whole of it can be shown.
    """
    once = ApprovalOption("once", "Allow once", "allow_once")
    reject = ApprovalOption("reject", "Reject", "reject")
    rule = proposed_rule(facts)
    if rule is None or not _seen_whole(rule):
        return once, reject
    return (
        once,
        ApprovalOption("chat", f"Allow in this chat: {rule}", "allow_chat", rule),
        ApprovalOption("always", f"Always allow: {rule}", "allow_always", rule),
        reject,
    )


def _seen_whole(rule: str) -> bool:
    return len(rule) <= SHOWN and rule.isprintable() and _UNSEEN.search(rule) is None


def proposed_rule(facts: CallFacts) -> str | None:
    """The narrowest rule that is still of use, or None; it always covers the call itself."""
    if facts.tool == "Bash":
        text = _command_rule((facts.subject or "").strip())
    elif facts.effect == "write" and facts.subject:
        tool = "Edit" if facts.tool in ("MultiEdit", "Write") else facts.tool
        folder = posixpath.dirname(facts.subject)
        text = f"{tool}({escape_path(folder)}/**)" if folder else f"{tool}(/{escape_path(facts.subject)})"
    else:
        text = facts.tool
    try:
        rule = parse(text)
    except RuleError:
        return None
    covered = judge(facts, mode="agent", rules=Rules(grants=(rule,))).action == "allow"
    return text if covered else None


def _command_rule(command: str) -> str:
    exact = f"Bash({command})"
    parts = read(command)
    if parts is None or len(parts) != 1 or parts[0].writes or parts[0].words != parts[0].command:
        return exact
    words = parts[0].command
    name = words[0].value if words else None
    if name is None or (name in RUNNERS | SHELLS and name not in _SUBCOMMANDS) or escape_flag(words, 1):
        return exact
    if name in _SUBCOMMANDS:
        return _by_subcommand(name, [word.value for word in words[1:3]]) or exact
    return f"Bash({name}:*)" if name in _READERS and program(words) == name else exact


def _by_subcommand(name: str, following: list[str | None]) -> str | None:
    wanted = 2 if following and following[0] in ("run", "exec", "compose", "pr", "issue", "stash", "remote") else 1
    chosen = following[:wanted]
    if len(chosen) < wanted or not all(word is not None and _SUBCOMMAND.fullmatch(word) for word in chosen):
        return None
    if _CARRIERS.get(name, frozenset()).intersection(chosen) or any(map(_runs_anything, chosen[1:])):
        return None
    return f"Bash({' '.join([name, *(word for word in chosen if word)])}:*)"


def _runs_anything(word: str | None) -> bool:
    return word is None or word in RUNNERS | SHELLS or _INTERPRETER.fullmatch(word) is not None
