"""The places settings come from, each read into a layer."""

from __future__ import annotations

import hashlib
import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codelaw.settings.reading import Layer, put, read_layer

PREFIX = "CODELAW_"
NOT_SETTINGS = frozenset({"CODELAW_HOME", "CODELAW_TOKEN"})
MAX_FILE = 1 << 20
"""Bytes of a settings file."""

SDK_VARIABLES = {
    "ANTHROPIC_API_KEY": ("model", "apiKey"),
    "ANTHROPIC_AUTH_TOKEN": ("model", "authToken"),
    "ANTHROPIC_BASE_URL": ("model", "baseUrl"),
}


def from_file(name: str, path: Path) -> Layer:
    """A TOML file; a missing one is an empty layer, an unreadable one a notice."""
    layer = Layer(name, str(path))
    try:
        content = _content(path)
        if content is None or len(content) > MAX_FILE:
            why = "it is not a file" if content is None else f"the file is larger than {MAX_FILE} bytes"
            layer.warn("settings_unreadable", f"{why}; ignored")
            return layer
        raw = tomllib.loads(content.decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return layer
    except (OSError, ValueError, RecursionError) as error:
        layer.warn("settings_unreadable", f"{error}; ignored")
        return layer
    layer = read_layer(name, str(path), raw)
    layer.digest = hashlib.sha256(content).hexdigest()
    return layer


def _content(path: Path) -> bytes | None:
    """At most one byte more than is allowed; None for a pipe or a device, which might never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_FILE + 1)
    finally:
        os.close(descriptor)


def from_environment(environ: Mapping[str, str]) -> list[Layer]:
    """`CODELAW_MODEL__BASE_URL` sets `model.baseUrl`; a value is JSON where that fits, else text; empty is unset."""
    layers: list[Layer] = []
    for variable, value in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable in NOT_SETTINGS or not value:
            continue
        layer = Layer("environment", variable)
        parts = variable.removeprefix(PREFIX).split("__")
        put(layer, tuple(_camel(part) for part in parts), value, texts=True)
        layers.append(layer)
    return layers


def from_sdk(environ: Mapping[str, str]) -> list[Layer]:
    """The variables of the vendor's own SDK, which are defaults of ours."""
    return [
        Layer("environment", variable, {path: value})
        for variable, path in SDK_VARIABLES.items()
        if (value := environ.get(variable))
    ]


def from_client(raw: Mapping[str, Any]) -> Layer:
    """What the editor sent; null means unset."""
    return read_layer("client", "the client's settings", raw)


def from_command_line(raw: Mapping[str, Any]) -> Layer:
    """Overrides, nested or with dotted keys; text is read as JSON where that fits."""
    layer = Layer("commandLine", "the command line")
    for key, value in raw.items():
        put(layer, tuple(key.split(".")), value, texts=True)
    return layer


def _camel(part: str) -> str:
    first, *rest = part.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)
