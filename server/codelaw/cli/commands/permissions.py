"""`codelaw permissions` and `codelaw audit`: what was allowed for always, and what was decided (S-1, S-8).

Neither needs the settings, and none is loaded: the server has them.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from codelaw.cli.commands.one_shot import ask_server, given, list_entries
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, GREEN, RED, YELLOW, Screen
from codelaw.domain.safety.unseen import visible_line

Json = dict[str, Any]

_STYLES = {"allow": GREEN, "grant": GREEN, "trust": GREEN, "deny": YELLOW, "violation": RED}


def audit(server: Server, arguments: argparse.Namespace) -> int:
    """Print the record, the oldest first, so that the newest stands at the prompt."""
    return list_entries(
        server,
        arguments,
        ("codelaw/permission/audit", given(arguments, "limit chat", 10_000)),
        lambda found: found["entries"][::-1],
        show=_print,
        empty="Nothing is on record.",
    )


def _print(screen: Screen, entry: Json) -> None:
    """When, what, by whom, about what; further lines of the detail below it."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry["at"]))
    by = f"{entry['by']} ({entry['rule']})" if entry.get("rule") else entry["by"]
    first, *more = (entry.get("detail") or entry["title"]).splitlines() or [""]
    head = " ".join(filter(None, (entry["decision"], "by", by, "-", entry["tool"], first)))
    line = f"{when}  {entry['chatId'] or '-':<12}  {visible_line(head)}"
    screen.line(line, style=_STYLES.get(entry["decision"], ""), aside=False)
    for text in more:
        screen.line(f"    {visible_line(text)}", style=DIM, aside=False)


def permissions(server: Server, arguments: argparse.Namespace) -> int:
    """Print a line for each."""
    return list_entries(
        server,
        arguments,
        ("codelaw/permission/list", {}),
        lambda answer: answer["grants"],
        show=_grant,
        empty="Nothing is allowed for always: writes and commands are asked about.",
    )


def _grant(screen: Screen, grant: Json) -> None:
    """The whole rule and its whole folder on one line; they are what is allowed."""
    line = f"{grant['id']}  {grant['scope']:<6}  {visible_line(grant['rule'])}"
    where = f"in {grant['folder']}" if "folder" in grant else ""
    screen.line(f"{line}  {visible_line(where)}".rstrip(), aside=False)


def revoke(server: Server, arguments: argparse.Namespace) -> int:
    """Take one back."""

    def show(screen: Screen, _: Json) -> None:
        screen.line("Taken back: it is asked about again.", style=DIM)

    return ask_server(server, arguments, "codelaw/permission/revoke", {"id": arguments.id}, show)
