"""The three kinds of wire types, how a field that is left out is spelt, and what several resources tell."""

from __future__ import annotations

import builtins
import functools
import types
import typing
from collections import abc
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Annotated, Any, Self, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from codelaw.domain import models

T = TypeVar("T")

TOLD = 20
"""Errors of params that are told."""
MESSAGES = {"extra_forbidden": "Unknown field", "model_type": "Input should be an object"}


class Params(BaseModel):
    """What a client sends: exact types, no unknown field. An optional field may be left out or null."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _few(cls, value: Any) -> Any:
        # Each unknown field is an error of its own: of very many, as many as are told are enough.
        given = cast("dict[Any, Any]", value if isinstance(value, dict) else {})
        if len(given) <= len(cls.model_fields) + TOLD:
            return cast("Any", value)
        known = {field.alias or name for name, field in cls.model_fields.items()}
        unknown = islice((name for name in given if name not in known), TOLD)
        return {name: given[name] for name in (*known.intersection(given), *unknown)}


_COPIES: dict[Any, type[BaseModel]] = {}
"""By class of the domain, what it is on the wire."""


def _sent(kind: Any) -> Any:
    """What a field of the domain is on the wire."""
    of = tuple(map(_sent, get_args(kind)))
    match get_origin(kind):
        case builtins.tuple | builtins.frozenset:
            return list[of[0]]
        case abc.Mapping:
            return dict[of[0], of[1]]
        case types.UnionType | typing.Union:
            return functools.reduce(lambda one, other: one | other, of)
        case _:
            return _COPIES[kind] if is_dataclass(kind) else kind


def _or_none(value: Any) -> Any:
    return value or None


OrNone = Annotated[T | None, BeforeValidator(_or_none)]
"""Of a field that is left out where there is nothing of it, or none."""


class Payload(BaseModel):
    """What we send. A field whose default is None is left out when it is None; any other None is sent as null.

    One that `copies` a class of the domain has its fields, but for those `without`; those of `maybe` are left out where
    there is nothing of them, those of `always` are sent even where they are None. What the body declares comes first.
    """

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    def __init_subclass__(
        cls, *, copies: type[Any] | None = None, without: str = "", maybe: str = "", always: str = "", **more: Any
    ) -> None:
        super().__init_subclass__(**more)
        if copies is None:
            return
        _COPIES[copies] = cls
        kinds, declared = get_type_hints(copies), {*without.split(), *cls.__annotations__}
        for field in fields(copies):
            name = field.name
            if name in declared:
                continue
            kind = _sent(kinds[name])
            if name in maybe.split():
                kind = OrNone[kind]
                setattr(cls, name, None)
            elif field.default in {None, *(get_args(kind) if name == "kind" else ())} and name not in always.split():
                setattr(cls, name, field.default)
            cls.__annotations__[name] = kind

    @classmethod
    def of(cls, value: object, **given: Any) -> Self:
        """With the fields of the same names that `value` has, but for those that are `given`; and so inside of them.

        Raises:
            ValidationError: there is a field without a default that is neither.
        """
        return cls.model_validate(cls.facts(value) | given if given else value, from_attributes=True)

    @classmethod
    def facts(cls, value: object) -> dict[str, Any]:
        """What `value` has of the fields, by name."""
        return {name: getattr(value, name) for name in cls.model_fields if hasattr(value, name)}

    @classmethod
    def told(cls, value: object) -> Payload:
        """An answer: itself, what it copies, or its fields one after the other, first those that must be there."""
        match value:
            case Payload():
                return value
            case None:
                values: tuple[Any, ...] = ()
            case tuple():
                values = cast("tuple[Any, ...]", value)
            case bool() | int() | str() | list() | dict():
                values = (cast("Any", value),)
            case _:
                return cls.of(value)
        names = sorted(cls.model_fields, key=lambda name: not cls.model_fields[name].is_required())
        return cls.model_validate(dict(zip(names, values, strict=False)), from_attributes=True)

    def wire(self) -> dict[str, Any]:
        """As JSON values. What is one already, as the arguments of a call, is not looked into."""
        values = ((alias, left_out, getattr(self, name)) for name, alias, left_out in _spelt(type(self)))
        return {alias: _plain(value) for alias, left_out, value in values if value is not None or not left_out}


def _plain(value: Any) -> Any:
    match value:
        case Payload():
            return value.wire()
        case list():
            return [*map(_plain, cast("list[Any]", value))]
        case dict():
            values = cast("dict[str, Any]", value)
            ours = isinstance(next(iter(values.values()), None), Payload)
            return {name: _plain(one) for name, one in values.items()} if ours else values
        case _:
            return value


@functools.cache
def _spelt(kind: type[Payload]) -> tuple[tuple[str, str, bool], ...]:
    """The fields by name, as they are spelt, and whether they are left out when they are None."""
    every = kind.model_fields.items()
    return tuple((name, field.alias or name, field.default is None) for name, field in every)


class CacheMissPayload(Payload, copies=models.CacheMiss):
    """Why the vendor's cache gave less than it could have: its own reason, or ours, and a few words for a person."""


class Reply(BaseModel):
    """What a client answers: exact types; fields we do not know are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, alias_generator=to_camel)


def field_errors(error: ValidationError) -> list[dict[str, str]]:
    """`data.errors` of a -32602: `path` like `attachments[0].uri`, empty for the params as a whole."""
    found: list[dict[str, str]] = []
    for detail in error.errors(include_url=False, include_input=False, include_context=False):
        path = ""
        for part in detail["loc"]:
            if not str(part).startswith("#"):  # which shape of several was meant
                path += f"[{part}]" if isinstance(part, int) else f".{part}"
        message = MESSAGES.get(detail["type"], detail["msg"])
        found.append({"path": path.removeprefix(".")[:200], "message": message})
    return found[:TOLD]
