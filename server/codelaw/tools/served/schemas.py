"""A server's JSON Schema, made fit to be told to a model, and arguments held against it (X-3, T-9).

The schema may be anything, so both are total and take bounded time: no pattern of a server's is ever run, no reference
leads out of the schema, and what nests or repeats without end is anything at all. What is not checked here the server
checks itself.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from codelaw.domain.safety.own_tags import disarmed
from codelaw.domain.safety.unseen import without_hidden

Schema = dict[str, Any]

DEPTH = 6
"""Objects, lists and choices in one another."""
MOST_NODES = 400
"""Parts of a schema that are kept."""
MOST_ITEMS = 100
"""Choices of one argument."""
LONGEST_WORDS = 600
"""Characters of what is said of one argument."""
LONGEST_VALUE = 200
"""Characters of a choice or a default."""
STEPS = 20_000
"""Comparisons for one call; what is left after that is taken as it is."""
PROBLEMS = 5

_FIELD = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""Names of arguments that vendors take."""
_OF_AN_OBJECT = ("properties", "required", "additionalProperties")
_LISTED = ("enum", "required", "type", "$ref")
"""What is gone through for each value that it is about."""
_CHOICES = ("anyOf", "oneOf", "allOf")


def words(text: str, longest: int) -> str:
    """A server's text: nothing in it hides or is a tag of ours, and it has at most so many characters."""
    clean = disarmed(without_hidden(text[: 4 * longest])).strip()
    return clean if len(clean) <= longest else clean[: longest - 1].rstrip() + "…"


def reported(schema: Mapping[str, Any]) -> Schema:
    """What a model is told of a schema: an object's, without references, of what is understood here alone."""
    made = _Telling(schema).of(schema, DEPTH, ())
    whole: Schema = {"type": "object", "properties": {}}
    return whole | {name: made[name] for name in _OF_AN_OBJECT if name in made}


@dataclass(slots=True)
class _Telling:
    """Writes a schema anew."""

    root: Mapping[str, Any]
    nodes: int = 0

    def of(self, given: Any, depth: int, above: tuple[str, ...]) -> Schema:
        """A part of the schema; `above` are the references that led here."""
        self.nodes += 1
        if not isinstance(given, Mapping) or depth < 0 or self.nodes > MOST_NODES:
            return {}
        part = cast("Mapping[str, Any]", given)
        said = part.get("description")
        described = {"description": words(said, LONGEST_WORDS)} if isinstance(said, str) and said.strip() else {}
        reference = part.get("$ref")
        if isinstance(reference, str):
            if reference in above:
                return {}
            return self.of(_referred(self.root, reference), depth - 1, (*above, reference)) | described
        made = self._kind(part) | described
        made |= {name: part[name] for name in _AMOUNTS if _is_amount(name, part.get(name))}
        if isinstance(part.get("enum"), list):
            made["enum"] = [_value(one) for one in _list(part, "enum")[:MOST_ITEMS]]
        made |= {name: _value(part[name]) for name in ("const", "default") if name in part}
        for name in _CHOICES:
            if isinstance(part.get(name), list):
                made[name] = [self.of(branch, depth - 1, above) for branch in _list(part, name)[:MOST_ITEMS]]
        if isinstance(part.get("items"), Mapping):
            made["items"] = self.of(part["items"], depth - 1, above)
        if isinstance(part.get("properties"), Mapping):
            named = _table(part, "properties")
            kept = [name for name in named if _FIELD.fullmatch(name)][:MOST_ITEMS]
            made["properties"] = {name: self.of(named[name], depth - 1, above) for name in kept}
            if required := [name for name in kept if name in _list(part, "required")]:
                made["required"] = required
            if part.get("additionalProperties") is False and len(kept) == len(named):
                made["additionalProperties"] = False
        return made

    def _kind(self, part: Mapping[str, Any]) -> Schema:
        kind = part.get("type")
        kinds = _kinds(kind)
        return {"type": kinds if isinstance(kind, list) else kinds[0]} if kinds else {}


def _referred(root: Mapping[str, Any], reference: str) -> Any:
    """What a reference inside the schema leads to; None for any other."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    for part in reference.removeprefix("#").split("/")[1 : DEPTH * 2]:
        key = part.replace("~1", "/").replace("~0", "~")
        found = cast("Mapping[str, Any]", found).get(key) if isinstance(found, Mapping) else None
    return found


def _value(value: Any) -> Any:
    """A choice or a default, on one line: what is not a plain value is left out."""
    if isinstance(value, str):
        return " ".join(words(value, LONGEST_VALUE).split()) if value.strip() else ""
    return value if value is None or isinstance(value, bool | int | float) else None


_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_AMOUNTS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", *_COUNTS)


def _is_amount(name: str, limit: Any) -> bool:
    """Whether a value can be the limit of that name."""
    if name in _COUNTS and not (isinstance(limit, int) and limit >= 0):
        return False
    return isinstance(limit, int | float) and not isinstance(limit, bool) and abs(limit) < 2**63


# ----------------------------------------------------------------------------------------------------------- checking


def problems(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """What is wrong with arguments, each with its field, its value and the rule that it breaks; at most `PROBLEMS`."""
    checking = _Checking(schema)
    checking.check(schema, arguments, "", 0)
    return checking.found[:PROBLEMS]


@dataclass(slots=True)
class _Checking:
    """Holds one value against a schema."""

    root: Mapping[str, Any]
    left: int = STEPS
    found: list[str] = field(default_factory=list[str])

    def check(self, given: Any, value: Any, path: str, depth: int) -> None:
        """Add what is wrong with `value` at `path`."""
        self.left -= 1
        if self.left < 0 or depth > 4 * DEPTH or len(self.found) >= PROBLEMS:
            return
        if given is False:
            self._wrong(path, value, "it is not allowed")
        if not isinstance(given, Mapping):
            return
        schema = cast("Mapping[str, Any]", given)
        self.left -= sum(len(schema[name]) for name in _LISTED if isinstance(schema.get(name), list | str))
        if self.left < 0:
            return
        if isinstance(schema.get("$ref"), str):
            self.check(_referred(self.root, schema["$ref"]), value, path, depth + 1)
        kinds = _kinds(schema.get("type"))
        if kinds and not any(_is(value, kind) for kind in kinds):
            self._wrong(path, value, f"must be {' or '.join(_SPOKEN[kind] for kind in kinds)}")
            return
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list) and not any(_same(value, one) for one in cast("list[Any]", choices)):
            listed = cast("list[Any]", choices)
            self._wrong(
                path, value, f"must be one of {', '.join(map(_shown, listed[:10]))}{', …' * (len(listed) > 10)}"
            )
        for name, kinds_of, breaks, rule in _LIMITS:
            limit: Any = schema.get(name)
            if isinstance(value, kinds_of) and not isinstance(value, bool) and _is_amount(name, limit):
                amount: Any = value if isinstance(value, _NUMBER) else len(cast("str | list[Any]", value))
                if breaks(amount, limit):
                    self._wrong(path, value, rule.format(limit))
        if isinstance(value, Mapping):
            self._object(schema, cast("Mapping[str, Any]", value), path, depth)
        elif isinstance(value, list):
            for number, item in enumerate(cast("list[Any]", value)):
                self.check(schema.get("items"), item, f"{path}[{number}]", depth + 1)
        self._branches(schema, value, path, depth)

    def _object(self, schema: Mapping[str, Any], value: Mapping[str, Any], path: str, depth: int) -> None:
        fields = _table(schema, "properties")
        for name in _list(schema, "required"):
            if isinstance(name, str) and name not in value:
                self.found.append(f"{_joined(path, words(name, 64))} is required")
        more = schema.get("additionalProperties")
        closed = more is False and "patternProperties" not in schema
        for name, item in value.items():
            if closed and name not in fields:
                self.found.append(f"{_joined(path, name)} is not an argument")
            else:
                self.check(fields.get(name, more), item, _joined(path, name), depth + 1)

    def _branches(self, schema: Mapping[str, Any], value: Any, path: str, depth: int) -> None:
        for branch in _list(schema, "allOf"):
            self.check(branch, value, path, depth + 1)
        for name in ("anyOf", "oneOf"):
            branches = _list(schema, name)
            if branches and all(self._breaks(branch, value, path, depth) for branch in branches):
                self._wrong(path, value, "is none of the forms that it may have")

    def _breaks(self, branch: Any, value: Any, path: str, depth: int) -> bool:
        before = self.found
        self.found = []
        self.check(branch, value, path, depth + 1)
        broken, self.found = bool(self.found), before
        return broken

    def _wrong(self, path: str, value: Any, rule: str) -> None:
        self.found.append(f"{path or 'arguments'} = {_shown(value)}: {rule}")


_NUMBER = (int, float)
_LIMITS: tuple[tuple[str, Any, Any, str], ...] = (
    ("minimum", _NUMBER, operator.lt, "must be at least {}"),
    ("maximum", _NUMBER, operator.gt, "must be at most {}"),
    ("exclusiveMinimum", _NUMBER, operator.le, "must be above {}"),
    ("exclusiveMaximum", _NUMBER, operator.ge, "must be below {}"),
    ("minLength", str, operator.lt, "must have at least {} characters"),
    ("maxLength", str, operator.gt, "must have at most {} characters"),
    ("minItems", list, operator.lt, "must have at least {} items"),
    ("maxItems", list, operator.gt, "must have at most {} items"),
)
"""Of which values, what breaks the limit, and how it is said."""
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": Mapping,
}
_SPOKEN = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}


def _list(schema: Mapping[str, Any], name: str) -> list[Any]:
    value = schema.get(name)
    return cast("list[Any]", value) if isinstance(value, list) else []


def _table(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = schema.get(name)
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _kinds(kind: Any) -> list[str]:
    given = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
    return list(dict.fromkeys(one for one in given if isinstance(one, str) and one in _SPOKEN))


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _TYPES[kind])


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and value == other


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:79] + "…"
