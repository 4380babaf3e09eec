"""Domain values as JSON text, and text as SQLite takes it.

Written by hand rather than with pydantic: lone surrogates must survive, and nothing heavy may be loaded for it. A field
at its default is left out; an unknown field is ignored. What is read back is checked: a value handed out has the types
that the vocabulary says, down to JSON values that may be anything.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

T = TypeVar("T")
Decode = Callable[[Any], Any]

_REQUIRED: Any = object()
_decode = json.JSONDecoder().decode


class Unreadable(ValueError):
    """A stored text that is not what was written: torn, or of another shape."""


def to_text(value: Any) -> str:
    """JSON text of a domain value or of JSON values; may hold lone surrogates."""
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))


def from_text(kind: type[T], text: str | bytes) -> T:
    """The domain value of type `kind` that `to_text` wrote.

    Raises:
        Unreadable: the text is torn, or says something else.
    """
    return cast("T", decoder(kind)(parsed(text)))


def parsed(text: str | bytes) -> Any:
    """The JSON values of a stored text.

    Raises:
        Unreadable: it is not JSON, or nested beyond all measure.
    """
    try:
        return _decode(text if type(text) is str else whole(text))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"no JSON: {error}") from error


def salvaged(kind: type[T], text: str | bytes) -> T:
    """What can be read of a damaged value whose fields all have defaults; never raises."""
    try:
        values = parsed(text)
    except Unreadable:
        return kind()
    return kind(**salvaged_values(kind, cast("dict[str, Any]", values)) if isinstance(values, dict) else {})


def salvaged_values(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that can be read; never raises."""
    kept: dict[str, Any] = {}
    for name, decode in _fields(kind).items():
        with suppress(Unreadable, KeyError):
            kept[name] = decode(values[name])
    return kept


def storable(text: str) -> str | bytes:
    """`text` as a column value: itself, or bytes where it is not valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def text_or_bytes(stored: bytes) -> str | bytes:
    """A text column, or its bytes where they are torn: one damaged row must not hide the others."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


def whole(stored: str | bytes) -> str:
    """The text that `storable` stored.

    Raises:
        Unreadable: the bytes are torn.
    """
    if isinstance(stored, str):
        return stored
    try:
        return stored.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise Unreadable(str(error)) from error


def legible(stored: object) -> str:
    """What can be read of a column that should hold a text; never raises."""
    try:
        return whole(stored if isinstance(stored, str | bytes) else str(stored))
    except Unreadable:
        return cast("bytes", stored).decode("utf-8", "replace")


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
    if isinstance(value, Path):
        return str(value)
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
    """Field names with their defaults; a field without one has a mark that equals nothing else."""
    found: list[tuple[str, Any]] = []
    for field in dataclasses.fields(kind):
        if field.default_factory is not dataclasses.MISSING:
            found.append((field.name, field.default_factory()))
        else:
            found.append((field.name, _REQUIRED if field.default is dataclasses.MISSING else field.default))
    return tuple(found)


@cache
def decoder(kind: Any) -> Decode:
    """What makes a value of type `kind` out of JSON values, or raises `Unreadable`.

    Raises:
        TypeError: the type is none that the vocabulary uses.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin is Literal:
        return lambda value: _one_of(arguments, value)
    if origin in (tuple, frozenset):
        return _many(origin, decoder(arguments[0]))
    if dataclasses.is_dataclass(kind):
        return _dataclass(cast("type[Any]", kind))
    if kind is Any:
        return lambda value: value
    if kind is float:
        return _float
    if kind is str:
        return _text
    if kind is Path:
        return lambda value: Path(_text(value))
    if kind in (int, bool):
        return _exactly(kind)
    if kind is dict or origin in (Mapping, dict):
        return _dict
    raise TypeError(f"no codec for {kind!r}")


def _exactly(kind: Any) -> Decode:
    """Exactly the type: JSON gives no subclasses but bool, which is not a number here."""

    def decode(value: Any) -> Any:
        if type(value) is not kind:
            raise Unreadable(f"{kind.__name__} expected, found {type(value).__name__}")
        return value

    return decode


_list, _dict = _exactly(list), _exactly(dict)


def _text(value: Any) -> str:
    """A column may hold bytes, JSON never."""
    if type(value) is not str and type(value) is not bytes:
        raise Unreadable(f"str expected, found {type(value).__name__}")
    return whole(value)


def _one_of(allowed: tuple[Any, ...], value: Any) -> Any:
    if type(value) is not str or value not in allowed:
        raise Unreadable(f"one of {', '.join(allowed)} expected")
    return value


def _float(value: Any) -> float:
    if type(value) not in (int, float):
        raise Unreadable(f"number expected, found {type(value).__name__}")
    try:
        return float(value)
    except OverflowError as error:
        raise Unreadable("number out of range") from error


def _many(collect: Callable[[Any], Any], item: Decode) -> Decode:
    return lambda values: collect(item(value) for value in _list(values))


def _union(members: tuple[Any, ...]) -> Decode:
    kinds = [member for member in members if member is not type(None)]
    if len(kinds) == 1:
        inner = decoder(kinds[0])
        return lambda value: None if value is None else inner(value)
    by_kind = {_kind_of(member): decoder(member) for member in kinds}

    def decode(value: Any) -> Any:
        reported = _dict(value).get("kind")
        if type(reported) is not str or reported not in by_kind:
            raise Unreadable("kind unknown")
        return by_kind[reported](value)

    return decode


def _kind_of(member: Any) -> str:
    """The value that tells a member of a union; a dataclass with slots keeps it in its field only."""
    return next(str(field.default) for field in dataclasses.fields(member) if field.name == "kind")


def _dataclass(kind: type[Any]) -> Decode:
    fields = _fields(kind)

    def decode(value: Any) -> Any:
        values = _dict(value)
        try:
            return kind(**{name: fields[name](item) for name, item in values.items() if name in fields})
        except TypeError as error:  # a field is missing
            raise Unreadable(str(error)) from error

    return decode


@cache
def _fields(kind: type[Any]) -> dict[str, Decode]:
    hints = typing.get_type_hints(kind)
    return {field.name: decoder(hints[field.name]) for field in dataclasses.fields(kind)}
