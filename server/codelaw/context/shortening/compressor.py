"""Tool results as history keeps them: cut by rule, restorable by ref (C-1 to C-4).

Pure and total: any JSON value goes in, a small JSON object comes out. What a covered tool's data should not hold, or
holds in another shape, is bounded like an unknown tool's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from codelaw.context.pictures import IMAGES, told_as_gone
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
    elif tool.startswith(SERVED) and (text := _text_of(given["data"])) is not None:
        kept["data"] = _served(cast("Mapping[str, Any]", given["data"]), text)
    else:
        kept["data"] = bounded(given["data"])
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


def _by_rule(tool: str, data: Mapping[str, Any], params: Mapping[str, Any]) -> Json:
    kept: Json = {}
    for name in _FIELDS[tool]:
        value = data.get(name, params.get(name))
        if value is not None or name in data:
            kept[name] = bounded(value, FIELD)
    # Flags stay, also those that no rule knows yet.
    kept |= {str(name): value for name, value in data.items() if isinstance(value, bool)}
    _shorten(tool, dict(data), kept)
    return kept


def _shorten(tool: str, data: Json, kept: Json) -> None:
    """Write what is kept of the tool's large data; for others the fields are all there is."""
    match tool:
        case "LS":
            _list(data, kept, "entries", LISTED)
        case "Glob":
            _list(data, kept, "files", LISTED)
        case "Grep":
            _list(data, kept, "matches", MATCHES)
        case "Read":
            _read(data, kept)
        case "Edit" | "MultiEdit" | "Write":
            _change(data, kept)
        case "Rename" | "QuickFix":
            _changes(data, kept)
        case "Bash":
            _bash(data, kept)
        case "Diagnostics":
            _list(data, kept, "diagnostics", LISTED)
        case "Definition" | "References":
            _list(data, kept, "places", LISTED)
        case "search_code":
            _list(data, kept, "places", LISTED)
        case "Outline":
            _list(data, kept, "symbols", LISTED)
        case "memory_search":
            _list(data, kept, "memories", LISTED)
        case "find_tools":
            _named(data, kept, "tools")
            _named(data, kept, "skills")
        case "load_skill":
            _skill(data, kept)
        case "Task":
            _report(data, kept)
        case _:
            pass


def _text_of(data: Any) -> str | None:
    """The text of what a server gave; None where it is not laid out like that."""
    text = cast("Mapping[str, Any]", data).get("text") if isinstance(data, Mapping) else None
    return text if isinstance(text, str) else None


def _served(data: Mapping[str, Any], text: str) -> Json:
    """What a server of the user's gave: the beginning and the end of its text, and its values where they are few."""
    kept: Json = {name: bounded(data[name], FIELD) for name in _SERVED_FIELDS if name in data}
    if IMAGES in data:
        kept[IMAGES] = bounded(told_as_gone(data[IMAGES]), FIELD)
    if len(text) > UNKNOWN:
        text = f"{text[: UNKNOWN // 2]}\n… {len(text) - UNKNOWN} characters left out …\n{text[-UNKNOWN // 2 :]}"
        kept["truncated"] = True
    return {**kept, "text": text}


def _list(data: Json, kept: Json, name: str, count: int) -> None:
    """The first items of a list."""
    value = data.get(name)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        kept[name] = [bounded(item, FIELD) for item in items[:count]]
        if len(items) > count:
            kept["shown"] = count
    elif name in data:
        kept[name] = bounded(value, FIELD)


def _named(data: Json, kept: Json, name: str) -> None:
    """The names of what was found: by these it can be called (X-11)."""
    value = data.get(name)
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in cast("list[Any]", value)):
        _list(data, kept, name, LISTED)
        return
    items = cast("list[Mapping[str, Any]]", value)
    kept[name] = [{"name": bounded(item.get("name"), FIELD)} for item in items[:LISTED]]
    kept["truncated"] = True


def _lines(value: Any) -> list[str] | None:
    """A text's lines; a final line break ends the last one and begins no other."""
    return value.removesuffix("\n").split("\n") if isinstance(value, str) else None


def _read(data: Json, kept: Json) -> None:
    lines = _lines(data.get("content"))
    if lines is None:
        return
    if len(lines) <= READ_LINES:
        kept["content"] = data["content"]
        return
    kept["content"] = "\n".join(lines[:READ_LINES])
    kept["truncated"] = True
    start = data.get("start_line")
    if isinstance(start, int):
        kept["end_line"] = start + READ_LINES - 1


def _skill(data: Json, kept: Json) -> None:
    """A skill's body; of one of its files as much as of an unknown tool's data."""
    body = data.get("body")
    if isinstance(body, str):
        most = UNKNOWN if data.get("file") else SKILL
        kept["body"] = body[:most]
        if len(body) > most:
            kept["truncated"] = True
    if "files" in data:
        _list(data, kept, "files", LISTED)


def _report(data: Json, kept: Json) -> None:
    """What a subagent reports, its ends where it is long."""
    text = data.get("report")
    if isinstance(text, str):
        if len(text) > REPORT:
            text = f"{text[: REPORT // 2]}\n… {len(text) - REPORT} characters left out …\n{text[-REPORT // 2 :]}"
            kept["truncated"] = True
        kept["report"] = text
    if "changed" in data:
        _list(data, kept, "changed", REPORTED)


def _change(data: Json, kept: Json) -> None:
    if "diagnostics" in data:
        _list(data, kept, "diagnostics", DIAGNOSTICS)
    name = "diff" if "diff" in data else "content"
    value = data.get(name)
    if not isinstance(value, str):
        if name in data:
            kept[name] = bounded(value, FIELD)
        return
    kept[name], cut = fragments(value.removesuffix("\n"), DIFF_LINES, 2 * UNKNOWN)
    if cut:
        kept["diff_truncated"] = True


def _changes(data: Json, kept: Json) -> None:
    """What several files became: the diffs share the room of one."""
    files = data.get("files")
    if not isinstance(files, list):
        _list(data, kept, "files", LISTED)
        return
    room, shortened = DIFF_LINES, list[Any]()
    listed = cast("list[Any]", files)[:LISTED]
    for place, file in enumerate(listed):
        if not isinstance(file, Mapping):
            shortened.append(bounded(file, FIELD))
            continue
        given = cast("Mapping[str, Any]", file)
        entry: Json = {name: bounded(given[name], FIELD) for name in _CHANGE_FIELDS if name in given}
        diff = given.get("diff")
        text, cut = fragments(diff if isinstance(diff, str) else "", room // (len(listed) - place), UNKNOWN)
        room -= text.count("\n") + 1
        entry |= {"diff": text} if text else {}
        shortened.append(entry | ({"diff_truncated": True} if cut or not text else {}))
    kept["files"] = shortened
    rest = cast("list[Any]", files)[LISTED:]
    if rest:
        kept["shown"] = LISTED
        kept["also"] = bounded(
            [cast("Mapping[str, Any]", file).get("path") for file in rest if isinstance(file, Mapping)]
        )


def _bash(data: Json, kept: Json) -> None:
    for name, head, tail in (("stdout", *STDOUT_LINES), ("stderr", 0, STDERR_LINES)):
        lines = _lines(data.get(name))
        if lines is None:
            if name in data:
                kept[name] = bounded(data[name], FIELD)
            continue
        omitted = len(lines) - head - tail
        if omitted > 0:
            lines = [*lines[:head], f"… {omitted} lines left out …", *lines[-tail:]]
            kept["truncated"] = True
        text = "\n".join(lines)
        if len(text) > UNKNOWN:
            text = f"{text[: UNKNOWN // 4]}\n… {len(text) - UNKNOWN} characters left out …\n{text[-3 * UNKNOWN // 4 :]}"
            kept["truncated"] = True
        kept[name] = text


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
"""What is kept of the data of each tool that has a rule, besides what `_shorten` writes."""


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
