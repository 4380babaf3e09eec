"""JSON values: as lines that can be paged through like a file (C-4), and the parts of those that may hold anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast


def plain_lines(value: Any, indent: str = "") -> Iterator[str]:
    """One line per scalar, nested values indented, the lines of a longer string below its key as they are."""
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, Any]", value).items():
            yield from _entry(f"{indent}{key}:", item, indent)
    elif isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            yield from _entry(f"{indent}-", item, indent)
    else:
        yield indent + _scalar(value)


def _entry(label: str, item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, str) and "\n" in item:
        yield label
        yield from item.split("\n")
    elif isinstance(item, Mapping | list | tuple) and item:
        yield label
        yield from plain_lines(item, indent + "  ")
    else:
        yield f"{label} {_scalar(item)}"


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def parsed(content: str) -> Mapping[str, Any]:
    """The JSON object in a text; empty for anything else."""
    try:
        value: object = json.loads(content)
    except (ValueError, TypeError, RecursionError):
        return {}
    return as_object(value)


def as_object(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def texts_of(value: object, depth: int = 64) -> Iterator[str]:
    """The strings inside a value, in order, without the names of its fields; not those that lie too deep."""
    if isinstance(value, str):
        yield value
    elif depth:
        for item in as_object(value).values() or as_list(value):
            yield from texts_of(item, depth - 1)


def with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """The JSON value with every string inside it changed, but not the names of its fields."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: with_texts(item, change) for name, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [with_texts(item, change) for item in cast("list[Any]", value)]
    return value


def clipped(text: str, limit: int) -> str:
    """The text, an ellipsis for its end where it has more than `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
