"""From a result's JSON to the text that a model is shown of it (C-7, R-5). Pure: the same JSON gives the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from codelaw.context.escaping import escaped, one_name
from codelaw.context.observations.changes import FIELDS, SERVED, bash, change, changes, loaded, reported, served
from codelaw.context.observations.layout import DATA, LABELS, NOTE, ResultLayout, block, cleaned, header, one, row, text
from codelaw.context.observations.searches import (
    diagnostics,
    found_code,
    glob,
    grep,
    listing,
    outline,
    read,
    symbols,
    tools,
)
from codelaw.context.tokens import Memo
from codelaw.domain.listing import plain_lines
from codelaw.domain.messages import Message

Json = Mapping[str, Any]

_NAMES = {"path", "pattern", "command"}
_LINES = re.compile(r" (\d+-\d+)$")
"""Behind the path of a Read."""
_NOTHING: tuple[Any, ...] = (None, False, "", [], {})


def observation_text(tool: str, content: str) -> str:
    """What a model is shown of a result.

    Args:
        tool: the tool's name.
        content: the result as a tool message holds it: the JSON of the whole envelope without `stats` and `context`
            (T-1), of its cut `{status, data, error?, ref}` (C-4), or of the line that stands for it once it is demoted
            (C-6).

    Returns:
        A header line without line break, and below it the body, if any; no final line break. Each line of the body
        begins with a space, or with a number and a tab, or is one of `layout.LABELS`. Never raises.
    """
    try:
        given: Any = json.loads(content)
        if not isinstance(given, Mapping):
            return _said(tool, content)
        return _reported(tool, cast("Json", given))
    except (ValueError, RecursionError):
        # No JSON, or nested as deeply as JSON may be: what it is made of is shown as it is.
        return _said(tool, content)


def _said(tool: str, content: str) -> str:
    return f"{one_name(tool)}\n{block(escaped(content))}"


def _reported(tool: str, given: Json) -> str:
    clean = cast("Json", cleaned(given))
    if "shortened" in clean:
        return _demoted(tool, clean)
    data = clean.get("data")
    facts = cast("Json", data if isinstance(data, Mapping) else {})
    status, error = _status(clean)
    # The history names what a failed call was about (C-1), which stands in the call: the bytes stay those of the turn.
    reported = ResultLayout() if error and set(facts) <= _NAMES else _laid_out(tool, data, facts)
    sentence = re.sub(reported.said, "", error, count=1).strip() if reported.said else error
    labelled = not reported.body or reported.body[0] in LABELS
    lead = [block(sentence), *([] if labelled else [reported.opening])] if sentence else []
    body = [*lead, *reported.body]
    notes = [*reported.notes, *_further(reported, clean)]
    body += [NOTE, *map(row, notes)] if notes else []
    head = (*reported.facts, *_kept(clean, facts), *_escapes(given, facts))
    return "\n".join([header(tool, status, ResultLayout(reported.target, head)), *body])


def _laid_out(tool: str, data: Any, facts: Json) -> ResultLayout:
    """The data as their tool has them, with whatever is not known of it."""
    lay = _LAYOUTS.get(tool) or (served if tool.startswith(SERVED) else None)
    reported = lay(facts) if lay is not None else None
    if reported is None:
        return _plain(data, facts)
    odd = {
        name: value for name, value in facts.items() if name not in KNOWN.get(tool, FIELDS) and value not in _NOTHING
    }
    flags = tuple(name.replace("_", " ") for name, value in odd.items() if value is True)
    rest = {name: value for name, value in odd.items() if value is not True}
    more = (DATA, _listed(rest)) if rest else ()
    return replace(reported, facts=(*reported.facts, *flags), body=(*reported.body, *more)) if odd else reported


def _plain(data: Any, facts: Json) -> ResultLayout:
    """The data of a tool of which nothing is known, value by value (C-3)."""
    if data is None or data == {}:
        return ResultLayout()
    if isinstance(data, str):
        return ResultLayout(body=(block(data),))
    name = next((name for name in ("path", "pattern", "command") if text(facts, name)), "")
    rest = {key: value for key, value in facts.items() if key != name} if facts else data
    return ResultLayout(text(facts, name), body=(_listed(rest),) if rest else ())


def _listed(value: Any) -> str:
    return block("\n".join(plain_lines(value)))


def _recap(data: Json) -> ResultLayout | None:
    recap = data.get("recap")
    return ResultLayout(body=(row(recap),), said=r"The list is replaced\.") if isinstance(recap, str) else None


def _status(clean: Json) -> tuple[str, str]:
    """The status as the header says it, and the sentence of an error."""
    status, error = clean.get("status"), clean.get("error")
    if isinstance(error, Mapping):
        named = cast("Json", error)
        code, sentence = text(named, "code"), named.get("message", "")
        return f"error {code}".strip(), sentence if isinstance(sentence, str) else one(sentence)
    if error is not None:
        return "error", one(error)
    return (status if isinstance(status, str) else "success"), ""


def _further(reported: ResultLayout, clean: Json) -> list[str]:
    """What the envelope's own line says besides: hints, and the words of the user."""
    line = text(clean, "text")
    rest = re.sub(reported.said, "", line, count=1) if reported.said else line
    return [" ".join(rest.split())] if rest.strip() else []


def _kept(clean: Json, data: Json) -> list[str]:
    """Where the whole is kept, if this is not all of it (C-4)."""
    if whole := text(data, "whole"):
        return [f"whole: {whole}"]
    cut = any(data.get(name) for name in ("shown", "truncated", "diff_truncated", "omitted_characters"))
    return [f"whole: result:{clean['ref']}"] if cut and text(clean, "ref") else []


def _escapes(given: Json, facts: Json) -> list[str]:
    """How to read an escape in a file's lines, where there is one: an edit must hold the character itself."""
    data = given.get("data")
    content = cast("Json", data).get("content") if isinstance(data, Mapping) else None
    return ["\\uXXXX is one character"] if content != facts.get("content") else []


def _demoted(tool: str, clean: Json) -> str:
    """One line for what it was and how to get it back, one for its names (C-6).

    What it was about stands in the call right in front of it, but for the lines that a Read has brought.
    """
    status, error = _status(clean)
    body = [row(error)] if error else []
    body += [row(clean["names"])] if clean.get("names") else []
    target, _, size = one(clean["shortened"]).removeprefix(tool).strip().rpartition(", ")
    lines = _LINES.search(target) if tool == "Read" else None
    reported = ResultLayout(lines[1] if lines else "", (size, text(clean, "whole")))
    return "\n".join([header(tool, status, reported), *body])


_LAYOUTS: Mapping[str, Callable[[Json], ResultLayout | None]] = {
    "Read": read,
    "Glob": glob,
    "LS": listing,
    "Grep": grep,
    "Bash": bash,
    "Edit": change,
    "MultiEdit": change,
    "Write": change,
    "Rename": changes,
    "QuickFix": changes,
    "TodoWrite": _recap,
    "Diagnostics": diagnostics,
    "Definition": symbols,
    "References": symbols,
    "find_tools": tools,
    "load_skill": loaded,
    "Task": reported,
    "search_code": found_code,
    "Outline": outline,
}
"""By tool how its data are laid out; None where they are not as that tool gives them."""
_COUNTS = frozenset({"total", "shown", "truncated", "reason", "whole"})
_CHANGE = frozenset(
    {"path", "diff", "diff_truncated", "refused", "diagnostics", "operation", "lines", "edits", "replacements"}
    | {"dry_run", "applied", "unsaved", "changed_lines", "shown", "truncated", "whole"}
)
_MANY = frozenset({"files", "also", "failed", "left", "title", "symbol", "new_name", "dry_run", "applied"}) | _COUNTS
_BASH = frozenset(
    {"command", "exit_code", "stdout", "stderr", "seconds", "truncated", "refused", "unsaved", "changed"}
    | {"sandboxed", "description", "blocked", "timed_out", "whole"}
)
_READ = frozenset(
    {"path", "start_line", "end_line", "total_lines", "content", "cut_lines", "replaced", "unsaved", "note"}
    | {"mtime", "size", "source", "version", "truncated", "shown", "whole"}
)
_SYMBOLS = _COUNTS | {"symbol", "places", "withheld"}
KNOWN: Mapping[str, frozenset[str]] = {
    "Read": _READ,
    "Glob": _COUNTS | {"pattern", "path", "files"},
    "LS": _COUNTS | {"path", "folders", "files", "entries"},
    "Grep": _COUNTS | {"pattern", "path", "files", "matches", "buffers", "fallback", "withheld"},
    "Bash": _BASH,
    "Edit": _CHANGE,
    "MultiEdit": _CHANGE,
    "Write": _CHANGE,
    "Rename": _MANY,
    "QuickFix": _MANY,
    "TodoWrite": frozenset({"recap", "todos"}),
    "Diagnostics": _COUNTS | {"path", "errors", "diagnostics", "version", "unversioned", "withheld"},
    "Definition": _SYMBOLS,
    "References": _SYMBOLS,
    "find_tools": _COUNTS | {"query", "tools", "skills"},
    "load_skill": frozenset({"name", "folder", "file", "body", "files", "by", "truncated", "shown", "whole"}),
    "Task": frozenset(
        {"kind", "ended", "steps", "tokens", "tools", "changed", "report", "truncated", "shown", "whole"}
    ),
    "search_code": _COUNTS | {"query", "path", "places", "note"},
    "Outline": _COUNTS | {"path", "symbols"},
}
"""By tool the fields that are laid out, and those that a model need not be told; all others are listed one by one."""


_LIMIT = 4_000_000
"""Characters of results whose texts are kept."""


_texts = Memo[tuple[str, ...], str](_LIMIT)


def tool_texts(message: Message) -> list[str]:
    """The parts of a tool message in the order they are sent: its result as its turn shows it, what stands behind."""
    return [shown(message), *(part.text for part in message.metadata.asides)]


def shown(message: Message) -> str:
    """A tool message's result as its turn shows it: as text (`metadata.as_text`), or its JSON as it stands (C-7)."""
    facts = message.metadata
    if not facts.as_text:
        return message.content
    key = (facts.tool_name or "Result", message.content)
    return _texts.get(key, lambda key: observation_text(*key))
