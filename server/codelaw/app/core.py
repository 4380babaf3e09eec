"""What all requests of a session share: settings, workspace, chats and model."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.stores.sqlite import SqliteStore
from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.adapters.workspace.processes import LocalProcesses
from codelaw.adapters.workspace.sandbox import Sandbox
from codelaw.agent.approval import Gate
from codelaw.agent.chat import AgentChat
from codelaw.agent.house import House
from codelaw.app import models
from codelaw.app.chats import OpenChats
from codelaw.app.turns import TurnMaker, policy
from codelaw.domain.chats import Chat, Mode, Strategy
from codelaw.settings import own_folders, process_environment

if TYPE_CHECKING:
    from codelaw.agent.ground import Ground
    from codelaw.domain.chats import Notice
    from codelaw.domain.events import ChatEvent
    from codelaw.domain.files import Folder
    from codelaw.domain.permissions import Grant
    from codelaw.ports.approver import Approver
    from codelaw.ports.editor import Editor
    from codelaw.ports.model import ChatModel
    from codelaw.ports.services import LanguageServices
    from codelaw.ports.store import ChatStore
    from codelaw.ports.workspace import OpenDocuments
    from codelaw.settings import EffectiveSettings, Settings


class Core:
    """The state of a session; the classes built on it hold its requests, one resource each."""

    def __init__(
        self,
        *,
        settings: EffectiveSettings,
        folders: Sequence[Folder],
        documents: OpenDocuments,
        approver: Approver,
        emit: Callable[[ChatEvent], None],
        home: Path,
        editor: Editor | None = None,
        services: LanguageServices | None = None,
    ) -> None:
        self._settings = settings
        self._approver = approver
        self._emit = emit
        self._home = home
        self._services = services
        self._workspace = DiskWorkspace(folders, documents, editor=editor)
        self._workspace.review = settings.value.editor.review
        self._environment = process_environment()
        self._sandbox = Sandbox(self._roots, [home, *own_folders(self._environment)], self._environment)
        self._processes = LocalProcesses(self._environment)
        self._turns = TurnMaker(self._workspace, time.time, _operating_system(), services)
        self._always: list[Grant] = []
        self._chats = OpenChats(self._open_store, self._make_agent)
        self._model: ChatModel | None = None
        self._retired: list[ChatModel] = []

    async def _open_store(self) -> ChatStore:
        store = await SqliteStore.open(self._home / "codelaw.db")
        self._always[:] = await store.grants()
        return store

    def _roots(self) -> list[Path]:
        return [folder.root for folder in self._workspace.folders]

    async def _settle(self, agent: AgentChat, mode: Mode, settings: Settings) -> list[Notice]:
        """Put the settings and the grants that are in force now upon the chat's next turn, and what is wrong with them.

        A turn that runs keeps what it began with: its commands stay in the sandbox under which they were allowed (S-4).
        """
        bash = settings.tools.bash
        if bash.sandbox == "off":
            self._processes = LocalProcesses(self._environment)
        else:
            means = await self._sandbox.means()
            self._processes = LocalProcesses(
                self._environment, sandbox=self._sandbox, means=means, network=bash.network
            )
        # Another server may have given or taken some.
        self._always[:] = await (await self._chats.store()).grants()
        agent.house = replace(agent.house, processes=self._processes)
        agent.gate.policy, notices = policy(settings, mode, self._processes)
        return notices

    def _make_agent(self, store: ChatStore, chat: Chat) -> AgentChat:
        house = House(store, self._workspace, self._processes, self._emit, time.time, self._services)
        rules, _ = policy(self._settings.value, chat.mode, self._processes)
        return AgentChat(chat, house, Gate(rules, self._approver, store.add_grant, self._always))

    def _chat_model(self) -> ChatModel:
        if self._model is None:
            self._model = models.make_model(self._settings.value)
        return self._model

    async def _ground(self, agent: AgentChat) -> Ground:
        """What a compaction outside a turn works with."""
        settings = self._settings.value
        plan = await self._turns.plan(
            text="",
            settings=settings,
            name=models.effective_name(settings, agent.chat.model),
            mode=agent.chat.mode,
            attachments=(),
            editor=None,
            agent=agent,
            checked=False,
        )
        return self._turns.ground(plan, agent.chat, self._chat_model(), settings)

    async def _change(
        self,
        agent: AgentChat,
        *,
        title: str | None,
        mode: Mode | None,
        model: str | None,
        strategy: Strategy | None,
    ) -> None:
        changed = replace(
            agent.chat,
            title=title if title is not None else agent.chat.title,
            mode=mode or agent.chat.mode,
            model=model or agent.chat.model,
            strategy=strategy or agent.chat.strategy,
            updated_at=time.time(),
        )
        await (await self._chats.store()).update(changed)
        agent.chat = changed


def _operating_system() -> str:
    return f"{platform.system()} {platform.machine()}"
