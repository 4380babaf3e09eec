"""`codelaw chat`: one turn, or a conversation."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from typing import Any

from codelaw.cli.client import RemoteError, ServerDiedError
from codelaw.cli.conversation import piped
from codelaw.cli.conversation.hangup import TerminalGone
from codelaw.cli.conversation.talk import Talk
from codelaw.cli.exits import CANCELLED, FAILED, USAGE
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import RED, Screen

Json = dict[str, Any]


def chat(server: Server, arguments: argparse.Namespace) -> int:
    """Run the command with a server that is starting."""
    try:
        text = piped.message(arguments.text)
    except piped.Unusable as error:
        sys.stderr.write(f"codelaw chat: {error}\n")
        return USAGE
    if arguments.json and text is None:
        sys.stderr.write("codelaw chat: --json needs a TEXT (or a pipe)\n")
        return USAGE
    screen = Screen(quiet_stdout=arguments.json)
    with asyncio.Runner() as runner:
        talk = Talk(server, arguments, screen)
        try:
            talk.hangup.watch()
            runner.run(talk.begin(kind="headless" if text is not None else "panel"))
            if text is not None:
                return runner.run(talk.turn(text))
            from codelaw.cli.conversation.conversation import converse  # noqa: PLC0415 - one turn needs no prompt

            return converse(runner, talk, screen)
        except (RemoteError, ServerDiedError) as error:
            screen.line(str(error), style=RED)
            return FAILED
        except TerminalGone:
            return CANCELLED
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # leaving takes a few seconds at most
            runner.run(talk.client.close())
