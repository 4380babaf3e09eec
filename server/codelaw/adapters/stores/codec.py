"""Domain values as JSON text, and text as SQLite takes it.

Written by hand rather than with pydantic: lone surrogates must survive, and nothing heavy may be loaded for it. A field
at its default is left out; an unknown field of an older row is ignored.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, TypeVar, cast

T = TypeVar("T")
Decode = Callable[[Any], Any]


def to_text(value: Any) -> str:
    """JSON text of a domain value or of JSON values; may hold lone surrogates."""
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))


def from_text(kind: type[T], text: str | bytes) -> T:
    """The domain value of type `kind` that `to_text` wrote."""
    return cast("T", decoder(kind)(json.loads(whole(text))))


def storable(text: str) -> str | bytes:
    """`text` as a column value: itself, or bytes where it is not valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def whole(stored: str | bytes) -> str:
    """The text that `storable` stored."""
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")


def plain(value: Any) -> Any:
    """JSON values of a domain value."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, frozenset | set):
        return sorted(plain(item) for item in cast("set[Any]", value))
    return _fields_of(value)


def _fields_of(value: Any) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for name, default in _defaults(cast("type[Any]", type(value))):
        item = getattr(value, name)
        if name == "kind" or item != default or type(item) is not type(default):
            written[name] = plain(item)
    return written


@cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    """Field names with their defaults; a field without one has a default that equals nothing."""
    found: list[tuple[str, Any]] = []
    for field in dataclasses.fields(kind):
        if field.default_factory is not dataclasses.MISSING:
            found.append((field.name, field.default_factory()))
        else:
            found.append((field.name, object() if field.default is dataclasses.MISSING else field.default))
    return tuple(found)


@cache
def decoder(kind: Any) -> Decode:
    """What makes a value of type `kind` out of JSON values.

    Raises:
        TypeError: the type is none that the vocabulary uses.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin in (tuple, frozenset):
        return _many(origin, decoder(arguments[0]))
    if dataclasses.is_dataclass(kind):
        return _dataclass(cast("type[Any]", kind))
    if kind is float:
        return float
    if kind in (str, int, bool, Any, type(None), dict) or origin in (Literal, Mapping, dict):
        return _same
    raise TypeError(f"no codec for {kind!r}")


def _same(value: Any) -> Any:
    return value


def _many(collect: Callable[[Any], Any], item: Decode) -> Decode:
    return lambda values: collect(item(value) for value in values)


def _union(members: tuple[Any, ...]) -> Decode:
    kinds = [member for member in members if member is not type(None)]
    if len(kinds) == 1:
        inner = decoder(kinds[0])
        return lambda value: None if value is None else inner(value)
    by_kind = {_kind_of(member): decoder(member) for member in kinds}
    return lambda value: by_kind[value["kind"]](value)


def _kind_of(member: Any) -> str:
    """The value that tells a member of a union; a dataclass with slots keeps it in its field only."""
    return next(str(field.default) for field in dataclasses.fields(member) if field.name == "kind")


def _dataclass(kind: type[Any]) -> Decode:
    hints = typing.get_type_hints(kind)
    fields = {field.name: decoder(hints[field.name]) for field in dataclasses.fields(kind)}
    return lambda value: kind(**{name: decode(value[name]) for name, decode in fields.items() if name in value})
