"""The fields at the head of a Markdown file, between two lines of dashes.

Read leniently: what is not YAML is told and still gives its plain fields, as many files in use have a colon where YAML
allows none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast, get_args

from codelaw.domain.models import Effort

LONGEST = 20_000
"""Characters between the lines of dashes (S-6)."""
MOST_BRACKETS = 500
"""In them: the library takes time in the square of those that are open."""
LONGEST_NAME = 64
"""Characters of what a skill or a kind of subagent is called by."""
_MARKS = "-_.:+"
_EFFORTS: dict[str, Effort] = {one: one for one in get_args(Effort)}
_HEAD = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_COLON = re.compile(r"[A-Za-z][\w-]*:[ \t]+[^\"'\[{\s].*:(?:[ \t].*)?")
_NAMED = re.compile(r"^[ \t\"'{,-]*([A-Za-z][\w-]*)[\"']?[ \t]*:", re.MULTILINE)
_FIELD = re.compile(r"([A-Za-z][\w-]*):[ \t]+(\S.*)")


@dataclass(frozen=True, slots=True)
class Written:
    """A file's fields and its text below them."""

    body: str
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those whose value is a text, with lower-case names; numbers, dates and truth values are texts as they stand."""
    problem: str = ""
    """Why its head could not be read as it should be."""
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Those whose value is a list, as far as its items are texts."""
    unread: frozenset[str] = frozenset()
    """Names, in lower case, of fields that are there and whose value could not be read whole."""


def plain_name(said: str) -> str:
    """A name as one word, which can be typed; empty where it is none."""
    plain = unicodedata.normalize("NFC", said)
    kept = (char if char in _MARKS or char.isalnum() or unicodedata.category(char)[0] == "M" else "-" for char in plain)
    return "".join(kept).strip("-.:")[:LONGEST_NAME].rstrip("-.:")


def effort_of(head: Written) -> tuple[Effort | None, str]:
    """The effort that a head asks for, and what is wrong with it (P-6)."""
    said = head.fields.get("effort", "").strip().lower()
    known = _EFFORTS.get(said)
    wrong = bool(said) and known is None
    return known, f"Its effort is none of {', '.join(_EFFORTS)}, and does not count." if wrong else ""


def written(text: str) -> Written:
    """Take a file apart."""
    match = _HEAD.match(text[: LONGEST + 100])
    if match is None:
        began = text.removeprefix("\ufeff").startswith(("---\n", "---\r\n"))
        unread = _named(text[:LONGEST]) if began else frozenset[str]()
        return Written(text.removeprefix("\ufeff"), problem=_UNENDED if began else "", unread=unread)
    head, body = match[1], text[match.end() :]
    if not head.strip():
        return Written(body)
    import yaml  # noqa: PLC0415 - needed by few

    if head.count("[") + head.count("{") > MOST_BRACKETS:
        return _by_lines(body, head, f"Its head has more than {MOST_BRACKETS} brackets.")
    # They make texts, lists and tables, and nothing else; the one in C, where there is one, takes a tenth of the time.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        found: object = yaml.load(head, Loader=loader)  # noqa: S506
    except (yaml.YAMLError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" in line {line + 2}"
        colon = line is not None and _COLON.fullmatch([*head.splitlines(), ""][line]) is not None
        hint = " A value with a colon in it needs quotes." if colon else ""
        return _by_lines(body, head, f"Its head is not YAML{where}.{hint}")
    if not isinstance(found, dict):
        return Written(body, problem="Its head has no fields.", unread=_named(head))
    fields = cast("dict[object, object]", found)
    return Written(
        body,
        {name.lower(): value for name, value in fields.items() if isinstance(name, str) and isinstance(value, str)},
        lists={
            name.lower(): tuple(item for item in cast("list[object]", value) if isinstance(item, str))
            for name, value in fields.items()
            if isinstance(name, str) and isinstance(value, list)
        },
        unread=frozenset(str(name).lower() for name, value in fields.items() if not _whole(value)),
    )


def _whole(value: object) -> bool:
    """Whether a value is a text or a list of texts."""
    if isinstance(value, list):
        return all(isinstance(item, str) for item in cast("list[object]", value))
    return isinstance(value, str)


def _by_lines(body: str, head: str, problem: str) -> Written:
    """A file whose head can only be read line by line."""
    fields = _plain(head)
    plain = {name for name, value in fields.items() if not value.startswith(tuple("[{|>&*!"))}
    return Written(body, fields, problem, unread=_named(head) - plain)


def _named(head: str) -> frozenset[str]:
    """What may be the names of fields in a text that is no head."""
    return frozenset(match[1].lower() for match in _NAMED.finditer(head))


def _plain(head: str) -> dict[str, str]:
    """The fields that stand on one line each."""
    lines = (match for line in head.splitlines() if (match := _FIELD.fullmatch(line)) is not None)
    return {match[1].lower(): match[2].strip().strip("\"'") for match in lines}


_UNENDED = f"Its head has no end within {LONGEST} characters: a line of three dashes is missing."
