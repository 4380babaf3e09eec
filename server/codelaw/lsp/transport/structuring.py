"""The converter of LSP's own params: nothing but an array is an array, and a wrong one costs a few of its items.

Of documents nothing is guessed either: what is no text would be made one.

Its own hook of arrays takes whatever can be iterated, a string character by character, and keeps an error with its
traceback for every item that is wrong (V-2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, cast, get_args

from cattrs import BaseConverter, Converter, IterableValidationError, IterableValidationNote, transform_error
from cattrs.cols import is_sequence
from lsprotocol import types
from lsprotocol.converters import get_converter

_SPOKEN = {str: "a string", int: "an integer"}
_POSITION = {"line": int, "character": int}
_EXACT: dict[type, Mapping[str, Any]] = {
    types.TextDocumentItem: {"uri": str, "version": int, "text": str},
    types.TextDocumentIdentifier: {"uri": str},
    types.VersionedTextDocumentIdentifier: {"uri": str, "version": int},
    types.TextDocumentContentChangeWholeDocument: {"text": str},
    types.TextDocumentContentChangePartial: {"text": str, "range": {"start": _POSITION, "end": _POSITION}},
}
"""Fields by their types, or by those of their own fields."""
MOST_ERRORS = 20
"""Wrong items of an array after which no more of them are looked at."""


@cache
def converter() -> Converter:
    """The one of all connections: to make it is most of what a connection's beginning costs."""
    made = get_converter()
    made.register_structure_hook_factory(is_sequence, _sequences)
    for kind, wanted in _EXACT.items():
        made.register_structure_hook(kind, _exact(made.get_structure_hook(kind), wanted))
    return made


def _exact(hook: Callable[[Any, Any], Any], wanted: Mapping[str, Any]) -> Callable[[Any, Any], Any]:
    """The same for an object whose fields have these types."""

    def structure(value: Any, kind: Any) -> Any:
        _check(value, wanted)
        given: dict[str, Any] = value
        # Which language it is decides nothing, and a document that is not known as open would be read from the disk.
        if not isinstance(given.get("languageId", ""), str):
            given = {**given, "languageId": ""}
        return hook(given, kind)

    return structure


def _check(value: Any, wanted: Mapping[str, Any]) -> None:
    if not isinstance(value, dict):
        message = f"an object is expected, not {type(value).__name__}"
        raise TypeError(message)
    given = cast("dict[str, Any]", value)
    for name, of in wanted.items():
        if isinstance(of, Mapping):
            _check(given.get(name), cast("Mapping[str, Any]", of))
        elif type(given.get(name)) is not of:
            message = f"{name}: {_SPOKEN[of]} is expected"
            raise TypeError(message)


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


def field_paths(error: Exception) -> list[dict[str, str]]:
    """The converter's complaint as field paths of the params."""
    found: list[dict[str, str]] = []
    for line in transform_error(error, path="$"):
        message, _, path = line.rpartition(" @ ")
        if path.startswith("$.params"):
            names = path.removeprefix("$.params").removeprefix(".").split(".")
            found.append({"path": ".".join(map(_camel, names)), "message": message})
    return found[:MOST_ERRORS] or [{"path": "", "message": "not the params of this method"}]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def changed_uris(params: Any) -> Iterator[str]:
    """The uris of `workspace/didChangeWatchedFiles`, read as they are asked for; none for what is none.

    Its params are read by hand: typed, the hundred thousand of a checkout would hold up everybody else.
    """
    changes: Any = cast("dict[str, Any]", params).get("changes") if isinstance(params, dict) else None
    for one in cast("list[Any]", changes) if isinstance(changes, list) else ():
        uri: Any = cast("dict[str, Any]", one).get("uri") if isinstance(one, dict) else None
        if isinstance(uri, str):
            yield uri
