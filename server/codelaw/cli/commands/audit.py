"""`codelaw audit`: what was decided, by whom and by which rule (S-8)."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from codelaw.cli.commands.one_shot import ask_server
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, GREEN, RED, YELLOW, Screen
from codelaw.domain.safety.unseen import visible_line

Json = dict[str, Any]

_STYLES = {"allow": GREEN, "grant": GREEN, "trust": GREEN, "deny": YELLOW, "violation": RED}


def audit(server: Server, arguments: argparse.Namespace) -> int:
    """Print the record, the oldest first, so that the newest stands at the prompt."""
    params: Json = {"limit": min(arguments.limit, 10_000)} | ({"chatId": arguments.chat} if arguments.chat else {})

    def show(screen: Screen, found: Json) -> None:
        for entry in reversed(found["entries"]):
            if arguments.json:
                screen.line(json.dumps(entry), aside=False)
            else:
                _print(screen, entry)
        if not found["entries"] and not arguments.json:
            screen.line("Nothing is on record.", style=DIM)

    return ask_server(server, arguments, "codelaw/permission/audit", params, show)


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
