"""What each command of the terminal runs, imported only when it is called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module

from codelaw.cli.exits import FINISHED, USAGE


def _keep_memory() -> None:
    """A command of the agent's, or another program of the user's, must not read the keys in our environment (S-5)."""
    from codelaw.cli.privileges import keep_memory  # noqa: PLC0415

    keep_memory()


def with_server(target: str) -> Callable[[argparse.Namespace], int]:
    """The command `target`, `module:function` in `codelaw.cli`, which is called with a server and the arguments."""

    def run(arguments: argparse.Namespace) -> int:
        from codelaw.cli.spawn import spawned  # noqa: PLC0415

        module, _, name = target.partition(":")
        with spawned(arguments) as server:  # first, so that the server loads while we do
            return getattr(import_module(f"codelaw.cli.{module}"), name)(server, arguments)

    return run


def serve(arguments: argparse.Namespace) -> int:
    _keep_memory()
    from codelaw.cli.secret import chosen_token  # noqa: PLC0415
    from codelaw.lsp.server.serve import serve  # noqa: PLC0415

    listens = arguments.tcp is not None or arguments.ws is not None
    try:
        return serve(
            tcp=arguments.tcp,
            ws=arguments.ws,
            token=chosen_token(arguments.token, arguments.token_file) if listens else None,
            client_process_id=arguments.clientProcessId,
        )
    except ValueError as error:
        sys.stderr.write(f"codelaw serve: {error}\n")
        return USAGE


def chat(arguments: argparse.Namespace) -> int:
    if arguments.ignore_settings and arguments.yes:
        arguments.usage_error("--ignore-settings is not for --yes: what is left out may forbid what --yes allows")
    _keep_memory()
    return with_server("conversation.chat:chat")(arguments)


def chats(arguments: argparse.Namespace) -> int:
    if arguments.turn is not None and arguments.fork is None:
        arguments.usage_error("--turn is of --fork")
    if arguments.format is not None and arguments.export is None:
        arguments.usage_error("--format is of --export")
    if arguments.export is not None and arguments.json:
        arguments.usage_error("--json is of the list and of --fork; for --export say --format json")
    if arguments.yes and arguments.delete is None:
        arguments.usage_error("--yes is of --delete")
    one = (arguments.export, arguments.fork, arguments.delete)
    if arguments.query is not None and any(chat is not None for chat in one):
        arguments.usage_error("QUERY is of the list: --export, --fork and --delete take the id of a chat")
    return with_server("commands.chats:chats")(arguments)


def trust(arguments: argparse.Namespace) -> int:
    from codelaw.cli.commands.trust import trust  # noqa: PLC0415

    return trust(arguments)


def schema(_arguments: argparse.Namespace) -> int:
    import json  # noqa: PLC0415

    from codelaw.lsp.methods.schema import schema  # noqa: PLC0415
    from codelaw.settings.schema import settings_schema  # noqa: PLC0415

    print(json.dumps({**schema(), "settings": settings_schema()}, indent=2))
    return FINISHED
