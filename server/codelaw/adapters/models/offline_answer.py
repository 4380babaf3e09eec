"""The offline model's answer: cited lines, and no word that pretends to more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from codelaw.adapters.models.offline_findings import Line, contents, judge, matches, outline, ranked, unplaced
from codelaw.adapters.models.offline_request import Step, Turn
from codelaw.adapters.models.offline_words import Term

_INTRODUCTION = (
    "I am codelaw's offline reader, not a language model: I search the workspace and quote what I find. For answers "
    "that reason and for edits, set a key (*Set API Key* where your editor has it, else `ANTHROPIC_API_KEY` or "
    "`model.apiKey` in codelaw's `config.toml`) or the address of an endpoint that speaks the Messages API "
    "(`model.baseUrl`)."
)
_MOST_FILES = 6
_MOST_LINES = 4
_MOST_MENTIONED = 6
_LONGEST_LINE = 160
_EXCERPT = 12
_EXCERPTS = 2


def compose(turn: Turn, wanted: Sequence[Term]) -> str:
    """The whole answer, in Markdown."""
    best = matches(turn.steps, wanted)
    elsewhere = [line for line in best if line.path not in turn.mentioned]
    found = any(step.data.get("places") for step in turn.steps) and bool(elsewhere)
    lost = {term.stem for term in unplaced(turn.steps, wanted)}
    sure = found and (not lost or bool(lost & elsewhere[0].held))
    parts = [_likeliest(elsewhere[0])] if sure and not turn.mentioned else []
    parts += [_INTRODUCTION, *_mentioned(turn, wanted, best)]
    if elsewhere:
        named = ", ".join(f"`{term.text}`" for term in wanted)
        if found:
            parts.append(_listed(f"What the index finds for {named}", elsewhere[:_MOST_FILES]))
        else:
            parts.append(f"Lines that hold the most of {named}, by file:")
            parts += [_group(path, lines) for path, lines in _by_file(elsewhere)]
        parts += _excerpts(turn.steps, elsewhere)
    elif not best and wanted:
        parts.append(_nothing(turn.steps, wanted))
    elif not wanted and not turn.mentioned:
        parts.append("The question names nothing to look for: mention a file with `@path`, or name what you seek.")
    parts += [f"`{_asked(step)}` failed: {step.error}" for step in turn.steps if step.error]
    return "\n\n".join(parts)


def _mentioned(turn: Turn, wanted: Sequence[Term], best: Sequence[Line]) -> Iterator[str]:
    for step in turn.steps:
        entries = step.data.get("entries")
        if step.tool == "LS" and isinstance(entries, list):
            names = [f"`{entry}`" for entry in cast("list[object]", entries)]
            total = step.data.get("total", len(names))
            yield f"`{step.arguments.get('path')}` holds {total} entries: {', '.join(names[:30])}"
    seen: set[str] = set()
    for path, rows in contents(turn.steps):
        if path not in turn.mentioned or path in seen:
            continue
        seen.add(path)
        held = [line for number, text in rows if (line := judge(path, number, text, wanted)).held]
        # A long file was read in part: what the searches found in the rest of it counts as well.
        held += [line for line in best if line.path == path and line not in held]
        lines = ranked(held)
        if lines:
            yield _group(path, lines[:_MOST_MENTIONED], "says of it")
        elif rows:
            lines = [judge(path, number, text, ()) for number, text in outline(rows, _MOST_MENTIONED)]
            yield _group(path, lines, "says nothing of it; it holds" if wanted else "holds")
        else:
            yield f"**{path}** is empty."


def _by_file(best: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    """The best lines of each file, the files by how many of the question's words they hold."""
    files: dict[str, list[Line]] = {}
    for line in best:
        files.setdefault(line.path, []).append(line)

    def worth(item: tuple[str, list[Line]]) -> tuple[int, int, str]:
        path, lines = item
        held: frozenset[str] = frozenset[str]().union(*(line.held for line in lines))
        return (-lines[0].score - len(held), -len(lines), path)

    return [(path, lines[:_MOST_LINES]) for path, lines in sorted(files.items(), key=worth)[:_MOST_FILES]]


def _likeliest(line: Line) -> str:
    return f"Most likely at `{line.path}:{line.number}`: {_quoted(line.text)}"


def _group(path: str, lines: Iterable[Line], verb: str = "") -> str:
    return _listed(f"**{path}**{' ' + verb if verb else ''}", lines)


def _listed(title: str, lines: Iterable[Line]) -> str:
    return "\n".join([f"{title}:", *(f"- `{line.path}:{line.number}` {_quoted(line.text)}" for line in lines)])


def _excerpts(steps: Sequence[Step], best: Sequence[Line]) -> Iterator[str]:
    """A few lines from the best places, as far as they were read."""
    texts: dict[str, dict[int, str]] = {}
    for path, rows in contents(steps):
        texts.setdefault(path, {}).update(rows)
    shown: list[tuple[str, int]] = []
    for line in best:
        if len(shown) == _EXCERPTS:
            return
        near = any(path == line.path and abs(number - line.number) < _EXCERPT for path, number in shown)
        if near or line.number not in texts.get(line.path, {}):
            continue
        shown.append((line.path, line.number))
        rows = texts[line.path]
        numbers = [number for number in range(line.number - 2, line.number + _EXCERPT - 2) if number in rows]
        # Every line begins with its number, so that no quoted line can be read as a label of the dialect.
        body = "\n".join(f"{number:>5}  {rows[number][:_LONGEST_LINE]}" for number in numbers).replace("```", "'''")
        yield f"`{line.path}:{numbers[0]}-{numbers[-1]}`\n```\n{body}\n```"


def _nothing(steps: Sequence[Step], wanted: Sequence[Term]) -> str:
    searched = [f"- `{step.arguments.get('pattern')}`" for step in steps if step.tool == "Grep"]
    named = ", ".join(f"`{term.text}`" for term in wanted)
    return "\n".join([f"Nothing in the workspace holds {named}. I searched, without regard to case, for:", *searched])


def _asked(step: Step) -> str:
    asked = step.arguments.get("path") or step.arguments.get("pattern") or ""
    return f"{step.tool} {asked}".strip()


def _quoted(text: str) -> str:
    if len(text) > _LONGEST_LINE:
        text = text[:_LONGEST_LINE] + "…"
    fence = "``" if "`" in text else "`"
    return f"{fence}{' ' if len(fence) > 1 else ''}{text}{' ' if len(fence) > 1 else ''}{fence}" if text else ""
