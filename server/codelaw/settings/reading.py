"""One layer's raw values → accepted leaves and notices.

A leaf is a path of keys with its value. The table's types say where leaves are, so that a dot inside a model's name
is no separator.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args, get_origin

from pydantic import ValidationError

from codelaw.domain.chats import Notice
from codelaw.domain.safety.unseen import visible_line
from codelaw.permissions.rules import MAX_RULES
from codelaw.settings.model import Group, Settings

KeyPath = tuple[str, ...]
MAX_SHOWN = 80
MOST_SAID = 400
"""Characters of a reason; a file that somebody else has written may make it long."""
SECRETS = frozenset({"apiKey", "authToken", "url", "baseUrl", "servers"})
"""Keys whose values never appear in a message (S-5)."""
GUARDED: tuple[KeyPath, ...] = (("permissions",), ("hooks",), ("tools", "bash"), ("mcp",))
"""What decides what may be done: anything wrong here is a fault (S-1)."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a source that decides what may be done: no turn begins until it is mended (S-1)."""

    code: str
    source: str
    """A file, a variable or a word for people."""
    reason: str
    path: KeyPath = ()
    """The key that is wrong; empty for the source as a whole."""
    value: Any = field(default=None, repr=False)
    """What stands there, as far as it helps to find the line."""
    file: Path | None = None
    line: int | None = None

    def __str__(self) -> str:
        where = f"{self.source}, line {self.line}" if self.line else self.source
        return visible_line(f"{self.reason[:MOST_SAID]} ({where})")


@dataclass(slots=True)
class Layer:
    """What one source says, checked."""

    name: str
    source: str
    """A file, a variable or a word for people."""
    values: dict[KeyPath, Any] = field(default_factory=dict[KeyPath, Any])
    problems: list[Notice] = field(default_factory=list[Notice])
    faults: list[Fault] = field(default_factory=list[Fault])
    digest: str | None = None
    """SHA-256 of a file's bytes, hexadecimal; None where there is none."""

    def warn(self, code: str, message: str) -> None:
        """Add a notice that names the source."""
        self.problems.append(Notice("warning", code, f"{message} ({self.source})"))

    def wrong(self, code: str, message: str, path: KeyPath, value: Any = None, *, meant: KeyPath | None = None) -> None:
        """Add what is wrong at a key: a fault where it, or the one that was meant, is guarded; else a notice."""
        if guarded(path) or (meant is not None and guarded(meant)):
            self.faults.append(Fault(code, self.source, message, path, value))
        else:
            self.warn(code, f"{message}; ignored")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A place for one value."""

    group: type[Group]
    key: str
    attribute: str

    def check(self, value: Any) -> Any:
        """The value as the table's type holds it; raises ValidationError."""
        return getattr(self.group.model_validate({self.key: value}), self.attribute)


@dataclass(frozen=True, slots=True)
class NamedGroups:
    """A table of groups under names of the user's choice."""

    group: type[Group]


Node = type[Group] | Leaf | NamedGroups


def dotted(path: KeyPath) -> str:
    """The key as people write it."""
    return ".".join(path)


def guarded(path: KeyPath) -> bool:
    """Whether a key is guarded, or lies above one that is."""
    return any(path[: len(key)] == key or key[: len(path)] == path for key in GUARDED)


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
            found[key] = NamedGroups(inner)
        else:
            found[key] = Leaf(group, key, name)
    return found


def read_layer(name: str, source: str, raw: Any) -> Layer:
    """Check nested `raw` against the table; what is no table at all is a fault."""
    layer = Layer(name, source)
    _take(layer, Settings, (), raw)
    return layer


def put(layer: Layer, path: KeyPath, value: Any) -> None:
    """Check one value at `path`, which may name a leaf or a group."""
    raw = value
    for key in reversed(path[1:]):
        raw = {key: raw}
    _take(layer, Settings, (), {path[0]: raw})


def _take(layer: Layer, node: Node, path: KeyPath, value: Any) -> None:
    if isinstance(node, Leaf):
        _leaf(layer, node, path, value)
        return
    value = _spellings(layer, value)[0]
    if not isinstance(value, Mapping):
        layer.wrong("bad_setting", f"{dotted(path) or 'settings'}: a table of keys is expected", path)
        return
    for key, inner in cast("Mapping[str, Any]", value).items():
        child = node.group if isinstance(node, NamedGroups) else children(node).get(key)
        if child is None:
            _unknown(layer, (*path, key), cast("type[Group]", node))
        elif inner is not None:
            _take(layer, child, (*path, key), inner)


def _leaf(layer: Layer, leaf: Leaf, path: KeyPath, value: Any) -> None:
    problem, place = "", None
    for candidate in _spellings(layer, value):
        try:
            layer.values[path] = leaf.check(candidate)
        except ValidationError as error:
            if problem:
                continue
            first = error.errors(include_url=False, include_input=False)[0]
            where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"][1:])
            problem = f"{where}: {first['msg'].removeprefix('Value error, ')}"
            place = _entry(candidate, first["loc"][1:])
            if guarded(path) and isinstance(candidate, list):
                with suppress(ValidationError):
                    layer.values[path] = leaf.check(_sound(leaf, cast("list[Any]", candidate)[:MAX_RULES]))
        else:
            return
    shown = value if place is None else place
    layer.wrong("bad_setting", f"{dotted(path)}{problem}{_shown(path, shown)}", path, place)


def _sound(leaf: Leaf, entries: list[Any]) -> list[Any]:
    """The entries of a list that nothing is wrong with: whoever goes on without the others keeps these."""
    found: list[Any] = []
    for entry in entries:
        with suppress(ValidationError):
            found += leaf.check([entry])
    return found


def _entry(value: Any, where: tuple[int | str, ...]) -> Any:
    """The entry of a list that is wrong; None where it is not one alone."""
    at = where[0] if where else None
    if not isinstance(value, list) or not isinstance(at, int):
        return None
    return next(iter(cast("list[Any]", value)[at:]), None)


def _shown(path: KeyPath, value: Any) -> str:
    if SECRETS.intersection(path):
        return ""
    text = repr(value)
    return f", got {text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + '…'}"


def _unknown(layer: Layer, path: KeyPath, group: type[Group]) -> None:
    name, known = path[-1][:MAX_SHOWN], list(children(group))
    alike = [key for key in known if key.casefold() == name.casefold()]
    close = [*alike, *difflib.get_close_matches(name, known, n=1)]
    meant = (*path[:-1], close[0]) if close else (*path[:-1], *name.split("."))
    hint = f"; did you mean {dotted(meant)}?" if close else ""
    layer.wrong("unknown_setting", f"{dotted(path)[: MAX_SHOWN * 2]}: no such setting{hint}", path, meant=meant)


def _spellings(layer: Layer, value: Any) -> list[Any]:
    """What a value may mean: a text of the environment is read as JSON where that fits."""
    found: list[Any] = [value]
    if layer.name == "environment" and isinstance(value, str):
        with suppress(ValueError, RecursionError):
            found.insert(0, json.loads(value))
    return found
