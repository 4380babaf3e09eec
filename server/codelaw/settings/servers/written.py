"""Servers as somebody has written them down: read leniently, and nothing of them believed yet (X-3)."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from codelaw.domain.chats import Notice
from codelaw.domain.safety.hosts import read_rules
from codelaw.domain.safety.redaction import mark, secret_in, shape_of, telling
from codelaw.domain.safety.unseen import visible_line
from codelaw.domain.served import EDITOR, Pin

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

_OF_PROGRAMS = frozenset({"command", "args", "env", "envFile", "cwd", "sandbox", "network"})
_FIELDS = frozenset({"type", "url", "headers", "disabled", *_OF_PROGRAMS})
_TELLS_NOTHING = frozenset({"name", "description", "version", "gallery", "note", "sandboxEnabled"})
"""Fields of other programs that change nothing in how a server is started."""
_SHOWN_NAME = 80
_STRING = r'"(?:[^"\\\n]|\\.)*"?'
_COMMENT = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?"
_TOKEN = re.compile(f"{_STRING}|{_COMMENT}")
_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])")


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
    variables: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """What variables in the table stand for, but for secrets."""

    @property
    def key(self) -> str:
        """Which server it is, for what is remembered of it."""
        place = "" if self.folder is None else f"{self.folder}/{self.source.rpartition('/')[2]}"
        return f"{place}#{self.name}"

    @property
    def digest(self) -> str:
        """SHA-256 of all that it is started with or reached by, hexadecimal."""
        reported = {key: value for key, value in self.table.items() if key != "disabled"}
        if self.pins:
            reported[""] = {pin.shown: pin.digest for pin in self.pins}
        if self.variables:
            reported["$"] = dict(self.variables)
        written = json.dumps(reported, ensure_ascii=True, sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class WrittenServers:
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


def read_file(text: str | None, key: str, source: str, folder: Path) -> WrittenServers:
    """The servers of a workspace's file, `.mcp.json` or `.vscode/mcp.json`, below `key`; None: it cannot be read."""
    why, document = f"it is not a file of at most {LONGEST_FILE} bytes that can be read", None
    try:
        if text is not None:
            why, document = f"an object with the servers below `{key}` is expected", lenient_json(text)
    except ValueError as error:
        why = str(error)
    table: Any = cast("dict[str, Any]", document).get(key, {}) if isinstance(document, dict) else None
    if not isinstance(table, dict):
        return WrittenServers(notices=(_problem(source, why),))
    return read_table(cast("dict[str, Any]", table), source, folder)


def read_table(
    table: Mapping[str, Any], source: str, folder: Path | None = None, *, own: bool = False
) -> WrittenServers:
    """The servers of a table by name; only one that is the user's `own` lets a program out of the sandbox."""
    servers: list[WrittenServer] = []
    notices: list[Notice] = []
    for name, entry in list(table.items())[:MOST_SERVERS]:
        shown = f"{source}: the server {visible_line(name)[:_SHOWN_NAME]!r}"
        if not isinstance(entry, Mapping):
            notices.append(Notice("warning", PROBLEM, f"{shown} is left out: an object is expected."))
            continue
        given = cast("Mapping[str, Any]", entry)
        problem, kept = _kept(given)
        if safe_name(name) == EDITOR:
            problem = "tools of your editor have this name"
        if problem:
            notices.append(Notice("warning", PROBLEM, f"{shown} is left out: {problem}."))
            continue
        unknown = [visible_line(key)[:_SHOWN_NAME] for key in given if key not in _FIELDS | _TELLS_NOTHING]
        if not own and kept.pop("sandbox", None) is False:
            message = f"{shown}: `sandbox = false` counts in your own settings file alone."
            notices.append(Notice("info", PROBLEM, message))
        if unknown:
            named = ", ".join(f"`{key}`" for key in unknown[:5])
            notices.append(Notice("info", PROBLEM, f"{shown}: not known and left aside: {named}."))
        servers.append(WrittenServer(safe_name(name), kept, source, folder))
    if len(table) > MOST_SERVERS:
        notices.append(_problem(source, f"it names {len(table)} servers, and the first {MOST_SERVERS} count"))
    return WrittenServers(tuple(servers), tuple(notices))


def problem_of(table: Mapping[str, Any]) -> str:
    """What is wrong with a table of the user's own settings, which is read strictly (S-1); empty where nothing is."""
    reported = (
        notice.message.removeprefix(f"{SETTINGS}: ") for notice in read_table(table, SETTINGS, own=True).notices
    )
    return next(reported, "").removesuffix(".")


def in_force(readings: Iterable[WrittenServers]) -> WrittenServers:
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
    return WrittenServers(tuple(sorted(chosen.values(), key=lambda server: server.name)), tuple(notices))


def with_env_file(server: WrittenServer, text: str) -> WrittenServer:
    """The server with the variables of its `envFile`, which what it names itself overrides."""
    found: dict[str, str] = {}
    for line in text.splitlines()[:MOST_TEXTS]:
        match = _ASSIGNMENT.fullmatch(line)
        if match is not None:
            found[match[1]] = _unquoted(match[2])
    named = cast("Mapping[str, str]", server.table.get("env", {}))
    return replace(server, table={**server.table, "env": {**found, **named}})


def texts(server: WrittenServer) -> list[str]:
    """All texts of a server's table in which variables may stand."""
    table = server.table
    tables = (cast("Mapping[str, str]", table.get(key, {})) for key in ("env", "headers"))
    alone = (str(table[key]) for key in ("command", "cwd", "url", "envFile") if key in table)
    return [*alone, *cast("Sequence[str]", table.get("args", ())), *(text for one in tables for text in one.values())]


def shown(server: WrittenServer) -> str:
    """What would be started or reached, whole, on one line, its variables as they are written.

    A value that is a secret has its mark in its place.
    """
    table = server.table
    if "url" in table:
        headers = _values(table.get("headers"), ": ")
        url = visible_line(_without_secret("url", str(table["url"])))
        return url + (f" with the headers {headers}" if headers else "")
    words = [str(table["command"]), *cast("Sequence[str]", table.get("args", ()))]
    parts = [" ".join(_word(word) for word in words)]
    if "cwd" in table:
        parts.append(f"in {_word(str(table['cwd']))}")
    if variables := _values(table.get("env"), "="):
        parts.append(f"with {variables}")
    if server.pins:
        files = ", ".join(_word(pin.shown) for pin in server.pins)
        parts.append(f"({files} as {'it is' if len(server.pins) == 1 else 'they are'} now)")
    return " ".join(parts)


_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^/\s:@$]+(?=@)")
_VARIABLE_NAME = r"\A[^=\x00]{1,200}\z"
_HEADER_NAME = r"\A[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}\z"
_PLAIN_WORD = re.compile(r"[\w@%+=:,./${}~-]+", re.ASCII)


def _word(word: str) -> str:
    """A word of a command line, so that nobody takes it for two."""
    return word if _PLAIN_WORD.fullmatch(word) else visible_line(shlex.quote(word))


def _values(table: Any, sign: str) -> str:
    named = cast("Mapping[str, str]", table or {}).items()
    return ", ".join(_word(f"{name}{sign}{_without_secret(name, value)}") for name, value in sorted(named))


def _without_secret(name: str, value: str) -> str:
    value = _PASSWORD.sub(lambda found: f"{found[1]}{mark(name)}", value)
    secret = secret_in(name, value) or (value if shape_of(value) is not None else "")
    # What is a path is no secret, whatever the variable is called: it may be run.
    is_secret = telling(secret) and not secret.startswith(".")
    return f"{value.removesuffix(secret)}{mark(name)}" if is_secret else value


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return re.sub(r"\s+#.*", "", value)


def _problem(source: str, why: str) -> Notice:
    return Notice("warning", PROBLEM, f"{source}: {why}; it is left aside.")


def _text(value: object) -> object:
    """A number or truth value as a text; what no program can be given is refused."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value) if isinstance(value, int | float) else value
    if isinstance(text, str) and ("\0" in text or text.encode("utf-8", "ignore").decode() != text):
        message = "no program can be given that"
        raise ValueError(message)
    return text


_Line = Annotated[str, Field(max_length=LONGEST_TEXT), BeforeValidator(_text)]
_Plain = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_text)]
_Many = Field(max_length=MOST_TEXTS)


def _hosts(entries: list[str]) -> list[str]:
    return [rule.text for rule in read_rules(entries)]


class _Entry(BaseModel):
    """The fields of a server's entry, as they are kept."""

    model_config = ConfigDict(strict=True, alias_generator=to_camel)
    type: str | None = None
    command: _Plain | None = None
    args: Annotated[list[_Line], _Many] | None = None
    env: Annotated[dict[Annotated[str, Field(pattern=_VARIABLE_NAME)], _Line], _Many] | None = None
    env_file: _Plain | None = None
    cwd: _Plain | None = None
    url: _Plain | None = None
    headers: Annotated[dict[Annotated[str, Field(pattern=_HEADER_NAME)], _Line], _Many] | None = None
    sandbox: bool | None = None
    network: bool | Annotated[list[str], AfterValidator(_hosts)] | None = None
    disabled: bool | None = None


def _kept(entry: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Why the entry is not a server, else its fields as texts."""
    given = {key: value for key, value in entry.items() if key in _FIELDS and value is not None}
    match entry:
        case {"sandboxEnabled": True, "sandbox": {"network": {"allowedDomains": hosts}}}:  # as in VS Code
            given = {"network": hosts, **given}
        case _:
            pass
    if isinstance(given.get("sandbox"), Mapping):
        del given["sandbox"]
    for key in ("env", "headers"):
        if isinstance(given.get(key), Mapping):
            given[key] = {name: value for name, value in given[key].items() if value is not None}
    try:
        kept = _Entry.model_validate(given).model_dump(by_alias=True, exclude_unset=True)
    except ValidationError as error:
        return f"`{error.errors()[0]['loc'][0]}` is not what it should be", {}
    kind = kept.pop("type", "http" if "url" in kept and "command" not in kept else "stdio")
    if kind == "stdio":
        if not kept.get("command"):
            return "it has neither `command` nor `url`", {}
        return "", {key: value for key, value in kept.items() if key not in {"url", "headers"}}
    if kind in {"http", "streamable-http", "streamableHttp"}:
        if not str(kept.get("url", "")).startswith(("http://", "https://", "${")):
            return "`url` is not an address that begins with http:// or https://", {}
        return "", {key: value for key, value in kept.items() if key not in _OF_PROGRAMS}
    return f"its type is {visible_line(str(kind))[:_SHOWN_NAME]!r}, and there are stdio and http", {}


def lenient_json(text: str) -> Any:
    """The value of a JSON text in which comments and last commas are allowed.

    Raises:
        ValueError: it is not such a text; the message says where.
    """
    plain = _TOKEN.sub(_without_comment, text.removeprefix("\ufeff"))
    try:
        return json.loads(_COMMA.sub(lambda match: match[1] or " ", plain))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from error


def _without_comment(match: re.Match[str]) -> str:
    """A string as it is; blanks for a comment, so that what follows keeps its place."""
    found = match[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)
