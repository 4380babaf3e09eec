"""Text for a terminal: nothing that a model, a file or a command wrote may steer it."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TextIO

from codelaw.cli.wrapping import Wrapping
from codelaw.domain.safety.unseen import legible

DIM, BOLD, RED, GREEN, YELLOW, PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"


def harmless(text: str) -> str:
    """`text` with what steers a terminal or hides in it made visible; line breaks and tabs stay."""
    return legible(text)


def two_parts(head: str, tail: str) -> str:
    """Both on one line of the terminal. Where they do not fit, each has at least half of it, or what it needs."""
    width = _width()
    if not tail:
        return one_line(head)
    wanted = sum(map(_columns, harmless(" ".join(tail.split()))))
    begin = one_line(head, max(width // 2, width - 1 - wanted))
    return f"{begin} {one_line(tail, max(1, width - 1 - sum(map(_columns, begin))))}"


def in_parts(parts: Sequence[str]) -> str:
    """The parts with dots between them, on as few lines of the terminal as they need; no part is broken."""
    lines = [""]
    for place, part in enumerate(parts):
        text = part if place == len(parts) - 1 else f"{part} ·"
        longer = f"{lines[-1]} {text}".lstrip()
        if lines[-1] and sum(map(_columns, longer)) > _width():
            lines.append(text)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def rows(line: str, margin: int) -> list[str]:
    """A line in pieces that each fit into one row of the terminal beside a margin of so many columns."""
    room = max(8, _width() - margin)
    pieces, column = [""], 0
    for character in line.expandtabs(8):
        width = _columns(character)
        if column + width > room:
            pieces.append("")
            column = 0
        pieces[-1] += character
        column += width
    return pieces


def one_line(text: str, room: int = 0) -> str:
    """`text` harmless and on one line, cut to `room` columns (0: the terminal's width)."""
    flat = harmless(" ".join(text.split()))
    width = room or _width()
    if len(flat) <= width // 2:
        return flat
    column, fits = 0, 0
    for place, character in enumerate(flat):
        column += _columns(character)
        if column > width:
            return f"{flat[: max(1, fits)]}…"
        if column < width:
            fits = place + 1
    return flat


def _width() -> int:
    return shutil.get_terminal_size((200, 24)).columns - 1


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Screen:
    """Where a command writes: `main` for what was asked for, `aside` for everything else.

    Both are standard output when that is a terminal; else the aside goes to standard error.
    """

    def __init__(self, *, quiet_stdout: bool = False) -> None:
        """With `quiet_stdout` nothing is written there: it belongs to JSON lines."""
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")
        self.main: TextIO = sys.stdout
        self.aside: TextIO = sys.stdout if sys.stdout.isatty() and not quiet_stdout else sys.stderr
        self.interactive = sys.stdin.isatty() and self.aside.isatty()
        """A person can be asked."""
        self._plain = not (self.main.isatty() or self.aside.isatty()) or _colour_is_unwanted()
        self._open_line: TextIO | None = None
        self._wrapped: tuple[Wrapping, str] | None = None
        """The prose that is being written, and its style."""
        self._passing = False

    def stream(self, text: str, *, aside: bool = False, style: str = "", prose: bool = False) -> None:
        """Write a piece of a longer text; a terminal's lines end between the words of `prose`."""
        target = self.aside if aside else self.main
        self._erase_passing()
        if self._open_line is not None and self._open_line is not target:
            self.end_line()
        shown = harmless(text)
        if prose and target.isatty():
            self._wrapped = self._wrapped or (Wrapping(_width(), _columns), style)
            shown = self._wrapped[0].feed(shown)
        target.write(self._styled(shown, style, target))
        target.flush()
        if text:
            self._open_line = None if text.endswith("\n") else target

    def line(self, text: str, *, style: str = "", aside: bool = True) -> None:
        """Write one whole line; `text` may have several."""
        self.end_line()
        target = self.aside if aside else self.main
        target.write(f"{self._styled(harmless(text), style, target)}\n")
        target.flush()

    def passing(self, text: str) -> None:
        """A line that the next output takes away; only where a terminal can do that."""
        if self.aside.isatty() and not _is_dumb():
            self.end_line()
            self.aside.write(self._styled(one_line(text), DIM, self.aside))
            self.aside.flush()
            self._passing = True

    def gap(self) -> None:
        """An empty line, where what was asked for and the rest are on one terminal."""
        if self.main is self.aside:
            self.line("")

    def end_line(self) -> None:
        """Be at the start of a line."""
        self._erase_passing()
        if self._wrapped is not None and self._open_line is not None:
            wrapping, style = self._wrapped
            self._open_line.write(self._styled(wrapping.rest(), style, self._open_line))
        self._wrapped = None
        if self._open_line is not None:
            self._open_line.write("\n")
            self._open_line.flush()
            self._open_line = None

    def answered(self) -> None:
        """The person has ended the line that was open."""
        self._open_line = None

    def _erase_passing(self) -> None:
        if self._passing:
            self.aside.write("\r\x1b[K")
            self._passing = False

    def _styled(self, text: str, style: str, target: TextIO) -> str:
        return f"{style}{text}{PLAIN}" if style and text and not self._plain and target.isatty() else text


def _colour_is_unwanted() -> bool:
    return bool(_environment().get("NO_COLOR")) or _is_dumb()


def _is_dumb() -> bool:
    return _environment().get("TERM") == "dumb"


def _environment() -> Mapping[str, str]:
    from codelaw.settings.places import process_environment  # noqa: PLC0415 - only a terminal is worth its load

    return process_environment()
