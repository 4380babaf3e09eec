"""Tool results as history keeps them: cut by rule, restorable by ref (C-1 to C-4).

Pure and total: any JSON value goes in, a small JSON object comes out. What a covered tool's data should not hold, or
holds in another shape, is bounded like an unknown tool's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from codelaw.context.pictures import IMAGES, marked_gone
from codelaw.domain.edits import fragments

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


def compress(tool: str, envelope: Any, ref: str) -> Json:
    """`{status, data, error?, ref}` of a result; `ref` tells where the whole is kept (C-4). Never raises."""
    if not isinstance(envelope, Mapping):
        return {"status": "success", "data": bounded(envelope), "ref": ref}
    given = cast("Mapping[str, Any]", envelope)
    status = given.get("status")
    kept: Json = {"status": status if status in ("success", "partial", "error") else "success"}
    if "data" not in given:
        # No envelope of ours, so all of it is data.
        kept["data"] = {} if "status" in given else bounded(dict(given))
    elif tool in _FIELDS and isinstance(given["data"], Mapping):
        kept["data"] = _by_rule(tool, cast("Mapping[str, Any]", given["data"]), _params(given))
    else:
        data: Any = given["data"]
        text: Any = cast("Mapping[str, Any]", data).get("text") if isinstance(data, Mapping) else None
        laid_out = tool.startswith(SERVED) and isinstance(text, str)
        kept["data"] = _served(cast("Mapping[str, Any]", data), text) if laid_out else bounded(data)
    error = given.get("error")
    if error is not None:
        kept["error"] = _error(error)
    return {**kept, "ref": ref}


def bounded(value: Any, limit: int = UNKNOWN) -> Any:
    """The value, or the head and tail of its JSON when that is longer than `limit` characters (C-3)."""
    text = _json(value)
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


def _by_rule(tool: str, data: Mapping[str, Any], params: Mapping[str, Any]) -> Json:
    kept: Json = {}
    for name in _FIELDS[tool]:
        value = data.get(name, params.get(name))
        if value is not None or name in data:
            kept[name] = bounded(value, FIELD)
    # Flags stay, also those that no rule knows yet.
    kept |= {str(name): value for name, value in data.items() if isinstance(value, bool)}
    for name, count in _LISTS.get(tool, {}).items():
        _list(data, kept, name, count)
    if tool in _BODIES:
        _BODIES[tool](data, kept)
    return kept


def _served(data: Mapping[str, Any], text: str) -> Json:
    """What a server of the user's gave: the beginning and the end of its text, and its values where they are few."""
    kept: Json = {name: bounded(data[name], FIELD) for name in _SERVED_FIELDS if name in data}
    if IMAGES in data:
        kept[IMAGES] = bounded(marked_gone(data[IMAGES]), FIELD)
    return kept | _ends("text", text, UNKNOWN)


def _ends(name: str, text: str, limit: int) -> Json:
    """A text under its name, its ends where it is long."""
    short = middle_out(text, limit // 2, limit // 2)
    return {name: short} if short is text else {name: short, "truncated": True}


def _list(data: Mapping[str, Any], kept: Json, name: str, count: int) -> None:
    """The first items of a list."""
    value = data.get(name)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        kept[name] = [bounded(item, FIELD) for item in items[:count]]
        if len(items) > count:
            kept["shown"] = count
    elif name in data:
        kept[name] = bounded(value, FIELD)


def _found(data: Mapping[str, Any], kept: Json) -> None:
    """The names of what was found: by these it can be called (X-11)."""
    for name in ("tools", "skills"):
        value = data.get(name)
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in cast("list[Any]", value)):
            _list(data, kept, name, LISTED)
            continue
        items = cast("list[Mapping[str, Any]]", value)
        kept[name] = [{"name": bounded(item.get("name"), FIELD)} for item in items[:LISTED]]
        kept["truncated"] = True


def _read(data: Mapping[str, Any], kept: Json) -> None:
    content, start = data.get("content"), data.get("start_line")
    if not isinstance(content, str):
        return
    lines = content.removesuffix("\n").split("\n")
    if len(lines) <= READ_LINES:
        kept["content"] = content
        return
    kept |= {"content": "\n".join(lines[:READ_LINES]), "truncated": True}
    if isinstance(start, int):
        kept["end_line"] = start + READ_LINES - 1


def _skill(data: Mapping[str, Any], kept: Json) -> None:
    """A skill's body; of one of its files as much as of an unknown tool's data."""
    body, most = data.get("body"), UNKNOWN if data.get("file") else SKILL
    if isinstance(body, str):
        kept |= {"body": body[:most]} | ({"truncated": True} if len(body) > most else {})


def _report(data: Mapping[str, Any], kept: Json) -> None:
    """What a subagent reports, its ends where it is long."""
    if isinstance(text := data.get("report"), str):
        kept |= _ends("report", text, REPORT)


def _change(data: Mapping[str, Any], kept: Json) -> None:
    name = "diff" if "diff" in data else "content"
    value = data.get(name)
    if isinstance(value, str):
        kept[name], cut = fragments(value.removesuffix("\n"), DIFF_LINES, 2 * UNKNOWN)
        kept |= {"diff_truncated": True} if cut else {}
    elif name in data:
        kept[name] = bounded(value, FIELD)


def _changes(data: Mapping[str, Any], kept: Json) -> None:
    """What several files became: the diffs share the room of one."""
    if not isinstance(data.get("files"), list):
        _list(data, kept, "files", LISTED)
        return
    files = cast("list[Any]", data["files"])
    listed, rest = files[:LISTED], files[LISTED:]
    room, kept["files"] = DIFF_LINES, [bounded(file, FIELD) for file in listed]
    for place, file in enumerate(listed):
        if isinstance(file, Mapping):
            given = cast("Mapping[str, Any]", file)
            entry: Json = {name: bounded(given[name], FIELD) for name in _CHANGE_FIELDS if name in given}
            diff = given.get("diff")
            text, cut = fragments(diff if isinstance(diff, str) else "", room // (len(listed) - place), UNKNOWN)
            room -= text.count("\n") + 1
            entry |= {"diff": text} if text else {}
            kept["files"][place] = entry | ({"diff_truncated": True} if cut or not text else {})
    if rest:
        kept["shown"] = LISTED
        kept["also"] = bounded(
            [cast("Mapping[str, Any]", file).get("path") for file in rest if isinstance(file, Mapping)]
        )


def _bash(data: Mapping[str, Any], kept: Json) -> None:
    for name, head, tail in (("stdout", *STDOUT_LINES), ("stderr", 0, STDERR_LINES)):
        value = data.get(name)
        if not isinstance(value, str):
            kept |= {name: bounded(value, FIELD)} if name in data else {}
            continue
        lines = value.removesuffix("\n").split("\n")
        omitted = len(lines) - head - tail
        if omitted > 0:
            lines = [*lines[:head], f"… {omitted} lines left out …", *lines[-tail:]]
        text = "\n".join(lines)
        kept[name] = middle_out(text, UNKNOWN // 4, 3 * UNKNOWN // 4)
        kept |= {"truncated": True} if omitted > 0 or len(text) > UNKNOWN else {}


_SERVED_FIELDS = ("server", "tool", "structured", "images", "truncated")
_CHANGE_FIELDS = ("path", "edits", "replacements", "operation", "lines", "changed_lines", "refused")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "LS": ("path", "total", "folders", "files"),
    "Glob": ("pattern", "path", "total", "reason"),
    "Grep": ("pattern", "path", "total", "files", "reason"),
    "Read": (
        "path",
        "start_line",
        "end_line",
        "total_lines",
        "mtime",
        "size",
        "source",
        "version",
        "cut_lines",
        "note",
    ),
    "Edit": _CHANGE_FIELDS,
    "MultiEdit": _CHANGE_FIELDS,
    "Write": _CHANGE_FIELDS,
    "web_fetch": ("url", "final_url", "status", "content_type", "title", "content"),
    "Bash": ("command", "description", "exit_code", "seconds", "unsaved", "changed"),
    "TodoWrite": ("recap",),
    "Diagnostics": ("path", "total", "errors", "version"),
    "Definition": ("symbol", "total"),
    "References": ("symbol", "total"),
    "search_code": ("query", "path", "total", "note"),
    "Outline": ("path", "total"),
    "memory_save": ("outcome", "id", "text", "category", "scope"),
    "memory_search": ("query", "total"),
    "find_tools": ("query", "total"),
    "load_skill": ("name", "folder", "file", "by"),
    "Task": ("kind", "ended", "steps", "tokens"),
    "Rename": ("symbol", "new_name", "failed", "left"),
    "QuickFix": ("title", "failed", "left"),
}
"""What is kept of the data of each tool that has a rule, besides its lists and bodies."""
_LISTS: Mapping[str, Mapping[str, int]] = {
    "LS": {"entries": LISTED},
    "Glob": {"files": LISTED},
    "Grep": {"matches": MATCHES},
    "Edit": {"diagnostics": DIAGNOSTICS},
    "MultiEdit": {"diagnostics": DIAGNOSTICS},
    "Write": {"diagnostics": DIAGNOSTICS},
    "Diagnostics": {"diagnostics": LISTED},
    "Definition": {"places": LISTED},
    "References": {"places": LISTED},
    "search_code": {"places": LISTED},
    "Outline": {"symbols": LISTED},
    "memory_search": {"memories": LISTED},
    "load_skill": {"files": LISTED},
    "Task": {"changed": REPORTED},
}
"""By tool its lists, and how many of their items stay."""
_BODIES: Mapping[str, Callable[[Mapping[str, Any], Json], None]] = {
    "Read": _read,
    "Edit": _change,
    "MultiEdit": _change,
    "Write": _change,
    "Rename": _changes,
    "QuickFix": _changes,
    "Bash": _bash,
    "find_tools": _found,
    "load_skill": _skill,
    "Task": _report,
}
"""By tool who writes what is kept of its other large data."""


def _params(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    """The call's names for what the data does not name itself; an edit's texts are not such names."""
    context = envelope.get("context")
    params = cast("Mapping[str, Any]", context).get("params_input") if isinstance(context, Mapping) else None
    if not isinstance(params, Mapping):
        return {}
    given = cast("Mapping[str, Any]", params)
    return {name: given[name] for name in ("path", "pattern", "command") if isinstance(given.get(name), str)}


def _error(error: Any) -> Any:
    if not isinstance(error, Mapping):
        return bounded(error)
    given = cast("Mapping[str, Any]", error)
    named = {name: given[name] for name in ("code", "message") if name in given}
    return named or bounded(dict(given))


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        # Nested beyond what JSON text may hold: what can be said of it is still said.
        return _deep(value)


def _deep(value: Any) -> str:
    """A value too deep for JSON, its outer layers only."""
    layers = ""
    while isinstance(value, list | Mapping) and value and len(layers) <= UNKNOWN:
        if isinstance(value, Mapping):
            name, value = next(iter(cast("Mapping[str, Any]", value).items()))
            layers += f'{{"{name}": '
        else:
            layers += "["
            value = cast("list[Any]", value)[0]
    return layers + " " * UNKNOWN + "…"
