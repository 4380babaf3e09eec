"""The offline model's summary: what was asked and answered, quoted; it says that no model wrote it (P-2, K-4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codelaw.domain.models import ApiMessage, CallBlock, ModelRequest, TextBlock
from codelaw.templates.render import render
from codelaw.transcript.summaries.facts import one_line
from codelaw.transcript.summaries.headings import sections
from codelaw.transcript.summaries.summary import is_instruction

_LIMIT = re.compile(r"At most (\d+) words")
_CHARACTERS = 5
"""Of a word; few, because of languages whose characters are tokens."""
_FEWEST_CHARACTERS = 1_500
_QUOTED = 160
_GOAL = 400
_NOT_TYPED = re.compile(r"\[tool\] |<(?:environment|attachment|memory|todo-recap|pin)\b")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_FINISH = re.compile(r"Finish\[(?P<answer>.*)\]\s*\Z", re.DOTALL)
_ITSELF = "I am codelaw's offline reader"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a user said, and the last thing that was answered to it."""

    text: str
    answer: str = ""


def summary_of(request: ModelRequest) -> str | None:
    """The summary that the last user message asks for, in the template; None when it asks for none."""
    last = _texts(request.messages[-1]) if request.messages else []
    order = next((block.text for block in last if is_instruction(block.text)), None)
    if order is None:
        return None
    asked = list(_asked(request.messages[:-1]))
    earlier = sections("")
    if asked and asked[0].text.startswith(render("draft", draft="").strip()):
        earlier, asked = sections(asked[0].text), asked[1:]
    limit = _LIMIT.search(order)
    source = sum(len(block.text) for message in request.messages for block in _texts(message))
    room = min(int(limit[1]) * _CHARACTERS if limit else _FEWEST_CHARACTERS, max(_FEWEST_CHARACTERS, source / 2))
    return _written(earlier.objectives, earlier.milestones, asked, int(room))


def _written(objectives: str, milestones: str, asked: Sequence[_Asked], room: int) -> str:
    if not objectives:
        goal = one_line(asked[0].text, min(_GOAL, room // 3)) if asked else "none was stated"
        objectives = render("summary_offline_goal", goal=goal)
    lines = [line for line in milestones.split("\n") if line.strip()]
    lines += [f"* [✓] {one_line(one.text, _QUOTED)} - {one_line(one.answer, _QUOTED) or 'answered'}" for one in asked]
    kept: list[str] = []
    room -= len(objectives) + 800
    for line in reversed(lines):
        room -= len(line)
        if room < 0 and kept:
            break
        kept.append(line)
    return render("summary_offline", objectives=objectives, milestones=kept[::-1], left_out=len(lines) - len(kept))


def _asked(messages: Sequence[ApiMessage]) -> Iterator[_Asked]:
    question = answer = ""
    for message in messages:
        if message.role == "assistant":
            if not any(isinstance(block, CallBlock) for block in message.blocks):
                answer = _answer("\n".join(block.text for block in _texts(message))) or answer
            continue
        for block in _texts(message):
            typed = _REMINDER.sub(" ", block.text).strip()
            if typed and not _NOT_TYPED.match(typed):
                if question:
                    yield _Asked(question, answer)
                question, answer = typed, ""
    if question:
        yield _Asked(question, answer)


def _answer(text: str) -> str:
    """The first paragraph of an answer that speaks of the matter."""
    finish = _FINISH.search(text)
    if finish is None and text.lstrip().startswith(("Thought:", "Action:")):
        return ""
    paragraphs = (finish["answer"] if finish else text).split("\n\n")
    return next((part for part in paragraphs if part.strip() and not part.startswith(_ITSELF)), "")


def _texts(message: ApiMessage) -> list[TextBlock]:
    return [block for block in message.blocks if isinstance(block, TextBlock)]
