"""Reading mentions in what the user typed, and the reminder that `@path` leaves (M-1 to M-4, M-8)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from codelaw.context.escaping import one_name
from codelaw.domain.events import Mention
from codelaw.templates.render import render

REMINDED = 5
"""Most mentions a reminder names (M-3)."""

BEFORE = r"(?<![a-zA-Z0-9._-])"
"""What must not stand right before the `@`: an address or a word goes on there. Chinese or Japanese may (M-1)."""

_OTHER = r"(?:symbol|git|terminal):[^\s\"]|problems:"
"""How a mention of another kind begins, behind its `@` (M-8)."""

_MENTION = re.compile(rf'{BEFORE}@(?!"?(?:{_OTHER}))(?:"([^"\n]+)"|([a-zA-Z0-9/._-]+(?:\.[a-zA-Z0-9]+)?))')


@dataclass(frozen=True, slots=True)
class PathMention:
    """A path that a text mentions, and where."""

    path: str
    """Normalised."""
    start: int
    """Of the `@`, in code points."""
    end: int
    quoted: bool


def named(text: str) -> list[PathMention]:
    """Every mention in `text`, in order of appearance (M-1).

    Absolute paths, paths that escape the folder and paths without a letter or digit are not mentions. Whether a file is
    there is for the caller to find out.
    """
    found: list[PathMention] = []
    for match in _MENTION.finditer(text):
        quoted, plain = match.groups()
        raw = quoted if quoted is not None else plain.rstrip(".")
        if not any(character.isalnum() for character in raw):
            continue
        path = raw if ":" in raw else posixpath.normpath(raw)
        if not path.startswith(("/", "../", "~")) and path != "..":
            end = match.end() if quoted is not None else match.start() + 1 + len(raw)
            found.append(PathMention(path, match.start(), end, quoted is not None))
    return found


_RESOURCE = re.compile(rf'{BEFORE}@(?:"([a-zA-Z0-9_-]{{1,64}}):([^"\n]+)"|([a-zA-Z0-9_-]{{1,64}}):([^\s"]+))')


def resources_named(text: str, servers: Collection[str]) -> list[tuple[str, str]]:
    """Server and address of every `@server:uri` of one of these servers, in order, without repeats (X-3).

    A quoted one may hold spaces; what ends a sentence is not part of the other.
    """
    found: dict[tuple[str, str], None] = {}
    for match in _RESOURCE.finditer(text):
        server, uri = (match[1], match[2]) if match[1] is not None else (match[3], match[4].rstrip(".,;:!?)'"))
        if server in servers and uri:
            found[server, uri] = None
    return list(found)


ReferenceKind = Literal["symbol", "problems", "git", "terminal"]

_REFERENCE = re.compile(
    rf'{BEFORE}@(?:"(symbol|git):([^"\n]+)"|(symbol):([\w$.:#~-]+)|(git):([\w./~^@{{}}-]+)|(terminal):(last)(?!\w)'
    r"|(problems):(?!\w)())",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A mention that is not a path: a symbol's name, what git says, a terminal, the problems (M-8)."""

    kind: ReferenceKind
    name: str
    """Behind the colon; empty for the problems."""

    @property
    def path(self) -> str:
        """As it is typed behind the `@`, without quotes."""
        return f"{self.kind}:{self.name}"


def references(text: str) -> list[Reference]:
    """Every mention in `text` that is not a path, in order of appearance, without repeats (M-8).

    A quoted one, `@"symbol:größe"`, may hold anything; what ends a sentence is not part of the other.
    """
    found: dict[Reference, None] = {}
    for match in _REFERENCE.finditer(text):
        kind, name = (part for part in match.groups() if part is not None)
        trimmed = name.strip() if match[1] else name.rstrip(".:-")
        if trimmed or kind == "problems":
            found[Reference(cast("ReferenceKind", kind), trimmed)] = None
    return list(found)


def can_be_mentioned(uri: str) -> bool:
    """Whether a resource's address has a spelling, be it in quotes."""
    return uri.isprintable() and '"' not in uri


def candidates(text: str) -> list[str]:
    """The paths mentioned in `text`, normalised, in order of appearance, without repeats (M-1)."""
    return list(dict.fromkeys(mention.path for mention in named(text)))


def reminder(mentions: Sequence[Mention]) -> str:
    """The `<system-reminder>` for the resolved mentions among `mentions`; empty without any (M-3)."""
    resolved = [mention for mention in mentions if mention.kind != "unresolved"]
    if not resolved:
        return ""
    first = resolved[:REMINDED]
    return render(
        "mention",
        named=[spell(mention.path) for mention in first],
        more=len(resolved) - len(first),
        files=sum(mention.kind == "file" for mention in first),
        folders=sum(mention.kind == "folder" for mention in first),
    )


def without_reminder(content: str) -> str:
    """A stored message of the user without the reminder behind it, which nothing typed can begin."""
    return content.partition("\n\n<system-reminder>")[0]


def spell(path: str) -> str:
    """A path as a mention is written: `@src/a.py`, or quoted when the plain form could not hold it."""
    match = _MENTION.fullmatch(f"@{path}")
    return f"@{path}" if match and not path.endswith(".") else f'@"{one_name(path)}"'
