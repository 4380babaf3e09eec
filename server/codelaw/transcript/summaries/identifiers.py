"""The index of identifiers: which names of an archive the agent is likely to need again (K-5).

Measured on real sessions: a name counts the more, the more often and the later the agent itself wrote it; what only
tools showed counts little. Of equals the shorter goes first, because more of them fit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from codelaw.domain.listing import as_object, as_text, parsed, texts_of
from codelaw.domain.messages import Message
from codelaw.templates.render import render

HALF_LIFE = 40
"""Requests to the model after which a mention counts half."""
BY_PATH = 1.8
"""A call's path."""
BY_AGENT = 1.0
"""Thoughts, answers, other arguments."""
BY_USER = 0.3
BY_TOOL = 0.1
LENGTH_POWER = 0.5
"""A name's score is divided by its length to this power."""
IN_SIGHT = 0.01
"""What a name counts that the rounds which stay show as well."""
INSIDE = 0.4
"""What a name counts that is a part of one before it."""
_SCANNED = 60_000
"""Characters of one text that are looked at."""
_LONGEST = 90
_MOST_COMMANDS = 12
_MOST_OF_PLACE = 24

_UNFOLDABLE = frozenset(" {}\t")
_RUN = re.compile(r"[A-Za-z0-9_./~-]{6,}")
_ESCAPE = re.compile(r"\\[nrt]")
_CODE = re.compile(r"[_/.\d]|[a-z][A-Z]")
_NOISE = re.compile(r"(?![0-9a-f]{7,40}\Z)[^A-Za-z_./~]|[./~_-]*[\d./-]*\Z|[A-Za-z0-9]{41,}\Z")
"""What begins with a digit and is not a hash, holds no letter, or is longer than a hash."""
_OURS = frozenset({"in_progress"})
_BETWEEN = re.compile(r"&&|\|\||[;|\n]")
_BARE = re.compile(r"[a-z][\w:+-]*\Z")
_PLAIN_PROGRAMS = """
    cat cd cp cut diff do done echo env exit export false fi find for grep head if kill ls mkdir mv printf pwd rg rm sed
    set sleep sort source tail tee test then time touch tr true uniq wc while xargs
"""
_PLAIN = frozenset(_PLAIN_PROGRAMS.split())


def index(
    messages: Sequence[Message],
    budget: int,
    count: Callable[[str], int],
    known: str = "",
    *,
    kept: Sequence[Message] = (),
) -> str:
    """The index in at most `budget` tokens as `count` counts them; empty for a budget of 0 and when nothing fits.

    `known` is text that stands above the index: what it names is left out. What the messages `kept` show comes last.
    Never raises.
    """
    if budget <= 0:
        return ""
    names = _Names()
    names.read(messages)
    for name in {name for message in kept for name in names.of(message.content)} & names.scores.keys():
        names.scores[name] *= IN_SIGHT
    chosen = _chosen(_weighed(names.scores), names.of(known), 2 * budget)
    commands = [text for text, _ in _weighed(names.commands) if text not in known][:_MOST_COMMANDS]

    def written(size: int) -> str:
        shown = chosen[:size]
        return render(
            "summary_index",
            paths=sketched(names.spelling.get(name, name) for name in shown if "/" in name),
            symbols=[name for name in shown if "/" not in name],
            commands=commands[: size // 10],
        )

    size = bisect_right(range(1, len(chosen) + 1), budget, key=lambda size: count(written(size)))
    return written(size) if size else ""


def names_by_place(texts: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The names in texts that belong to some place each, newest last: by place, best first."""
    places: dict[str, _Names] = {}
    for age, (place, text) in zip(range(len(texts) - 1, -1, -1), texts, strict=True):
        places.setdefault(place, _Names()).note(text, 0.5 ** (age / HALF_LIFE))
    return {
        place: tuple(_chosen(_weighed(names.scores), names.of(place), _MOST_OF_PLACE))
        for place, names in places.items()
    }


@dataclass(slots=True)
class _Names:
    """The names of a stretch of the record, with their scores."""

    scores: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """A path goes by its last two parts, so that its spellings agree."""
    spelling: dict[str, str] = field(default_factory=dict[str, str])
    """The shortest path inside the workspace that ends in the last two parts."""
    commands: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Programs with their subcommands."""
    _named: dict[str, str] = field(default_factory=dict[str, str])
    """What each run of characters names; empty for nothing."""

    def read(self, messages: Sequence[Message]) -> None:
        """Take in what was said, newest last."""
        age = sum(message.role == "assistant" for message in messages)
        for message in messages:
            age -= message.role == "assistant"
            weight = 0.5 ** (age / HALF_LIFE)
            match message.role:
                case "assistant":
                    self.note(_said(message), weight * BY_AGENT)
                    for call in message.metadata.calls:
                        self._note_call(call.tool, as_object(call.arguments), weight)
                case "user":
                    self.note(message.content, weight * BY_USER)
                case "tool":
                    result = parsed(message.content)
                    shown = [result.get("data"), as_object(result.get("error")).get("message")]
                    self.note("\n".join(texts_of(shown)), weight * BY_TOOL)
                case "summary":
                    pass  # it stays in the view

    def of(self, text: str) -> set[str]:
        """The names in a text."""
        runs = set(_RUN.findall(_ESCAPE.sub(" ", text[:_SCANNED])))
        for run in runs - self._named.keys():
            self._named[run] = self._name(run)
        return {self._named[run] for run in runs} - {""}

    def note(self, text: str, weight: float) -> None:
        """Take in one text."""
        for name in self.of(text):
            self.scores[name] += weight

    def _note_call(self, tool: str, arguments: Mapping[str, Any], weight: float) -> None:
        self.note(as_text(arguments.get("path")), weight * BY_PATH)
        rest = {name: value for name, value in arguments.items() if name != "path"}
        self.note("\n".join(texts_of(rest)), weight * BY_AGENT)
        if tool == "Bash":
            for program in set(_programs(as_text(arguments.get("command"))[:2_000])):
                self.commands[program] += weight

    def _name(self, run: str) -> str:
        whole = run.strip("-").rstrip("./~").removeprefix("./")
        name = "/".join(whole.split("/")[-2:]).lstrip("./~-") if "/" in whole else whole.lstrip(".~")
        if not 6 <= len(name) <= _LONGEST or not _CODE.search(name) or _NOISE.match(whole) or name in _OURS:
            return ""
        if name != whole and not whole.startswith(("/", "~", "../")):
            self.spelling[name] = min(whole, self.spelling.get(name, whole), key=lambda path: (len(path), path))
        return name


def _weighed(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    """Best first; equal ones by name, so that the order never depends on chance."""
    weights = {name: score / len(name) ** LENGTH_POWER for name, score in scores.items()}
    return sorted(weights.items(), key=lambda item: (-item[1], item[0]))


def _said(message: Message) -> str:
    """What an assistant message says besides its calls."""
    if not message.metadata.calls:
        return message.content
    return message.content.partition("\nAction:")[0]


def _programs(command: str) -> Iterator[str]:
    """`go test`, `npm run build`: what a command line runs, without options and operands."""
    for part in _BETWEEN.split(command):
        words = part.split()[:3]
        if not words or words[0] in _PLAIN or not _BARE.match(words[0]):
            continue
        bare = next((place for place, word in enumerate(words) if not _BARE.match(word)), len(words))
        if bare > 1:
            yield " ".join(words[:bare])


def _chosen(weighed: Sequence[tuple[str, float]], known: set[str], most: int) -> list[str]:
    """At most `most` names, best first; what is a part of a known one, or of one before it, counts less."""
    held = set(known)
    for name in known:
        held |= _parts(name)
    waiting = [(-weight, name, False) for name, weight in weighed if name not in known]
    chosen: list[str] = []
    while waiting and len(chosen) < most:
        weight, name, late = heappop(waiting)
        if name in held and not late:
            heappush(waiting, (weight * INSIDE, name, True))
            continue
        held |= _parts(name)
        chosen.append(name)
    return chosen


def _parts(name: str) -> set[str]:
    """All that stands in a name between dots and slashes, itself too: `b/c.d` gives `b`, `c`, `d`, `b/c`, `c.d`."""
    if "." not in name and "/" not in name:
        return {name}
    cuts = [place for place, char in enumerate(name) if char in "./"][:12]
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(name)]
    return {name[start:end] for start in starts for end in ends if start < end}


def folded(paths: Iterable[str]) -> list[str]:
    """The paths, whole, in the order in which their places first appear.

    A place is the folder above a file's own, so that `a/b/{c/x.py c/y.py d/z.py}` keeps every file beside its folder.
    """
    found: list[str] = []
    for above, leaves in _places(paths).items():
        if above and len(leaves) > 1:
            found.append(_together(above, leaves))
        else:
            found.extend(f"{above}/{leaf}" if above else leaf for leaf in leaves)
    return found


def sketched(paths: Iterable[str]) -> list[str]:
    """As `folded`, but of a path without two neighbours, or outside the workspace, only the last two parts."""
    found: list[str] = []
    for above, leaves in _places(paths).items():
        # A first part with a dot in it is a host: an import path, a link.
        here = above and "." not in above.partition("/")[0].strip(".")
        found.extend([_together(above, leaves)] if here and len(leaves) > 2 else leaves)
    return found


def _together(above: str, leaves: Iterable[str]) -> str:
    return f"{above}/{{{' '.join(leaves)}}}"


def _places(paths: Iterable[str]) -> dict[str, list[str]]:
    """What lies in each place; what cannot be folded lies in the place without a name."""
    places: dict[str, list[str]] = {}
    for path in paths:
        parts = path.split("/")
        foldable = len(parts) > 2 and _UNFOLDABLE.isdisjoint(path)
        above, leaf = ("/".join(parts[:-2]), "/".join(parts[-2:])) if foldable else ("", path)
        places.setdefault(above, []).append(leaf)
    return places
