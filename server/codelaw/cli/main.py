"""The console entry `codelaw`; what a command needs is imported only when it is called."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from codelaw.cli.exits import CANCELLED, FAILED, FINISHED, USAGE, leave
from codelaw.cli.usage import parser, take_words

NOT_ON_WINDOWS = "Windows is not supported. Install and run codelaw inside WSL 2, which is Linux."


def entry() -> NoReturn:
    """Run the command of this process's arguments, and end the process with its status."""
    leave(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status: 0 finished, 1 any other end, 2 usage, 130 cancelled."""
    _leave_the_folder_alone()
    try:
        usage, words = parser(), sys.argv[1:] if argv is None else argv
        if not words:
            usage.print_help(sys.stderr)
            return USAGE
        arguments = take_words(usage, words)
        if sys.platform == "win32":
            sys.stderr.write(f"codelaw: {NOT_ON_WINDOWS}\n")
            return FAILED
        from codelaw.cli.conversation.hangup import reopen_closed_streams  # noqa: PLC0415

        reopen_closed_streams()
        return _ALONE.get(arguments.target, _with_server)(arguments)
    except SystemExit as stop:  # argparse has printed help (0) or what is wrong (2)
        return stop.code if isinstance(stop.code, int) else USAGE
    except KeyboardInterrupt:
        return CANCELLED
    except BrokenPipeError:
        # The reader of our output is gone; what Python still flushes at exit must not complain.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        return FAILED


def _leave_the_folder_alone() -> None:
    """Import no module from the folder that we happen to be in (S-8): many of ours are imported only when needed.

    `python -m codelaw` puts that folder first, and an empty entry of PYTHONPATH means it.
    """
    import codelaw  # noqa: PLC0415

    own = os.path.dirname(os.path.dirname(os.path.abspath(codelaw.__file__)))  # noqa: PTH100, PTH120
    try:
        here = os.getcwd()  # noqa: PTH109 - pathlib is not loaded yet
    except OSError:
        here = ""  # it is gone
    sys.path[:] = [entry for entry in sys.path if entry == own or (os.path.isabs(entry) and entry != here)]  # noqa: PTH117


def _with_server(arguments: argparse.Namespace) -> int:
    """A command that is called with a server and the arguments."""
    from codelaw.cli.spawn import spawned  # noqa: PLC0415

    module, _, name = arguments.target.partition(":")
    with spawned(arguments) as server:  # first, so that the server loads while we do
        return getattr(import_module(f"codelaw.cli.{module}"), name)(server, arguments)


def _keep_memory() -> None:
    """A command of the agent's, or another program of the user's, must not read the keys in our environment (S-5)."""
    from codelaw.cli.privileges import keep_memory  # noqa: PLC0415

    keep_memory()


def _serve(arguments: argparse.Namespace) -> int:
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


def _chat(arguments: argparse.Namespace) -> int:
    if arguments.ignore_settings and arguments.yes:
        arguments.usage_error("--ignore-settings is not for --yes: what is left out may forbid what --yes allows")
    _keep_memory()
    return _with_server(arguments)


def _chats(arguments: argparse.Namespace) -> int:
    for option, of in (("turn", "fork"), ("format", "export"), ("yes", "delete")):
        if getattr(arguments, option) and getattr(arguments, of) is None:
            arguments.usage_error(f"--{option} is of --{of}")
    if arguments.export is not None and arguments.json:
        arguments.usage_error("--json is of the list and of --fork; for --export say --format json")
    if arguments.query is not None and (arguments.export or arguments.fork or arguments.delete):
        arguments.usage_error("QUERY is of the list: --export, --fork and --delete take the id of a chat")
    return _with_server(arguments)


def _trust(arguments: argparse.Namespace) -> int:
    arguments.workspace, arguments.verbose = arguments.dir or ".", False
    return _with_server(arguments)


def _schema(_arguments: argparse.Namespace) -> int:
    import json  # noqa: PLC0415

    from codelaw.lsp.methods.schema import schema  # noqa: PLC0415
    from codelaw.settings.schema import settings_schema  # noqa: PLC0415

    print(json.dumps({**schema(), "settings": settings_schema()}, indent=2))
    return FINISHED


_ALONE = {
    "serve": _serve,
    "conversation.chat:chat": _chat,
    "commands.chats:chats": _chats,
    "commands.trust:trust": _trust,
    "schema": _schema,
}
"""What is called without a server, by its target, or looks at the arguments before there is one."""
