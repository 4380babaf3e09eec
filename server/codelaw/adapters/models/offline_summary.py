"""The offline model's summaries: what was asked and answered, quoted, with a word that no model wrote it (K-4, B-3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codelaw.context.past.thread import is_request
from codelaw.domain.models import ApiMessage, CallBlock, ModelRequest, TextBlock
from codelaw.templates.render import render
from codelaw.transcript.summaries.facts import one_line
from codelaw.transcript.summaries.summary import is_instruction
from codelaw.transcript.summaries.summary_check import sections

_LIMIT = re.compile(r"[Aa]t most (\d+) words")
_CHARACTERS = 5
"""Of a word; few, because of languages whose characters are tokens."""
_FEWEST_CHARACTERS = 1_500
_QUOTED = 160
_GOAL = 400
_NOT_TYPED = re.compile(r"\[tool\] |<(?:environment|attachment|memory|todo-recap|pin)\b")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_FINISH = re.compile(r"Finish\[(?P<answer>.*)\]\s*\Z", re.DOTALL)
_ITSELF = "I am codelaw's offline reader"
_PART = re.compile(r"<earlier-messages>\n(.*)\n</earlier-messages>", re.DOTALL)
_BEFORE = re.compile(r"<earlier-summary>\n(.*)\n</earlier-summary>", re.DOTALL)
_SPEAKER = re.compile(r"^(user|assistant|codelaw|result of [^\n:]+): ?", re.MULTILINE)


def summary_of(request: ModelRequest) -> str | None:
    """The summary that a request wants, of an archive or a rolling one; None when it wants none."""
    last = _texts(request.messages[-1]) if request.messages else []
    if request.system and is_request(request.system[0].text):
        return _rolling("\n".join(last))
    order = next((text for text in last if is_instruction(text)), None)
    return None if order is None else _archive(request.messages, order)


def _rolling(order: str) -> str:
    part, before = _PART.search(order), _BEFORE.search(order)
    lines = [line for line in (before[1] if before else "").split("\n") if line.startswith("* ")]
    parts = _SPEAKER.split(part[1] if part else "")
    lines += _exchanges("*", [*zip(parts[1::2], parts[2::2], strict=True)])
    kept = _newest(lines, _room(order, 200))
    return render("thread_offline", lines=kept, left_out=len(lines) - len(kept))


def _archive(messages: Sequence[ApiMessage], order: str) -> str:
    said = _said(messages[:-1])
    earlier = sections(said.pop(0)[1] if said and said[0][1].startswith(render("draft", draft="").strip()) else "")
    room = min(_room(order, _FEWEST_CHARACTERS), max(_FEWEST_CHARACTERS, sum(len(text) for _, text in said) // 2))
    goal = one_line(said[0][1], min(_GOAL, room // 3)) if said else "none was stated"
    objectives = earlier.objectives or render("summary_offline_goal", goal=goal)
    lines = [line for line in earlier.milestones.split("\n") if line.strip()]
    lines += _exchanges("* [✓]", said)
    kept = _newest(lines, room - len(objectives) - 800)
    return render("summary_offline", objectives=objectives, milestones=kept, left_out=len(lines) - len(kept))


def _exchanges(mark: str, said: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A line for each user's message: what it asked, and the last thing that was answered to it."""
    question = answer = ""
    for role, text in [*said, ("user", "")]:
        if role == "user":
            if question:
                shown = one_line(answer, _QUOTED) or "answered"
                yield f"{mark} {one_line(question, _QUOTED)} - {shown}"
            question, answer = text, ""
        elif role == "assistant":
            answer = text or answer


def _said(messages: Sequence[ApiMessage]) -> list[tuple[str, str]]:
    """What the user typed and the model answered, calls and results left out."""
    said: list[tuple[str, str]] = []
    for message in messages:
        if message.role != "assistant":
            typed = [_REMINDER.sub(" ", text).strip() for text in _texts(message)]
            said += [("user", text) for text in typed if text and not _NOT_TYPED.match(text)]
        elif not any(isinstance(block, CallBlock) for block in message.blocks):
            said.append(("assistant", _answer("\n".join(_texts(message)))))
    return said


def _answer(text: str) -> str:
    """The first paragraph of an answer that speaks of the matter."""
    finish = _FINISH.search(text)
    if finish is None and text.lstrip().startswith(("Thought:", "Action:")):
        return ""
    paragraphs = (finish["answer"] if finish else text).split("\n\n")
    return next((part for part in paragraphs if part.strip() and not part.startswith(_ITSELF)), "")


def _room(order: str, usual: int) -> int:
    """Characters that the summary may have."""
    limit = _LIMIT.search(order)
    return int(limit[1]) * _CHARACTERS if limit else usual


def _newest(lines: Sequence[str], room: int) -> list[str]:
    """The newest lines that fit, at least one."""
    kept: list[str] = []
    for line in reversed(lines):
        room -= len(line)
        if room < 0 and kept:
            break
        kept.insert(0, line)
    return kept


def _texts(message: ApiMessage) -> list[str]:
    return [block.text for block in message.blocks if isinstance(block, TextBlock)]
