"""Reading a command line as a shell would, well enough to know every command it runs (S-1).

What is not understood with certainty is not guessed: the answer is then None, and the user is asked. Left out on
purpose are arithmetic, `case`, `[[`, functions, arrays and all parameter expansions but the plain ones.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeVar

MAX_LENGTH = 20_000
"""Characters."""
MAX_DEPTH = 12
"""Commands within commands."""

_ENDS_WORD = " \t\n;&|<>()"
_GOVERNS = frozenset({"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "{", "}", "!", "for", "time"})
_UNREAD = frozenset({"case", "esac", "select", "function", "coproc", "[[", "in"})
_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_BETWEEN = re.compile(r"(?:[ \t;|]|\\\n|&(?!>)|#[^\n]*)*")
"""What may stand between two commands of a line."""
_TIMED = re.compile(r"(?:[ \t]|\\\n)*(?:-p[ \t]+)?(?:[ \t]|\\\n)*")
_REDIRECTION = re.compile(r"(&>>|&>|<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\())(?:[ \t]|\\\n)*")
_SPLIT_OPERATOR = re.compile(r"[<>&|$;(]\\\n")
"""An operator that a line continuation may split: what it then is, depends on the shell."""
_ESCAPED = re.compile(r"\\(?:\n(?=[ \t\n]|\Z)|([^\n]))")
"""A line continuation within a word counts only where the word ends: what it is else, is known once it is joined."""
_SINGLE_QUOTED = re.compile(r"'([^']*)'")
_EXPANDABLE = re.compile(r"\\([$`\"\\\n])|([^$`])")
"""A character of text in which `$`, the back quote and the backslash are alive."""
_BACK_QUOTED = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_SUBSTITUTION = re.compile(r"\$\((?!\()")
_PARAMETER = re.compile(r"\$(?:\{[A-Za-z_][A-Za-z0-9_]*\}|[A-Za-z_][A-Za-z0-9_]*|[0-9?!#@*$-])")
_ANSI_QUOTED = re.compile(r"\$'(?:[^'\\]|\\[^'])*'")
"""An escaped quote is to dash the end."""
_UNCLEAR = re.compile(r"\$[({\[]")
SPOKEN = re.compile(r"[\s;&|<>()$`'\"]")
"""What a text for a shell has, and a plain path has not."""
_LOOP_VARIABLE = re.compile(r"[a-z_][a-z0-9_]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_DESCRIPTOR = re.compile(r"[0-9]+-?|-")
_PLAIN_FILE = re.compile(r"[\w./][\w./-]*", re.ASCII)
_DELIMITER = re.compile(r"([\w.-]+)|\\([\w.-]+)|'([\w.-]+)'|\"([\w.-]+)\"", re.ASCII)
_QUOTES = str.maketrans("", "", "\\'\"")
_HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `value` is None when the shell would make something of it that cannot be known here."""

    raw: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: its words, variable assignments in front included, and the files of its redirections."""

    text: str
    words: tuple[Word, ...]
    writes: Sequence[Word] = ()
    targets: Sequence[Word] = ()
    """The files of all redirections, those that are read included."""
    inputs: Sequence[str | None] = field(default=(), compare=False)
    """The texts given to its standard input; None for one that the shell makes only when it runs.

    The body of a here-document joins them when it has been read."""

    @property
    def command(self) -> tuple[Word, ...]:
        """The words behind the assignments."""
        return self.words[len(self.assignments) :]

    @property
    def assignments(self) -> tuple[Word, ...]:
        for index, word in enumerate(self.words):
            if not _ASSIGNMENT.match(word.raw):
                return self.words[:index]
        return self.words


class _HereDocument(NamedTuple):
    delimiter: str
    quoted: bool
    strip: bool
    inputs: list[str | None]
    """Those of the command, which its body joins."""


class _UnreadableError(Exception):
    pass


def program(command: tuple[Word, ...]) -> str:
    """The program's name without its folder; empty when it cannot be known."""
    return posixpath.basename(command[0].value or "") if command else ""


def listed(text: str) -> frozenset[str]:
    """The words of a table, which are easier to look over side by side."""
    return frozenset(text.split())


def unquoted(text: str) -> str:
    """A text without quotes and backslashes."""
    return text.translate(_QUOTES)


def goes_to(command: tuple[Word, ...]) -> Word | None:
    """The word that says where `cd` or `pushd` goes; None where there is none, and for any other command."""
    words = pairwise(command if program(command) in ("cd", "pushd") else ())
    return next((word for before, word in words if before.raw == "--" or not word.raw.startswith("-")), None)


def read(command: str) -> tuple[Simple, ...] | None:
    """Every simple command in `command`, those inside substitutions included; None when it cannot be read."""
    try:
        return tuple(_read(command, 0))
    except _UnreadableError:
        return None


def _read(command: str, depth: int) -> list[Simple]:
    _certain(len(command) <= MAX_LENGTH and "\0" not in command and not _SPLIT_OPERATOR.search(command))
    reader = _CommandReader(command, depth)
    reader.commands(until="")
    return reader.found


def _certain(found: _T | None) -> _T:
    if not found:
        raise _UnreadableError
    return found


class _CommandReader:
    def __init__(self, text: str, depth: int) -> None:
        self.found: list[Simple] = []
        self._text = text
        self._at = 0
        self._depth = depth
        self._heredocs: list[_HereDocument] = []
        """Waiting for their body."""

    # -------------------------------------------------------------------------------------------------- commands

    def commands(self, until: str) -> None:
        """Read up to and including `until`, or to the end when it is empty."""
        self._depth += 1
        _certain(self._depth <= MAX_DEPTH)
        while True:
            self._take(_BETWEEN)
            here = self._peek()
            if here in ("", ")"):
                _certain(here == until and not self._heredocs)
                self._at += 1
                break
            if here == "\n":
                self._at += 1
                self._read_heredocs()
            elif here == "(":
                _certain(self._peek(1) != "(")
                self._at += 1
                self.commands(until=")")
            else:
                self._simple()
        self._depth -= 1

    def _simple(self) -> None:
        start = self._at
        words: list[Word] = []
        writes: list[Word] = []
        targets: list[Word] = []
        inputs: list[str | None] = []
        parting = False
        while True:
            self._take(_BLANKS)
            here = self._peek()
            if not here or here in "\n;|)#" or (here == "&" and self._peek(1) != ">"):
                break
            _certain(here != "(")
            if operator := self._take(_REDIRECTION):
                parting = parting or here == "&"
                self._redirection(operator[1], writes, targets, inputs)
                continue
            word = self._word()
            if word.raw.isascii() and word.raw.isdigit() and self._peek() in ("<", ">"):
                continue  # the number of the descriptor that is redirected next
            _certain(not parting)  # to dash `a &>f b` is `a &` and then `>f b`
            if not words and self._reserved(word, redirected=bool(targets or inputs)):
                return
            words.append(word)
        self.found.append(Simple(self._text[start : self._at].strip(), tuple(words), writes, targets, inputs))

    def _reserved(self, word: Word, *, redirected: bool) -> bool:
        """Whether `word`, in the place of a command, belongs to the shell's grammar; what it governs follows."""
        # The shell joins lines first; behind a redirection, bash takes it for one in substitutions alone.
        joined = word.raw.replace("\\\n", "")
        _certain(joined not in _UNREAD)
        _certain(joined not in _GOVERNS or (joined == word.raw and not redirected))
        if word.raw == "for":
            self._loop_header()
        elif word.raw == "time":
            self._take(_TIMED)
            _certain(self._peek() != "-")  # to bash `time -- b` is b
        return word.raw in _GOVERNS

    def _loop_header(self) -> None:
        start = self._at
        self._take(_BLANKS)
        name = self._word()
        if not _LOOP_VARIABLE.fullmatch(name.raw):  # PATH and its like are an assignment that matters
            self.found.append(Simple(self._text[start : self._at].strip(), (Word(f"{name.raw}=", None),)))
        self._take(_BLANKS)
        before = self._at
        if self._peek() in ("", "\n", ";"):
            return
        following = self._word().raw
        if following == "do":
            self._at = before
            return
        _certain(following == "in")
        self._take(_BLANKS)
        while self._peek() not in ("", "\n", ";"):
            _certain(self._peek() not in "&|<>()")
            self._word()
            self._take(_BLANKS)

    # ----------------------------------------------------------------------------------------------- redirections

    def _redirection(self, operator: str, writes: list[Word], targets: list[Word], inputs: list[str | None]) -> None:
        """Its file joins `targets`, and `writes` where it is written; a text that it reads joins `inputs`."""
        target = self._word()
        _certain(target.raw)
        if operator in ("<<", "<<-"):
            _certain(_DELIMITER.fullmatch(target.raw))
            name = target.raw.strip("\\'\"")
            self._heredocs.append(_HereDocument(name, name != target.raw, operator == "<<-", inputs))
        elif operator == "<<<":
            inputs.append(target.value)
        elif operator not in (">&", "<&") or not _DESCRIPTOR.fullmatch(target.raw):
            # To bash `<&-x` is `<&-` and then `x`; and what it takes for a file there, it expands a second time.
            _certain(operator not in (">&", "<&") or _PLAIN_FILE.fullmatch(target.raw))
            targets.append(target)
            reads = operator in ("<", "<&") and target.value is not None and not target.value.startswith("/dev/")
            if not reads and target.value not in _HARMLESS_TARGETS:
                writes.append(target)

    def _read_heredocs(self) -> None:
        waiting, self._heredocs = self._heredocs, []
        for delimiter, quoted, strip, inputs in waiting:
            tabs = r"\t*" if strip else ""
            end = rf"^{tabs}{re.escape(delimiter)}(?:\n|\Z)"
            match = _certain(re.compile(rf"(.*?){end}", re.DOTALL | re.MULTILINE).match(self._text, self._at))
            self._at = match.end()
            body = match[1].removesuffix("\n")
            text = re.sub(r"(?m)^\t+", "", body) if strip else body
            inputs.append(text if quoted or not re.search(r"[$`\\]", text) else None)
            if not quoted:
                _certain("\\\n" not in match[1])  # it would join the next line, perhaps the delimiter
                inside = _CommandReader(body, self._depth)
                inside.expandable(end="")
                self.found += inside.found

    # ------------------------------------------------------------------------------------------------------ words

    def _word(self) -> Word:
        start = self._at
        value: str | None = ""
        while (here := self._peek()) and (here not in _ENDS_WORD or (here in "<>" and self._peek(1) == "(")):
            piece = self._piece(here, first=self._at == start)
            value = None if value is None or piece is None else value + piece
        _certain(self._peek() != "(")  # a function, an array or an extended pattern
        raw = self._text[start : self._at]
        return Word(raw, raw if raw in ("[", "{}") else value)  # alone they stand for themselves

    def _piece(self, here: str, *, first: bool) -> str | None:
        if here in "\\'":
            return _certain(self._take(_ESCAPED if here == "\\" else _SINGLE_QUOTED))[1] or ""
        if here in "$`":
            return self._expanded(quoted=False)
        if here in "<>":
            self._at += 2
            return self._inner_commands()
        self._at += 1
        if here == '"':
            value = self.expandable(end='"')
            self._at += 1
            return value
        special = here in "*?[{" or (here == "~" and (first or self._text[self._at - 2] in "=:"))
        return None if special else here

    def expandable(self, end: str) -> str | None:
        """Read text that is not split into words but expanded, as the body of a here-document is, up to `end`."""
        value: str | None = ""
        while (here := self._peek()) != end:
            _certain(here)
            match = self._take(_EXPANDABLE)
            piece = self._expanded(quoted=True) if match is None else match[2] or match[1].strip("\n")
            value = None if value is None or piece is None else value + piece
        return value

    def _expanded(self, *, quoted: bool) -> str | None:
        """What starts with `$` or a back quote; commands inside are noted."""
        if self._peek() == "`":
            return self._back_quoted()
        if self._take(_SUBSTITUTION):
            return self._inner_commands()
        if self._take(_PARAMETER) or (not quoted and self._take(_ANSI_QUOTED)):
            return None
        _certain(not _UNCLEAR.match(self._text, self._at))
        # Bash looks for the translation of `$"…"`, to dash `$` is a character; and `$'…'` has no certain end.
        _certain(quoted or self._peek(1) not in ("'", '"'))
        self._at += 1
        return "$"

    def _inner_commands(self) -> None:
        _certain(not self._heredocs)  # whose body comes first, depends on the shell
        self.commands(until=")")

    def _back_quoted(self) -> None:
        inside = _certain(self._take(_BACK_QUOTED))[1]
        # What goes away of an escaped quote or line end, depends on the quotes around and the shell.
        _certain(not re.search(r'\\["\n]', inside))
        self.found += _read(re.sub(r"\\([`$\\])", r"\1", inside), self._depth)

    # ------------------------------------------------------------------------------------------------- characters

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._text[at] if at < len(self._text) else ""

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What matches here, which is passed."""
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match
