"""Commands that ask their server one thing."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from codelaw.cli.client import Client, RemoteError, ServerDiedError
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, RED, YELLOW, Screen
from codelaw.domain.safety.unseen import visible_line


def ask_server(
    server: Server,
    arguments: argparse.Namespace,
    method: str,
    params: Any,
    show: Callable[[Screen, Any], None],
    *,
    short_lived: bool = True,
) -> int:
    """Make one request and show its result; gives the exit status."""

    async def work(client: Client, screen: Screen) -> int:
        show(screen, await client.request(method, params))
        return FINISHED

    return with_client(server, arguments, work, short_lived=short_lived)


def list_entries(
    server: Server,
    arguments: argparse.Namespace,
    method: str,
    params: Any,
    entries: Callable[[Any], Iterable[Any]],
    *,
    show: Callable[[Screen, Any], None],
    empty: str,
) -> int:
    """Make one request and show each of the entries of its result; with `--json` a line of JSON each.

    `empty` is what a person reads where there is none.
    """

    def show_all(screen: Screen, answer: Any) -> None:
        found = list(entries(answer))
        for entry in found:
            if arguments.json:
                screen.line(json.dumps(entry), aside=False)
            else:
                show(screen, entry)
        if not found and not arguments.json:
            screen.line(empty, style=DIM)
        for problem in answer.get("problems", ()):
            screen.line(visible_line(str(problem)), style=RED)

    return ask_server(server, arguments, method, params, show_all)


def with_client(
    server: Server,
    arguments: argparse.Namespace,
    work: Callable[[Client, Screen], Awaitable[int]],
    *,
    short_lived: bool = True,
) -> int:
    """Do `work` with a connected client; refusals and a dead server are told, and are exit status 1.

    What the server calls an error meanwhile is told too, unless `work` has another place for it.
    """
    screen = Screen(quiet_stdout=arguments.json)
    errors: list[str] = []

    def keep(message: dict[str, Any]) -> None:
        if message.get("type") == 1:
            errors.append(str(message.get("message", "")))

    async def run() -> int:
        client = Client(server)
        client.on_message = keep
        try:
            await client.connect(Path(arguments.workspace), short_lived=short_lived)
            status = await work(client, screen)
        except RemoteError as error:
            screen.line(error.reported(), style=RED)
        except ServerDiedError as error:
            screen.line(str(error), style=RED)
        else:
            for error in errors if client.on_message == keep else ():
                screen.line(error, style=YELLOW)
            return status
        finally:
            await client.close()
        return FAILED

    return asyncio.run(run())
