"""No result grows without end (S-6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from codelaw.domain.results import ToolResult

MAX_DATA = 60_000
"""Characters of a result's `data` as JSON."""


def json_size(value: Any) -> int:
    """Characters of `value` as JSON on one line."""
    return len(json.dumps(value, ensure_ascii=False, default=str))


def shortened(value: Any, limit: int) -> Any:
    """The JSON value with every string cut to `limit` characters, from the middle."""
    if isinstance(value, str):
        return cut_middle(value, limit)
    if isinstance(value, Mapping):
        return {key: shortened(item, limit) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [shortened(item, limit) for item in cast("list[Any]", value)]
    return value


def cut_middle(text: str, limit: int) -> str:
    """`text`, or its head and tail with the count of what is missing between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def bounded(result: ToolResult) -> ToolResult:
    """The result with `data` of at most `MAX_DATA` characters; what had to be cut is flagged and partial.

    A last resort: tools bound their own data, knowing what matters in it.
    """
    if json_size(result.data) <= MAX_DATA:
        return result
    data: dict[str, Any] = dict(result.data)
    for limit in (20_000, 8_000, 2_000, 500, 100):
        data = {**shortened(data, limit), "truncated": True}
        if limit <= 2_000:
            data = {key: item[:limit] if isinstance(item, list) else item for key, item in data.items()}
        if json_size(data) <= MAX_DATA:
            break
    status = "partial" if result.status == "success" else result.status
    return replace(result, status=status, data=data)
