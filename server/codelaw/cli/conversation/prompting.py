"""Messages read at the prompt, of one or more lines."""

from __future__ import annotations

import array
import fcntl
import json
import os
import select
import sys
import tempfile
import termios
from contextlib import suppress
from pathlib import Path

try:
    import readline
except ImportError:  # a Python that was built without it
    readline = None

from codelaw.cli.conversation import slash

TOGETHER_SECONDS = 0.05
"""Lines that come within this time of each other belong together: they were pasted, or typed ahead."""
BLOCK = '"""'
"""Begins and ends a block, alone on a line and without indentation."""
_MORE = "... "
MOST_ENTRIES = 1000
LONGEST_ENTRY = 10_000
"""Characters; a longer message is not kept."""


class Prompt:
    """Asks for messages. A paste is one message, whether the terminal marks pastes (bracketed paste) or not."""

    def __init__(self, history: Path) -> None:
        """`history` is a file for the user's eyes alone, with one JSON string a line; several terminals may append.

        It is a convenience: where it cannot be read or written, the conversation goes on without it.
        """
        self._history = history
        self._ended = False
        if readline is None:
            return
        # Python's readline switches it off. libedit, which some Pythons have instead, does not know it.
        if "libedit" not in (readline.__doc__ or ""):
            readline.parse_and_bind("set enable-bracketed-paste on")
        readline.set_auto_history(False)
        readline.clear_history()
        for entry in _load(history):
            readline.add_history(entry)

    def ask(self, mode: str) -> str:
        """One message or command.

        Raises:
            EOFError: the end of input; with words where Ctrl-D was typed while something else ran, on an empty line.
            KeyboardInterrupt: Ctrl-C at the prompt.
        """
        if self._ended:
            raise EOFError
        if _end_waits(sys.stdin.fileno()):
            raise EOFError("Ctrl-D was typed meanwhile: leaving.")
        text = self._text(f"{mode}> ")
        if text.strip():
            if readline is not None:
                readline.add_history(text)
            _add(self._history, text)
        return text

    def _text(self, prompt: str) -> str:
        first = input(prompt)
        if first == BLOCK:
            return self._block()
        if isinstance(slash.read(first), slash.Command):
            return first  # also when more was typed ahead: it is free, and the rest comes next
        lines = [first]
        try:
            while True:
                if _more_follows():
                    lines.append(input(_MORE))
                elif lines[-1].endswith("\\"):
                    lines[-1] = lines[-1][:-1]
                    lines.append(input(_MORE))
                else:
                    break
        except EOFError:
            self._ended = True  # after this message
        return "\n".join(lines).rstrip("\n")

    def _block(self) -> str:
        """The lines up to a closing mark. One that other lines follow at once is part of what was pasted."""
        lines: list[str] = []
        while (line := input(_MORE)) != BLOCK or _more_follows():
            lines.append(line)
        return "\n".join(lines)


def _end_waits(terminal: int) -> bool:
    """Whether the next that a terminal gives is an end of input.

    The line editor would not see it: what the terminal has kept as an end, it reads as a character without a meaning.
    Text that was typed before stays for the line editor.
    """
    try:
        if not termios.tcgetattr(terminal)[3] & termios.ICANON or not select.select([terminal], [], [], 0)[0]:
            return False
        waiting = array.array("i", [0])
        fcntl.ioctl(terminal, termios.FIONREAD, waiting)
    except (OSError, termios.error):
        return False  # no terminal, or no more: the line editor finds out
    return waiting[0] == 0


def _more_follows() -> bool:
    """Whether more was sent together with the line that was just read."""
    return bool(select.select([sys.stdin.fileno()], [], [], TOGETHER_SECONDS)[0])


def _load(file: Path) -> list[str]:
    """The newest entries, oldest first. A file that has grown too long is cut."""
    entries: list[str] = []
    with suppress(OSError):
        for line in file.read_text("utf-8", errors="replace").split("\n"):
            with suppress(ValueError):  # another terminal could not finish it
                entries.append(str(json.loads(line)))
        if len(entries) > 2 * MOST_ENTRIES:
            with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as new:
                new.write("".join(f"{json.dumps(entry)}\n" for entry in entries[-MOST_ENTRIES:]))
            Path(new.name).replace(file)
    return entries[-MOST_ENTRIES:]


def _add(file: Path, entry: str) -> None:
    """Keep `entry`; it is on the disk when this returns."""
    if len(entry) > LONGEST_ENTRY:
        return
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as lines:
            lines.write(f"{json.dumps(entry)}\n".encode())
            lines.flush()
            os.fsync(lines.fileno())
