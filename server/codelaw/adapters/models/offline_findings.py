"""What the searches and reads of a turn have brought, ranked by how much of the question it holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from codelaw.adapters.models.offline_request import Step
from codelaw.adapters.models.offline_words import Term

_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|abstract|final|async|pub|unsafe|declare)\s+)*"
    r"(?:def|class|function|func|fn|const|type|interface|struct|enum|trait|impl|module|namespace|macro_rules!)\b"
    r"|#{1,6} |[A-Za-z_]\w*\s*(?::\s*[\w\[\]., |]+)?=[^=]"
)
_OUTLINE = re.compile(r"(?:\s{0,4})(?:async\s+)?(?:def|class|function|func|fn|export|interface|struct|enum)\b|#{1,6} ")
_SKIPPED = re.compile(
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|go\.sum|[^/]*\.(?:lock|min\.\w+|map|svg|csv|snap))$"
    r"|(?:^|/)(?:node_modules|vendor|dist|\.venv|__pycache__)/"
)
_LESSER = re.compile(
    r"(?:^|/)(?:tests?|spec|examples?|fixtures?|benchmarks?)/|(?:^|[/_.])test[_.]|CHANGELOG", re.IGNORECASE
)
_PLACES, _FOUND, _STEP = 6, 1_000, 100
"""How many places of the index count, what the first is worth, and how much less each next one: more than any words."""
_OF_CODE = re.compile(r"\w*(?:\w_\w|[a-z][A-Z])\w*")
"""A name that only code has, `total_price` or `totalPrice`: who asks for it means no other."""
_NUMBERED = re.compile(r" *(\d+)\t(.*)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line somebody can look up."""

    path: str
    number: int
    text: str
    score: int
    held: frozenset[str]
    """The stems it holds."""
    defines: bool

    @property
    def good(self) -> bool:
        """Likely what was asked for: several of the words, or the definition of a name."""
        return len(self.held) > 1 or (self.defines and self.score >= 7)


def judge(path: str, number: int, text: str, wanted: Sequence[Term]) -> Line:
    """A line with its score."""
    lowered, lowered_path = text.lower(), path.lower()
    held = [term for term in wanted if term.stem in lowered]
    defines = _DEFINITION.match(text) is not None
    score = sum(term.weight for term in held)
    if held:
        score += 3 * defines + min(2, sum(term.stem in lowered_path for term in wanted))
        score -= 3 if _LESSER.search(path) else 0
    return Line(
        path=path,
        number=number,
        text=text.strip(),
        score=score,
        held=frozenset(term.stem for term in held),
        defines=defines,
    )


def matches(steps: Iterable[Step], wanted: Sequence[Term]) -> list[Line]:
    """Every matching line of the searches, best first, each once; lock files and generated ones are left out."""
    steps = list(steps)
    lost = unplaced(steps, wanted)
    found: dict[tuple[str, int], Line] = {}
    for step in steps:
        if step.tool == "search_code":
            found |= {(line.path, line.number): line for line in placed(step, wanted)}
            continue
        rows = step.data.get("matches")
        if step.tool != "Grep" or not isinstance(rows, list):
            continue
        for row in cast("list[dict[str, Any]]", rows):
            path, number = row.get("file") or row.get("path"), row.get("line")
            if isinstance(path, str) and isinstance(number, int) and not _SKIPPED.search(path):
                line = judge(path, number, str(row.get("text", "")), wanted)
                found[path, number] = replace(line, score=_FOUND + line.score) if _defines(line, lost) else line
    return ranked(found.values())


def unplaced(steps: Iterable[Step], wanted: Sequence[Term]) -> list[Term]:
    """The names of code that are asked for and that no place of the index has; none where it was not asked.

    An index that is still being built gives what is called alike.
    """
    asked = [step for step in steps if step.tool == "search_code" and step.data.get("places")]
    shown = json.dumps([step.data for step in asked]).lower()
    return [term for term in wanted if asked and _OF_CODE.fullmatch(term.text) and term.stem not in shown]


def _defines(line: Line, names: Sequence[Term]) -> bool:
    return line.defines and any(term.stem in line.held for term in names)


def placed(step: Step, wanted: Sequence[Term]) -> Iterator[Line]:
    """The places of a search in the index, in its own order: that knows more than the words of one line."""
    rows = step.data.get("places")
    for rank, row in enumerate(cast("list[dict[str, Any]]", rows)[:_PLACES] if isinstance(rows, list) else ()):
        path, number, lines = row.get("file"), row.get("line"), row.get("lines")
        if isinstance(path, str) and isinstance(number, int) and isinstance(lines, list):
            text = str(next(iter(cast("list[Any]", lines)), ""))
            yield replace(judge(path, number, text, wanted), score=_FOUND - _STEP * rank)


def ranked(lines: Iterable[Line]) -> list[Line]:
    """Best first; equal ones by place, so that the order never depends on chance."""
    return sorted(lines, key=lambda line: (-line.score, line.path, line.number))


def contents(steps: Iterable[Step]) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """What each Read brought: the path asked for, and numbered lines."""
    for step in steps:
        content = step.data.get("content")
        if step.tool == "Read" and isinstance(content, str):
            rows = [_NUMBERED.fullmatch(line) for line in content.split("\n")]
            yield str(step.arguments.get("path", "")), [(int(row[1]), row[2]) for row in rows if row]


def read_already(steps: Iterable[Step], line: Line) -> bool:
    """Whether a Read of this turn has shown the line."""
    for step in steps:
        first, last = step.data.get("start_line"), step.data.get("end_line")
        asked = {step.arguments.get("path"), step.data.get("path")}
        if step.tool == "Read" and line.path in asked:
            if not (isinstance(first, int) and isinstance(last, int)):
                return True  # it failed, or came without numbers: asking again brings nothing new
            if first <= line.number <= last:
                return True
    return False


def outline(rows: Iterable[tuple[int, str]], limit: int) -> list[tuple[int, str]]:
    """Headings and definitions of a file; its first lines when it has none."""
    rows = [(number, text) for number, text in rows if text.strip()]
    return ([row for row in rows if _OUTLINE.match(row[1])] or rows)[:limit]
