"""A model without a model: reads mentioned files, searches for the question's words and cites what it finds (P-2).

It keeps nothing between requests: what to do next follows from the request alone, as with any model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from codelaw.adapters.models.offline_reading import CitedLine, SeenTurn, Term, judge, read_turn, searches, terms
from codelaw.adapters.models.offline_summary import summary_of
from codelaw.context.tokens import estimate
from codelaw.domain.messages import Call
from codelaw.domain.models import Delta, Heard, ModelReply, ModelRequest, TextDelta, Usage
from codelaw.ports.model import ChatModel

_INTRODUCTION = (
    "I am codelaw's offline reader, not a language model: I search the workspace and quote what I find. For answers "
    "that reason and for edits, set a key (*Set API Key* where your editor has it, else `ANTHROPIC_API_KEY` or "
    "`model.apiKey` in codelaw's `config.toml`) or the address of an endpoint that speaks the Messages API "
    "(`model.baseUrl`)."
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
