"""Tool results as history keeps them: cut by rule, restorable by ref (C-1 to C-4).

Pure: what a tool gave goes in, a small JSON object comes out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from codelaw.context.pictures import IMAGES, marked_gone
from codelaw.domain.edits import fragments
from codelaw.domain.listing import as_object, as_text

Json = dict[str, Any]

LISTED = 10
"""Entries of LS, files of Glob."""
MATCHES = 5
READ_LINES = 500
DIFF_LINES = 50
STDOUT_LINES = (10, 20)
"""Head and tail: what was started, and how it ended."""
STDERR_LINES = 20
DIAGNOSTICS = 3
"""Of those that an edit's result carries: errors come first."""
UNKNOWN = 4_000
"""Characters of an unknown tool's data, or of a misshapen field, as JSON."""
SKILL = 25_000
"""Characters of a skill's body, which outlives its round (X-2)."""
REPORT = 8_000
"""Characters of what a subagent reports (X-4)."""
REPORTED = 50
"""Files that it has changed."""
FIELD = 2_000
"""Characters of a plain string that the rules keep whole."""
SERVED = "mcp__"
"""What the names of tools begin with that servers bring along (X-3)."""


def compress(tool: str, envelope: Mapping[str, Any], ref: str) -> Json:
    """`{status, data, error?, ref}` of a result's envelope; `ref` tells where the whole is kept (C-4)."""
    data: Any = envelope["data"]
    if tool in _RULES:
        kept = _by_rule(_RULES[tool], data, _params(envelope))
    elif tool.startswith(SERVED) and isinstance(as_object(data).get("text"), str):
        kept = _served(data)
    else:
        kept = bounded(data)
    error = {"error": envelope["error"]} if "error" in envelope else {}
    return {"status": envelope["status"], "data": kept, **error, "ref": ref}


def bounded(value: Any, limit: int = UNKNOWN) -> Any:
    """The value, or the head and tail of its JSON when that is longer than `limit` characters (C-3)."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "nested too deeply to be kept"
    if len(text) <= limit:
        return value
    if isinstance(value, str):
        text = value
    half = limit // 2
    return {"head": text[:half], "tail": text[-half:], "omitted_characters": len(text) - 2 * half, "truncated": True}


def middle_out(text: str, head: int, tail: int, where: str = "") -> str:
    """Head and tail of a text, with a word on what is left out between them; the text where it is no longer."""
    left = len(text) - head - tail
    return text if left <= 0 else f"{text[:head]}\n… {left} characters left out{where} …\n{text[-tail:]}"


class _HistoryRule(NamedTuple):
    """What is kept of the data of a tool."""

    fields: tuple[str, ...]
    lists: Mapping[str, int] = {}
    """How many of their items stay."""
    body: Callable[[Mapping[str, Any], Json], None] | None = None
    """Who writes what is kept of its other large data."""


def _by_rule(rule: _HistoryRule, data: Mapping[str, Any], params: Mapping[str, Any]) -> Json:
    kept: Json = {}
    for name in rule.fields:
        value = data.get(name, params.get(name))
        if value is not None or name in data:
            kept[name] = bounded(value, FIELD)
    # Flags stay, also those that no rule knows yet.
    kept |= {name: value for name, value in data.items() if isinstance(value, bool)}
    for name, count in rule.lists.items():
        if name in data:
            kept[name] = [bounded(item, FIELD) for item in data[name][:count]]
            kept |= {"shown": count} if len(data[name]) > count else {}
    if rule.body is not None:
        rule.body(data, kept)
    return kept


def _served(data: Mapping[str, Any]) -> Json:
    """What a server of the user's gave: the beginning and the end of its text, and its values where they are few."""
    kept: Json = {name: bounded(data[name], FIELD) for name in _SERVED_FIELDS if name in data}
    if IMAGES in data:
        kept[IMAGES] = bounded(marked_gone(data[IMAGES]), FIELD)
    return kept | _ends("text", data["text"], UNKNOWN)


def _ends(name: str, text: str, limit: int) -> Json:
    """A text under its name, its ends where it is long."""
    short = middle_out(text, limit // 2, limit // 2)
    return {name: short} if short is text else {name: short, "truncated": True}


def _found(data: Mapping[str, Any], kept: Json) -> None:
    """The names of what was found: by these it can be called (X-11)."""
    for name in ("tools", "skills"):
        if name not in data:
            continue
        kept[name] = [{"name": bounded(item.get("name"), FIELD)} for item in data[name][:LISTED]]
        kept["truncated"] = True


def _read(data: Mapping[str, Any], kept: Json) -> None:
    lines = as_text(data.get("content")).removesuffix("\n").split("\n")
    if len(lines) > READ_LINES:
        end = data["start_line"] + READ_LINES - 1
        kept |= {"end_line": end, "content": "\n".join(lines[:READ_LINES]), "truncated": True}
    elif "content" in data:
        kept["content"] = data["content"]


def _skill(data: Mapping[str, Any], kept: Json) -> None:
    """A skill's body; of one of its files as much as of an unknown tool's data."""
    body, most = as_text(data.get("body")), UNKNOWN if data.get("file") else SKILL
    if "body" in data:
        kept |= {"body": body[:most]} | ({"truncated": True} if len(body) > most else {})


def _report(data: Mapping[str, Any], kept: Json) -> None:
    """What a subagent reports, its ends where it is long."""
    if "report" in data:
        kept |= _ends("report", data["report"], REPORT)


def _change(data: Mapping[str, Any], kept: Json) -> None:
    name = "diff" if "diff" in data else "content"
    if name in data:
        kept[name], cut = fragments(data[name].removesuffix("\n"), DIFF_LINES, 2 * UNKNOWN)
        kept |= {"diff_truncated": True} if cut else {}


def _changes(data: Mapping[str, Any], kept: Json) -> None:
    """What several files became: the diffs share the room of one."""
    if "files" not in data:
        return
    files: list[Mapping[str, Any]] = data["files"]
    room, kept["files"] = DIFF_LINES, list[Json]()
    for place, file in enumerate(files[:LISTED]):
        entry: Json = {name: bounded(file[name], FIELD) for name in _CHANGE_FIELDS if name in file}
        most = room // (min(len(files), LISTED) - place)
        text, cut = fragments(as_text(file.get("diff")), most, UNKNOWN)
        room -= text.count("\n") + 1
        entry |= {"diff": text} if text else {}
        kept["files"].append(entry | ({"diff_truncated": True} if cut or not text else {}))
    if rest := files[LISTED:]:
        kept |= {"shown": LISTED, "also": bounded([file.get("path") for file in rest])}


def _bash(data: Mapping[str, Any], kept: Json) -> None:
    for name, head, tail in (("stdout", *STDOUT_LINES), ("stderr", 0, STDERR_LINES)):
        if name not in data:
            continue
        lines = data[name].removesuffix("\n").split("\n")
        omitted = len(lines) - head - tail
        if omitted > 0:
            lines = [*lines[:head], f"… {omitted} lines left out …", *lines[-tail:]]
        text = "\n".join(lines)
        kept[name] = middle_out(text, UNKNOWN // 4, 3 * UNKNOWN // 4)
        kept |= {"truncated": True} if omitted > 0 or len(text) > UNKNOWN else {}


_SERVED_FIELDS = ("server", "tool", "structured", "images", "truncated")
_CHANGE_FIELDS = ("path", "edits", "replacements", "operation", "lines", "changed_lines", "refused")
_READ_FIELDS = (
    *("path", "start_line", "end_line", "total_lines", "mtime", "size"),
    *("source", "version", "cut_lines", "note"),
)
_EDIT = _HistoryRule(_CHANGE_FIELDS, {"diagnostics": DIAGNOSTICS}, _change)
_RULES: Mapping[str, _HistoryRule] = {
    "LS": _HistoryRule(("path", "total", "folders", "files"), {"entries": LISTED}),
    "Glob": _HistoryRule(("pattern", "path", "total", "reason"), {"files": LISTED}),
    "Grep": _HistoryRule(("pattern", "path", "total", "files", "reason"), {"matches": MATCHES}),
    "Read": _HistoryRule(_READ_FIELDS, body=_read),
    "Edit": _EDIT,
    "MultiEdit": _EDIT,
    "Write": _EDIT,
    "web_fetch": _HistoryRule(("url", "final_url", "status", "content_type", "title", "content")),
    "Bash": _HistoryRule(("command", "description", "exit_code", "seconds", "unsaved", "changed"), body=_bash),
    "TodoWrite": _HistoryRule(("recap",)),
    "Diagnostics": _HistoryRule(("path", "total", "errors", "version"), {"diagnostics": LISTED}),
    "Definition": _HistoryRule(("symbol", "total"), {"places": LISTED}),
    "References": _HistoryRule(("symbol", "total"), {"places": LISTED}),
    "search_code": _HistoryRule(("query", "path", "total", "note"), {"places": LISTED}),
    "Outline": _HistoryRule(("path", "total"), {"symbols": LISTED}),
    "memory_save": _HistoryRule(("outcome", "id", "text", "category", "scope")),
    "memory_search": _HistoryRule(("query", "total"), {"memories": LISTED}),
    "find_tools": _HistoryRule(("query", "total"), body=_found),
    "load_skill": _HistoryRule(("name", "folder", "file", "by"), {"files": LISTED}, _skill),
    "Task": _HistoryRule(("kind", "ended", "steps", "tokens"), {"changed": REPORTED}, _report),
    "Rename": _HistoryRule(("symbol", "new_name", "failed", "left"), body=_changes),
    "QuickFix": _HistoryRule(("title", "failed", "left"), body=_changes),
}


def _params(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    """The call's names for what the data does not name itself; an edit's texts are not such names."""
    given = as_object(as_object(envelope.get("context")).get("params_input"))
    return {name: given[name] for name in ("path", "pattern", "command") if isinstance(given.get(name), str)}
