"""All layers together: effective values, where each came from, and what was wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from codelaw.domain.chats import Notice
from codelaw.domain.safety.unseen import visible_line
from codelaw.settings import effectless, sources
from codelaw.settings.model import Group, Settings
from codelaw.settings.reading import KeyPath, Layer, children, dotted
from codelaw.settings.workspace import ADDED, JOINED, restrict

MASK = "••••"
CREDENTIALS: tuple[KeyPath, ...] = (("model", "apiKey"), ("model", "authToken"))


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """A workspace's own settings file as it was read (S-3)."""

    path: Path
    digest: str
    """SHA-256 of its bytes, hexadecimal."""
    trusted: bool
    held: dict[str, str]
    """By dotted key, what counts only when the user trusts the folder, as JSON, secrets masked; also when it does."""


@dataclass(frozen=True, slots=True)
class EffectiveSettings:
    """The settings in force."""

    value: Settings
    origins: dict[str, str]
    """By dotted key: `default`, `user`, `workspace`, `environment`, `client` or `commandLine`."""
    problems: list[Notice]
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """The file or variable behind a key that is not a default."""
    files: tuple[WorkspaceFile, ...] = ()
    """The workspace's own files that were found, the first folder's first (S-3)."""

    def describe(self) -> dict[str, Any]:
        """`{"settings": {key: {"value", "origin", "source"?}}}`, keys and passwords masked (S-5)."""
        settings: dict[str, Any] = {}
        for path, value in _leaves(self.value):
            key = dotted(path)
            entry = {"value": _masked(path, value), "origin": self.origins.get(key, "default")}
            if key in self.sources:
                entry["source"] = self.sources[key]
            settings[key] = entry
        return {"settings": settings}


def load_settings(
    *,
    environ: Mapping[str, str],
    user_file: Path | None = None,
    workspace_files: Sequence[Path] = (),
    trusted: Mapping[Path, str] | None = None,
    client: Mapping[str, Any] | None = None,
    cli: Mapping[str, Any] | None = None,
    restricted: bool = False,
) -> EffectiveSettings:
    """Read every layer; the later wins, and nothing raises: what is wrong becomes a notice and the value below stays.

    `client` and `cli` are nested like the table, without a prefix. Of several workspace files the first one that sets
    a key wins; those whose digest is the one in `trusted` count in full, the others only tighten (S-3). With
    `restricted`, in a folder that the editor does not trust, nothing of them counts but what they deny (S-7). Touches
    the disk.
    """
    merged: dict[KeyPath, Any] = {}
    won: dict[KeyPath, Layer] = {}
    problems: list[Notice] = []

    def lay(layer: Layer) -> None:
        problems.extend(layer.problems)
        for path, value in layer.values.items():
            merged[path] = value
            won[path] = layer

    for layer in sources.from_sdk(environ):
        lay(layer)
    if user_file is not None:
        lay(sources.from_file("user", user_file))
    added: dict[KeyPath, list[Any]] = {path: [] for path in (*ADDED, *JOINED)}
    files: list[WorkspaceFile] = []
    for file in reversed(workspace_files):
        layer = sources.from_file("workspace", file)
        if restricted:
            for path in ADDED:
                added[path].extend(layer.values.get(path, []))
            continue
        narrow = restrict(layer, _with_defaults(merged))
        known = layer.digest is not None and (trusted or {}).get(file) == layer.digest
        if layer.digest is not None:
            held = {path: value for path, value in layer.values.items() if path not in narrow.values}
            told = {readable(dotted(path)): _spelled(path, value) for path, value in held.items()}
            files.insert(0, WorkspaceFile(file, layer.digest, known, told))
        if not known:
            layer = narrow
        for path, entries in added.items():
            entries.extend(layer.values.pop(path, []))
        lay(layer)
    for layer in sources.from_environment(environ):
        lay(layer)
    if client is not None:
        lay(sources.from_client(client))
    if cli is not None:
        lay(sources.from_command_line(cli))

    _one_credential(merged, won)
    for path, entries in added.items():
        if entries:
            every = [*merged.get(path, []), *entries]
            merged[path] = [entry for at, entry in enumerate(every) if entry not in every[:at]]
            won[path] = won.get(path) or Layer("workspace", "a workspace's settings")
    value = Settings.model_validate(_nested(merged))
    origins = {dotted(path): "default" for path, _ in _leaves(value)}
    origins |= {dotted(path): layer.name for path, layer in won.items()}
    named = {dotted(path): layer.source for path, layer in won.items()}
    problems += effectless.notices(value, _leaves(value), named)
    return EffectiveSettings(value, origins, problems, named, tuple(files))


def _one_credential(merged: dict[KeyPath, Any], won: dict[KeyPath, Layer]) -> None:
    """A key set for codelaw silences the SDK's variables: two credentials in one request would contradict."""
    ours = [path for path in CREDENTIALS if path in won and won[path].source not in sources.SDK_VARIABLES]
    if ours:
        for path in CREDENTIALS:
            if path not in ours and path in merged:
                del merged[path], won[path]


def _with_defaults(merged: Mapping[KeyPath, Any]) -> dict[KeyPath, Any]:
    return dict(_leaves(Settings())) | dict(merged)


def _nested(values: Mapping[KeyPath, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        node = tree
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = value
    return tree


def _leaves(value: Settings) -> list[tuple[KeyPath, Any]]:
    found: list[tuple[KeyPath, Any]] = []

    def visit(group: Group, path: KeyPath) -> None:
        for (key, node), name in zip(children(type(group)).items(), type(group).model_fields, strict=True):
            inner: Any = getattr(group, name)
            if isinstance(node, type):
                visit(inner, (*path, key))
            elif key == "models" and not path:
                for model, entry in inner.items():
                    visit(entry, (*path, key, model))
            else:
                found.append(((*path, key), inner))

    visit(value, ())
    return found


def _masked(path: KeyPath, value: Any) -> Any:
    if value is None:
        return None
    if path[-1] in {"apiKey", "authToken"}:
        return MASK
    if path[-1] in {"url", "baseUrl"}:
        return _without_password(str(value))
    if path == ("mcp", "servers"):
        return {name: _masked_server(server) for name, server in value.items()}
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def _spelled(path: KeyPath, value: Any) -> str:
    """A value as the user sees it before they trust it: whole but for secrets, and nothing in it unseen."""
    if path == ("mcp", "servers"):
        value = {name: _without_secrets(server) for name, server in value.items()}
    else:
        value = _masked(path, value)
    return readable(json.dumps(value, ensure_ascii=False, default=str))


def _without_secrets(server: Mapping[str, Any]) -> dict[str, Any]:
    """All that a server is started with or reached by; of variables and headers the names."""
    shown = dict(server)
    for key in ("env", "headers"):
        if isinstance(shown.get(key), Mapping):
            shown[key] = dict.fromkeys(cast("Mapping[str, Any]", shown[key]), MASK)
    if "url" in shown:
        shown["url"] = _without_password(str(shown["url"]))
    return shown


def readable(text: str) -> str:
    """The text on one line, with what is not seen written as its code."""
    return visible_line(text)


def _masked_server(server: Mapping[str, Any]) -> dict[str, Any]:
    """A server's name and program only: arguments, addresses, headers and variables may hold keys."""
    return {key: inner if key in {"command", "type"} else MASK for key, inner in server.items()}


def _without_password(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return MASK
    at = parts.netloc.rpartition("@")
    host = f"{MASK}@{at[2]}" if at[1] else parts.netloc
    return urlunsplit((parts.scheme, host, parts.path, MASK if parts.query else "", ""))
