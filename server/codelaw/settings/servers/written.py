"""Servers as somebody has written them down: read leniently, and nothing of them believed yet (X-3)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from codelaw.domain.chats import Notice
from codelaw.domain.safety.unseen import visible_line
from codelaw.domain.served import Pin
from codelaw.settings.servers.lenient_json import lenient_json

SETTINGS = "settings"
"""The source of servers that the user's own settings name."""
FILES = ((".mcp.json", "mcpServers"), (".vscode/mcp.json", "servers"))
"""Where a workspace folder may name servers, and the key below which; the first counts more."""
LONGEST_FILE = 1_000_000
"""Characters (S-6)."""
MOST_SERVERS = 50
LONGEST_NAME = 24
"""Characters of a server's name in the names of its tools."""
LONGEST_TEXT = 32_000
"""Characters of one text of a server's table."""
MOST_TEXTS = 1_000
PROBLEM = "mcp_problem"
"""The code of notices about what is written."""

_FIELDS = frozenset({"type", "command", "args", "env", "envFile", "cwd", "url", "headers", "disabled"})
_TELLS_NOTHING = frozenset({"name", "description", "version", "gallery", "note"})
"""Fields of other programs that change nothing in how a server is started."""
_SHOWN_NAME = 80


@dataclass(frozen=True, slots=True)
class WrittenServer:
    """A server as written, its variables not filled in."""

    name: str
    """As tools and rules spell it: letters, digits, `-` and single `_`."""
    table: Mapping[str, Any] = field(hash=False)
    """Texts, lists of texts and tables of texts alone, by the names of `_FIELDS`."""
    source: str
    """Where it is written, as people know it."""
    folder: Path | None = None
    """The root of the workspace folder whose file names it; None for the user's own settings."""
    pins: tuple[Pin, ...] = ()
    """The files of the workspace that it is started from."""

    @property
    def key(self) -> str:
        """Which server it is, for what is remembered of it."""
        place = "" if self.folder is None else f"{self.folder}/{self.source.rpartition('/')[2]}"
        return f"{place}#{self.name}"

    @property
    def digest(self) -> str:
        """SHA-256 of all that it is started with or reached by, hexadecimal."""
        told = {key: value for key, value in self.table.items() if key != "disabled"}
        if self.pins:
            told[""] = {pin.shown: pin.digest for pin in self.pins}
        written = json.dumps(told, ensure_ascii=True, sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source says, and what is wrong with it."""

    servers: tuple[WrittenServer, ...] = ()
    notices: tuple[Notice, ...] = ()


def safe_name(name: str) -> str:
    """A server's name as it stands in the names of its tools; no two underscores follow each other in it."""
    plain = re.sub("[^A-Za-z0-9-]+", "_", name).strip("_")
    if plain == name and 0 < len(name) <= LONGEST_NAME:
        return name
    if len(plain) <= LONGEST_NAME and plain:
        return plain
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{plain[: LONGEST_NAME - 7].rstrip('_')}_{mark}".lstrip("_")


def read_file(text: str, key: str, source: str, folder: Path) -> Reading:
    """The servers of a workspace's file, `.mcp.json` or `.vscode/mcp.json`, below `key`."""
    if len(text) > LONGEST_FILE:
        return Reading(notices=(_problem(source, f"it has more than {LONGEST_FILE} characters"),))
    try:
        document = lenient_json(text)
    except ValueError as error:
        return Reading(notices=(_problem(source, f"it is not JSON: {error}"),))
    table: Any = cast("dict[str, Any]", document).get(key, {}) if isinstance(document, dict) else None
    if not isinstance(table, dict):
        return Reading(notices=(_problem(source, f"an object with the servers below `{key}` is expected"),))
    return read_table(cast("dict[str, Any]", table), source, folder)


def unreadable(source: str) -> Reading:
    """A file that is there and gives nothing."""
    return Reading(notices=(_problem(source, f"it is not a file of at most {LONGEST_FILE} bytes that can be read"),))


def read_table(table: Mapping[str, Any], source: str, folder: Path | None = None) -> Reading:
    """The servers of a table by name."""
    servers: list[WrittenServer] = []
    notices: list[Notice] = []
    for name, entry in list(table.items())[:MOST_SERVERS]:
        shown = f"{source}: the server {visible_line(name)[:_SHOWN_NAME]!r}"
        if not isinstance(entry, Mapping):
            notices.append(Notice("warning", PROBLEM, f"{shown} is left out: an object is expected."))
            continue
        given = cast("Mapping[str, Any]", entry)
        problem, kept = _kept(given)
        if problem:
            notices.append(Notice("warning", PROBLEM, f"{shown} is left out: {problem}."))
            continue
        unknown = [visible_line(key)[:_SHOWN_NAME] for key in given if key not in _FIELDS | _TELLS_NOTHING]
        if unknown:
            named = ", ".join(f"`{key}`" for key in unknown[:5])
            notices.append(Notice("info", PROBLEM, f"{shown}: not known and left aside: {named}."))
        servers.append(WrittenServer(safe_name(name), kept, source, folder))
    if len(table) > MOST_SERVERS:
        notices.append(_problem(source, f"it names {len(table)} servers, and the first {MOST_SERVERS} count"))
    return Reading(tuple(servers), tuple(notices))


def problem_of(table: Mapping[str, Any]) -> str:
    """What is wrong with a table of the user's own settings, which is read strictly (S-1); empty where nothing is."""
    told = (notice.message.removeprefix(f"{SETTINGS}: ") for notice in read_table(table, SETTINGS).notices)
    return next(told, "").removesuffix(".")


def in_force(readings: Iterable[Reading]) -> Reading:
    """Of several sources, the one that counts most first: one server of each name."""
    chosen: dict[str, WrittenServer] = {}
    notices: list[Notice] = []
    for reading in readings:
        notices += reading.notices
        for server in reading.servers:
            first = chosen.setdefault(server.name, server)
            if first is not server:
                message = f"The server {server.name} of {server.source} is left out: {first.source} names it too."
                notices.append(Notice("info", PROBLEM, message))
    return Reading(tuple(sorted(chosen.values(), key=lambda server: server.name)), tuple(notices))


def with_env_file(server: WrittenServer, text: str) -> WrittenServer:
    """The server with the variables of its `envFile`, which what it names itself overrides."""
    found: dict[str, str] = {}
    for line in text.splitlines()[:MOST_TEXTS]:
        match = _ASSIGNMENT.fullmatch(line)
        if match is not None:
            found[match[1]] = _unquoted(match[2])
    named = cast("Mapping[str, str]", server.table.get("env", {}))
    return replace(server, table={**server.table, "env": {**found, **named}})


def shown(server: WrittenServer) -> str:
    """What would be started or reached, whole, on one line; of variables and headers the names, and what they use."""
    table = server.table
    if "url" in table:
        lines = [visible_line(str(table["url"]))]
        headers = _names(table.get("headers"))
        return " ".join([*lines, f"with the headers {headers}"] if headers else lines)
    words = [str(table["command"]), *cast("Sequence[str]", table.get("args", ()))]
    parts = [" ".join(_word(word) for word in words)]
    if "cwd" in table:
        parts.append(f"in {_word(str(table['cwd']))}")
    if variables := _names(table.get("env")):
        parts.append(f"with {variables}")
    if server.pins:
        files = ", ".join(_word(pin.shown) for pin in server.pins)
        parts.append(f"({files} as {'it is' if len(server.pins) == 1 else 'they are'} now)")
    return " ".join(parts)


_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_VARIABLE_NAME = re.compile(r"[^=\0\ud800-\udfff]{1,200}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_PLAIN_WORD = re.compile(r"[\w@%+=:,./${}~-]+", re.ASCII)


def _word(word: str) -> str:
    """A word of a command line, so that nobody takes it for two."""
    if _PLAIN_WORD.fullmatch(word):
        return word
    return visible_line("'" + word.replace("'", "'\"'\"'") + "'")


def _names(table: Any) -> str:
    if not isinstance(table, Mapping):
        return ""
    used: list[str] = []
    for name, value in sorted(cast("Mapping[str, str]", table).items()):
        variables = re.findall(r"\$\{[^}]{1,200}\}", value)
        used.append(visible_line(f"{name}={''.join(variables)}" if variables else name))
    return ", ".join(used)


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return re.sub(r"\s+#.*", "", value)


def _problem(source: str, why: str) -> Notice:
    return Notice("warning", PROBLEM, f"{source}: {why}; it is left aside.")


def _kept(entry: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Why the entry is not a server, else its fields as texts."""
    kept: dict[str, Any] = {}
    for key, value in entry.items():
        if key not in _FIELDS or value is None:
            continue
        read = _texts(key, value)
        if read is None:
            return f"`{key}` is not what it should be", {}
        kept[key] = read
    kind = kept.pop("type", "http" if "url" in kept and "command" not in kept else "stdio")
    if kind == "stdio":
        if not kept.get("command"):
            return "it has neither `command` nor `url`", {}
        return "", {key: value for key, value in kept.items() if key not in {"url", "headers"}}
    if kind in {"http", "streamable-http", "streamableHttp"}:
        if not str(kept.get("url", "")).startswith(("http://", "https://", "${")):
            return "`url` is not an address that begins with http:// or https://", {}
        return "", {key: value for key, value in kept.items() if key in {"url", "headers", "disabled"}}
    return f"its type is {visible_line(str(kind))[:_SHOWN_NAME]!r}, and there are stdio and http", {}


def _texts(key: str, value: Any) -> Any:
    """The value of a field as it is kept; None where it is none."""
    if key == "disabled":
        return value if isinstance(value, bool) else None
    if key == "args":
        if not isinstance(value, list) or len(cast("list[Any]", value)) > MOST_TEXTS:
            return None
        words = [_text(item) for item in cast("list[Any]", value)]
        return None if None in words else words
    if key in {"env", "headers"}:
        if not isinstance(value, Mapping) or len(cast("Mapping[str, Any]", value)) > MOST_TEXTS:
            return None
        table = {name: _text(item) for name, item in cast("Mapping[str, Any]", value).items() if item is not None}
        fits = _HEADER_NAME if key == "headers" else _VARIABLE_NAME
        return table if all(fits.fullmatch(name) and item is not None for name, item in table.items()) else None
    return value if isinstance(value, str) and _text(value) is not None else None


def _text(value: Any) -> str | None:
    """A text, or a number or truth value as one; None for anything else, and for what no program can be given."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or "\0" in value:
        return None
    return value if value.isascii() or value.encode("utf-8", "ignore").decode() == value else None
