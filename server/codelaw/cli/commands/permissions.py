"""`codelaw permissions`: what was allowed for always, listed and taken back (S-1, S-2)."""

from __future__ import annotations

import argparse
import json
from typing import Any

from codelaw.cli.commands.one_shot import ask_server
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, Screen
from codelaw.settings import readable

Json = dict[str, Any]


def permissions(server: Server, arguments: argparse.Namespace) -> int:
    """Do what `arguments.action` names."""
    if arguments.action == "revoke":
        return ask_server(server, arguments, "codelaw/permission/revoke", {"id": arguments.id}, _revoked)

    def show(screen: Screen, answer: Json) -> None:
        for grant in answer["grants"]:
            screen.line(json.dumps(grant) if arguments.json else _line(grant), aside=False)
        if not answer["grants"] and not arguments.json:
            screen.line("Nothing is allowed for always: writes and commands are asked about.", style=DIM)

    return ask_server(server, arguments, "codelaw/permission/list", {}, show)


def _line(grant: Json) -> str:
    """The whole rule and its whole folder on one line; they are what is allowed."""
    line = f"{grant['id']}  {grant['scope']:<6}  {readable(grant['rule'])}"
    where = grant.get("problem") or (f"in {grant['folder']}" if "folder" in grant else "")
    return f"{line}  {readable(where)}".rstrip()


def _revoked(screen: Screen, _: Json) -> None:
    screen.line("Taken back: it is asked about again.", style=DIM)
