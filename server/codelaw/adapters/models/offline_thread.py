"""The offline model's rolling summary: what was asked and answered, quoted, which it says itself (P-2, B-3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codelaw.context.past.thread import is_request
from codelaw.domain.models import ModelRequest, TextBlock
from codelaw.templates.render import render
from codelaw.transcript.summaries.facts import one_line

_PART = re.compile(r"<earlier-messages>\n(.*)\n</earlier-messages>", re.DOTALL)
_BEFORE = re.compile(r"<earlier-summary>\n(.*)\n</earlier-summary>", re.DOTALL)
_LIMIT = re.compile(r"at most (\d+) words")
_SPEAKER = re.compile(r"^(user|assistant|codelaw|result of [^\n:]+): ?", re.MULTILINE)
_CHARACTERS = 4
"""Of a word; few, because of languages whose characters are tokens."""
_QUOTED = 160


def rolling_summary_of(request: ModelRequest) -> str | None:
    """The summary that a request wants brought up to date; None when it wants none."""
    if not request.system or not is_request(request.system[0].text):
        return None
    asked = "\n".join(block.text for block in request.messages[-1].blocks if isinstance(block, TextBlock))
    part, before, limit = _PART.search(asked), _BEFORE.search(asked), _LIMIT.search(asked)
    lines = [line for line in (before[1] if before else "").split("\n") if line.startswith("* ")]
    lines += _matters(part[1] if part else "")
    room = (int(limit[1]) if limit else 200) * _CHARACTERS
    kept: list[str] = []
    while lines and (not kept or room >= len(lines[-1])):
        kept.insert(0, lines.pop())
        room -= len(kept[0])
    return render("thread_offline", lines=kept, left_out=len(lines))


def _matters(said: str) -> Iterator[str]:
    """What each user's message asked, with the last thing that was said to it."""
    parts = _SPEAKER.split(said)
    question = answer = ""
    for speaker, text in zip(parts[1::2], parts[2::2], strict=False):
        if speaker == "user":
            if question:
                yield _matter(question, answer)
            question, answer = text, ""
        elif speaker == "assistant":
            answer = text
    if question:
        yield _matter(question, answer)


def _matter(question: str, answer: str) -> str:
    return f"* {one_line(question, _QUOTED)} - {one_line(answer, _QUOTED) or 'answered'}"
