"""Servers that people bring along, of one session: which there are, which may start, and what they serve (X-3)."""

from __future__ import annotations

import asyncio
import builtins
import importlib.util
import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import codelaw
from codelaw.adapters.mcp.means import Fence, is_logged_in
from codelaw.adapters.processes.local import child_environment
from codelaw.adapters.programs import outside
from codelaw.app.health.machine import lacking
from codelaw.app.ruling import processes_of, served_rules
from codelaw.app.servers import messages, telling
from codelaw.app.servers.looking import NOT_BEGUN, RESTRICTED, ServerSandbox, ServerSurvey, looked, variables_around
from codelaw.app.servers.offering import Brought, LentTools, Offering
from codelaw.app.servers.once import OnceAnswers
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal
from codelaw.domain.events import McpEvent
from codelaw.domain.served import Address, ServerList, ServerState
from codelaw.ports.servers import CALL_SECONDS
from codelaw.settings.servers import answers as remembered
from codelaw.settings.servers.filling import NotFilled, Variables, filled
from codelaw.settings.servers.written import WrittenServer, shown

if TYPE_CHECKING:
    from codelaw.adapters.crash_journal.crash_journal import CrashJournal
    from codelaw.adapters.processes.sandbox import Sandbox
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.inputs.gathering import Called
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.app.chats import OpenChats
    from codelaw.app.in_force import SettingsInForce
    from codelaw.domain.extensions import UserCommand
    from codelaw.domain.permissions import Grant
    from codelaw.domain.reports import MentionItem
    from codelaw.domain.served import ServerSpec
    from codelaw.ports.servers import Browser, ToolServers
    from codelaw.ports.workspace import Workspace
    from codelaw.settings.model import Settings

PATIENCE = 10.0
"""Seconds after the beginning of a server for which turns wait until it is ready: by then most programs are."""
LOGINS = "logins"
"""Below the data folder, where what was agreed with servers is kept."""
CHATS = 500
"""Of which is known what they were told."""


class SessionServers:
    """The servers of a session. Nothing starts before `start`, and no package is loaded where there is none.

    Args:
        settings: Those in force.
        workspace: Its folders may name servers.
        environment: Of this process.
        home: The data folder.
        chats: Who has used servers is told of their states.
        recorder: Writes down what the user has let start.
        leftovers: Sees to it that no program outlives this process.
        sandbox: What programs of workspaces start in.
        grants: This person's for always; the list changes.
        servers: What runs them; None: made when there is one to run.
    """

    def __init__(
        self,
        settings: SettingsInForce,
        workspace: Workspace,
        environment: Mapping[str, str],
        home: Path,
        *,
        chats: OpenChats,
        recorder: Recorder,
        leftovers: CrashJournal,
        sandbox: Sandbox,
        grants: Sequence[Grant] = (),
        servers: ToolServers | None = None,
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._environment = environment
        self._home = home
        self._chats = chats
        self._recorder = recorder
        self._leftovers = leftovers
        self._sandbox = sandbox
        self._fence = Fence()
        self._grants = grants
        self._servers = servers
        self.browser: Browser | None = None
        """Opens pages on which the user logs in to a server."""
        self.editor: LentTools | None = None
        """Has tools of its extensions (P-7)."""
        self._looked = ServerSurvey()
        self._begun: tuple[ServerSpec, ...] = ()
        self._once = OnceAnswers()
        self._call_seconds = self._seconds_begun = CALL_SECONDS
        self._wanted = False
        """Servers are to run."""
        self._reported: OrderedDict[str, set[str]] = OrderedDict()
        """By chat that has used servers, the notices that it was given."""
        self._shown: dict[str, str] = {}
        """By name the digest of what the user was shown of a server."""
        self._offering = Offering()

    async def look(self, settings: Settings | None = None) -> ServerSurvey:
        """Read anew what names servers; nothing is started, and what may no longer run is ended."""
        settings = settings or self._settings.value
        self._fence.processes = await processes_of(
            settings, self._environment, self._sandbox, self._workspace.folders, leftovers=self._leftovers
        )
        found = await asyncio.to_thread(self._look, settings)
        self._looked = found
        self._call_seconds = settings.mcp.call_seconds
        if self._servers is not None and self._begun:
            still = {spec.name: spec for spec in found.specs}
            self._begin(tuple(spec for spec in self._begun if still.get(spec.name) == spec))
        return found

    def _look(self, settings: Settings) -> ServerSurvey:
        folders = self._workspace.folders
        environment = child_environment(self._environment)
        # A workspace's own programs are none that the user has named (S-8).
        safe = outside(environment.get("PATH", os.defpath), [folder.root for folder in folders])
        self._fence.environment = environment = {**environment, "PATH": os.pathsep.join(safe)}
        known = remembered.read_answers(self._home)
        held = self._fence.processes
        sandbox = ServerSandbox(
            lacking="" if held.trusted else held.lacking,
            rules=(*(str(folder.root) for folder in folders), *held.withheld.key),
            environment=environment,
            once=self._once,
        )
        return looked(settings, folders, self._around(), known, restricted=self._settings.restricted, sandbox=sandbox)

    async def list(self) -> ServerList:
        """What is written down now, and how each is doing; starts nothing."""
        found = await self.look()
        problems = [notice.message for notice in found.notices]
        if found.servers and (why := await asyncio.to_thread(_lacking_package)) is not None:
            problems.append(f"No server can start: {why}.")
        written = {server.name: server for server in found.servers}
        logged_in = await asyncio.to_thread(self._logged_in)
        listed = (
            replace(
                state,
                source=written[state.name].source,
                digest=written[state.name].digest,
                ask=state.name in found.asking,
                logged_in=state.name in logged_in,
                message=" ".join(filter(None, (state.message, found.said_of(state)))),
            )
            for state in self.shown()
        )
        return ServerList(tuple(listed), tuple(problems))

    def _around(self) -> Variables:
        return variables_around(self._settings.effective, self._environment, self._home, self._workspace.folders)

    async def start(self, settings: Settings | None = None) -> None:
        """Begin whatever may run, in the background, so that it is ready when a turn begins (X-3)."""
        self._wanted = True
        self._begin((await self.look(settings)).specs)

    async def brought(
        self, settings: Settings, *, begin: bool, restricted: bool, agent: AgentChat | None = None
    ) -> Brought:
        """What is served now and no rule denies, by the editor and by the servers that may run.

        They are begun with `begin`, and where others were begun before; for none is waited beyond `PATIENCE` after its
        beginning. `agent` is the chat that is told meanwhile which are starting.

        That a tool only reads is believed of its server where a rule or a standing permission allows the tool.
        """
        if begin or self._wanted:
            await self.start(settings)
        if restricted:
            return Brought()
        begun = self._servers is not None and self._wanted
        if self.editor is None and not begun:
            return Brought()
        rules = served_rules(settings, self._grants, self._workspace.folders)
        lent = Brought() if self.editor is None else await self.editor.brought(settings.mcp.call_seconds, *rules)
        if self._servers is None or not begun:
            return lent
        if agent is not None and begin:
            self._reported.setdefault(agent.chat.id, set())
            for state in filter(telling.is_awaited, self._servers.states()):
                agent.outbox.report(McpEvent(state.name, state.state, state.message))
        await self._servers.settled(PATIENCE)
        offer, states = self._servers.offer(), self._servers.states()
        tools = await self._offering.tools(offer, self._servers, *rules)
        late = map(telling.late, filter(telling.is_awaited, states))
        return Brought((*lent.tools, *tools), offer.instructions, (*lent.notices, *late))

    async def gathered(self, text: str, called: Called) -> Called:
        """What a message calls, with the prompt and the resources of servers that it names."""
        return called if self._servers is None else await messages.gathered(text, called, self._servers)

    def prompts(self) -> builtins.list[UserCommand]:
        """The prompts that are served now."""
        return [] if self._servers is None else messages.prompt_commands(self._servers)

    def mentioned(self, prefix: str, limit: int) -> Sequence[MentionItem]:
        """Completions of a resource's mention."""
        return () if self._servers is None else messages.resource_items(prefix, self._servers, max(0, limit))

    def states(self) -> tuple[ServerState, ...]:
        """How every server is doing that was written down when it was last looked, sorted by name."""
        running = {state.name: state for state in (() if self._servers is None else self._servers.states())}
        found: list[ServerState] = []
        for server in self._looked.servers:
            own = self._looked.kept.get(server.name)
            state = own or running.get(server.name) or ServerState(server.name, "off", message=NOT_BEGUN)
            found.append(state)
        return tuple(sorted(found, key=lambda state: state.name))

    def shown(self) -> tuple[ServerState, ...]:
        """The states, which the user is shown: a server may be let start as it stands there."""
        self._shown |= {server.name: server.digest for server in self._looked.servers}
        return self.states()

    async def restart(self, name: str) -> None:
        """Begin a server anew, or for the first time.

        Raises:
            Refusal: `server_not_found`; `not_trusted`: it may not run; `settings_unreadable`.
        """
        begun = name in {spec.name for spec in self._begun}
        found = await self.look(await self._settings.now())
        if self._once.use_up(found.server(name)) and begun:
            found = await self.look()
        if (kept := found.kept.get(name)) is not None:
            raise Refusal(
                "not_trusted", f"{name} is not started. {kept.message}", telling.hint(name, once=found.lets_once(name))
            )
        if name in {spec.name for spec in self._begun} and self._servers is not None:
            await self._servers.restart(name)
        else:
            self._begin(found.specs)

    async def log_out(self, name: str) -> bool:
        """Forget what was kept of the login to a server, whether or not it may start; whether there was something.

        Raises:
            Refusal: `server_not_found`, also where its address is not known; `internal_error`: nothing can be deleted.
        """
        server = (await self.look()).server(name)
        self._servers = self._servers or self._made()
        try:
            return await self._servers.log_out(filled(server, self._around()))
        except NotFilled as problem:
            message = f"The address of {name} is not known. {problem}"
            raise Refusal("server_not_found", message, "Set what is missing, and log out then.") from problem
        except OSError as error:
            message = f"The login to {name} cannot be deleted: {error.strerror or error}."
            raise Refusal("internal_error", message, f"Delete what lies in {self._home / LOGINS}.") from error

    def _logged_in(self) -> frozenset[str]:
        """The servers of the last look to which the user has logged in, by name."""
        around, kept = self._around(), self._home / LOGINS
        return frozenset(server.name for server in self._looked.servers if _has_login(kept, server, around))

    async def enable(self, name: str, *, enabled: bool, digest: str | None = None) -> ServerList:
        """Remember that a server may start as it was shown, or must not.

        `digest` is that of what was shown; without it what was listed last counts.

        Raises:
            Refusal: `server_not_found`; `not_trusted`: it is not what was shown, or the editor trusts no folder.
        """
        seen = dict(self._shown)
        server = (await self.look()).server(name)
        if enabled and self._settings.restricted:
            raise Refusal("not_trusted", RESTRICTED, "Trust the folder in the editor first.")
        once = self._looked.lets_once(name)
        if enabled and (server.folder is not None or once):
            _same(server, digest or seen.get(name))
        if enabled and once:
            self._once.give(server, starts=self._wanted)
        await asyncio.to_thread(remembered.answer, self._home, server, enabled=enabled)
        found = await self.look()
        if self._wanted:
            self._begin(found.specs)
        made: Literal["trust", "withdraw"] = "trust" if enabled else "withdraw"
        folder, detail = ("", "") if server.folder is None else (str(server.folder), shown(server))
        title = f"The server {server.name} may start" if enabled else f"The server {server.name} is switched off"
        self._recorder.note("trust", made, "user", title=title, detail=detail, folder=folder)
        return await self.list()

    async def decline(self, name: str, *, digest: str) -> ServerList:
        """Ask no more about a server as it was shown; it stays as it is, to be let start at any time.

        Raises:
            Refusal: `server_not_found`; `not_trusted`: it is not what was shown.
        """
        server = (await self.look()).server(name)
        _same(server, digest)
        await asyncio.to_thread(remembered.decline, self._home, server)
        return await self.list()

    def notices(self, chat_id: str) -> builtins.list[Notice]:
        """What a chat that uses servers has not been told yet: what is wrong, and which servers wait for an answer."""
        reported = self._reported.setdefault(chat_id, set())
        self._reported.move_to_end(chat_id)
        while len(self._reported) > CHATS:
            self._reported.popitem(last=False)
        asked = (one for one in self.shown() if one.state != "needs_trust" or one.name in self._looked.asking)
        notices = (telling.notice(one, once=self._looked.lets_once(one.name)) for one in asked)
        every = [*self._looked.notices, *filter(None, notices)]
        fresh = [notice for notice in every if notice.message not in reported]
        reported.update(notice.message for notice in fresh)
        return fresh

    def stop(self) -> None:
        """End all servers until they may begin again (S-7)."""
        self._begin(())

    async def close(self) -> None:
        """End all servers."""
        if self._servers is not None:
            await self._servers.close()

    def heard(self, state: ServerState) -> None:
        """A server is doing otherwise: whoever uses servers is told."""
        for agent in self._chats:
            if agent.chat.id in self._reported:
                agent.outbox.report(McpEvent(state.name, state.state, state.message))

    def _begin(self, specs: tuple[ServerSpec, ...]) -> None:
        wanted = specs, self._call_seconds
        if wanted == (self._begun, self._seconds_begun) or not (specs or self._begun):
            return
        self._servers = self._servers or self._made()
        self._once.begin(self._begun, specs)
        self._begun, self._seconds_begun = wanted
        self._servers.begin(*wanted)

    def _made(self) -> ToolServers:
        # The package costs most of a second, and most people have no servers.
        from codelaw.adapters.mcp.means import ServerMeans  # noqa: PLC0415
        from codelaw.adapters.mcp.servers import McpServers  # noqa: PLC0415

        means = ServerMeans(
            cwd=self._home,
            version=codelaw.__version__,
            tokens=self._home / LOGINS,
            browser=self.browser,
            fence=self._fence,
            leftovers=self._leftovers,
        )
        return McpServers(means, self.heard)


def _lacking_package() -> str | None:
    """What is missing for all servers; the package itself, which takes its time, is only looked for."""
    return lacking("mcp") if importlib.util.find_spec("mcp") is None else None


def _has_login(folder: Path, server: WrittenServer, around: Variables) -> bool:
    try:
        way = filled(server, around).way
    except NotFilled:
        return False
    return isinstance(way, Address) and is_logged_in(folder, way.url)


def _same(server: WrittenServer, digest: str | None) -> None:
    if digest != server.digest:
        hint = "List the servers, look, and enable it then."
        raise Refusal("not_trusted", f"{server.name} is not what was shown.", hint)
