"""Bytes of a message → JSON values, and what a converter complained about → field paths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn, cast

from cattrs import transform_error

from codelaw.lsp.transport.errors import INVALID_REQUEST, PARSE_ERROR, WireError


def decode(body: bytes) -> dict[str, Any]:
    """The message in a body.

    Raises:
        WireError: -32700 for what is not JSON, -32600 for what is not an object, or one that is nested too deeply.
    """
    try:
        message = json.loads(body, parse_constant=_no_constant)
        if b"\\ud" in body or b"\\uD" in body:
            message = _without_lone_surrogates(message)
    except RecursionError:
        if begins_object(body):
            raise WireError(INVALID_REQUEST, "Invalid request: nested too deeply") from None
        raise WireError(PARSE_ERROR, "Parse error: nested too deeply") from None
    except ValueError as error:
        raise WireError(PARSE_ERROR, f"Parse error: {str(error)[:200]}") from None
    if not isinstance(message, dict):
        what = "batches are not supported" if isinstance(message, list) else "an object is expected"
        raise WireError(INVALID_REQUEST, f"Invalid request: {what}")
    return cast("dict[str, Any]", message)


def begins_object(body: bytes) -> bool:
    """Whether a body, whole or not, may be a message."""
    return body.lstrip()[:1] == b"{"


def _no_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _without_lone_surrogates(value: Any) -> Any:
    """Half a character cannot be stored or hashed: it becomes U+FFFD. In a loop, since clients may nest deeply."""
    waiting: list[Any] = [value]
    while waiting:
        box = waiting.pop()
        if isinstance(box, dict):
            told = cast("dict[str, Any]", box)
            mended = {_mended(key): _mended(item) for key, item in told.items()}
            told.clear()
            told.update(mended)
            waiting += mended.values()
        elif isinstance(box, list):
            box[:] = map(_mended, cast("list[Any]", box))
            waiting += box
    return value


def changed_uris(params: Any) -> Iterator[str]:
    """The uris of `workspace/didChangeWatchedFiles`, read as they are asked for; none for what is none.

    Its params are read by hand: typed, the hundred thousand of a checkout would hold up everybody else.
    """
    changes: Any = cast("dict[str, Any]", params).get("changes") if isinstance(params, dict) else None
    for one in cast("list[Any]", changes) if isinstance(changes, list) else ():
        uri: Any = cast("dict[str, Any]", one).get("uri") if isinstance(one, dict) else None
        if isinstance(uri, str):
            yield uri


def _mended(text: Any) -> Any:
    return (
        text
        if not isinstance(text, str) or text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def field_paths(error: Exception) -> list[dict[str, str]]:
    """A converter's complaint as field paths of the params."""
    found: list[dict[str, str]] = []
    for line in transform_error(error, path="$"):
        message, _, path = line.rpartition(" @ ")
        if path.startswith("$.params"):
            names = path.removeprefix("$.params").removeprefix(".").split(".")
            found.append({"path": ".".join(_camel(name) for name in names), "message": message})
    return found[:20] or [{"path": "", "message": "not the params of this method"}]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
