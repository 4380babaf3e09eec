"""How arguments are described to a model: in a line for prompts, as JSON Schema for tool use (T-10)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]

_LEFT_OUT = frozenset({"title", "description", "$defs", "additionalProperties", "minLength"})
"""What costs tokens and tells a model nothing; the validation still knows it."""


@cache
def argument_schema(arguments: type[BaseModel]) -> Schema:
    """JSON Schema of the arguments without titles and references, keys in a stable order; not to be changed.

    Made once for each kind of arguments: it costs more than all the rest of a turn's beginning.
    """
    schema = arguments.model_json_schema()
    return _plain(schema, schema.get("$defs", {}))


@cache
def signature(arguments: type[BaseModel]) -> str:
    """The arguments on one line: `path: str, limit?: int 1-200 = 100`."""
    return _fields(argument_schema(arguments))


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


def _fields(schema: Schema) -> str:
    required = schema.get("required", [])
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_type(field)}{_default(field)}"
        for name, field in schema.get("properties", {}).items()
    )


def _type(field: Schema) -> str:
    if "enum" in field:
        return "|".join(field["enum"])
    if field["type"] == "object":
        return f"{{{_fields(field)}}}"
    if field["type"] == "array":
        most = f" max {field['maxItems']}" if "maxItems" in field else ""
        return f"[{_type(field['items'])}]{most}"
    name = {"string": "str", "integer": "int", "boolean": "bool"}.get(field["type"], "number")
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None:
        return f"{name} {low}-{high}" if high is not None else f"{name} >={low}"
    return f"{name} max {field['maxLength']}" if field.get("maxLength", 10**6) < 1000 else name


def _default(field: Schema) -> str:
    default = field.get("default")
    return "" if default is None else f" = {json.dumps(default)}"
