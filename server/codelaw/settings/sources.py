"""The places settings come from, each read into a layer."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codelaw.domain.presets import PRESETS
from codelaw.settings.reading import Fault, KeyPath, Layer, put, read_layer

PREFIX = "CODELAW_"
NOT_SETTINGS = frozenset({"CODELAW_HOME", "CODELAW_TOKEN"})
MAX_FILE = 1 << 20
"""Bytes of a settings file."""
UNREADABLE = "settings_unreadable"
"""The code of a file that gives nothing."""
_KEY = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_HEADER = re.compile(rf"\s*\[\[?\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]")
_VALUE = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=")
_PART = re.compile(_KEY)
_QUOTES = ('"""', "'''")
"""Around texts of several lines, which may hold what looks like a key."""
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")

MAIN_VARIABLES = {
    "ANTHROPIC_API_KEY": ("model", "apiKey"),
    "ANTHROPIC_AUTH_TOKEN": ("model", "authToken"),
    "ANTHROPIC_BASE_URL": ("model", "baseUrl"),
}
"""What counts as codelaw's own settings unless those name another provider."""
SDK_VARIABLES: dict[str, KeyPath] = MAIN_VARIABLES | {
    variable: ("model", "providers", preset.name, key)
    for preset in PRESETS.values()
    for key, names in (("apiKey", reversed(preset.keys)), ("baseUrl", (preset.address,)))
    for variable in names
    if variable not in MAIN_VARIABLES
}
"""Of two for one key the later here wins."""


def from_file(name: str, path: Path) -> Layer:
    """A TOML file. A missing one is an empty layer, one that is there and cannot be read a fault (S-1)."""
    layer = Layer(name, str(path))
    reason, line, text = "", None, ""
    try:
        content = _content(path)
        text = content.decode("utf-8-sig")
        layer = read_layer(name, str(path), tomllib.loads(text))
        layer.digest = hashlib.sha256(content).hexdigest()
        layer.faults = [replace(fault, line=line_of(text, fault.path, fault.value)) for fault in layer.faults]
    except FileNotFoundError:
        reason = _dangling(path)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        reason = "the file is not text in UTF-8"
    except tomllib.TOMLDecodeError as error:
        reason, line = _not_toml(str(error), text)
    except (ValueError, RecursionError) as error:
        reason = f"the file cannot be understood: {error}"
    except NotADirectoryError:
        reason = f"{path.parent} is not a folder"
    except OSError as error:
        reason = f"the file cannot be read: {error.strerror or error}"
    if reason:
        layer.faults.append(Fault(UNREADABLE, str(path), reason, line=line))
    layer.faults = [replace(fault, file=path) for fault in layer.faults]
    return layer


def _content(path: Path) -> bytes:
    """The bytes of a file, and of nothing else: a pipe or a device might never end.

    Raises:
        OSError: it cannot be read, is no file, or too large.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, "it is a folder" if stat.S_ISDIR(mode) else "it is not a file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(MAX_FILE + 1)
    finally:
        os.close(descriptor)
    if len(content) > MAX_FILE:
        raise OSError(0, f"it is larger than {MAX_FILE} bytes")
    return content


def _dangling(path: Path) -> str:
    """What is wrong where a link leads nowhere; empty where there is no file at all, which is no fault."""
    for place in (path, path.parent):
        if place.is_symlink():
            return f"{place} is a link that leads nowhere"
    return ""


def _not_toml(said: str, text: str) -> tuple[str, int]:
    """What the library says of a file, and the line it means."""
    match = _PLACE.search(said)
    line = int(match[1]) if match and match[1] else max(1, len(text.splitlines()))
    return f"the file is not TOML: {_PLACE.sub('', said)}", line


def from_environment(environ: Mapping[str, str]) -> list[Layer]:
    """`CODELAW_MODEL__BASE_URL` sets `model.baseUrl`; a value is JSON where that fits, else text; empty is unset."""
    layers: list[Layer] = []
    for variable, value in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable in NOT_SETTINGS or not value:
            continue
        layer = Layer("environment", variable)
        parts = variable.removeprefix(PREFIX).split("__")
        put(layer, tuple(_camel(part) for part in parts), value)
        layers.append(layer)
    return layers


def from_sdk(environ: Mapping[str, str]) -> list[Layer]:
    """The variables of the vendors' own SDKs, which are defaults of ours."""
    return [
        Layer("environment", variable, {path: value})
        for variable, path in SDK_VARIABLES.items()
        if (value := environ.get(variable))
    ]


def _camel(part: str) -> str:
    first, *rest = part.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)


def line_of(text: str, path: tuple[str, ...], value: object = None) -> int | None:
    """The line in a TOML file, from 1, of the key `path` or of what stands nearest above it; None where nothing does.

    With a text as `value`, the first line from there on that holds it.
    """
    lines, table, quote = text.splitlines(), (), ""
    found, depth = None, 0
    for number, line in enumerate(lines, 1):
        if not quote and (match := _HEADER.match(line) or _VALUE.match(line)):
            keys = tuple(part.strip("\"'") for part in _PART.findall(match[1]))
            if match.re is _HEADER:
                table = keys
            else:
                keys = table + keys
            shared = next((at for at, pair in enumerate(zip(keys, path, strict=False)) if pair[0] != pair[1]), None)
            shared = min(len(keys), len(path)) if shared is None else shared
            if shared > depth:
                found, depth = number, shared
        opened = quote or next((one for one in _QUOTES if one in line), "")
        if opened and line.count(opened) % 2:
            quote = "" if quote else opened
    if found is not None and isinstance(value, str) and value:
        found = next((number for number, line in enumerate(lines[found - 1 :], found) if value in line), found)
    return found
