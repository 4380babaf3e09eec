"""How arguments are described to a model: in a line for prompts, as JSON Schema for tool use (T-10).

What describes a schema is total: that of a tool which somebody has brought along may be any JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]

DEPTH = 5
"""Objects and lists in one another that are described."""
MOST = 40
"""Arguments of one object, and choices of one argument, that are described."""
LONG = 80
"""Characters of a name, a choice or a default."""

_LEFT_OUT = frozenset({"title", "description", "$defs", "additionalProperties", "minLength"})
"""What costs tokens and tells a model nothing; the validation still knows it."""


@cache
def argument_schema(arguments: type[BaseModel]) -> Schema:
    """JSON Schema of the arguments without titles and references, keys in a stable order; not to be changed.

    Made once for each kind of arguments: it costs more than all the rest of a turn's beginning.
    """
    schema = arguments.model_json_schema()
    return _plain(schema, schema.get("$defs", {}))


def properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """By name what each argument may be."""
    named = schema.get("properties")
    return cast("Mapping[str, Any]", named) if isinstance(named, Mapping) else {}


def _plain(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    branches = [branch for branch in schema.get("anyOf", []) if branch != {"type": "null"}]
    if len(branches) == 1:
        rest = {key: value for key, value in schema.items() if key not in {"anyOf", "default"}}
        return _plain({**rest, **branches[0]}, definitions)
    plain: Schema = {}
    value: Any
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _plain(item, definitions) for name, item in cast("dict[str, Schema]", value).items()}
        elif key == "items":
            plain[key] = _plain(value, definitions)
        elif key not in _LEFT_OUT:
            plain[key] = value
    return plain


def signature(schema: Mapping[str, Any], depth: int = DEPTH) -> str:
    """The arguments on one line: `path: str, limit?: int 1-200 = 100`."""
    named, required = properties(schema), schema.get("required")
    needed = cast("list[Any]", required) if isinstance(required, list) else []
    shown = [
        f"{name[:LONG]}{'' if name in needed else '?'}: {_type(field, depth - 1)}{_default(field)}"
        for name, field in list(named.items())[:MOST]
    ]
    return ", ".join([*shown, "…"] if len(named) > MOST else shown)


def _type(value: Any, depth: int) -> str:
    if not isinstance(value, Mapping) or depth < 0:
        return "any"
    field = cast("Mapping[str, Any]", value)
    if isinstance(field.get("enum"), list):
        return _choice(field["enum"])
    if "const" in field:
        return _choice([field["const"]])
    kinds = field.get("type")
    if isinstance(kinds, list):
        return "|".join(_of_kind(field, str(kind), depth) for kind in cast("list[Any]", kinds)[:MOST])
    if kinds is None:
        return _branches(field, depth)
    return _of_kind(field, str(kinds), depth)


def _of_kind(field: Mapping[str, Any], kind: str, depth: int) -> str:
    if kind == "object":
        return f"{{{signature(field, depth)}}}"
    if kind == "array":
        most = f" max {field['maxItems']}" if isinstance(field.get("maxItems"), int) else ""
        return f"[{_type(field.get('items'), depth - 1)}]{most}"
    name = {"string": "str", "integer": "int", "boolean": "bool", "number": "number", "null": "null"}.get(kind, "any")
    low, high = field.get("minimum"), field.get("maximum")
    if isinstance(low, int | float):
        return f"{name} {low}-{high}" if isinstance(high, int | float) else f"{name} >={low}"
    longest = field.get("maxLength")
    return f"{name} max {longest}" if isinstance(longest, int) and longest < 1000 else name


def _branches(field: Mapping[str, Any], depth: int) -> str:
    """What may be one of several things; anything, where that is not said."""
    for name in ("anyOf", "oneOf"):
        branches = field.get(name)
        if isinstance(branches, list) and branches:
            kinds = dict.fromkeys(_type(branch, depth - 1) for branch in cast("list[Any]", branches)[:MOST])
            return "|".join(kinds)
    return "any"


def _choice(values: list[Any]) -> str:
    shown = [(value if isinstance(value, str) else json.dumps(value, default=str))[:LONG] for value in values[:MOST]]
    return "|".join([*shown, "…"] if len(values) > MOST else shown)


def _default(value: Any) -> str:
    default = cast("Mapping[str, Any]", value).get("default") if isinstance(value, Mapping) else None
    return "" if default is None else f" = {json.dumps(default, ensure_ascii=False, default=str)[:LONG]}"


def remarks(schema: Mapping[str, Any], depth: int = DEPTH) -> Iterator[tuple[str, str]]:
    """The arguments that are described, those of nested objects too: name and description."""
    for name, value in list(properties(schema).items())[:MOST]:
        if not isinstance(value, Mapping):
            continue
        field = cast("Mapping[str, Any]", value)
        words = field.get("description")
        if isinstance(words, str) and words.strip():
            yield name[:LONG], words
        inner = field.get("items") if field.get("type") == "array" else field
        if depth > 0 and isinstance(inner, Mapping):
            yield from ((f"{name[:LONG]}.{part}", said) for part, said in remarks(cast("Schema", inner), depth - 1))
