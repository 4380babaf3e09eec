"""`codelaw chats`: the chats, newest first; and one of them exported, forked or deleted (D-2)."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from codelaw.cli.approvals import agreed
from codelaw.cli.client import TerminalClient
from codelaw.cli.commands.one_shot import ask_server, given, list_entries, with_client
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, YELLOW, Screen, one_line

NO_EVENTS = 2**31 - 1
"""Of the events all are known."""


async def undo(client: TerminalClient, screen: Screen, chat_id: str, workspace: Path) -> None:
    """Undo what the last turn did to files.

    Raises:
        RemoteError: the server refused it.
        ServerDiedError: the server is gone.
    """
    record = await client.request("codelaw/chat/read", {"chatId": chat_id, "limit": 1, "sinceSeq": NO_EVENTS})
    if not record["messages"]:
        screen.line("There is no turn to undo yet.", style=DIM)
        return
    client.on_event = lambda _: None  # its notice says the same
    answer = await client.request(
        "codelaw/chat/revert", {"chatId": chat_id, "turnId": record["messages"][-1]["turnId"]}
    )
    show(screen, answer, workspace)


def show(screen: Screen, answer: dict[str, Any], workspace: Path) -> None:
    """A line for each file."""
    for uri in answer["reverted"]:
        screen.line(one_line(f"undone {_path(uri, workspace)}"), style=DIM)
    for conflict in answer["conflicts"]:
        screen.line(one_line(f"left alone: {conflict['reason']}", 300), style=YELLOW)
    if not answer["reverted"] and not answer["conflicts"]:
        screen.line("Every file is as it was before the turn.", style=DIM)


def _path(uri: str, workspace: Path) -> str:
    parts = urlsplit(uri)
    path = Path(url2pathname(parts.path))
    if parts.scheme != "file":
        return uri
    return str(path.relative_to(workspace)) if path.is_relative_to(workspace) else str(path)


def chats(server: Server, arguments: argparse.Namespace) -> int:
    """Print a line for each chat: id, when it was last used, turns, title; or do what is asked for with one."""
    if arguments.export is not None:
        return _export(server, arguments)
    if arguments.fork is not None:
        return _fork(server, arguments)
    if arguments.delete is not None:
        return _delete(server, arguments)
    return list_entries(
        server,
        arguments,
        ("codelaw/chat/list", given(arguments, "limit query")),
        lambda found: found["chats"],
        show=_print,
        empty="No chats.",
    )


def _export(server: Server, arguments: argparse.Namespace) -> int:
    def show(screen: Screen, found: dict[str, Any]) -> None:
        if screen.main.isatty():
            screen.line(found["text"], aside=False)
        else:  # into a file, as it is
            screen.main.write(f"{found['text'].rstrip()}\n")

    params = {"chatId": arguments.export, "format": arguments.format or "markdown"}
    return ask_server(server, arguments, "codelaw/chat/export", params, show)


def _fork(server: Server, arguments: argparse.Namespace) -> int:
    async def work(client: TerminalClient, screen: Screen) -> int:
        turn = arguments.turn if arguments.turn is not None else await _newest(client, arguments.fork)
        fork = await client.request("codelaw/chat/fork", {"chatId": arguments.fork, "turnId": turn})
        if arguments.json:
            screen.line(json.dumps(fork), aside=False)
        else:
            _print(screen, fork)
        return FINISHED

    return with_client(server, arguments, work)


def _delete(server: Server, arguments: argparse.Namespace) -> int:
    async def work(client: TerminalClient, screen: Screen) -> int:
        of_chat = {"chatId": arguments.delete}
        record = await client.request("codelaw/chat/read", of_chat | {"limit": 0, "sinceSeq": NO_EVENTS})
        if not arguments.yes:
            _print(screen, record["chat"])
            if not await agreed(screen, "Delete this chat with all its messages, for good?"):
                screen.line("The chat is kept.", style=DIM)
                return FAILED
        await client.request("codelaw/chat/delete", of_chat)
        if arguments.json:
            screen.line(json.dumps({"id": arguments.delete, "deleted": True}), aside=False)
        else:
            screen.line("Deleted.", style=DIM)
        return FINISHED

    return with_client(server, arguments, work)


async def _newest(client: TerminalClient, chat_id: str) -> str | None:
    """The newest turn that has ended; None: there is none."""
    record = await client.request("codelaw/chat/read", {"chatId": chat_id, "sinceSeq": NO_EVENTS})
    ended = [
        message["turnId"]
        for message in record["messages"]
        if message["role"] != "summary" and message["turnId"] != record["running"]
    ]
    return ended[-1] if ended else None


def _print(screen: Screen, chat: dict[str, Any]) -> None:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(chat["updatedAt"]))
    turns = f"{chat['turns']} turn{'' if chat['turns'] == 1 else 's'}"
    running = " (running)" if chat["running"] else ""
    title = one_line(chat["title"], 100)
    screen.line(f"{chat['id']}  {when}  {turns:>9}  {title}{running}", aside=False)
