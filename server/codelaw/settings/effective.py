"""All layers together: effective values, where each came from, and what was wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal
from codelaw.domain.presets import PRESETS
from codelaw.domain.safety.unseen import visible_line
from codelaw.settings import effectless, sources
from codelaw.settings.hooks import HooksGroup
from codelaw.settings.model import Group, Settings
from codelaw.settings.reading import Fault, KeyPath, Layer, NamedGroups, children, dotted, put, read_layer
from codelaw.settings.workspace import ADDED, JOINED, restrict

MASK = "••••"
JOINED_LISTS = "a workspace's settings"
"""The source of lists to which a workspace adds."""
CREDENTIALS: tuple[KeyPath, ...] = (("model", "apiKey"), ("model", "authToken"))
_NOTHING = "No turn begins and nothing is searched until this is mended"
_BLOCKS = "No turn begins until this is mended."
_STAYS = "Until this is mended, what was read there before stays in force."
_LEFT_OUT = "It is left out of this run, and every write and command is asked about."


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
    faults: tuple[Fault, ...] = ()
    """What is wrong with sources that decide what may be done, and of which nothing better is known (S-1)."""
    stale: tuple[Fault, ...] = ()
    """What is wrong with sources that count as they did before."""
    layers: Mapping[tuple[str, str], Layer] = field(default_factory=dict[tuple[str, str], Layer], repr=False)
    """The sources without a fault, by name and source, as they are to stay in force when one gets a fault."""
    ignoring: bool = False
    """The user has asked to go on without the sources that have faults, and there are some."""

    def for_a_turn(self) -> Settings:
        """The settings for what begins now: a turn, a search, or a program of the user's.

        Raises:
            Refusal: `settings_unreadable`: they are not known well enough to begin anything (S-1).
        """
        if self.faults and not self.ignoring:
            first, more = self.faults[0], len(self.faults) - 1
            others = f" {more} more: `codelaw doctor` lists them." if more else ""
            raise Refusal("settings_unreadable", f"{_NOTHING}: {first}.{others}", _way_out(first))
        return self.value

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
    restricted: bool = False,
    before: EffectiveSettings | None = None,
    ignoring: bool = False,
) -> EffectiveSettings:
    """Read every layer; the later wins, and nothing raises: what is wrong becomes a notice and the value below stays.

    What is wrong where it is decided what may be done is a fault (S-1): the source counts as it did in `before`, what
    was in force until now. Where it did not, the settings are `tightened`, and no turn begins, but with `ignoring`.
    `client` is nested like the table, without a prefix. Of several workspace files the first one that sets
    a key wins; those whose digest is the one in `trusted` count in full, the others only tighten (S-3). With
    `restricted`, in a folder that the editor does not trust, nothing of them counts but what they deny (S-7). Touches
    the disk.
    """
    merged: dict[KeyPath, Any] = {}
    won: dict[KeyPath, Layer] = {}
    problems: list[Notice] = []
    faults: list[Fault] = []
    stale: list[Fault] = []
    sound: dict[tuple[str, str], Layer] = {}

    def taken(layer: Layer) -> Layer:
        """The layer; one with faults as it was before, where it was read without any."""
        key = (layer.name, layer.source)
        old = before.layers.get(key) if before is not None and layer.faults else None
        for fault in layer.faults:
            outcome = _STAYS if old is not None else _LEFT_OUT if ignoring else _BLOCKS
            problems.append(Notice("error", fault.code, f"{fault}. {outcome}"))
        (faults if old is None else stale).extend(layer.faults)
        if not layer.faults or old is not None:
            sound[key] = layer = old or layer
        return layer

    def lay(layer: Layer) -> None:
        problems.extend(layer.problems)
        for path, value in layer.values.items():
            merged[path] = value
            won[path] = layer

    sdk = sources.from_sdk(environ)
    for layer in sdk:
        lay(layer)
    if user_file is not None:
        lay(taken(sources.from_file("user", user_file)))
    added: dict[KeyPath, list[Any]] = {path: [] for path in (*ADDED, *JOINED)}
    files: list[WorkspaceFile] = []
    for file in reversed(workspace_files):
        layer = taken(sources.from_file("workspace", file))
        if restricted:
            for path in ADDED:
                added[path].extend(layer.values.get(path, []))
            continue
        narrow = restrict(layer, dict(_leaves(Settings())) | merged)
        known = layer.digest is not None and (trusted or {}).get(file) == layer.digest
        if layer.digest is not None:
            held = {path: value for path, value in layer.values.items() if path not in narrow.values}
            reported = {visible_line(dotted(path)): _spelled(path, value) for path, value in held.items()}
            files.insert(0, WorkspaceFile(file, layer.digest, known, reported))
        counts = layer if known else narrow
        for path, entries in added.items():
            entries.extend(counts.values.get(path, []))
        lay(replace(counts, values={path: value for path, value in counts.values.items() if path not in added}))
    for layer in sources.from_environment(environ):
        lay(taken(layer))
    if client is not None:
        lay(taken(read_layer("client", "the client's settings", client)))

    _one_credential(merged, won, sdk)
    joined = Layer("workspace", JOINED_LISTS)
    for path, entries in added.items():
        if entries:
            every = [*merged.get(path, []), *entries]
            put(joined, path, [entry for at, entry in enumerate(every) if entry not in every[:at]])
    for path, value in taken(joined).values.items():
        merged[path], won[path] = value, won.get(path, joined)
    value = Settings.model_validate(_nested(merged))
    origins = {dotted(path): "default" for path, _ in _leaves(value)}
    origins |= {dotted(path): layer.name for path, layer in won.items()}
    named = {dotted(path): layer.source for path, layer in won.items()}
    problems += effectless.notices(value, named)
    if faults:
        value = tightened(value, unknown=not ignoring)
    return EffectiveSettings(
        value,
        origins,
        problems,
        named,
        files=tuple(files),
        faults=tuple(faults),
        stale=tuple(stale),
        layers=sound,
        ignoring=ignoring and bool(faults),
    )


def tightened(value: Settings, *, unknown: bool) -> Settings:
    """Settings under which nothing is allowed that a source which cannot be read may have refused (S-1).

    Where its deny rules are `unknown` and nobody has said to go on without them, nothing is read or run.
    """
    denied = [*value.permissions.deny, *(("Read", "Edit", "Bash") if unknown else ())]
    default = "deny" if value.permissions.default == "deny" else "ask"
    rules = value.permissions.model_copy(update={"allow": [], "deny": denied, "default": default})
    bash = value.tools.bash.model_copy(update={"sandbox": "require", "network": False})
    tools, hooks = value.tools.model_copy(update={"bash": bash}), HooksGroup() if unknown else value.hooks
    return value.model_copy(update={"permissions": rules, "tools": tools, "hooks": hooks})


def _way_out(fault: Fault) -> str:
    """What to do about it."""
    if fault.file is not None:
        reported = "Mend the file: it counts as soon as it is saved."
        return f"{reported} `codelaw chat --ignore-settings` talks without it, and asks about every write and command."
    if fault.source.startswith(sources.PREFIX):
        return "Mend this variable of the environment, and start codelaw again."
    if fault.source == JOINED_LISTS:
        return "Take entries out of one of the settings files: their lists are added together."
    return "Mend it where the editor keeps its settings: it counts as soon as the editor sends them."


def _one_credential(merged: dict[KeyPath, Any], won: dict[KeyPath, Layer], sdk: Sequence[Layer]) -> None:
    """A key set for codelaw silences the SDK's variables: two credentials in one request would contradict."""
    if merged.get(("model", "provider")) in PRESETS.keys() - {"anthropic"}:
        for layer in sdk:  # they are Anthropic's, and go to nobody else
            ((path, value),) = layer.values.items()
            if layer.source in sources.MAIN_VARIABLES:
                if won.get(path) is layer:
                    del merged[path], won[path]
                own = ("model", "providers", "anthropic", "baseUrl" if path[-1] == "baseUrl" else "apiKey")
                merged.setdefault(own, value)
                won.setdefault(own, layer)
    ours = [path for path in CREDENTIALS if path in won and won[path].source not in sources.SDK_VARIABLES]
    if ours:
        for path in CREDENTIALS:
            if path not in ours and path in merged:
                del merged[path], won[path]


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
            elif isinstance(node, NamedGroups):
                for named, entry in inner.items():
                    visit(entry, (*path, key, named))
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
    return visible_line(json.dumps(value, ensure_ascii=False, default=str))


def _without_secrets(server: Mapping[str, Any]) -> dict[str, Any]:
    """All that a server is started with or reached by; of variables and headers the names."""
    shown = dict(server)
    for key in ("env", "headers"):
        if isinstance(shown.get(key), Mapping):
            shown[key] = dict.fromkeys(cast("Mapping[str, Any]", shown[key]), MASK)
    if "url" in shown:
        shown["url"] = _without_password(str(shown["url"]))
    return shown


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
