"""`codelaw skills`: the skills of a folder and of its user, and what is wrong with them (X-2)."""

from __future__ import annotations

import argparse
import json
from typing import Any

from codelaw.cli.commands.one_shot import ask_server
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, YELLOW, Screen
from codelaw.domain.safety.unseen import visible_line

Json = dict[str, Any]


def skills(server: Server, arguments: argparse.Namespace) -> int:
    """Print them by name."""

    def show(screen: Screen, found: Json) -> None:
        for one in found["skills"]:
            if arguments.json:
                screen.line(json.dumps(one), aside=False)
            else:
                _print(screen, one)
        if not found["skills"] and not arguments.json:
            screen.line("There are no skills: a folder with a SKILL.md in .codelaw/skills is one.", style=DIM)

    return ask_server(server, arguments, "codelaw/skill/list", {}, show)


def _print(screen: Screen, one: Json) -> None:
    """What it is called by and meant for; below it where it lies, and what is wrong."""
    screen.line(visible_line(f"{one['name']:<20} {one['description']}"), aside=False)
    screen.line(f"    {visible_line(one['source'])}", style=DIM, aside=False)
    if "shadowed" in one:
        screen.line(f"    does not count: {visible_line(one['shadowed'])} does", style=YELLOW, aside=False)
    if "problem" in one:
        screen.line(f"    {visible_line(one['problem'])}", style=YELLOW, aside=False)
