"""A conversation at the prompt.

The event loop runs only while a turn does; in between the line editor has the terminal.
"""

from __future__ import annotations

import asyncio
import re
import readline
from pathlib import Path

from codelaw.cli.chat import Talk
from codelaw.cli.client import RemoteError
from codelaw.cli.compaction import show_archive
from codelaw.cli.context import print_report
from codelaw.cli.exits import CANCELLED, FINISHED
from codelaw.cli.terminal import DIM, RED, Screen
from codelaw.cli.undo import undo

MAX_HISTORY = 1000
MODES = ("agent", "ask", "plan")
ASKING = frozenset({"context", "compact", "restore", "summary", "undo"})
"""Commands that ask the server."""
HELP = """\
/new            start a new chat
/mode MODE      agent, ask (reads only) or plan (ends with a plan)
/context        what the model would be sent now
/compact        archive older rounds behind a summary; Ctrl-C stops it
/restore [ID]   undo the newest compaction, or all back to that one
/summary        the summaries of what was archived, with their ids
/undo           undo what the last turn did to files; what you typed since stays
/quit           leave, as Ctrl-D does
Ctrl-C cancels the running turn. @path makes the model read that file first.
A \\ at the end of a line goes on in the next one; a line of three quotes opens
and closes a longer text."""


def converse(runner: asyncio.Runner, talk: Talk, screen: Screen) -> int:
    """Read messages and answer them until the end of input."""
    history = _load_history()
    screen.line("/help tells the commands, Ctrl-D ends.", style=DIM)
    interrupted = False
    try:
        while True:
            try:
                text = _message(talk.mode or "agent")
            except EOFError:
                screen.line("")
                return FINISHED
            except KeyboardInterrupt:
                screen.line("")
                if interrupted:
                    return CANCELLED
                screen.line("Ctrl-C again leaves.", style=DIM)
                interrupted = True
                continue
            interrupted = False
            if not text.strip():
                continue
            if command := re.fullmatch(r"/([a-z]+)(?:\s+(\S+))?\s*", text):
                if command[1] in ("quit", "exit"):
                    return FINISHED
                _obey(runner, talk, screen, command[1], command[2])
                continue
            try:
                runner.run(talk.turn(text))
            except RemoteError as error:
                screen.line(error.told(), style=RED)
    finally:
        _save_history(history)


def _obey(runner: asyncio.Runner, talk: Talk, screen: Screen, command: str, argument: str | None) -> None:
    if command == "new":
        talk.chat_id = None
        screen.line("A new chat.", style=DIM)
    elif command == "mode" and argument in MODES:
        talk.mode = argument
        screen.line(f"The next turns run in mode {argument}.", style=DIM)
    elif command == "mode":
        screen.line(f"The mode is {talk.mode or 'agent'}; there are {', '.join(MODES)}.", style=DIM)
    elif command in ASKING:
        try:
            runner.run(_ask(talk, screen, command, argument))
        except RemoteError as error:
            screen.line(error.told(), style=RED)
    else:
        screen.line(HELP if command == "help" else f"There is no /{command}.\n{HELP}", style=DIM)


async def _ask(talk: Talk, screen: Screen, command: str, argument: str | None) -> None:
    """A command that asks the server."""
    chat = {"chatId": talk.chat_id} if talk.chat_id else {}
    if command == "context":
        print_report(screen, await talk.client.request("codelaw/context/inspect", chat))
    elif not chat:
        screen.line("There is no chat yet.", style=DIM)
    elif command == "compact":
        await talk.compact()
    elif command == "undo":
        await undo(talk.client, screen, chat["chatId"], talk.workspace)
    elif command == "restore":
        which = {"checkpointId": argument} if argument else {}
        await talk.client.request("codelaw/context/restore", chat | which)
        undone = f"Undone back to {argument}" if argument else "The newest compaction is undone"
        screen.line(f"{undone}: what it had archived is in the context again.", style=DIM)
    else:
        show_archive(screen, await talk.client.request("codelaw/context/archive", chat))


def _message(mode: str) -> str:
    """A message of one or more lines.

    Raises:
        EOFError: the end of input.
        KeyboardInterrupt: Ctrl-C at the prompt.
    """
    first = input(f"{mode}> ")
    if first.strip() == '"""':
        lines: list[str] = []
        while (line := input("... ")).strip() != '"""':
            lines.append(line)
        return "\n".join(lines)
    lines = [first]
    while lines[-1].endswith("\\"):
        lines[-1] = lines[-1][:-1]
        lines.append(input("... "))
    return "\n".join(lines)


def _load_history() -> Path:
    from codelaw.settings import home, process_environment  # noqa: PLC0415 - after the prompt's other imports

    file = home(process_environment()) / "history"
    readline.set_history_length(MAX_HISTORY)
    try:
        readline.read_history_file(file)
    except OSError:
        readline.clear_history()  # none yet, or not readable: begin without
    return file


def _save_history(file: Path) -> None:
    try:
        file.touch(mode=0o600, exist_ok=True)
        readline.write_history_file(file)
    except OSError:
        return  # a convenience; its loss is no reason to complain at the end
