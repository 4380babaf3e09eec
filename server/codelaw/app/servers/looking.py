"""Reads where servers are written down, and says which of them may start (X-3)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.mcp.means import ServerFailure
from codelaw.adapters.mcp.pins import pins
from codelaw.adapters.mcp.workspace_code import runs_from
from codelaw.adapters.texts import small_text
from codelaw.app.known_keys import withheld_variables
from codelaw.app.servers.once import OnceAnswers
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal
from codelaw.domain.safety.hosts import Network, reach
from codelaw.domain.served import Program, ServerState
from codelaw.ports.leading import leads_over
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


ONCE = (
    "As there is no full sandbox for it ({lacking}), your editor asks at each start. One that your own settings name"
    " starts unasked with `sandbox = false`."
)


@dataclass(frozen=True, slots=True)
class ServerSandbox:
    """How a program is held that runs what lies in a workspace."""

    lacking: str = ""
    """Why there is no full sandbox; empty where there is."""
    rules: tuple[str, ...] = ()
    """What keeps files from it."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """What programs get beside their own variables."""
    once: OnceAnswers = field(default_factory=OnceAnswers)
    """What the user has let start without one."""


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
    inside: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name what to say of those that run in the sandbox."""
    once: bool = False
    """Those that are to run inside run without one, each time after a yes."""

    def server(self, name: str) -> WrittenServer:
        """One by name.

        Raises:
            Refusal: `server_not_found`.
        """
        found = next((one for one in self.servers if one.name == name), None)
        if found is None:
            raise Refusal("server_not_found", f"There is no server {name[:80]!r}.", _NO_ONE)
        return found

    def said_of(self, state: ServerState) -> str:
        """How a server that may run is held; of one that waits for the user it is said with what would be run."""
        return "" if state.state == "needs_trust" else self.inside.get(state.name, "")

    def lets_once(self, name: str) -> bool:
        """Whether an answer is good for one start alone, in this process."""
        return self.once and name in self.inside


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
        origin=effective.origins.get("mcp.servers", ""),
    )


def looked(
    settings: Settings,
    folders: Sequence[Folder],
    around: Variables,
    known: Answers,
    *,
    restricted: bool,
    sandbox: ServerSandbox,
) -> ServerSurvey:
    """Read what names servers. Touches the disk."""
    readings = [written.read_table(settings.mcp.servers, written.SETTINGS, own=around.origin == "user")]
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
    inside: dict[str, str] = {}
    roots = [folder.root for folder in folders]
    for one in whole.servers:
        server = one
        try:
            server = _whole(one, around, sandbox)
            network = _network(server, around, roots, sandbox)
            if network is not None:
                held = f"It runs in the sandbox: it only reads the workspace, and reaches {reach(network)}."
                inside[server.name] = ONCE.format(lacking=sandbox.lacking) if sandbox.lacking else held
            answer = sandbox.once.number(server) if network is not None and sandbox.lacking else None
            lets = known.lets(server) if answer is None else answer > 0
            kept_back = _kept_back(server, known, inside.get(server.name, ""), restricted=restricted, lets=lets)
            if kept_back is None:
                spec = filled(server, around)
                if isinstance(spec.way, Program) and network is not None:
                    way = replace(spec.way, network=network, rules=sandbox.rules, answer=answer or 0)
                    spec = replace(spec, way=way)
                specs.append(spec)
            else:
                kept[server.name] = kept_back
                if kept_back.state == "needs_trust" and known.declined.get(server.key) != server.digest:
                    asking.add(server.name)
        except (NotFilled, ServerFailure) as problem:
            kept[one.name] = ServerState(one.name, "failed", message=str(problem))
        servers.append(server)
    return ServerSurvey(
        tuple(servers),
        tuple(specs),
        kept,
        whole.notices,
        asking=frozenset(asking),
        inside=inside,
        once=bool(sandbox.lacking),
    )


def _network(server: WrittenServer, around: Variables, roots: Sequence[Path], sandbox: ServerSandbox) -> Network | None:
    """What a program reaches from within the sandbox; None where it runs outside of it, or is none.

    What a workspace's file names runs inside, and so does what runs files of one, wherever it is named, unless the
    user's own file says otherwise.
    """
    if "command" not in server.table or server.table.get("sandbox") is False:
        return None
    if not around.of_workspace(server):
        with suppress(NotFilled):
            way, held = filled(server, around).way, env_file(server, around)
            # Variables start programs: who writes their file says which.
            given = held is not None and leads_over(os.path.join(around.home, held), roots)  # noqa: PTH118 - links count
            if isinstance(way, Program) and not given and not runs_from(way, roots, sandbox.environment):
                return None
    network = server.table.get("network", True)
    return network if isinstance(network, bool) else tuple(network)


def _whole(server: WrittenServer, around: Variables, sandbox: ServerSandbox) -> WrittenServer:
    """With all that an answer of the user's is for: its `envFile`, its workspace's files, and what variables stand for.

    Of files only those that it is started from, as far as its words are known by now.
    """
    if "envFile" in server.table:
        path = env_file(server, around)
        text = None if path is None else small_text(path, LONGEST_FILE)
        if text is None:
            message = "Its envFile cannot be read, or lies outside of the folder."
            raise NotFilled(message)
        server = written.with_env_file(server, text)
    # Whoever rewrites a file of one that runs in the sandbox and reaches no network has gained nothing.
    harmless = server.table.get("network") is False and not sandbox.lacking
    if server.folder is not None and not harmless:
        with suppress(NotFilled):
            way = filled(server, around).way
            server = replace(server, pins=pins(way, server.folder)) if isinstance(way, Program) else server
    return replace(server, variables=variables(server, around))


def _kept_back(
    server: WrittenServer, known: Answers, inside: str, *, restricted: bool, lets: bool
) -> ServerState | None:
    """Why a server does not start; None where it may."""
    if restricted:
        return ServerState(server.name, "off", message=RESTRICTED)
    if known.lost:
        return ServerState(server.name, "failed", message=f"It is not started: {LOST}.")
    if server.key in known.off or server.table.get("disabled") is True:
        return ServerState(server.name, "off", message=SWITCHED_OFF)
    if not lets:
        verb = "reach" if "url" in server.table else "run"
        changed = server.key in known.allowed and known.allowed[server.key] != server.digest
        before = "It is not what you have let start before. " if changed else ""
        message = f"{before}{server.source} would {verb}: {written.shown(server)}"
        if inside:
            message = f"{message} — {inside}"
        return ServerState(server.name, "needs_trust", message=message)
    return None
