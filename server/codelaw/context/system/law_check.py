"""What can be said of a law's text: its rules, and what is wrong with them (E-5).

Places are offsets in code points. Pure: whether a named file is there is for the caller to find out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from codelaw.context.mentions import PathMention, named
from codelaw.context.system.law import LARGE_SHARE, NAME, LawText
from codelaw.context.tokens import estimate
from codelaw.domain.safety.own_tags import DISTINCT, openings
from codelaw.domain.safety.unseen import concealed, visible_line

Code = Literal[
    "law_unreadable", "law_long", "law_file_missing", "law_duplicate", "law_shadowed", "law_hidden", "law_tag"
]
Kind = Literal["item", "paragraph", "heading", "code"]

MAX_FINDINGS = 200
"""Of one document (S-6)."""
MAX_CHECKED = 1_000_000
"""Characters; of a longer law only its length is worth a word."""
SHOWN_CODES = 4
"""Of a run of characters that cannot be seen."""
LEAST = 6
"""Characters of a rule from which on an equal one is worth a word."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULER = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}$")
_CODE_SPAN = re.compile(r"(?<!`)(`{1,8})(?!`)([^\r\n]{1,1000}?)(?<!`)\1(?!`)")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\n]{0,2000}\)")
_EDGES = ".,;:!?…\"'“”‘’«»()[]{}*_~`—–-"


@dataclass(frozen=True, slots=True)
class LawBlock:
    """A part of the law: a list item or paragraph, which is a rule, or a heading or fenced code, which is none."""

    kind: Kind
    start: int
    end: int
    """Without the last line break."""
    text: str

    @property
    def rule(self) -> bool:
        return self.kind in ("item", "paragraph")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a law, and where."""

    code: Code
    message: str
    start: int = 0
    end: int = 0
    related: tuple[int, int] | None = None
    """The rule that says the same, for `law_duplicate`."""
    grave: bool = True
    """Whether it is a warning and not a remark."""


def blocks(text: str) -> list[LawBlock]:
    """The document's parts in order; blank lines belong to none."""
    found: list[tuple[Kind, int, int]] = []
    kind: Kind | None = None
    fence = ""
    for match in _LINE.finditer(text):
        line = match[0].rstrip("\r\n")
        start, end = match.start(), match.start() + len(line)
        fenced = _FENCE.match(line)
        if fence or (fenced is None and kind is not None and not _begins(line)):
            found[-1] = (*found[-1][:2], end)
            if fence and fenced and fenced[1].startswith(fence) and not line[fenced.end() :].strip():
                kind, fence = None, ""
        elif fenced:
            kind, fence = "code", fenced[1]
            found.append((kind, start, end))
        elif not line.strip() or _RULER.match(line):
            kind = None
        elif _HEADING.match(line):
            kind = None
            found.append(("heading", start, end))
        else:
            kind = "item" if _ITEM.match(line) else "paragraph"
            found.append((kind, start + len(line) - len(line.lstrip()), end))
    return [LawBlock(kind, start, end, text[start:end]) for kind, start, end in found]


def _begins(line: str) -> bool:
    """Whether a line ends the paragraph or item in front of it."""
    return not line.strip() or any(pattern.match(line) for pattern in (_RULER, _HEADING, _ITEM))


def rule_at(text: str, offset: int) -> LawBlock | None:
    """The rule or other part that an offset lies in."""
    return next((block for block in blocks(text) if block.start <= offset <= block.end), None)


def paths(text: str) -> list[PathMention]:
    """The `@paths` that the law means, code left out: in it, an at sign begins a decorator or a package.

    A bare word is a person or a decorator, so it counts only with a slash, a dot in its name, or in quotes.
    """
    fences = [(block.start, block.end) for block in blocks(text) if block.kind == "code"]
    code = [fences, [(match.start(), match.end()) for match in _CODE_SPAN.finditer(text)]]
    return [
        mention
        for mention in named(text)
        if mention.quoted or "/" in mention.path or "." in mention.path.rpartition("/")[2].lstrip(".")
        if not any(_within(mention.start, spans) for spans in code)
    ]


def check(text: str, missing: Collection[str]) -> list[Problem]:
    """What is wrong inside a law; `missing` are the paths of `paths(text)` that lead nowhere."""
    if len(text) > MAX_CHECKED:
        return []
    problems = [
        Problem("law_file_missing", f"There is no {mention.path} in the workspace.", mention.start, mention.end)
        for mention in paths(text)
        if mention.path in missing
    ]
    problems += _duplicates(text)
    problems += _hidden(text)
    nul = text.find("\0")
    if nul >= 0:
        problems.append(Problem("law_unreadable", "There is a NUL character, as in no text.", nul, nul + 1))
    problems.sort(key=lambda problem: (problem.start, problem.code))
    return problems[:MAX_FINDINGS]


def too_long(name: str, own: int, tokens: int, window: int) -> Problem | None:
    """Whether all laws together, of which `name` has `own` tokens, take more than their share of the window."""
    if tokens <= LARGE_SHARE * window:
        return None
    share = f"{100 * tokens / max(window, 1):.0f} %"
    alone = own >= tokens or own * 1.02 + 20 >= tokens
    what = f"{name} takes" if alone else "The law takes"
    others = "" if alone else f"; {name} has about {own} of them"
    return Problem(
        "law_long",
        f"{what} about {tokens} tokens, {share} of the window of {window} and over its share of a tenth{others}.",
    )


def unreadable(why: str) -> Problem:
    """A law that the model is not shown, or not whole."""
    return Problem("law_unreadable", why)


def shadowed(winner: str) -> Problem:
    """A file whose name is another spelling, while `winner` counts."""
    return Problem("law_shadowed", f"{winner} counts in this folder; this file does not.", grave=False)


def same_rule(text: str) -> str:
    """A rule's words without case, white space, markup and the punctuation around them."""
    body = _LINK.sub(r"\1", _ITEM.sub("", text, count=1))
    return " ".join(filter(None, (word.strip(_EDGES) for word in body.casefold().split())))


def describe_change(before: Sequence[LawText], after: Sequence[LawText]) -> str:
    """How the law has changed, in one sentence for people; empty when it has not."""
    old, new = _by_file(before), _by_file(after)
    several = len({folder for folder, _ in old.keys() | new.keys()}) > 1
    reported: list[str] = []
    for folder, name in [*new, *(file for file in old if file not in new)]:
        was, now = old.get((folder, name), ""), new.get((folder, name), "")
        if was != now:
            law = f"The law of {folder}" if name == NAME else f"{name} of {folder}"
            reported.append(f"{law if several else name} {_difference(was, now)}")
    return f"{'; '.join(reported)}. It applies from this step on." if reported else ""


def _by_file(documents: Sequence[LawText]) -> dict[tuple[str, str], str]:
    """Texts by folder and name; a CODE_LAW.md under its right name, however it is spelt."""
    return {
        (entry.folder, NAME if entry.is_code_law else entry.name): entry.text
        for entry in documents
        if entry.text.strip()
    }


def _difference(was: str, now: str) -> str:
    if not now:
        return "is gone"
    tokens = f"about {estimate(now)} tokens"
    if not was:
        return f"is new, {tokens}"
    old, new = Counter(was.splitlines()), Counter(now.splitlines())
    return f"has changed, +{(new - old).total()} -{(old - new).total()} lines, now {tokens}"


def hides(text: str) -> bool:
    """Whether a law holds what a person does not see in it, or what looks like a part of codelaw's own prompt."""
    return bool(_hidden(text[:MAX_CHECKED]))


def _hidden(text: str) -> list[Problem]:
    """What the model would read and a person not see, and tags that only codelaw writes (R-5)."""
    found: list[Problem] = []
    for start, end in islice(concealed(text), MAX_FINDINGS):
        if text[start:end] == "\0":
            continue
        codes = visible_line(text[start : min(end, start + SHOWN_CODES)]) + ("…" if end - start > SHOWN_CODES else "")
        count = "A character" if end - start == 1 else f"{end - start} characters"
        message = f"{count} that cannot be seen and that a model reads: {codes}. Remove what does not belong there."
        found.append(Problem("law_hidden", message, start, end))
    for start, end in islice(openings(text, DISTINCT), MAX_FINDINGS):
        message = "This looks like a tag of codelaw's own prompt; in a law it is only text."
        found.append(Problem("law_tag", message, start, end))
    return found


def _duplicates(text: str) -> list[Problem]:
    first: dict[str, LawBlock] = {}
    found: list[Problem] = []
    for block in blocks(text):
        if block.kind != "item" or block.text.rstrip().endswith(":"):
            continue  # what ends in a colon begins a list of its own
        said = same_rule(block.text)
        if len(said) < LEAST and said.isascii():
            continue
        known = first.setdefault(said, block)
        if known is not block:
            line = text.count("\n", 0, known.start) + 1
            message = f"The rule in line {line} says the same."
            found.append(Problem("law_duplicate", message, block.start, block.end, (known.start, known.end)))
    return found


def _within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place lies in one of the spans, which are in order and apart."""
    number = bisect_right(spans, place, key=lambda span: span[0]) - 1
    return number >= 0 and place < spans[number][1]
