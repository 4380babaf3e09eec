"""`codelaw memory`: what is remembered beyond a chat, listed, searched, saved, changed and forgotten (B-6)."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from codelaw.cli.commands.one_shot import ask_server
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, GREEN, Screen, one_line

Json = dict[str, Any]


def memory(server: Server, arguments: argparse.Namespace) -> int:
    """Do what `arguments.action` names."""
    method, params, show = _REQUESTS[arguments.action](arguments)
    given = {name: value for name, value in params.items() if value is not None}

    def reported(screen: Screen, answer: Json) -> None:
        if not arguments.json:
            show(screen, answer)
            return
        for entry in answer.get("memories", [answer]):
            screen.line(json.dumps(entry), aside=False)

    return ask_server(server, arguments, f"codelaw/memory/{method}", given, reported)


def _list(arguments: argparse.Namespace) -> Any:
    params = {"scope": arguments.scope, "category": arguments.category, "limit": min(arguments.limit, 500)}
    return "list", params | {"chatId": arguments.chat}, _entries


def _search(arguments: argparse.Namespace) -> Any:
    params = {"query": arguments.query, "category": arguments.category, "limit": min(arguments.limit, 500)}
    return "search", params | {"chatId": arguments.chat}, _entries


def _save(arguments: argparse.Namespace) -> Any:
    return "save", {"text": arguments.text, **_reported(arguments)}, _saved


def _update(arguments: argparse.Namespace) -> Any:
    return "update", {"id": arguments.id, "text": arguments.text, **_reported(arguments)}, _saved


def _forget(arguments: argparse.Namespace) -> Any:
    def show(screen: Screen, _: Json) -> None:
        screen.line("Forgotten.", style=DIM)

    return "forget", {"id": arguments.id}, show


def _backfill(arguments: argparse.Namespace) -> Any:
    def show(screen: Screen, answer: Json) -> None:
        screen.line(f"{answer['embedded']} passages and memories embedded.", aside=False)

    return "backfill", {"chatId": arguments.chat}, show


def _reported(arguments: argparse.Namespace) -> Json:
    return {
        "category": arguments.category,
        "scope": arguments.scope,
        "confidence": arguments.confidence,
        "chatId": arguments.chat,
    }


_REQUESTS = {
    "list": _list,
    "search": _search,
    "save": _save,
    "update": _update,
    "forget": _forget,
    "backfill": _backfill,
}


def _entries(screen: Screen, answer: Json) -> None:
    if not answer["memories"]:
        screen.line("Nothing is remembered, or nothing like it.", style=DIM)
    for entry in answer["memories"]:
        _line(screen, entry)
    if answer.get("nextCursor"):
        screen.line("There are more: ask with a higher --limit.", style=DIM)


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
