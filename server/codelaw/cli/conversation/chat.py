"""`codelaw chat`: one turn, or a conversation."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import select
import signal
import stat
import sys
from typing import Any

from codelaw.cli.client import RemoteError, ServerDiedError
from codelaw.cli.conversation.hangup import TerminalGone
from codelaw.cli.conversation.talk import Talk
from codelaw.cli.exits import CANCELLED, FAILED, USAGE
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import RED, Screen
from codelaw.domain.safety.key_files import keeps_keys
from codelaw.domain.safety.own_tags import PIPED, disarmed

Json = dict[str, Any]


def chat(server: Server, arguments: argparse.Namespace) -> int:
    """Run the command with a server that is starting."""
    try:
        text = message(arguments.text)
    except UnusableInput as error:
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


MOST_BYTES = 4_000_000
"""Of a pipe. A message may have fewer characters; the server says how many."""
_MENTION = re.compile(r"@(?:\"([^\"\n]+)\"|([a-zA-Z0-9/._-]+))")
PATIENCE_SECONDS = 2.0
"""After this time without a byte the person learns what is waited for."""
_INSTEAD = "Put it into a file of the workspace and mention that with @."


class UnusableInput(Exception):
    """Standard input is not text that can be sent; the message says why."""


def message(words: list[str]) -> str | None:
    """The one message of words and pipe; None: there is neither, so a conversation begins.

    A last word `-` asks for standard input, also where that is a terminal.

    Raises:
        UnusableInput: what is piped in is too large, is not text, or is nothing and there are no words.
    """
    asked = bool(words) and words[-1] == "-"
    text = " ".join(words[:-1] if asked else words)
    if not asked and sys.stdin.isatty():
        return text if words else None
    piped = _read(wanted=asked or not words)
    if not piped.strip():
        if words and not (asked and not text):
            return text
        raise UnusableInput("There is no message: no TEXT is given, and standard input is empty.")
    if not text.strip() and (sys.stdin.isatty() or not _names(piped)):
        return piped
    # An address in it is named by whoever wrote it, and not by the user (T-8); so is a file that holds keys (S-8).
    block = f"<{PIPED}>\n{_within(piped).rstrip(chr(10))}\n</{PIPED}>"
    return f"{text}\n\n{block}" if text.strip() else block


def _names(piped: str) -> bool:
    """Whether a text names an address, or mentions a file that is made to hold keys."""
    return "://" in piped or any(keeps_keys((one[1] or one[2]).rstrip(".")) for one in _MENTION.finditer(piped))


def _within(piped: str) -> str:
    """The text, unable to end the block that it stands in, or to begin another (R-5)."""
    return disarmed(piped, (PIPED,))


def _read(*, wanted: bool) -> str:
    """All of standard input. Where it is not a pipe or file, and was not asked for, it is left alone."""
    descriptor = sys.stdin.fileno()
    kind = os.fstat(descriptor).st_mode
    if not wanted and not (stat.S_ISFIFO(kind) or stat.S_ISREG(kind) or stat.S_ISSOCK(kind)):
        return ""
    if not select.select([descriptor], [], [], PATIENCE_SECONDS)[0]:
        sys.stderr.write("Waiting for the end of standard input (`</dev/null` goes on without it).\n")
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UnusableInput(f"Standard input has more than {MOST_BYTES} bytes. {_INSTEAD}")
    if b"\0" in data:
        raise UnusableInput(f"Standard input is not text. {_INSTEAD}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        sys.stderr.write(f"Standard input is not all UTF-8: {error.reason} at byte {error.start}; it is replaced.\n")
        return data.decode(errors="replace")
