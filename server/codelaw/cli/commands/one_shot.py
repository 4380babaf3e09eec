"""Commands that ask their server one thing."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from codelaw.cli.client import RemoteError, ServerDiedError, TerminalClient
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, RED, YELLOW, Screen
from codelaw.domain.safety.unseen import visible_line

Json = dict[str, Any]


def given(arguments: argparse.Namespace, names: str, most: int = 500) -> Json:
    """Those of the arguments that were given, as a request has them; of a limit at most so many."""
    values: Json = {name: getattr(arguments, name, None) for name in names.split()}
    params = {
        "chatId" if name == "chat" else name: value
        for name, value in values.items()
        if value is not None and value is not False
    }
    return params | ({"limit": min(values["limit"], most)} if values.get("limit") else {})


def ask_server(
    server: Server,
    arguments: argparse.Namespace,
    method: str,
    params: Any,
    show: Callable[[Screen, Any], None],
    *,
    short_lived: bool = True,
) -> int:
    """Make one request and show its result, with `--json` as it is; gives the exit status."""

    async def work(client: TerminalClient, screen: Screen) -> int:
        answer = await client.request(method, params)
        if arguments.json:
            screen.line(json.dumps(answer), aside=False)
        else:
            show(screen, answer)
        return FINISHED

    return with_client(server, arguments, work, short_lived=short_lived)


def list_entries(
    server: Server,
    arguments: argparse.Namespace,
    request: tuple[str, Json],
    entries: Callable[[Any], list[Any]],
    *,
    show: Callable[[Screen, Any], None],
    empty: str,
    after: Callable[[Any], str] = lambda _: "",
) -> int:
    """Make one request and show each of the entries of its result; with `--json` a line of JSON each.

    `empty` is what a person reads where there is none, and `after` what there is to say behind them.
    """

    async def work(client: TerminalClient, screen: Screen) -> int:
        answer = await client.request(*request)
        found = entries(answer)
        for entry in found:
            if arguments.json:
                screen.line(json.dumps(entry), aside=False)
            else:
                show(screen, entry)
        said = ["" if found else empty, after(answer)]
        for line in filter(None, said if not arguments.json else ()):
            screen.line(line, style=DIM)
        for problem in answer.get("problems", ()):
            screen.line(visible_line(str(problem)), style=RED)
        return FINISHED

    return with_client(server, arguments, work)


def with_client(
    server: Server,
    arguments: argparse.Namespace,
    work: Callable[[TerminalClient, Screen], Awaitable[int]],
    *,
    short_lived: bool = True,
) -> int:
    """Do `work` with a connected client; refusals and a dead server are told, and are exit status 1.

    What the server calls an error meanwhile is told too, unless `work` has another place for it.
    """
    screen = Screen(quiet_stdout=arguments.json)
    errors: list[str] = []

    def keep(message: Json) -> None:
        if message.get("type") == 1:
            errors.append(str(message.get("message", "")))

    async def run() -> int:
        client = TerminalClient(server)
        client.on_message = keep
        try:
            await client.connect(Path(arguments.workspace), short_lived=short_lived)
            status = await work(client, screen)
        except (RemoteError, ServerDiedError) as error:
            screen.line(str(error), style=RED)
            return FAILED
        finally:
            await client.close()
        for error in errors if client.on_message == keep else ():
            screen.line(error, style=YELLOW)
        return status

    return asyncio.run(run())
