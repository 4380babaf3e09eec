"""The headings of the summary template, found in whatever dress a model gives them (K-5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

TITLE = "title"
FILES = "files"
REQUIRED = ("objectives", "context", "milestones", "insights")
"""The headings that a model must write, in order; title and file list are code's own."""

_DRESS = r"[^\w\n`\"'(\[]{0,12}(?:\d{1,2}[.)]\W{0,4})?"
"""Hashes, stars, emoji, a number."""
_TAIL = r"(?:\W{1,8}\w{1,24}){0,5}\W{0,8}\Z"
_WORDS = {
    TITLE: r"archived\W{1,4}sessions?\W{1,4}summary",
    "objectives": r"objectives?\W{1,8}(?:and\W{1,4}|amp\W{1,4})?status",
    "context": r"technical\W{1,4}context",
    "milestones": r"completed\W{1,4}milestones?",
    "insights": r"key\W{1,4}insights?",
    FILES: r"file\W{1,4}systems?\W{1,4}state",
}
_HEADINGS = {name: re.compile(_DRESS + words + _TAIL, re.IGNORECASE) for name, words in _WORDS.items()}
_LONGEST = 120
_OTHER = re.compile(r"[ \t>]*#{1,6}[ \t]+(?P<text>.+?)[ \t#]*\Z")
_TIMES = re.compile(r"\W*contains\W+context\W+from\b|\W*modified files in this archive segment\W*\Z", re.IGNORECASE)
_COMPUTED = re.compile(r"[\s*_>-]*\[?computed(?: by code)?\]?[\s*_.]*", re.IGNORECASE)
_FILE = re.compile(
    r"\W*?`(?P<path>[^`]+)`\W*[:—–-]\s*(?P<said>.+)|[\s*-]+(?P<bare>[\w./-]+\.\w+)\s*[:—–-]\s+(?P<words>.+)"
)
_DONE = re.compile(
    r"\b(?:done|finished|completed?|achieved|answered|resolved|delivered|dropped|given up|abandoned|superseded"
    r"|implemented|fixed|fulfilled|closed|reached|ended)\b|✓|✅|完成|完了|완료|erledigt|abgeschlossen|fertig|terminé|fait\b"
    r"|completad|hecho|concluíd|fatto|completat|выполнен|заверш[её]н|готово|hoàn thành|đã xong",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_GAP = re.compile(r"\n{3,}")
_DESCRIPTION = 160
"""Characters of what is said of a file."""


@dataclass(frozen=True, slots=True)
class Sections:
    """A model's summary, taken apart. Bodies are Markdown, without headings of their own."""

    objectives: str = ""
    context: str = ""
    milestones: str = ""
    insights: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it says of a file, by path."""

    @property
    def closed(self) -> bool:
        """Whether the objectives say that something came to an end (K-9)."""
        return _DONE.search(self.objectives) is not None


def heading(line: str) -> str | None:
    """Which heading of the template a line is, if any."""
    bare = line.strip()
    if not bare or len(bare) > _LONGEST:
        return None
    return next((name for name, pattern in _HEADINGS.items() if pattern.match(bare)), None)


def other_heading(line: str) -> str | None:
    """The words of a Markdown heading that is not of the template; None for other lines."""
    found = _OTHER.match(line) if heading(line) is None else None
    return found["text"].strip(" *_:") if found else None


def fence(line: str) -> bool:
    """Whether a line opens or closes a block of code."""
    return _FENCE.match(line) is not None


def computed(line: str) -> bool:
    """Whether a line only stands for what code fills in."""
    return _COMPUTED.fullmatch(line) is not None or _TIMES.match(line) is not None


def sections(text: str) -> Sections:
    """What stands under each heading; what stands before the first is left out. Never raises."""
    bodies: dict[str, list[str]] = {}
    body: list[str] | None = None
    inside = False
    for line in text.split("\n"):
        inside ^= fence(line)
        if (name := heading(line)) is not None:
            inside, body = False, bodies.setdefault(name, [])
        elif body is not None:
            words = None if inside else other_heading(line)
            body.append(line if words is None else f"**{words}**")
    return Sections(
        *(_body(bodies.get(name, [])) for name in REQUIRED),
        files=dict(_files(bodies.get(FILES, []))),
    )


def _body(lines: list[str]) -> str:
    text = "\n".join(line.rstrip() for line in lines if not computed(line))
    if len(_FENCE.findall(text)) % 2:
        text += "\n```"
    return _GAP.sub("\n\n", text).strip("\n").removesuffix("\n---").rstrip("\n")


def _files(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        found = None if computed(line) else _FILE.match(line)
        if found is not None:
            path, said = found["path"] or found["bare"], (found["said"] or found["words"]).strip()
            if not computed(said):
                yield path.strip().removeprefix("./"), _short(said)


def _short(said: str) -> str:
    return said if len(said) <= _DESCRIPTION else said[: _DESCRIPTION - 1].rstrip() + "…"
