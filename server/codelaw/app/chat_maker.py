"""What a chat works with: made with it, and brought up to date before each turn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.workspace.ignore import oversized
from codelaw.agent.chat.chat import AgentChat
from codelaw.agent.services import ChatServices
from codelaw.agent.turn.approval import Gate
from codelaw.app.hooking import hooks_of
from codelaw.app.obeyed_paths import obeyed_paths
from codelaw.app.ruling import policy, processes_of
from codelaw.domain.chats import Chat, Mode, Notice

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codelaw.adapters.code.index import WorkspaceIndex
    from codelaw.adapters.crash_journal.crash_journal import CrashJournal
    from codelaw.adapters.processes.sandbox import Sandbox
    from codelaw.adapters.workspace.disk import DiskWorkspace
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.agent.turn.pending import QueuedSteer
    from codelaw.agent.turn.running import TurnTask
    from codelaw.app.chats import StandingGrants
    from codelaw.app.in_force import SettingsInForce
    from codelaw.app.recall import Recall
    from codelaw.app.servers.session_servers import SessionServers
    from codelaw.app.turns import TurnMaker
    from codelaw.domain.events import ChatEvent
    from codelaw.domain.files import Folder
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.editor import Approver, LanguageServices
    from codelaw.ports.store import Stores
    from codelaw.settings.model import Settings


@dataclass(slots=True)
class ChatMaker:
    """Makes the chats of a session, of what they all share."""

    settings: SettingsInForce
    workspace: DiskWorkspace
    environment: Mapping[str, str]
    sandbox: Sandbox
    leftovers: CrashJournal
    services: LanguageServices | None
    servers: SessionServers
    code: WorkspaceIndex
    turns: TurnMaker
    recall: Recall
    grants: StandingGrants
    redaction: Redaction
    recorder: Recorder
    approver: Approver
    emit: Callable[[ChatEvent], None]
    follow: Callable[[AgentChat, Sequence[QueuedSteer]], Awaitable[TurnTask]] = field(init=False)
    """Starts the turn that waiting steers become."""
    _processes: LocalProcesses = field(init=False)
    """As they were made last."""
    _ignored: set[str] = field(default_factory=set[str], init=False)
    """What was said of ignore files already."""

    def __post_init__(self) -> None:
        self._processes = LocalProcesses(self.environment)

    def make(self, stores: Stores, chat: Chat) -> AgentChat:
        """The chat with the settings as they are now; the next turn gets its own."""
        house = ChatServices(
            store=stores.chats,
            workspace=self.workspace,
            processes=self._processes,
            send=self.emit,
            services=self.services,
            redaction=self.redaction,
            recorder=self.recorder,
            embedding=self.recall.embedding,
            held=self.leftovers,
            code=self.code,
            servers=self.servers,
            measures=self.turns.measures,
            laws=self.turns.laws,
        )
        rules, _ = policy(self.settings.value, chat.mode, self._processes, self.workspace.folders)
        grants = self.grants
        gate = Gate(rules, self.approver, stores.chats, grants.always, grants.user, recorder=self.recorder)
        return AgentChat(chat, house, gate, self.follow)

    async def arm(self, agent: AgentChat, mode: Mode, settings: Settings, *, restricted: bool) -> None:
        """Put the processes and the hooks of those settings into a chat (S-4, X-7)."""
        self._processes = made = await processes_of(
            settings, self.environment, self.sandbox, self.workspace.folders, leftovers=self.leftovers
        )
        path = self.environment.get("PATH", "")
        hooks = hooks_of(agent, settings, mode, made, restricted=restricted, path=path)
        agent.house, agent.compacting.hooks = replace(agent.house, processes=made, hooks=hooks), hooks

    async def settle(
        self, stores: Stores, agent: AgentChat, mode: Mode, settings: Settings, *, restricted: bool
    ) -> list[Notice]:
        """Put the settings and the grants that are in force now upon the chat's next turn, and what is wrong with them.

        A turn that runs keeps what it began with: its commands stay in the sandbox under which they were allowed (S-4).
        """
        await self.arm(agent, mode, settings, restricted=restricted)
        await self.grants.refresh(stores.chats)
        folders = self.workspace.folders
        agent.gate.folders = {str(folder.root): folder.name for folder in folders}
        memory = await self.recall.memory_of(stores, agent.chat.id, settings)
        agent.house = replace(agent.house, memory=memory)
        all_asked = self.settings.effective.ignoring
        specs, home = (await self.servers.look(settings)).specs, self.environment.get("HOME", "")
        obeyed = await asyncio.to_thread(obeyed_paths, settings, folders, specs, home)
        agent.gate.policy, notices = policy(
            settings, mode, self._processes, folders, restricted=restricted, all_asked=all_asked, obeyed=obeyed
        )
        notices += await self._of_ignore_files(folders)
        if not self._processes.keeps_to_hosts:
            message = f"The hosts of tools.bash.network are not kept to here. {self._processes.describe}"
            notices.append(Notice("warning", "hosts_not_kept", message))
        return notices

    async def _of_ignore_files(self, folders: Sequence[Folder]) -> list[Notice]:
        """Of ignore files that do not count as a whole: said once in a session, as what they hide is shown (S-6)."""
        found = [await asyncio.to_thread(oversized, folder.root) for folder in folders]
        fresh = [text for text in dict.fromkeys(found) if text is not None and text not in self._ignored]
        self._ignored.update(fresh)
        return [Notice("warning", "ignore_file_too_large", text) for text in fresh]
