"""Reading a command line as a shell would, well enough to know every command it runs (S-1).

What is not understood with certainty is not guessed: the answer is then None, and the user is asked. Left out on
purpose are arithmetic, `case`, `[[`, functions, arrays and all parameter expansions but the plain ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_LENGTH = 20_000
"""Characters."""
MAX_DEPTH = 12
"""Commands within commands."""

_BLANK = " \t"
_ENDS_WORD = " \t\n;&|<>()"
_GOVERNS = frozenset({"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "{", "}", "!", "for", "time"})
_UNREAD = frozenset({"case", "esac", "select", "function", "coproc", "[[", "in"})
_TIMED = re.compile(r"(?:[ \t]|\\\n)*(?:-p[ \t]+)?(?:[ \t]|\\\n)*")
_PLAIN_PARAMETER = re.compile(r"\$(?:\{[A-Za-z_][A-Za-z0-9_]*\}|[A-Za-z_][A-Za-z0-9_]*|[0-9?!#@*$-])")
_LOOP_VARIABLE = re.compile(r"[a-z_][a-z0-9_]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_DESCRIPTOR = re.compile(r"[0-9]+-?|-")
_PLAIN_FILE = re.compile(r"[\w./][\w./-]*", re.ASCII)
_SPLIT_OPERATOR = re.compile(r"[<>&|$;(]\\\n")
"""An operator that a line continuation may split: what it then is, depends on the shell."""
_DELIMITER = re.compile(r"([\w.-]+)|\\([\w.-]+)|'([\w.-]+)'|\"([\w.-]+)\"", re.ASCII)
_HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `value` is None when the shell would make something of it that cannot be known here."""

    raw: str
    value: str | None

    @property
    def assigns(self) -> bool:
        """It sets a variable when it stands in front of a command."""
        return _ASSIGNMENT.match(self.raw) is not None


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: its words, variable assignments in front included, and the files its redirections write."""

    text: str
    words: tuple[Word, ...]
    writes: tuple[str, ...] = ()
    targets: tuple[Word, ...] = ()
    """The files of all its redirections, those that are read included."""
    inputs: Sequence[str | None] = field(default=(), compare=False)
    """The texts given to its standard input; None for one that the shell makes only when it runs.

    The body of a here-document joins them when it has been read."""

    @property
    def command(self) -> tuple[Word, ...]:
        """The words behind the assignments."""
        for index, word in enumerate(self.words):
            if not word.assigns:
                return self.words[index:]
        return ()


class _UnreadableError(Exception):
    pass


def read(command: str) -> tuple[Simple, ...] | None:
    """Every simple command in `command`, those inside substitutions included; None when it cannot be read."""
    return _read(command, 0)


def _read(command: str, depth: int) -> tuple[Simple, ...] | None:
    if len(command) > MAX_LENGTH or "\0" in command or _SPLIT_OPERATOR.search(command):
        return None
    reader = _Reader(command, depth)
    try:
        reader.commands(until="")
    except _UnreadableError:
        return None
    return tuple(reader.found)


class _Reader:
    def __init__(self, text: str, depth: int) -> None:
        self.found: list[Simple] = []
        self._text = text
        self._at = 0
        self._depth = depth
        self._heredocs: list[tuple[str, bool, bool, list[str | None]]] = []
        """Waiting for their body: delimiter, quoted, tabs stripped, the inputs of the command."""

    # -------------------------------------------------------------------------------------------------- commands

    def commands(self, until: str) -> None:
        """Read up to and including `until`, or to the end when it is empty."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _UnreadableError
        while True:
            self._skip_blanks()
            here = self._peek()
            if not here:
                if until or self._heredocs:
                    raise _UnreadableError
                break
            if here == ")":
                if until != ")" or self._heredocs:
                    raise _UnreadableError
                self._at += 1
                break
            if here == "#":
                self._skip_comment()
            elif here == "\n":
                self._at += 1
                self._read_heredocs()
            elif here in ";|" or (here == "&" and self._peek(1) != ">"):
                self._at += 1
            elif here == "(":
                if self._peek(1) == "(":
                    raise _UnreadableError
                self._at += 1
                self.commands(until=")")
            else:
                self._simple()
        self._depth -= 1

    def _simple(self) -> None:
        start = self._at
        words: list[Word] = []
        writes: list[str] = []
        targets: list[Word] = []
        inputs: list[str | None] = []
        parting = False
        while True:
            self._skip_blanks()
            here = self._peek()
            if not here or here in "\n;|)" or (here == "&" and self._peek(1) != ">"):
                break
            if here == "#":
                break
            if here == "(":
                raise _UnreadableError
            if (here in "<>" and self._peek(1) != "(") or here == "&":
                parting = parting or here == "&"
                writes += self._redirection(targets, inputs)
                continue
            word = self._word()
            if word.raw.isascii() and word.raw.isdigit() and self._peek() in ("<", ">"):
                continue  # the number of the descriptor that is redirected next
            if parting:  # to dash `a &>f b` is `a &` and then `>f b`
                raise _UnreadableError
            if not words and self._reserved(word, redirected=bool(targets or inputs)):
                return
            words.append(word)
        text = self._text[start : self._at].strip()
        self.found.append(Simple(text, tuple(words), tuple(writes), tuple(targets), inputs))

    def _reserved(self, word: Word, *, redirected: bool) -> bool:
        """Whether `word`, in the place of a command, belongs to the shell's grammar; what it governs follows."""
        # The shell joins lines first; behind a redirection, bash takes it for one in substitutions alone.
        joined = word.raw.replace("\\\n", "")
        if joined in _UNREAD or ((redirected or joined != word.raw) and joined in _GOVERNS):
            raise _UnreadableError
        if word.raw == "for":
            self._loop_header()
        elif word.raw == "time":
            self._at = next(_TIMED.finditer(self._text, self._at)).end()
            if self._peek() == "-":  # to bash `time -- b` is b
                raise _UnreadableError
        return word.raw in _GOVERNS

    def _loop_header(self) -> None:
        start = self._at
        self._skip_blanks()
        name = self._word()
        if not _LOOP_VARIABLE.fullmatch(name.raw):  # PATH and its like are an assignment that matters
            self.found.append(Simple(self._text[start : self._at].strip(), (Word(f"{name.raw}=", None),)))
        self._skip_blanks()
        if not self._peek() or self._peek() in "\n;":
            return
        before = self._at
        following = self._word().raw
        if following == "do":
            self._at = before
            return
        if following != "in":
            raise _UnreadableError
        self._skip_blanks()
        while self._peek() and self._peek() not in "\n;":
            if self._peek() in "&|<>()":
                raise _UnreadableError
            self._word()
            self._skip_blanks()

    # ----------------------------------------------------------------------------------------------- redirections

    def _redirection(self, targets: list[Word], inputs: list[str | None]) -> list[str]:
        """The files it writes: none or one. Its file joins `targets`, a text that it reads `inputs`."""
        operator = next(
            mark
            for mark in ("&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">")
            if self._text.startswith(mark, self._at)
        )
        self._at += len(operator)
        self._skip_blanks()
        target = self._word()
        if not target.raw:
            raise _UnreadableError
        if operator in ("<<", "<<-"):
            delimiter = _DELIMITER.fullmatch(target.raw)
            if delimiter is None:
                raise _UnreadableError
            name = next(group for group in delimiter.groups() if group)
            self._heredocs.append((name, delimiter[1] is None, operator == "<<-", inputs))
            return []
        if operator == "<<<":
            inputs.append(target.value)
            return []
        if operator in (">&", "<&") and _DESCRIPTOR.fullmatch(target.raw):
            return []
        # To bash `<&-x` is `<&-` and then `x`; and what it takes for a file there, it expands a second time.
        if operator in (">&", "<&") and not _PLAIN_FILE.fullmatch(target.raw):
            raise _UnreadableError
        targets.append(target)
        if target.value in _HARMLESS_TARGETS:
            return []
        reads = operator in ("<", "<&") and target.value is not None and not target.value.startswith("/dev/")
        return [] if reads else [target.raw]

    def _read_heredocs(self) -> None:
        waiting, self._heredocs = self._heredocs, []
        for delimiter, quoted, strip, inputs in waiting:
            body: list[str] = []
            while True:
                if self._at >= len(self._text):
                    raise _UnreadableError
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = min(end + 1, len(self._text))
                if (line.lstrip("\t") if strip else line) == delimiter:
                    break
                if not quoted and line.endswith("\\"):  # it would join the next line, perhaps the delimiter
                    raise _UnreadableError
                body.append(line)
            text = "\n".join(line.lstrip("\t") if strip else line for line in body)
            inputs.append(text if quoted or not re.search(r"[$`\\]", text) else None)
            if not quoted:
                inside = _Reader("\n".join(body), self._depth)
                inside.expansions()
                self.found += inside.found

    def expansions(self) -> None:
        """Read text that is not split into words but expanded: the body of a here-document."""
        while self._at < len(self._text):
            self._one_expanded()

    # ------------------------------------------------------------------------------------------------------ words

    def _word(self) -> Word:
        start = self._at
        value: str | None = ""
        while (here := self._peek()) and (here not in _ENDS_WORD or (here in "<>" and self._peek(1) == "(")):
            piece: str | None
            if here == "\\":
                piece = self._peek(1)
                if not piece:
                    raise _UnreadableError
                self._at += 2
                if piece == "\n" and self._peek() not in " \t\n":  # what it is, is known only once it is joined
                    raise _UnreadableError
                piece = "" if piece == "\n" else piece
            elif here == "'":
                piece = self._until_quote()
            elif here == '"':
                piece = self._double_quoted()
            elif here in "$`":
                piece = self._expanded()
            elif here in "<>":
                self._at += 2
                self._inner_commands()
                piece = None
            else:
                self._at += 1
                special = here in "*?[{" or (
                    here == "~" and (self._at == start + 1 or self._text[self._at - 2] in "=:")
                )
                piece = None if special else here
            value = None if value is None or piece is None else value + piece
        if self._peek() == "(":  # a function, an array or an extended pattern
            raise _UnreadableError
        raw = self._text[start : self._at]
        return Word(raw, raw if raw in ("[", "{}") else value)  # alone they stand for themselves

    def _until_quote(self) -> str:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise _UnreadableError
        inside = self._text[self._at + 1 : end]
        self._at = end + 1
        return inside

    def _double_quoted(self) -> str | None:
        self._at += 1
        value: str | None = ""
        while (here := self._peek()) != '"':
            if not here:
                raise _UnreadableError
            piece = self._one_expanded()
            value = None if value is None or piece is None else value + piece
        self._at += 1
        return value

    def _one_expanded(self) -> str | None:
        """One character, or one expansion, of text in which `$`, the back quote and the backslash are alive."""
        here = self._peek()
        if here == "\\":
            following = self._peek(1)
            self._at += 2
            if following == "\n":
                return ""
            return following if following and following in '$`"\\' else here + following
        if here in ("$", "`"):
            return self._expanded(quoted=True)
        self._at += 1
        return here

    def _expanded(self, *, quoted: bool = False) -> str | None:
        """What starts with `$` or a back quote; commands inside are noted."""
        if self._peek() == "`":
            self._back_quoted()
            return None
        following = self._peek(1)
        if following == "(":
            if self._peek(2) == "(":
                raise _UnreadableError
            self._at += 2
            self._inner_commands()
            return None
        if following == "'" and not quoted:
            return self._ansi_quoted()
        if following == '"' and not quoted:  # bash looks for its translation, to dash `$` is a character
            raise _UnreadableError
        if match := _PLAIN_PARAMETER.match(self._text, self._at):
            self._at = match.end()
            return None
        if following in ("{", "["):
            raise _UnreadableError
        self._at += 1
        return "$"

    def _inner_commands(self) -> None:
        if self._heredocs:  # whose body comes first, depends on the shell
            raise _UnreadableError
        self.commands(until=")")

    def _ansi_quoted(self) -> None:
        """`$'…'`: its end is found, its value is left unknown."""
        match = re.compile(r"\$'(?:[^'\\]|\\[^'])*'").match(self._text, self._at)
        if match is None:  # an escaped quote, too, is to dash the end
            raise _UnreadableError
        self._at = match.end()

    def _back_quoted(self) -> None:
        match = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self._text, self._at)
        if match is None:
            raise _UnreadableError
        self._at = match.end()
        if '\\"' in match[1] or "\\\n" in match[1]:  # what goes away, depends on the quotes around and the shell
            raise _UnreadableError
        inside = _read(re.sub(r"\\([`$\\])", r"\1", match[1]), self._depth)
        if inside is None:
            raise _UnreadableError
        self.found += inside

    # ------------------------------------------------------------------------------------------------- characters

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._text[at] if at < len(self._text) else ""

    def _skip_blanks(self) -> None:
        while self._at < len(self._text):
            if self._text[self._at] in _BLANK:
                self._at += 1
            elif self._text.startswith("\\\n", self._at):
                self._at += 2
            else:
                return

    def _skip_comment(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end
