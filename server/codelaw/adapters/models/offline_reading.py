"""What a request says of the running turn, read as any model reads it, and the lines that its calls have brought."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from codelaw.adapters.models.offline_words import Term
from codelaw.context.observations.text import observation_text
from codelaw.domain.models import ApiMessage, CallBlock, ModelRequest, ResultBlock, TextBlock

_OBSERVATION = "[tool] "
_ACTION = re.compile(r"^Action: (\w+)\[(\{.*\})\]\s*\Z", re.MULTILINE | re.DOTALL)
_REMINDER = re.compile(r"<system-reminder>(.*?)</system-reminder>", re.DOTALL)
_MENTION = re.compile(r'(?<![a-zA-Z0-9._-])@(?:"([^"\n]+)"|([a-zA-Z0-9/._-]+))')
_OFFERED = "search_code[{"
_RECAP = ("[", "<")
_ERROR = re.compile(r", error ([A-Z_]+)(?:: .*)?\Z")
_NUMBERED = re.compile(r"(\d+)\t(.*)")
_PLACE = re.compile(r"(.+?) \d+(?:-\d+)? [a-z]+(?: .*)?")
_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|abstract|final|async|pub|unsafe|declare)\s+)*"
    r"(?:def|class|function|func|fn|const|type|interface|struct|enum|trait|impl|module|namespace|macro_rules!)\b"
    r"|#{1,6} |[A-Za-z_]\w*\s*(?::\s*[\w\[\]., |]+)?=[^=]"
)
_SKIPPED = re.compile(
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|go\.sum|[^/]*\.(?:lock|min\.\w+|map|svg|csv|snap))$"
    r"|(?:^|/)(?:node_modules|vendor|dist|\.venv|__pycache__)/"
)
_LESSER = re.compile(
    r"(?:^|/)(?:tests?|spec|examples?|fixtures?|benchmarks?)/|(?:^|[/_.])test[_.]|CHANGELOG", re.IGNORECASE
)
_PLACES, _FOUND, _RANK = 6, 1_000, 100
"""How many places of the index count, what the first is worth, and how much less each next one: more than any words."""
_OF_CODE = re.compile(r"\w*(?:\w_\w|[a-z][A-Z])\w*")
"""A name that only code has, `total_price` or `totalPrice`: who asks for it means no other."""

Row = tuple[int, str, int, str]
"""The group that it stands in, its file, its number and its text."""


@dataclass(frozen=True, slots=True)
class CitedLine:
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

    def rank(self) -> tuple[int, str, int]:
        """Best first; equal ones by place, so that the order never depends on chance."""
        return -self.score, self.path, self.number


def judge(row: Row, wanted: Sequence[Term]) -> CitedLine:
    """A line with its score."""
    _, path, number, text = row
    held = [term for term in wanted if term.stem in text.lower()]
    defines = _DEFINITION.match(text) is not None
    score = sum(term.weight for term in held)
    if held:
        score += 3 * defines + min(2, sum(term.stem in path.lower() for term in wanted))
        score -= 3 if _LESSER.search(path) else 0
    stems = frozenset(term.stem for term in held)
    return CitedLine(path, number, text.strip(), score=score, held=stems, defines=defines)


@dataclass(frozen=True, slots=True)
class TurnStep:
    """A call of this turn and what came back."""

    tool: str
    arguments: Mapping[str, Any]
    rows: tuple[Row, ...] = ()
    """The numbered lines of the result."""
    names: tuple[str, ...] = ()
    """Its other lines: the entries of a folder."""
    error: str = ""
    """`CODE: message`, for an error."""

    @property
    def path(self) -> str:
        """That it was about, if any."""
        return str(self.arguments.get("path", ""))


@dataclass(frozen=True, slots=True)
class SeenTurn:
    """The running turn."""

    question: str
    """What the user typed, without reminders and mentions; steering is part of it."""
    mentioned: tuple[str, ...]
    """The paths the reminder orders to be read."""
    steps: tuple[TurnStep, ...]
    indexed: bool
    """The tool search_code is offered."""

    @property
    def placed(self) -> bool:
        """The index has given places."""
        return any(step.rows for step in self.steps if step.tool == "search_code")

    def missing(self, wanted: Sequence[Term]) -> list[Term]:
        """The names of code that are asked for and that no place of the index has; none where it gave none.

        An index that is still being built gives what is called alike.
        """
        shown = str([step.rows for step in self.steps if step.tool == "search_code" and step.rows]).lower()
        return [term for term in wanted if self.placed and _OF_CODE.fullmatch(term.text) and term.stem not in shown]

    def found(self, wanted: Sequence[Term]) -> list[CitedLine]:
        """The lines of the searches, best first, each once; lock files and generated ones are left out.

        The places of the index keep their order, which knows more than the words of one line, and stand above all but
        the definitions of names that it does not have.
        """
        missing = {term.stem for term in self.missing(wanted)}
        found: dict[tuple[str, int], CitedLine] = {}
        for step in self.steps:
            if step.tool == "search_code":
                places = {row[0]: row for row in reversed(step.rows)}
                for rank, group in enumerate(sorted(places)[:_PLACES]):
                    line = judge(places[group], wanted)
                    found[line.path, line.number] = replace(line, score=_FOUND - _RANK * rank)
            for row in step.rows if step.tool == "Grep" else ():
                line = judge(row, wanted)
                if not _SKIPPED.search(line.path):
                    above = _FOUND if line.defines and line.held & missing else 0
                    found[line.path, line.number] = replace(line, score=above + line.score)
        return sorted(found.values(), key=CitedLine.rank)

    def has_read(self, line: CitedLine) -> bool:
        """Whether a Read of this turn has shown the line, or has failed."""
        reads = [step for step in self.steps if step.tool == "Read" and step.path == line.path]
        return any(not step.rows or step.rows[0][2] <= line.number <= step.rows[-1][2] for step in reads)


def read_turn(request: ModelRequest) -> SeenTurn:
    """The turn that begins with the last user message that answers no call."""
    start = max((at for at, message in enumerate(request.messages) if _begins(message)), default=0)
    typed: list[str] = []
    calls: list[tuple[str, str, Mapping[str, Any]]] = []
    results: dict[str, str] = {}
    for at, message in enumerate(request.messages[start:]):
        for place, block in enumerate(message.blocks):
            match block:
                case CallBlock(call):
                    calls.append((call.id, call.tool, call.arguments))
                case ResultBlock(call_id, text):
                    results[call_id] = text
                case TextBlock(text) if message.role == "assistant":
                    if action := _ACTION.search(text):
                        calls.append((str(len(calls)), action[1], _arguments(action[2])))
                case TextBlock(text) if text.startswith(_OBSERVATION):
                    results[str(len(calls) - 1)] = text.removeprefix(_OBSERVATION)
                # Only what was typed: fragments follow the first block, the recap follows an observation.
                case TextBlock(text) if (at == 0 and place == 0) or (at > 0 and not text.startswith(_RECAP)):
                    typed.append(text)
                case _:
                    pass
    whole = "\n".join(typed)
    reminders = " ".join(_REMINDER.findall(whole))
    mentioned = dict.fromkeys(quoted or plain.rstrip(".") for quoted, plain in _MENTION.findall(reminders))

    def without_mention(found: re.Match[str]) -> str:
        word = found[1] or found[2]
        is_kind = found.string[found.end() : found.end() + 1] == ":"  # `@symbol:NAME` and the like (M-8)
        return " " if is_kind or word.rstrip(".") in mentioned else f" {word} "

    return SeenTurn(
        question=_MENTION.sub(without_mention, _REMINDER.sub(" ", whole)).strip(),
        mentioned=tuple(mentioned),
        steps=tuple(_step(tool, arguments, results.get(key, "")) for key, tool, arguments in calls),
        indexed=any(tool.name == "search_code" for tool in request.tools)
        or any(_OFFERED in block.text for block in request.system),
    )


def _begins(message: ApiMessage) -> bool:
    if message.role != "user":
        return False
    return not any(
        isinstance(block, ResultBlock) or (isinstance(block, TextBlock) and block.text.startswith(_OBSERVATION))
        for block in message.blocks
    )


def _step(tool: str, arguments: Mapping[str, Any], result: str) -> TurnStep:
    """A call with its result, which is read as text, whichever form it has (C-7)."""
    head, *lines = (observation_text(tool, result) if result.startswith("{") else result).split("\n")
    failed = _ERROR.search(head)
    if failed is not None:
        sentence = next((line for line in lines if line.startswith(" ")), "")
        return TurnStep(tool, arguments, error=f"{failed[1]}: {sentence.strip()}")
    file = str(arguments.get("path", ""))
    names: list[str] = []
    rows: list[Row] = []
    for line in lines:
        if row := _NUMBERED.fullmatch(line):
            rows.append((len(names), file, int(row[1]), row[2]))
        elif line.startswith(" "):
            names.append(line[1:])
            place = _PLACE.fullmatch(names[-1]) if tool == "search_code" else None
            file = place[1] if place is not None else names[-1]
    return TurnStep(tool, arguments, tuple(rows), tuple(names))


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        value: object = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
