"""What a result says, read from either of its forms: text or JSON (C-7)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

_ERROR = re.compile(r", error ([A-Z_]+)(?:: .*)?\Z")
_NUMBERED = re.compile(r"(\d+)\t(.*)")
_PLACE = re.compile(r" (.+?) (\d+)(?:-\d+)? (?:[a-z]+)(?: .*)?")
_ENTRIES = re.compile(r": (\d+) entries")


def read_observation(tool: str, text: str) -> tuple[Mapping[str, Any], str]:
    """The data of a Read, Grep, search_code or LS as far as they are shown, and `CODE: message` of an error."""
    envelope = json_object(text)
    if envelope or not text:
        data, error = envelope.get("data"), envelope.get("error")
        said = ""
        if isinstance(error, dict):
            fields = cast("dict[str, Any]", error)
            said = f"{fields.get('code', 'ERROR')}: {fields.get('message', '')}"
        return (cast("dict[str, Any]", data) if isinstance(data, dict) else {}), said
    head, *lines = text.split("\n")
    failed = _ERROR.search(head)
    if failed is not None:
        sentence = next((line for line in lines if line.startswith(" ")), "")
        return {}, f"{failed[1]}: {sentence.strip()}"
    match tool:
        case "Read":
            return _read(lines), ""
        case "Grep":
            return {"matches": _matches(lines)}, ""
        case "search_code":
            return {"places": _places(lines)}, ""
        case "LS":
            entries = [line[1:] for line in lines if line.startswith(" ")]
            total = _ENTRIES.search(head)
            return {"entries": entries, "total": int(total[1]) if total is not None else len(entries)}, ""
        case _:
            return {}, ""


def json_object(text: str) -> dict[str, Any]:
    """The JSON object that a text is; empty for any other text."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _read(lines: list[str]) -> Mapping[str, Any]:
    rows = [found for line in lines if (found := _NUMBERED.fullmatch(line)) is not None]
    data: dict[str, Any] = {"content": "\n".join(row[0] for row in rows)}
    return data | {"start_line": int(rows[0][1]), "end_line": int(rows[-1][1])} if rows else data


def _matches(lines: list[str]) -> list[Mapping[str, Any]]:
    """The lines below the name of their file."""
    found: list[Mapping[str, Any]] = []
    file = ""
    for line in lines:
        if line.startswith(" "):
            file = line[1:]
        elif (row := _NUMBERED.fullmatch(line)) is not None:
            found.append({"file": file, "line": int(row[1]), "text": row[2]})
    return found


def _places(lines: list[str]) -> list[Mapping[str, Any]]:
    """Each place's file and line, with the lines below it."""
    found: list[dict[str, Any]] = []
    for line in lines:
        if (place := _PLACE.fullmatch(line)) is not None:
            found.append({"file": place[1], "line": int(place[2]), "lines": []})
        elif found and (row := _NUMBERED.fullmatch(line)) is not None:
            found[-1]["lines"].append(row[2])
    return [*found]
