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
from codelaw.cli.context import print_report
from codelaw.cli.exits import CANCELLED, FINISHED
from codelaw.cli.terminal import DIM, RED, Screen

MAX_HISTORY = 1000
MODES = ("agent", "ask", "plan")
HELP = """\
/new            start a new chat
/mode MODE      agent, ask (reads only) or plan (ends with a plan)
/context        what the model would be sent now
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
    elif command == "context":
        params = {"chatId": talk.chat_id} if talk.chat_id else {}
        try:
            print_report(screen, runner.run(talk.client.request("codelaw/context/inspect", params)))
        except RemoteError as error:
            screen.line(error.told(), style=RED)
    else:
        screen.line(HELP if command == "help" else f"There is no /{command}.\n{HELP}", style=DIM)


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
