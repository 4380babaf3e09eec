"""What one client can ask for, by resource, put together of its parts: the composition root of the engine."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.adapters.crash_journal.crash_journal import CrashJournal
from codelaw.adapters.models import catalog
from codelaw.adapters.processes.quarantine.command_times import CommandTimes
from codelaw.adapters.processes.sandbox import Sandbox
from codelaw.adapters.workspace.accepted import AcceptedTexts
from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.agent.recording.recorder import Recorder
from codelaw.app import model_list, models
from codelaw.app.beginnings import Beginnings
from codelaw.app.chat_maker import ChatMaker
from codelaw.app.chats import OpenChats, StandingGrants, StoreOpener
from codelaw.app.in_force import SettingsInForce
from codelaw.app.known_keys import known_keys
from codelaw.app.recall import Recall, code_index
from codelaw.app.requests.chats import Chats
from codelaw.app.requests.contexts import Contexts
from codelaw.app.requests.extensions import Extensions
from codelaw.app.requests.finding import Code, Repositories
from codelaw.app.requests.laws import Laws
from codelaw.app.requests.memories import Memories
from codelaw.app.requests.permissions import PermissionRequests
from codelaw.app.requests.records import Records
from codelaw.app.requests.reverts import Files
from codelaw.app.servers.offering import LentTools
from codelaw.app.servers.session_servers import SessionServers
from codelaw.app.turns import TurnMaker
from codelaw.domain.errors import Refusal
from codelaw.domain.safety.redaction import Redaction
from codelaw.ports.cancelling import Scopes
from codelaw.settings.places import account_name, own_folders, process_environment
from codelaw.templates.render import preload

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from codelaw.domain.chats import Notice
    from codelaw.domain.events import ChatEvent
    from codelaw.domain.files import Folder
    from codelaw.domain.reports import ModelInfo
    from codelaw.ports.editor import Approver, Editor, LanguageServices
    from codelaw.ports.lending import Lender, ToolLender
    from codelaw.ports.servers import Browser, ToolServers
    from codelaw.ports.workspace import OpenDocuments
    from codelaw.settings.effective import EffectiveSettings

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Session:
    """What a client connection can ask for. Refusals are raised as `Refusal`; everything else is a bug."""

    chats: Chats
    records: Records
    contexts: Contexts
    memories: Memories
    laws: Laws
    extensions: Extensions
    files: Files
    permissions: PermissionRequests
    code: Code
    commits: Repositories
    servers: SessionServers
    leftovers: CrashJournal
    sandbox: Sandbox

    @classmethod
    async def open(
        cls,
        *,
        settings: EffectiveSettings,
        folders: Sequence[Folder],
        documents: OpenDocuments,
        approver: Approver,
        emit: Callable[[ChatEvent], None],
        home: Path,
        editor: Editor | None = None,
        services: LanguageServices | None = None,
        lender: Lender | None = None,
        tools: ToolLender | None = None,
        report: Callable[[Notice], None] | None = None,
        trusted: bool = True,
        servers: ToolServers | None = None,
        browser: Browser | None = None,
        look_again: Callable[[], Awaitable[None]] | None = None,
    ) -> Session:
        """A session; the store is opened at its first use: one that cannot be opened refuses only what needs it.

        `report` is called with what the user should know and no chat is about. `trusted` is off where the editor does
        not trust the folder (S-7). `servers` runs those that people bring along; None: made when there is one.
        `lender` has models of the editor's own, and `tools` those of its extensions (P-7). `browser` opens pages on
        which the user logs in to a server (X-3). `look_again` is awaited before something begins: it
        reconfigures the session where a file of the settings has changed (S-1).
        """
        await asyncio.to_thread(_preload)
        notify = report or _unheard
        environment = process_environment()
        user = account_name()
        in_force = SettingsInForce(settings, trusted=trusted, look_again=look_again)
        redaction = Redaction(known_keys(settings.value, environment))
        leftovers = CrashJournal(home / "running", notify)
        times = CommandTimes(home / "quarantine", environment)
        accepted = AcceptedTexts(home / "accepted", times, redaction)
        workspace = DiskWorkspace(folders, documents, editor=editor, naming=leftovers.writing, accepted=accepted)
        workspace.review = settings.value.editor.review
        own = [home, *own_folders(environment)]
        sandbox = Sandbox(
            lambda: [folder.root for folder in workspace.folders],
            own,
            environment,
            editor=editor,
            report=notify,
            times=times,
        )
        index = code_index(home, environment, redaction, trusted=trusted)
        grants = StandingGrants(in_force, user)
        recall = Recall(settings.value, workspace, index, user)
        chats = OpenChats(
            StoreOpener(
                settings=in_force,
                home=home,
                workspace=workspace,
                leftovers=leftovers,
                redaction=redaction,
                grants=grants,
                report=notify,
            ),
            recall,
        )
        recorder = Recorder(chats.store, redaction, user)
        brought = SessionServers(
            in_force,
            workspace,
            environment,
            home,
            chats=chats,
            recorder=recorder,
            leftovers=leftovers,
            sandbox=sandbox,
            grants=grants.always,
            servers=servers,
        )
        brought.browser = browser
        brought.editor = None if tools is None else LentTools(tools)
        turns = TurnMaker(workspace, services, brought, index)
        turns.profiles.lender = lender
        scopes = Scopes()
        chat_models = models.ChatModels(in_force, redaction, lender)
        maker = ChatMaker(
            settings=in_force,
            workspace=workspace,
            environment=environment,
            sandbox=sandbox,
            leftovers=leftovers,
            services=services,
            servers=brought,
            code=index,
            turns=turns,
            recall=recall,
            grants=grants,
            redaction=redaction,
            recorder=recorder,
            approver=approver,
            emit=emit,
        )
        chats.make = maker.make
        beginnings = Beginnings(
            settings=in_force,
            opened=chats,
            models=chat_models,
            turns=turns,
            recall=recall,
            maker=maker,
            servers=brought,
            scopes=scopes,
            redaction=redaction,
            recorder=recorder,
            approver=approver,
        )
        maker.follow = beginnings.follow
        contexts = Contexts(
            settings=in_force,
            opened=chats,
            workspace=workspace,
            redaction=redaction,
            turns=turns,
            models=chat_models,
            recall=recall,
            maker=maker,
            scopes=scopes,
        )
        chats.ahead.then = contexts.fill_cache
        return cls(
            chats=Chats(
                settings=in_force,
                opened=chats,
                workspace=workspace,
                redaction=redaction,
                turns=turns,
                models=chat_models,
                scopes=scopes,
                beginnings=beginnings,
            ),
            records=Records(in_force, chats, redaction),
            contexts=contexts,
            memories=Memories(chats, recall, redaction),
            laws=Laws(in_force, workspace, turns),
            extensions=Extensions(in_force, workspace, turns, brought),
            files=Files(chats, redaction),
            permissions=PermissionRequests(in_force, chats, workspace, grants, recorder),
            code=Code(in_force, workspace, index),
            commits=Repositories(in_force, workspace, environment),
            servers=brought,
            leftovers=leftovers,
            sandbox=sandbox,
        )

    def models(self) -> list[ModelInfo]:
        """The models that can be chosen, as was told last."""
        profiles = self.chats.turns.profiles
        return model_list.listed(self.chats.settings.value, profiles.reported, profiles.lists)

    async def models_now(self, *, discover: bool = False) -> tuple[list[ModelInfo], list[str]]:
        """The same with what is lent now, and what is to be said of it; with `discover` endpoints are asked."""
        profiles = self.chats.turns.profiles
        said = await profiles.discover(self.chats.settings.value) if discover else []
        await profiles.borrow()
        return await asyncio.to_thread(self.models), said

    async def warm(self) -> None:
        """Load what the first turn needs, off the event loop; asks no model (V-1)."""
        chats, recall = self.chats, self.contexts.recall
        provider = models.answerer(chats.settings.value).provider

        async def load_model() -> None:
            await chats.models.of(provider).warm()

        async def load_memory() -> None:
            await recall.warm(await chats.opened.stores())

        for load in (load_model, load_memory, self.sandbox.means):
            try:
                await load()
            except Refusal as refusal:
                _log.warning("not ready yet: %s", refusal.message)
        recall.embed_later()  # what a server that died has left

    def set_folders(self, folders: Sequence[Folder]) -> None:
        """The workspace folders have changed."""
        self.contexts.maker.workspace.folders = tuple(folders)

    def set_trusted(self, *, trusted: bool) -> None:
        """The editor trusts the folder, or no longer does; turns that run go on as they started (S-7)."""
        settings = self.chats.settings
        changed, settings.restricted = settings.restricted == trusted, not trusted
        self.code.index.commits.trusted = trusted
        if not trusted:
            self.servers.stop()
        for folder in self.chats.workspace.folders if changed else ():
            self.permissions.record_trust(folder.root, trusted=trusted, why="The editor's restricted mode")

    def reconfigure(self, settings: EffectiveSettings) -> None:
        """New settings; turns that run go on as they started."""
        chats, new = self.chats, settings.value
        if new.model != chats.settings.value.model:
            chats.models.renew()
            chats.turns.profiles.forget()
        chats.settings.effective = settings
        chats.redaction.learn(known_keys(new, self.commits.environment))
        self.contexts.maker.workspace.review = new.editor.review
        self.contexts.recall.reconfigure(new)

    async def close(self) -> None:
        """Stop every turn, end every process, and give the store back."""
        chats, recall = self.chats, self.contexts.recall
        # At the same time: turns have processes, which must not outlive us because something else is slow to end.
        background = [recall.stop(), chats.turns.profiles.close(), self.servers.close()]
        await asyncio.gather(chats.opened.stop(), *background)
        await self.permissions.recorder.settled()
        await chats.opened.close()
        await recall.close()
        await self.code.index.close()
        await chats.models.close()
        await self.sandbox.close()
        await self.leftovers.close()


def _preload() -> None:
    """Read what lies on the disk and every turn needs."""
    preload()
    catalog.profiles()


def _unheard(notice: Notice) -> None:
    _log.warning("%s", notice.message)
