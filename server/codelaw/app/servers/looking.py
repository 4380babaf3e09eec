"""Reads where servers are written down, and says which of them may start (X-3)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.mcp.means import ServerFailure
from codelaw.adapters.mcp.pins import pins
from codelaw.adapters.texts import small_text
from codelaw.app.known_keys import withheld_variables
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal
from codelaw.domain.served import Program, ServerState
from codelaw.settings.servers import written
from codelaw.settings.servers.answers import LOST, Answers
from codelaw.settings.servers.filling import NotFilled, Variables, env_file, filled, variables
from codelaw.settings.servers.written import FILES, LONGEST_FILE, WrittenServer

if TYPE_CHECKING:
    from codelaw.domain.files import Folder
    from codelaw.domain.served import ServerSpec
    from codelaw.settings.effective import EffectiveSettings
    from codelaw.settings.model import Settings

NOT_BEGUN = "It has not been started yet; an editor or `codelaw chat` starts it."
RESTRICTED = "The editor does not trust this folder, so that nothing is started."
SWITCHED_OFF = "It is switched off."
_NO_ONE = "`codelaw mcp list` shows the servers in a terminal."


@dataclass(frozen=True, slots=True)
class ServerSurvey:
    """What is written down, and what of it may start."""

    servers: tuple[WrittenServer, ...] = ()
    specs: tuple[ServerSpec, ...] = ()
    """Those that may start."""
    kept: Mapping[str, ServerState] = field(default_factory=dict[str, ServerState])
    """By name those that do not, and why."""
    notices: tuple[Notice, ...] = ()
    asking: frozenset[str] = frozenset()
    """Names of those that wait for the user, who has not said no to them as they are."""

    def server(self, name: str) -> WrittenServer:
        """One by name.

        Raises:
            Refusal: `server_not_found`.
        """
        found = next((one for one in self.servers if one.name == name), None)
        if found is None:
            raise Refusal("server_not_found", f"There is no server {name[:80]!r}.", _NO_ONE)
        return found


def variables_around(
    effective: EffectiveSettings, environment: Mapping[str, str], home: Path, folders: Sequence[Folder]
) -> Variables:
    """What the servers' variables are filled in from; `home` is the data folder, for a user who has no other."""
    own = Path(environment.get("HOME", ""))
    return Variables(
        environment,
        own if own.is_absolute() else home,
        folders[0].root if folders else None,
        withheld=withheld_variables(effective.value, environment),
        settings_of_workspace=effective.origins.get("mcp.servers") == "workspace",
    )


def looked(
    settings: Settings, folders: Sequence[Folder], around: Variables, known: Answers, *, restricted: bool
) -> ServerSurvey:
    """Read what names servers. Touches the disk."""
    readings = [written.read_table(settings.mcp.servers, written.SETTINGS)]
    for name, key in FILES:
        for folder in folders:
            shown = f"{folder.name}/{name}" if len(folders) > 1 else name
            text = small_text(folder.root / name, LONGEST_FILE)
            if text is not None or os.path.lexists(folder.root / name):
                readings.append(written.read_file(text, key, shown, folder.root))
    whole = written.in_force(readings)
    servers: list[WrittenServer] = []
    specs: list[ServerSpec] = []
    kept: dict[str, ServerState] = {}
    asking: set[str] = set()
    for one in whole.servers:
        try:
            server = _with_pins(_with_variables(one, around), around)
            server = replace(server, variables=variables(server, around))
            servers.append(server)
            kept_back = _kept_back(server, known, restricted=restricted)
            if kept_back is None:
                specs.append(filled(server, around))
            else:
                kept[server.name] = kept_back
                if kept_back.state == "needs_trust" and known.asks(server):
                    asking.add(server.name)
        except (NotFilled, ServerFailure) as problem:
            if one not in servers:
                servers.append(one)
            kept[one.name] = ServerState(one.name, "failed", message=str(problem))
    return ServerSurvey(tuple(servers), tuple(specs), kept, whole.notices, frozenset(asking))


def _with_variables(server: WrittenServer, around: Variables) -> WrittenServer:
    """With what its `envFile` holds."""
    if "envFile" not in server.table:
        return server
    path = env_file(server, around)
    text = None if path is None else small_text(path, LONGEST_FILE)
    if text is None:
        message = "Its envFile cannot be read, or lies outside of the folder."
        raise NotFilled(message)
    return written.with_env_file(server, text)


def _with_pins(server: WrittenServer, around: Variables) -> WrittenServer:
    """With the files of its workspace that it is started from, as far as its words are known by now."""
    if server.folder is None or "command" not in server.table:
        return server
    try:
        way = filled(server, around).way
    except NotFilled:
        return server
    return replace(server, pins=pins(way, server.folder)) if isinstance(way, Program) else server


def _kept_back(server: WrittenServer, known: Answers, *, restricted: bool) -> ServerState | None:
    """Why a server does not start; None where it may."""
    if restricted:
        return ServerState(server.name, "off", message=RESTRICTED)
    if known.lost:
        return ServerState(server.name, "failed", message=f"It is not started: {LOST}.")
    if server.key in known.off or server.table.get("disabled") is True:
        return ServerState(server.name, "off", message=SWITCHED_OFF)
    if not known.lets(server):
        verb = "reach" if "url" in server.table else "run"
        changed = "It is not what you have let start before. " if server.key in known.allowed else ""
        message = f"{changed}{server.source} would {verb}: {written.shown(server)}"
        return ServerState(server.name, "needs_trust", message=message)
    return None
