"""One layer's raw values → accepted leaves and notices.

A leaf is a path of keys with its value. The table's types say where leaves are, so that a dot inside a model's name
is no separator.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast, get_args, get_origin

from pydantic import ValidationError

from codelaw.domain.chats import Notice
from codelaw.settings.model import Group, Settings

KeyPath = tuple[str, ...]
MAX_SHOWN = 80
SECRETS = frozenset({"apiKey", "authToken", "url", "baseUrl", "servers"})
"""Keys whose values never appear in a message (S-5)."""


@dataclass(slots=True)
class Layer:
    """What one source says, checked."""

    name: str
    source: str
    """A file, a variable or a word for people."""
    values: dict[KeyPath, Any] = field(default_factory=dict[KeyPath, Any])
    problems: list[Notice] = field(default_factory=list[Notice])
    digest: str | None = None
    """SHA-256 of a file's bytes, hexadecimal; None where there is none."""

    def warn(self, code: str, message: str) -> None:
        """Add a notice that names the source."""
        self.problems.append(Notice("warning", code, f"{message} ({self.source})"))


@dataclass(frozen=True, slots=True)
class Leaf:
    """A place for one value."""

    group: type[Group]
    key: str
    attribute: str
    optional: bool

    def check(self, value: Any) -> Any:
        """The value as the table's type holds it; raises ValidationError."""
        return getattr(self.group.model_validate({self.key: value}), self.attribute)


@dataclass(frozen=True, slots=True)
class Named:
    """A table of groups under names of the user's choice."""

    group: type[Group]


Node = type[Group] | Leaf | Named


def dotted(path: KeyPath) -> str:
    """The key as people write it."""
    return ".".join(path)


@cache
def children(group: type[Group]) -> dict[str, Node]:
    """What stands under a group, by camelCase key."""
    found: dict[str, Node] = {}
    for name, info in group.model_fields.items():
        key = info.alias or name
        kind: Any = info.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            found[key] = kind
        elif get_origin(kind) is dict and isinstance(inner := get_args(kind)[1], type) and issubclass(inner, Group):
            found[key] = Named(inner)
        else:
            found[key] = Leaf(group, key, name, optional=info.default is None)
    return found


def read_layer(name: str, source: str, raw: Mapping[str, Any], *, texts: bool = False) -> Layer:
    """Check nested `raw` against the table. With `texts`, a string is read as JSON where that fits."""
    layer = Layer(name, source)
    _take(layer, Settings, (), raw, texts=texts)
    return layer


def put(layer: Layer, path: KeyPath, value: Any, *, texts: bool) -> None:
    """Check one value at `path`, which may name a leaf or a group."""
    raw = value
    for key in reversed(path[1:]):
        raw = {key: raw}
    _take(layer, Settings, (), {path[0]: raw}, texts=texts)


def _take(layer: Layer, node: Node, path: KeyPath, value: Any, *, texts: bool) -> None:
    if isinstance(node, Leaf):
        _leaf(layer, node, path, value, texts=texts)
        return
    if texts and isinstance(value, str):
        value = next(_as_json(value), value)
    if not isinstance(value, Mapping):
        layer.warn("bad_setting", f"{dotted(path)}: a table of keys is expected; ignored")
        return
    for key, inner in cast("Mapping[str, Any]", value).items():
        child = node.group if isinstance(node, Named) else children(node).get(key)
        if child is None:
            _unknown(layer, (*path, key), cast("type[Group]", node))
        elif inner is not None:
            _take(layer, child, (*path, key), inner, texts=texts)


def _leaf(layer: Layer, leaf: Leaf, path: KeyPath, value: Any, *, texts: bool) -> None:
    candidates = [*_as_json(value), value] if texts and isinstance(value, str) else [value]
    problem = ""
    for candidate in candidates:
        if candidate is None and leaf.optional:
            return
        try:
            layer.values[path] = leaf.check(candidate)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"][1:])
            problem = problem or f"{where}: {first['msg']}"
        else:
            return
    layer.warn("bad_setting", f"{dotted(path)}{problem}{_shown(path, value)}; ignored")


def _shown(path: KeyPath, value: Any) -> str:
    if SECRETS.intersection(path):
        return ""
    text = repr(value)
    return f", got {text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + '…'}"


def _unknown(layer: Layer, path: KeyPath, group: type[Group]) -> None:
    close = difflib.get_close_matches(path[-1][:MAX_SHOWN], list(children(group)), n=1)
    hint = f"; did you mean {dotted((*path[:-1], close[0]))}?" if close else ""
    layer.warn("unknown_setting", f"{dotted(path)[: MAX_SHOWN * 2]}: no such setting{hint}; ignored")


def _as_json(value: str) -> Iterator[Any]:
    try:
        yield json.loads(value)
    except (ValueError, RecursionError):
        return
