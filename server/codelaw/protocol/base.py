"""The three kinds of wire types, how a field that is left out is spelt, and what several resources tell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Annotated, Any, Self, TypeVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic.alias_generators import to_camel

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


class Payload(BaseModel):
    """What we send. A field whose default is None is left out when it is None; any other None is sent as null."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    @classmethod
    def of(cls, value: object, **given: Any) -> Self:
        """With the fields of the same names that `value` has, but for those that are `given`; and so inside of them.

        Raises:
            ValidationError: there is a field without a default that is neither.
        """
        if given:
            names = (name for name in cls.model_fields if name not in given and hasattr(value, name))
            value = {name: getattr(value, name) for name in names} | given
        return cls.model_validate(value, from_attributes=True)

    @model_serializer(mode="wrap")
    def _leave_out(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        body: dict[str, Any] = handler(self)
        for name, alias in _left_out(type(self)):
            if getattr(self, name) is None:
                body.pop(alias, None)
        return body

    def wire(self) -> dict[str, Any]:
        """As JSON values."""
        return self.model_dump(by_alias=True)


@cache
def _left_out(kind: type[Payload]) -> tuple[tuple[str, str], ...]:
    """The fields that are left out when they are None, by name and as they are spelt."""
    fields = kind.model_fields.items()
    return tuple((name, field.alias or name) for name, field in fields if field.default is None)


def _or_none(value: Any) -> Any:
    return value or None


OrNone = Annotated[T | None, BeforeValidator(_or_none)]
"""Of a field that is left out where there is nothing of it, or none."""


class CacheMiss(Payload):
    """Why the vendor's cache gave less than it could have: its own reason, or ours, and a few words for a person."""

    reason: str
    words: str


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


@dataclass(frozen=True, slots=True)
class Method:
    """One request's types."""

    params: type[Params]
    result: type[Payload]
    started: type[Payload] | None = None
    """What the method's command answers at once, where the work is long; None: the same as `result`."""
