"""The converter of LSP's own params: nothing but an array is an array, and a wrong one costs a few of its items.

Its own hook of arrays takes whatever can be iterated, a string character by character, and keeps an error with its
traceback for every item that is wrong (V-2).
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast, get_args

from cattrs import BaseConverter, Converter, IterableValidationError, IterableValidationNote
from cattrs.cols import is_sequence
from lsprotocol.converters import get_converter

MOST_ERRORS = 20
"""Wrong items of an array after which no more of them are looked at."""


@cache
def converter() -> Converter:
    """The one of all connections: to make it is most of what a connection's beginning costs."""
    made = get_converter()
    made.register_structure_hook_factory(is_sequence, _sequences)
    return made


def _sequences(kind: Any, converter: BaseConverter) -> Any:
    item = next(iter(get_args(kind)), Any)

    def structure(value: Any, _: Any) -> list[Any]:
        if not isinstance(value, list):
            message = f"an array is expected, not {type(value).__name__}"
            raise TypeError(message)
        if item is Any:
            return cast("list[Any]", value)
        read: list[Any] = []
        errors: list[Exception] = []
        hook = converter.get_structure_hook(item)
        for index, one in enumerate(cast("list[Any]", value)):
            try:
                read.append(hook(one, item))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is wrong with the item
                note = IterableValidationNote(f"Structuring {kind} @ index {index}", index, item)
                error.__notes__ = [*getattr(error, "__notes__", []), note]
                errors.append(error)
                if len(errors) == MOST_ERRORS:
                    break
        if errors:
            about = f"While structuring {kind!r}"
            raise IterableValidationError(about, errors, kind)  # pyright: ignore[reportCallIssue] - its base's `__new__`
        return read

    return structure
