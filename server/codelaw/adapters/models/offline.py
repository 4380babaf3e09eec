"""A model without a model: reads mentioned files, searches for the question's words and cites what it finds (P-2).

It keeps nothing between requests: what to do next follows from the request alone, as with any model.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from codelaw.adapters.models.offline_reading import CitedLine, SeenTurn, Term, judge, read_turn, searches, terms
from codelaw.context.past.thread import is_request
from codelaw.context.tokens import estimate
from codelaw.domain.messages import Call
from codelaw.domain.models import (
    ApiMessage,
    CallBlock,
    Delta,
    Heard,
    ModelReply,
    ModelRequest,
    TextBlock,
    TextDelta,
    Usage,
)
from codelaw.ports.model import ChatModel
from codelaw.templates.render import render
from codelaw.transcript.summaries.facts import one_line
from codelaw.transcript.summaries.summary import is_instruction
from codelaw.transcript.summaries.summary_check import sections

_INTRODUCTION = (
    "I am codelaw's offline reader, not a language model: I search the workspace and quote what I find. For answers "
    "that reason and for edits, set a key: *Set API Key* where your editor has it, else the variable of its vendor "
    "(`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `OPENROUTER_API_KEY`, `GEMINI_API_KEY`, `MISTRAL_API_KEY`, "
    "`DEEPSEEK_API_KEY`). `codelaw models` lists what runs on this machine, such as Ollama, which needs none."
)
_MOST_SEARCHES = 4
_ENOUGH = 3
"""Good lines, after which nothing more is searched for."""
_PIECE = 400
_QUERY = 1_000
_MOST_CITED, _OF_ONE_FILE, _MOST_ENTRIES = 12, 4, 30
_LONGEST_LINE = 160


_Action = tuple[str, str, Mapping[str, Any]]
"""A thought, a tool and its arguments."""


class OfflineModel(ChatModel):
    """A `ChatModel` that is deterministic and asks nobody."""

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """The next call, or the answer once there is nothing left to look at."""
        text, calls = await asyncio.to_thread(_decide, request)
        for start in range(0, len(text), _PIECE):
            on_delta(TextDelta(text[start : start + _PIECE]))
            await asyncio.sleep(0)
        sent = [*request.system, *(block for message in request.messages for block in message.blocks)]
        size = sum(estimate(getattr(block, "text", "")) for block in sent)
        return ModelReply(text, "tool_use" if calls else "end_turn", Usage(size, output_tokens=estimate(text)), calls)


def _decide(request: ModelRequest) -> tuple[str, tuple[Call, ...]]:
    """The reply's text and calls, in the dialect of the request."""
    summary = summary_of(request)
    if summary is not None:
        return summary, ()
    turn = read_turn(request)
    wanted = terms(turn.question)
    found = turn.found(wanted)
    action = _mention(turn) or _search(turn, wanted, found)
    if action is None:
        answer = _answer(turn, wanted, found)
        thought = "Thought: There is nothing more to look at.\nAction: Finish"
        return answer if request.tools else f"{thought}[{answer}]", ()
    thought, tool, arguments = action
    if request.tools:
        return thought, (Call(f"offline_{len(request.messages)}", tool, arguments),)
    return f"Thought: {thought}\nAction: {tool}[{json.dumps(arguments, ensure_ascii=False)}]", ()


def _mention(turn: SeenTurn) -> _Action | None:
    """Read each mentioned path, or list it where it turns out to be a folder."""
    tried = {(step.tool, step.path): step.error for step in turn.steps}
    for path in turn.mentioned:
        if ("Read", path) not in tried:
            return f"The user mentioned {path}, so I look at it first.", "Read", {"path": path}
        if "DIRECTORY" in tried["Read", path] and ("LS", path) not in tried:
            return f"{path} is a folder.", "LS", {"path": path}
    return None


def _search(turn: SeenTurn, wanted: list[Term], found: list[CitedLine]) -> _Action | None:
    """Ask the index, then search for what it does not have; without it a few searches, until one finds enough."""
    patterns = searches(wanted)[:_MOST_SEARCHES]
    if turn.indexed and wanted:
        if not any(step.tool == "search_code" for step in turn.steps):
            query = " ".join(turn.question.split())[:_QUERY]
            return "I look for it in the index.", "search_code", {"query": query, "limit": 6}
        if turn.placed:
            patterns = searches(turn.missing(wanted))[:1]
    if not turn.placed and sum(line.good for line in found) >= _ENOUGH:
        return None
    done = {step.arguments.get("pattern") for step in turn.steps if step.tool == "Grep"}
    for pattern, purpose in patterns:
        if pattern not in done:
            return f"I search for {purpose}.", "Grep", {"pattern": pattern, "case_sensitive": False}
    return None


def _answer(turn: SeenTurn, wanted: Sequence[Term], found: Sequence[CitedLine]) -> str:
    """Cited lines, in Markdown, and no word that pretends to more."""
    elsewhere = [line for line in found if line.path not in turn.mentioned]
    parts = [_INTRODUCTION, *_mentioned(turn, wanted, found)]
    named = ", ".join(f"`{term.text}`" for term in wanted)
    if elsewhere:
        missing = {term.stem for term in turn.missing(wanted)}
        if turn.placed and not turn.mentioned and (not missing or missing & elsewhere[0].held):
            first = elsewhere[0]
            parts.insert(0, f"Most likely at `{first.path}:{first.number}`: {_quoted(first.text)}")
        paths = [line.path for line in elsewhere]
        few = [line for at, line in enumerate(elsewhere) if paths[:at].count(line.path) < _OF_ONE_FILE]
        parts += [_listed(f"What I find for {named}", few[:_MOST_CITED])]
    elif not found and wanted:
        searched = [f"- `{step.arguments.get('pattern')}`" for step in turn.steps if step.tool == "Grep"]
        nothing = f"Nothing in the workspace holds {named}. I searched, without regard to case, for:"
        parts.append("\n".join([nothing, *searched]))
    elif not wanted and not turn.mentioned:
        parts.append("The question names nothing to look for: mention a file with `@path`, or name what you seek.")
    failed = [step for step in turn.steps if step.error and "DIRECTORY" not in step.error]
    parts += [f"`{step.tool} {step.path or step.arguments.get('pattern')}` failed: {step.error}" for step in failed]
    return "\n\n".join(parts)


def _mentioned(turn: SeenTurn, wanted: Sequence[Term], found: Sequence[CitedLine]) -> Iterator[str]:
    """What the mentioned files say of the question, or what they hold."""
    seen: set[str] = set()
    for step in turn.steps:
        if step.tool == "LS" and not step.error:
            yield f"`{step.path}` holds {', '.join(f'`{name}`' for name in step.names[:_MOST_ENTRIES]) or 'nothing'}"
        if step.tool != "Read" or step.error or step.path not in turn.mentioned or step.path in seen:
            continue
        seen.add(step.path)
        lines = [judge(row, wanted) for row in step.rows]
        # A long file was read in part: what the searches found in the rest of it counts as well.
        held = {line.number: line for line in [*lines, *found] if line.held and line.path == step.path}
        if held:
            yield _listed(f"**{step.path}** says of it", sorted(held.values(), key=CitedLine.rank)[:_OF_ONE_FILE])
        elif lines:
            outline = [line for line in lines if line.defines] or [line for line in lines if line.text]
            yield _listed(f"**{step.path}** holds", outline[:_OF_ONE_FILE])
        else:
            yield f"**{step.path}** is empty."


def _listed(title: str, lines: Sequence[CitedLine]) -> str:
    return "\n".join([f"{title}:", *(f"- `{line.path}:{line.number}` {_quoted(line.text)}" for line in lines)])


def _quoted(text: str) -> str:
    text = text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + "…"
    return f"`` {text} ``" if "`" in text else f"`{text}`" * bool(text)


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
            said.append(("assistant", _answered("\n".join(_texts(message)))))
    return said


def _answered(text: str) -> str:
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
