r"""The regular expressions that every engine reads alike (T-3).

A pattern is read once and spelt twice, for `rg` (Rust) and for Python, such that both match the same lines: `.`,
negated sets and `\s` never match a line break, `^` and `$` are the line's ends whatever the break's style, shorthands
have one Unicode meaning. Only around combining marks may `\b` differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from codelaw.domain.errors import ToolFailure

_META = frozenset("\\.+*?()|[]{}^$#&-~")
_CONTROL = {"t": "\t", "f": "\f", "v": "\v", "a": "\a"}
_SPACE_RUST = r"\t\x0b\x0c\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_SPACE_PYTHON = r"\t\x0b\x0c\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SETS = {
    "d": (r"\d", r"\d"),
    "w": (r"\p{L}\p{N}_", r"\w"),
    "s": (_SPACE_RUST, _SPACE_PYTHON),
}
# Undecodable bytes reach Python as lone surrogates; no set of `rg` matches such a byte.
_NEVER_RUST = r"\r\n"
_NEVER_PYTHON = r"\r\n\udc80-\udcff"
_QUANTIFIER = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}")
_LEADING_FLAGS = re.compile(r"\(\?([ims]+)\)")
_REFUSED_GROUPS = {
    "(?=": "lookahead",
    "(?!": "negative lookahead",
    "(?<=": "lookbehind",
    "(?<!": "negative lookbehind",
    "(?>": "an atomic group",
    "(?#": "a comment",
    "(?P=": "a backreference",
    "(?P>": "a recursion",
    "(?(": "a conditional",
}
_REFUSED_ESCAPES = {
    **dict.fromkeys("0123456789", "a backreference or octal escape"),
    **dict.fromkeys("nrR", "a line break (lines are matched one by one)"),
    "A": "use ^ instead",
    "Z": "use $ instead",
    "z": "use $ instead",
    "p": "a Unicode property",
    "P": "a Unicode property",
    "<": "use \\b instead",
    ">": "use \\b instead",
}


@dataclass(frozen=True, slots=True)
class Expression:
    """One pattern in two spellings."""

    rust: str
    python: str
    """To be compiled with `re.MULTILINE`, and searched in text decoded with `surrogateescape`."""
    ignore_case: bool


def read_expression(pattern: str, *, case_sensitive: bool) -> Expression:
    """The pattern, spelt for both engines.

    Raises:
        ToolFailure: INVALID_PARAM naming the syntax that is not common, or what is malformed.
    """
    flags = _LEADING_FLAGS.match(pattern)
    ignore_case = not case_sensitive or (flags is not None and "i" in flags[1])
    reader = _Reader(pattern, flags.end() if flags else 0)
    reader.read()
    rust, python = "".join(reader.rust), "".join(reader.python)
    try:
        re.compile(python, re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolFailure("INVALID_PARAM", f"pattern = {pattern[:200]!r} is malformed: {error}") from error
    return Expression(rust, python, ignore_case)


class _Reader:
    """Goes through a pattern once, writing both spellings."""

    def __init__(self, pattern: str, at: int) -> None:
        self.pattern = pattern
        self.at = at
        self.rust: list[str] = []
        self.python: list[str] = []
        self.open_groups = 0

    def read(self) -> None:
        repeatable = False
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            if char in "*+?" or (char == "{" and _QUANTIFIER.match(self.pattern, self.at)):
                self._quantifier(repeatable=repeatable)
                repeatable = False
                continue
            repeatable = char not in "(|^$"
            if char == "(":
                self._group()
            elif char == ")":
                self._close()
            elif char == "[":
                self._set()
            elif char == "\\":
                repeatable = self._escape()
            else:
                self._simple(char)
        if self.open_groups:
            self._refuse("a group that is not closed")

    def _write(self, rust: str, python: str | None = None) -> None:
        self.rust.append(rust)
        self.python.append(rust if python is None else python)

    def _refuse(self, what: str) -> NoReturn:
        raise ToolFailure("INVALID_PARAM", f"pattern = {self.pattern[:200]!r}: {what} is not supported by Grep.")

    def _simple(self, char: str) -> None:
        self.at += 1
        if char == ".":
            self._write(f"[^{_NEVER_RUST}]", f"[^{_NEVER_PYTHON}]")
        elif char == "^":
            self._write(r"(?:^\x{feff}?)", r"(?:^\ufeff?)")
        elif char == "$":
            self._write(r"(?:\r?$)")
        elif char == "|":
            self._write("|")
        elif char in "\r\n":
            self._refuse(_REFUSED_ESCAPES["n"])
        else:
            self._write(*_literal(char))

    def _quantifier(self, *, repeatable: bool) -> None:
        braces = _QUANTIFIER.match(self.pattern, self.at)
        text = braces[0] if braces else self.pattern[self.at]
        if not repeatable:
            self._refuse(f"{text} with nothing before it that can be repeated")
        if braces and (int(braces[1]) > 1000 or int(braces[3] or 0) > 1000):
            self._refuse(f"{text} (at most 1000 repetitions)")
        self.at += len(text)
        follows = self.pattern[self.at : self.at + 1]
        if follows == "+":
            self._refuse(f"the possessive quantifier {text}+")
        if follows == "?":
            self.at += 1
            text += "?"
        self._write(text)

    def _group(self) -> None:
        rest = self.pattern[self.at : self.at + 4]
        for start, name in _REFUSED_GROUPS.items():
            if rest.startswith(start):
                self._refuse(f"{start} ({name})")
        named = re.compile(r"\(\?P?<[A-Za-z_]\w*>").match(self.pattern, self.at)
        opened = named[0] if named else next((start for start in ("(?:", "(?i:") if rest.startswith(start)), "(")
        if opened == "(" and rest.startswith("(?"):
            self._refuse(f"the flag or group {self.pattern[self.at : self.at + 6]}")
        self.at += len(opened)
        self.open_groups += 1
        self._write("(?i:" if opened == "(?i:" else "(?:")

    def _close(self) -> None:
        if not self.open_groups:
            self._refuse("a ) without its (")
        self.open_groups -= 1
        self.at += 1
        self._write(")")

    def _escape(self) -> bool:
        """Write an escape; whether it can be repeated."""
        char = self.pattern[self.at + 1 : self.at + 2]
        if char in {"b", "B"}:
            self.at += 2
            self._write(rf"\{char}", r"\b" if char == "b" else r"(?!\b)")
            return False
        if char.lower() in _SETS:
            self.at += 2
            rust, python = _SETS[char.lower()]
            if char.islower():
                self._write(f"[{rust}]", f"[{python}]")
            else:
                self._write(f"[^{rust}{_NEVER_RUST}]", f"[^{python}{_NEVER_PYTHON}]")
            return True
        self._write(*_literal(self._character()))
        return True

    def _character(self) -> str:
        """The one character that an escape stands for."""
        char = self.pattern[self.at + 1 : self.at + 2]
        code = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,6})\})").match(
            self.pattern, self.at
        )
        if code:
            self.at += len(code[0])
            number = int(code[1] or code[2] or code[3], 16)
            if number in {10, 13} or 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
                self._refuse(code[0])
            return chr(number)
        if not char:
            self._refuse("a lone \\ at the end")
        if char in _REFUSED_ESCAPES:
            self._refuse(f"\\{char}: {_REFUSED_ESCAPES[char]};")
        if char.isascii() and char.isalnum() and char not in _CONTROL:
            self._refuse(f"\\{char}")
        self.at += 2
        return _CONTROL.get(char, char)

    def _set(self) -> None:
        negated = self.pattern.startswith("^", self.at + 1)
        self.at += 1 + negated
        rust: list[str] = []
        python: list[str] = []
        others: list[str] = []
        first = True
        while first or not self.pattern.startswith("]", self.at):
            first = False
            if self.at >= len(self.pattern):
                self._refuse("a set that is not closed with ]")
            if re.compile(r"\[[:.=]").match(self.pattern, self.at):
                self._refuse(f"the POSIX class {self.pattern[self.at : self.at + 10]}")
            escaped = self.pattern[self.at] == "\\" and self.pattern[self.at + 1 : self.at + 2]
            if escaped and escaped.lower() in _SETS:
                self.at += 2
                if escaped.islower():
                    rust.append(_SETS[escaped][0])
                    python.append(_SETS[escaped][1])
                elif negated:
                    self._refuse(f"\\{escaped} inside a negated set")
                else:
                    others.append(escaped.lower())
                continue
            low = self._member()
            if self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at):
                self.at += 1
                if self.at >= len(self.pattern):
                    self._refuse("a set that is not closed with ]")
                high = self._member()
                if high < low:
                    self._refuse(f"the reversed range {low}-{high}")
                for first_char, last_char in _ranges(ord(low), ord(high)):
                    rust.append(f"{_literal(first_char)[0]}-{_literal(last_char)[0]}")
                    python.append(f"{_literal(first_char)[1]}-{_literal(last_char)[1]}")
            else:
                rust.append(_literal(low)[0])
                python.append(_literal(low)[1])
        self.at += 1
        self._write_set(("".join(rust), "".join(python)), others, negated=negated)

    def _write_set(self, inside: tuple[str, str], others: list[str], *, negated: bool) -> None:
        if negated:
            self._write(f"[^{inside[0]}{_NEVER_RUST}]", f"[^{inside[1]}{_NEVER_PYTHON}]")
            return
        rust = [f"[{inside[0]}]"] if inside[0] else []
        python = [f"[{inside[1]}]"] if inside[1] else []
        for name in others:
            rust.append(f"[^{_SETS[name][0]}{_NEVER_RUST}]")
            python.append(f"[^{_SETS[name][1]}{_NEVER_PYTHON}]")
        self._write(f"(?:{'|'.join(rust)})", f"(?:{'|'.join(python)})")

    def _member(self) -> str:
        char = self.pattern[self.at]
        if char == "\\":
            if self.pattern.startswith("b", self.at + 1):
                self._refuse("\\b inside a set")
            return self._character()
        if char in "\r\n":
            self._refuse(_REFUSED_ESCAPES["n"])
        self.at += 1
        return char


def _ranges(low: int, high: int) -> Iterator[tuple[str, str]]:
    """A range without line breaks and surrogates, which no set may match."""
    for first, last in ((10, 10), (13, 13), (0xD800, 0xDFFF)):
        if low < first <= high:
            yield chr(low), chr(first - 1)
        if first <= high:
            low = max(low, last + 1)
    if low <= high:
        yield chr(low), chr(high)


def _literal(char: str) -> tuple[str, str]:
    """One character for both engines."""
    if char in _META:
        return f"\\{char}", f"\\{char}"
    if char.isprintable():
        return char, char
    code = ord(char)
    return f"\\x{{{code:x}}}", f"\\U{code:08x}"
