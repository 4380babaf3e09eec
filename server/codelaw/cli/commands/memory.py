"""`codelaw memory`: what is remembered beyond a chat, listed, searched, saved, changed and forgotten (B-6)."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from codelaw.cli.commands.one_shot import ask_server, given, list_entries
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, GREEN, Screen, one_line

Json = dict[str, Any]


def memory(server: Server, arguments: argparse.Namespace) -> int:
    """Do what `arguments.action` names."""
    method = f"codelaw/memory/{arguments.action}"
    params = given(arguments, "scope category limit chat query id text confidence")
    if arguments.action not in {"list", "search"}:
        return ask_server(server, arguments, method, params, _SHOW[arguments.action])
    return list_entries(
        server,
        arguments,
        (method, params),
        lambda answer: answer["memories"],
        show=_line,
        empty="Nothing is remembered, or nothing like it.",
        after=lambda answer: "There are more: ask with a higher --limit." if answer.get("nextCursor") else "",
    )


def _saved(screen: Screen, entry: Json) -> None:
    _line(screen, entry)
    if entry.get("merged"):
        screen.line("An older entry said the same; this is what became of it.", style=GREEN)


def _line(screen: Screen, entry: Json) -> None:
    when = time.strftime("%Y-%m-%d", time.localtime(entry["createdAt"]))
    kind = f"{entry['scope']} {entry['category']}"
    relevance = f"  relevance {entry['relevance']:.2f}" if "relevance" in entry else ""
    text = one_line(entry["text"], 1000)
    screen.line(f"{entry['id']}  {when}  {kind:<18}{entry['confidence']:>5.2f}{relevance}  {text}", aside=False)


_SHOW: dict[str, Callable[[Screen, Json], None]] = {
    "save": _saved,
    "update": _saved,
    "forget": lambda screen, _: screen.line("Forgotten.", style=DIM),
    "backfill": lambda screen, answer: screen.line(
        f"{answer['embedded']} passages and memories embedded.", aside=False
    ),
}
