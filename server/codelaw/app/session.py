"""One client's session: its settings, folders, chats and model, behind one facade."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from codelaw.adapters.models import catalog
from codelaw.app import models
from codelaw.app.indexing import embed_code
from codelaw.app.known_keys import known_keys
from codelaw.app.requests.chats import ChatRequests
from codelaw.app.requests.commits import CommitRequests
from codelaw.app.requests.contexts import ContextRequests
from codelaw.app.requests.finding import FindingRequests
from codelaw.app.requests.laws import LawRequests
from codelaw.app.requests.memories import MemoryRequests
from codelaw.app.requests.permissions import PermissionRequests
from codelaw.app.requests.records import RecordRequests
from codelaw.app.requests.reverts import RevertRequests
from codelaw.app.requests.servers import ServerRequests
from codelaw.domain.errors import Refusal
from codelaw.domain.reports import ModelInfo
from codelaw.templates.render import preload

if TYPE_CHECKING:
    from codelaw.domain.chats import Notice
    from codelaw.domain.events import ChatEvent
    from codelaw.domain.files import Folder
    from codelaw.ports.approver import Approver
    from codelaw.ports.editor import Editor
    from codelaw.ports.servers import Browser, ToolServers
    from codelaw.ports.services import LanguageServices
    from codelaw.ports.workspace import OpenDocuments
    from codelaw.settings import EffectiveSettings

_log = logging.getLogger(__name__)


class Session(
    ChatRequests,
    RecordRequests,
    ContextRequests,
    MemoryRequests,
    LawRequests,
    RevertRequests,
    PermissionRequests,
    FindingRequests,
    CommitRequests,
    ServerRequests,
):
    """What a client connection can ask for. Refusals are raised as `Refusal`; everything else is a bug."""

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
        tell: Callable[[Notice], None] | None = None,
        trusted: bool = True,
        servers: ToolServers | None = None,
        browser: Browser | None = None,
        look_again: Callable[[], Awaitable[None]] | None = None,
    ) -> Self:
        """A session; the store is opened at its first use: one that cannot be opened refuses only what needs it.

        `tell` is called with what the user should know and no chat is about. `trusted` is off where the editor does
        not trust the folder (S-7). `servers` runs those that people bring along; None: made when there is one.
        `browser` opens pages on which the user logs in to one (X-3). `look_again` is awaited before something begins:
        it reconfigures the session where a file of the settings has changed (S-1).
        """
        await asyncio.to_thread(_preload)
        session = cls(
            settings=settings,
            folders=folders,
            documents=documents,
            approver=approver,
            emit=emit,
            home=home,
            editor=editor,
            services=services,
            tell=tell,
            trusted=trusted,
            servers=servers,
            look_again=look_again,
        )
        session._servers.browser = browser
        session._chats.ahead.then = session.fill_cache
        return session

    def models(self) -> list[ModelInfo]:
        """The models that can be chosen."""
        return models.listed(self._settings.value, self._turns.profiles.told)

    async def warm(self) -> None:
        """Load what the first turn needs, off the event loop; asks no model (V-1)."""
        provider = models.answerer(self._settings.value).provider

        async def load_model() -> None:
            await self._chat_model(provider).warm()

        for load in (load_model, self._chats.store, self._warm_memory, self._sandbox.means):
            try:
                await load()
            except Refusal as refusal:
                _log.warning("not ready yet: %s", refusal.message)
        self._embed_later()  # what a server that died has left

    def set_folders(self, folders: Sequence[Folder]) -> None:
        """The workspace folders have changed."""
        self._workspace.folders = tuple(folders)

    def set_trusted(self, *, trusted: bool) -> None:
        """The editor trusts the folder, or no longer does; turns that run go on as they started (S-7)."""
        changed, self._restricted = self._restricted == trusted, not trusted
        self._code.commits.trusted = trusted
        if not trusted:
            self._servers.stop()
        for folder in self._roots() if changed else ():
            self.record_trust(folder, trusted=trusted, why="The editor's restricted mode")

    def reconfigure(self, settings: EffectiveSettings) -> None:
        """New settings; turns that run go on as they started."""
        if settings.value.model != self._settings.value.model:
            self._retired += self._models.values()
            self._models = {}
            self._turns.profiles.forget()
        self._settings = settings
        self._redaction.learn(known_keys(settings.value, self._environment))
        self._workspace.review = settings.value.editor.review
        changed = self._embedder.reconfigure(settings.value)
        embed_code(self._code, settings.value, self._embedder.in_use.now)
        if self._embedding is not None:
            self._embedding.whose = self._remembering()
            if changed:
                self._embedding.renew()

    async def close(self) -> None:
        """Stop every turn, end every process, and give the store back."""
        # At the same time: turns have processes, which must not outlive us because something else is slow to end.
        background = [
            self._memory.close(),
            self._turns.profiles.close(),
            self._servers.close(),
            *([self._embedding.close()] if self._embedding is not None else []),
        ]
        await asyncio.gather(self._chats.stop(), *background)
        await self._recorder.settled()
        await self._chats.close()
        await self._embedder.close()
        await self._code.close()
        for model in [*self._retired, *self._models.values()]:
            await model.close()
        await self._sandbox.close()
        await self._leftovers.close()


def _preload() -> None:
    """Read what lies on the disk and every turn needs."""
    preload()
    catalog.profiles()
