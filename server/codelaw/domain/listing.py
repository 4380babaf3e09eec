"""A JSON value as lines that can be paged through like a file (C-4)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
