"""`codelaw chats`: the chats, newest first."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from codelaw.cli.asked import ask_server
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, Screen, one_line


def chats(server: Server, arguments: argparse.Namespace) -> int:
    """Print a line for each chat: id, when it was last used, turns, title."""
    params = {"limit": max(1, min(arguments.limit, 500))} | ({"query": arguments.query} if arguments.query else {})

    def show(screen: Screen, found: dict[str, Any]) -> None:
        if arguments.json:
            for chat in found["chats"]:
                screen.line(json.dumps(chat), aside=False)
            return
        if not found["chats"]:
            screen.line("No chats.", style=DIM)
        for chat in found["chats"]:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(chat["updatedAt"]))
            turns = f"{chat['turns']} turn{'' if chat['turns'] == 1 else 's'}"
            running = " (running)" if chat["running"] else ""
            title = one_line(chat["title"], 100)
            screen.line(f"{chat['id']}  {when}  {turns:>9}  {title}{running}", aside=False)

    return ask_server(server, arguments, "codelaw/chat/list", params, show)
