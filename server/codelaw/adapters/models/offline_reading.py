"""What a request says of the running turn, read as any model reads it, and the lines that its calls have brought."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

from codelaw.context.observations.text import observation_text
from codelaw.domain.models import ApiMessage, CallBlock, ModelRequest, ResultBlock, TextBlock

_MOST_WORDS = 6
_QUOTED = re.compile(r"`([^`\n]{2,80})`|\"([^\"\n]{2,80})\"|'([^'\n]{2,80})'(?!\w)|“([^”\n]{2,80})”")
_WORD = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|/|-)[A-Za-z_]\w*)*(?:\(\))?|[^\W\d_]{2,}|\d{3,}")
_IDENTIFIER = re.compile(r".*(?:_|\.|::|->|/|\(\)|[a-z][A-Z]|\$|[A-Z]{2,}\d|\d).*|[A-Z]{3,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PARTICLES = re.compile("[的了是在哪里什么怎么吗呢和与有请如何为个这那里们我你它の はがをにでとも]+")
_ENDING = re.compile(r"(?:ations?|ings?|ed|es|s|e|ly)\Z")
_QUALIFIED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]{2,})+")
_FILE_ENDING = re.compile(r"\.(?:[a-z]{1,3}|[jt]sx|json5?|toml|yaml|html|lock|conf|java|scss|vue|text)\Z")
_STOP_WORDS = """
    a about after again all also am an and any anybody are around as ask at be because been before being below
    between both but by can cannot class code codebase come comes could did do does doing done down each else ever
    every explain file files find folder for found from function get gets give given go goes going had happen
    happens has have having here hers how i if in into is it its itself just know let like line list look made make
    makes many may me mean means method might more most much must my need needs no not now of off on once one only
    or other our out over own place please project question repo repository said say see set should show so some
    source start still such take tell than that the their them then there these they thing this those through to
    together too under until up us use used uses using very want was way we well were what when where whether which
    while who whole why will with within without work works would you your
"""
_STOP = frozenset(_STOP_WORDS.split())
_DEFINES = "def|class|function|func|fn|const|type|interface|struct|enum|trait|module|let|var|#+"


@dataclass(frozen=True, slots=True)
class Term:
    """Something to look for; `stem` is what a line must contain, in lower case."""

    text: str
    stem: str
    exact: bool
    """An identifier or a quotation, not a plain word."""


def terms(question: str) -> list[Term]:
    """Quotations and identifiers first, then the rarer words, longest first; at most six of each."""
    exact = [quoted[quoted.lastindex or 0].strip() for quoted in _QUOTED.finditer(question)]
    words: list[str] = []
    for found in _WORD.findall(_QUOTED.sub(" ", question)):
        if _WIDE.search(found):
            # A text without spaces: pairs of characters, particles left out.
            parts = [part for part in _PARTICLES.split(found) if len(part) > 1]
            words += [part[at : at + 2] for part in parts for at in range(0, len(part) - 1, 2)]
        elif _IDENTIFIER.fullmatch(found):
            exact.append(found.removesuffix("()"))
        elif len(found) >= 3 and found.lower() not in _STOP:
            words.append(found)
    names: dict[str, Term] = {}
    rare: dict[str, Term] = {}
    for text in exact:
        names.setdefault(name := _own_name(text).lower(), Term(text, name, exact=True))
    names.pop("", None)
    for word in sorted(words, key=len, reverse=True):
        rare.setdefault(root := stem(word), Term(word, root, exact=False))
    plain = [term for root, term in rare.items() if root not in names]
    return [*list(names.values())[:_MOST_WORDS], *plain[:_MOST_WORDS]]


def searches(wanted: Sequence[Term]) -> list[tuple[str, str]]:
    """Patterns to grep for, most telling first, each with what it looks for; case does not count."""
    names = "|".join(re.escape(term.stem) for term in wanted if term.exact)
    stems = [re.escape(term.stem) for term in wanted if not term.exact]
    any_stem = "|".join(stems)
    pairs = "|".join(f"{one}.*{two}|{two}.*{one}" for one, two in combinations(stems[:4], 2))
    found = [
        (names and rf"({_DEFINES})\s+({names})\b", "where the names in the question are defined"),
        (names, "the names in the question"),
        (pairs, "lines with two of the question's words"),
        (any_stem, "the rarer words of the question"),
    ]
    return [(pattern, purpose) for pattern, purpose in found if pattern]


def stem(word: str) -> str:
    """A plain word without its ending, so that `decided` finds `decide` and `deciding`."""
    lowered = word.lower()
    shorter = _ENDING.sub("", lowered)
    return shorter if len(shorter) >= 4 else lowered


def _own_name(text: str) -> str:
    """What a qualified name is called where it is defined: `shield` of `asyncio.shield`; file names stay whole."""
    if not _QUALIFIED.fullmatch(text) or _FILE_ENDING.search(text):
        return text
    return re.split(r"\.|::|->", text)[-1]


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
    score = sum(4 if term.exact else 2 for term in held)
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


def read_turn(request: ModelRequest) -> SeenTurn:
    """The turn that begins with the last user message that answers no call."""
    start = max((at for at, message in enumerate(request.messages) if _begins(message)), default=0)
    typed: list[str] = []
    calls: list[tuple[str, str, Mapping[str, Any]]] = []
    results: dict[str, str] = {}
    blocks = (
        (message.role, place, block)
        for message in request.messages[start:]
        for place, block in enumerate(message.blocks)
    )
    for at, (role, place, block) in enumerate(blocks):
        match block:
            case CallBlock(call):
                calls.append((call.id, call.tool, call.arguments))
            case ResultBlock(call_id, text):
                results[call_id] = text
            case TextBlock(text) if role == "assistant":
                if action := _ACTION.search(text):
                    calls.append((str(len(calls)), action[1], _arguments(action[2])))
            case TextBlock(text) if text.startswith(_OBSERVATION):
                results[str(len(calls) - 1)] = text.removeprefix(_OBSERVATION)
            # Only what was typed: fragments follow the first block, the recap follows an observation.
            case TextBlock(text) if at == 0 or (at > place and not text.startswith(_RECAP)):
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
    texts = (getattr(block, "text", "") for block in message.blocks if not isinstance(block, ResultBlock))
    answers = [text.startswith(_OBSERVATION) for text in texts]
    return message.role == "user" and len(answers) == len(message.blocks) and not any(answers)


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
