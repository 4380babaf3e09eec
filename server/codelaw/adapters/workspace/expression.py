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
_WORD = r"\p{L}\p{N}_"
_SETS = {
    "d": r"\d",
    "w": _WORD,
    "s": r"\t\x0b\x0c\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
}
_PYTHON = {_WORD: r"\w", r"\B": r"(?!\b)", r"\r\n]": r"\r\n\udc80-\udcff]"}
"""What Python spells otherwise; no literal character is spelt so. Undecodable bytes reach it as lone surrogates, and no
set of `rg` matches such a byte."""
_PLAIN = {"^": r"(?:^\ufeff?)", "$": r"(?:\r?$)", "|": "|", r"\b": r"\b", r"\B": r"\B"}
"""What takes no characters, or none of its own."""
_LINE_BREAK = "a line break (lines are matched one by one)"
_REFUSED_ESCAPES = {
    **dict.fromkeys("0123456789", "a backreference or octal escape"),
    **dict.fromkeys("nrR", _LINE_BREAK),
    "A": "use ^ instead",
    **dict.fromkeys("zZ", "use $ instead"),
    **dict.fromkeys("<>", r"use \b instead"),
    **dict.fromkeys("pP", "a Unicode property"),
}
_ESCAPE = r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|x\{[0-9A-Fa-f]{1,6}\}|[\s\S]|$)"
_TOKEN = re.compile(
    rf"""(?P<repeat>[*+?]|\{{\d{{1,4}}(?:,\d{{0,4}})?\}})(?P<way>[+?]?)
    |(?P<open>\((?:\?P?<[A-Za-z_]\w*>|\?:|\?i:|(?!\?)))
    |(?P<close>\))
    |(?P<set>\[\^?)
    |(?P<escape>{_ESCAPE})
    |(?P<other>[\s\S])""",
    re.VERBOSE,
)
_MEMBER = re.compile(rf"{_ESCAPE}|[\s\S]")
_LEADING_FLAGS = re.compile(r"\(\?([ims]+)\)")


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
    python = rust = "".join(_PatternReader(pattern, flags.end() if flags else 0).read())
    for ours, theirs in _PYTHON.items():
        python = python.replace(ours, theirs)
    try:
        re.compile(python, re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolFailure("INVALID_PARAM", f"pattern = {pattern[:200]!r} is malformed: {error}") from error
    return Expression(rust, python, ignore_case)


class _PatternReader:
    """Goes through a pattern once."""

    def __init__(self, pattern: str, at: int) -> None:
        self.pattern = pattern
        self.at = at

    def read(self) -> Iterator[str]:
        repeatable, groups = False, 0
        while token := _TOKEN.match(self.pattern, self.at):
            kind, text = token.lastgroup, token[0]
            if kind == "way":
                yield self._quantifier(token["repeat"], token["way"], repeatable=repeatable)
                repeatable = False
                self.at = token.end()
                continue
            self.at = token.end()
            repeatable = text not in _PLAIN and kind != "open"
            groups += (kind == "open") - (kind == "close")
            if groups < 0:
                self._refuse("a ) without its (")
            if kind == "open":
                yield "(?i:" if text == "(?i:" else "(?:"
            elif kind == "close":
                yield ")"
            elif kind == "set":
                yield self._set(negated=text == "[^")
            elif text in _PLAIN:
                yield _PLAIN[text]
            elif text == ".":
                yield _bracketed("", negated=True)
            elif text == "(":
                self._refuse(f"the group {self.pattern[self.at - 1 : self.at + 5]}")
            elif text[1:].lower() in _SETS and kind == "escape":
                yield _bracketed(_SETS[text[1].lower()], negated=text[1].isupper())
            else:
                yield _literal(self._character(text))
        if groups:
            self._refuse("a group that is not closed")

    def _refuse(self, what: str) -> NoReturn:
        raise ToolFailure("INVALID_PARAM", f"pattern = {self.pattern[:200]!r}: {what} is not supported by Grep.")

    def _quantifier(self, text: str, way: str, *, repeatable: bool) -> str:
        if not repeatable:
            self._refuse(f"{text} with nothing before it that can be repeated")
        if way == "+":
            self._refuse(f"the possessive quantifier {text}+")
        if any(int(number) > 1000 for number in re.findall(r"\d+", text)):
            self._refuse(f"{text} (at most 1000 repetitions)")
        return text + way

    def _character(self, token: str) -> str:
        """The one character that a token stands for."""
        if token in {"\r", "\n"}:
            self._refuse(_LINE_BREAK)
        char = token[1:2]
        if not token.startswith("\\"):
            return token
        if not char:
            self._refuse("a lone \\ at the end")
        if len(token) > 2:
            number = int(token[2:].strip("{}"), 16)
            if number in {10, 13} or 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
                self._refuse(token)
            return chr(number)
        if char in _REFUSED_ESCAPES:
            self._refuse(f"\\{char}: {_REFUSED_ESCAPES[char]};")
        if char.isascii() and char.isalnum() and char not in _CONTROL:
            self._refuse(f"\\{char}")
        return _CONTROL.get(char, char)

    def _members(self) -> Iterator[str]:
        """The tokens of a set, and what ends it."""
        first = True
        while first or not self.pattern.startswith("]", self.at):
            token = _MEMBER.match(self.pattern, self.at)
            if token is None:
                self._refuse("a set that is not closed with ]")
            if re.match(r"\[[:.=]", self.pattern[self.at : self.at + 2]):
                self._refuse(f"the POSIX class {self.pattern[self.at : self.at + 10]}")
            first, self.at = False, token.end()
            yield token[0]
        self.at += 1

    def _set(self, *, negated: bool) -> str:
        inside: list[str] = []
        others: list[str] = []
        for token in (members := self._members()):
            name = token[1:].lower() if token.startswith("\\") else ""
            if name in _SETS and token[1].islower():
                inside.append(_SETS[name])
            elif name in _SETS and not negated:
                others.append(name)
            elif name in _SETS:
                self._refuse(f"{token} inside a negated set")
            else:
                low = high = self._character(token)
                if self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at):
                    self.at += 1
                    high = self._character(next(members, ""))
                if high < low:
                    self._refuse(f"the reversed range {low}-{high}")
                inside += _range(low, high)
        if negated:
            return _bracketed("".join(inside), negated=True)
        parts = [_bracketed("".join(inside))] if inside else []
        return f"(?:{'|'.join([*parts, *(_bracketed(_SETS[name], negated=True) for name in others)])})"


def _bracketed(inside: str, *, negated: bool = False) -> str:
    return rf"[^{inside}\r\n]" if negated else f"[{inside}]"


def _range(low: str, high: str) -> Iterator[str]:
    """The characters from the one to the other without line breaks and surrogates, which no set may match."""
    begin, end = ord(low), ord(high)
    for first, last in ((10, 10), (13, 13), (0xD800, 0xDFFF), (end + 1, end + 1)):
        if begin < first <= end + 1:
            one, other = _literal(chr(begin)), _literal(chr(first - 1))
            yield one if begin == first - 1 else f"{one}-{other}"
        begin = max(begin, last + 1) if first <= end else begin


def _literal(char: str) -> str:
    """One character for both engines."""
    return char if char.isprintable() and char not in _META else f"\\U{ord(char):08x}"
