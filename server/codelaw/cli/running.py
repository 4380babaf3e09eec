"""What each command of the terminal runs, imported only when it is called."""

from __future__ import annotations

import argparse
import sys

from codelaw.cli.exits import FINISHED, USAGE


def _keep_memory() -> None:
    """A command of the agent's, or another program of the user's, must not read the keys in our environment (S-5)."""
    from codelaw.cli.privileges import keep_memory  # noqa: PLC0415

    keep_memory()


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
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    _keep_memory()
    with spawned(arguments) as server:  # first, so that the server loads while we do
        from codelaw.cli.conversation.chat import chat  # noqa: PLC0415

        return chat(server, arguments)


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

    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.chats import chats  # noqa: PLC0415

        return chats(server, arguments)


def context(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.context import context  # noqa: PLC0415

        return context(server, arguments)


def memory(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.memory import memory  # noqa: PLC0415

        return memory(server, arguments)


def search(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.finding import search  # noqa: PLC0415

        return search(server, arguments)


def commit_message(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.committing import commit_message  # noqa: PLC0415

        return commit_message(server, arguments)


def index(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.finding import index  # noqa: PLC0415

        return index(server, arguments)


def permissions(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.permissions import permissions  # noqa: PLC0415

        return permissions(server, arguments)


def models(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.models import models  # noqa: PLC0415

        return models(server, arguments)


def skills(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.skills import skills  # noqa: PLC0415

        return skills(server, arguments)


def servers(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.servers import servers  # noqa: PLC0415

        return servers(server, arguments)


def audit(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.audit import audit  # noqa: PLC0415

        return audit(server, arguments)


def trust(arguments: argparse.Namespace) -> int:
    from codelaw.cli.commands.trust import trust  # noqa: PLC0415

    return trust(arguments)


def doctor(arguments: argparse.Namespace) -> int:
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    with spawned(arguments) as server:
        from codelaw.cli.commands.doctor import doctor  # noqa: PLC0415

        return doctor(server, arguments)


def schema(_arguments: argparse.Namespace) -> int:
    import json  # noqa: PLC0415

    from codelaw.protocol.schema import schema  # noqa: PLC0415
    from codelaw.settings.schema import settings_schema  # noqa: PLC0415

    print(json.dumps({**schema(), "settings": settings_schema()}, indent=2))
    return FINISHED
