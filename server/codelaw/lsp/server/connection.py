"""What lies behind one client's connection, once it is loaded: it routes requests, and hands on what has changed.

Importing this module loads the engine; `server` does it after `initialize` was answered (V-1).
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from codelaw.agent.chat.leaving import STAYS
from codelaw.domain.errors import Refusal
from codelaw.domain.events import ChatEvent, NoticeEvent, TurnEnded
from codelaw.lsp.cancelling import Spawner
from codelaw.lsp.client_calls.approver import ClientApprover
from codelaw.lsp.client_calls.edits import ClientEditor
from codelaw.lsp.client_calls.progress import ProgressBars
from codelaw.lsp.configuration import Configuration
from codelaw.lsp.context import Context
from codelaw.lsp.features.features import Features
from codelaw.lsp.law import LawDiagnostics, is_law
from codelaw.lsp.methods.handlers import ANSWERS, COMMANDS, FEATURE_ANSWERS, METHODS
from codelaw.lsp.methods.server_offers import offer_servers
from codelaw.lsp.methods.workspace import offer_trust
from codelaw.lsp.server.watching import Watching, is_servers_file, is_settings_file, offer
from codelaw.lsp.transport import encoding
from codelaw.lsp.transport.encoding import encoded
from codelaw.lsp.transport.errors import bad_params, refusal
from codelaw.lsp.transport.rpc import Encoded
from codelaw.lsp.ui import ClientUI
from codelaw.protocol import events as wire
from codelaw.protocol.base import Payload, field_errors
from codelaw.protocol.names import CHAT_EVENT, MODEL_CHANGED, STOPPING
from codelaw.settings.effective import EffectiveSettings
from codelaw.settings.places import home, process_environment

if TYPE_CHECKING:
    from codelaw.app.session import Session
    from codelaw.lsp.client import Client
    from codelaw.lsp.documents.documents import DocumentMoment, EditorDocuments
    from codelaw.lsp.folders import Folders
    from codelaw.lsp.transport.rpc import Rpc
    from codelaw.ports.cancelling import Scopes
    from codelaw.ports.editor import LanguageServices

log = logging.getLogger(__name__)

FILES_AT_ONCE = 2_000
"""Names of changed files that are looked at in one turn of the event loop."""


class Connection:
    """One client with its session; made by `open_connection`."""

    context: Context
    """There when `open` has ended, as are the next two."""
    features: Features
    law: LawDiagnostics

    def __init__(
        self,
        *,
        rpc: Rpc,
        client: Client,
        documents: EditorDocuments,
        folders: Folders,
        arrived: Scopes,
        configuration: Configuration,
    ) -> None:
        self.configuration = configuration
        self.spawn = Spawner()
        self._rpc = rpc
        self._client = client
        self._documents = documents
        self._folders = folders
        self._arrived = arrived
        self._watching = Watching(rpc, client)
        self._asked: set[tuple[str, str]] = set()
        """Settings files and servers about which the user was asked, each with its digest (S-3, X-3)."""
        self._trusting: asyncio.Task[None] | None = None
        """A change of the editor's trust that is being put in force; what is asked meanwhile waits for it."""

    async def open(self, open_session: Callable[..., Awaitable[Session]]) -> None:
        """Read the settings and open the session."""
        rpc, client, documents = self._rpc, self._client, self._documents
        data = home(process_environment())
        folders, late = await self.configuration.open()
        ui = ClientUI(rpc, client, data, self.spawn, ProgressBars(rpc, self._cancel_turn, self._cancel_compaction))
        session = await open_session(
            settings=self.configuration.effective,
            folders=folders,
            documents=documents,
            approver=ClientApprover(rpc, client, data),
            emit=self.emit,
            home=data,
            editor=ClientEditor(rpc, client, documents),
            services=await self._services(),
            report=ui.notice,
            trusted=self.configuration.trusted,
            browser=ui,
            look_again=self.configuration.look_again,
        )
        self.context = Context(
            rpc=rpc,
            client=client,
            documents=documents,
            folders=self._folders,
            configuration=self.configuration,
            session=session,
            ui=ui,
            arrived=self._arrived,
            home=data,
            spawn=self.spawn,
        )
        self.features = Features(self.context)
        self.law = LawDiagnostics(self.context)
        self.configuration.on_change = self._reconfigure
        await self._show_problems()
        for buffer in documents.all():
            self.document(buffer.uri, "opened")
        self._start_servers()
        self.spawn(self._warm())
        self.law.soon()
        self.spawn(offer(rpc, client, self.configuration.law_files))
        self.spawn(self._watch())
        if late is not None:
            self.spawn(self._late(late))

    async def call(self, method: str, raw: Any, *, command: bool = False) -> dict[str, Any] | Encoded:
        """Answer one method, or as a command its twin; or a command that is not a method's.

        Raises:
            WireError: bad params or a refusal.
        """
        route = COMMANDS.get(method) or METHODS[method]
        try:
            # Nothing is spelt in three ways: an empty Lua table is an array.
            params = route.params.model_validate({} if raw is None or raw == [] else raw)
        except ValidationError as error:
            raise bad_params(field_errors(error)) from None
        if method not in STOPPING:  # which waits for nothing
            await self._documents.settled()
            if self._trusting is not None:
                await asyncio.shield(self._trusting)
        if command and route.command is not None:
            answering, result = route.command(self.context, params), route.started or route.result
        else:
            answering = route.answer(self.features if method in COMMANDS else self.context, params)
            result = route.result
        try:
            if not route.large:
                return _as(result, await answering).wire()
            with encoding.paused():
                return await encoding.handed(partial(_spelt, result), [await answering])
        except Refusal as refused:
            raise refusal(refused.code, refused.message, refused.hint) from None

    async def answer(self, method: str, params: Any) -> Any:
        """Answer a method of LSP itself.

        Raises:
            WireError: a refusal.
        """
        await self._documents.settled()
        try:
            if method in FEATURE_ANSWERS:
                return await FEATURE_ANSWERS[method](self.features, params)
            return await ANSWERS[method](self.context, params)
        except Refusal as refused:
            raise refusal(refused.code, refused.message, refused.hint) from None

    def emit(self, event: ChatEvent) -> None:
        """Tell the client what happened; never raises."""
        try:
            if self._client.events:
                self._rpc.notify(CHAT_EVENT, wire.ChatEvent.of(event).wire())
                if isinstance(event.event, NoticeEvent) and event.event.code == STAYS:
                    self._rpc.notify(MODEL_CHANGED, {})
            self.context.ui.on_event(event)
            self.features.on_event(event)
            if isinstance(event.event, TurnEnded):
                self.law.soon()  # the turn may have made a file that the law names
        except Exception:
            log.exception("An event could not be sent")

    def document(self, uri: str, what: DocumentMoment) -> None:
        """Something happened to an open document; for those that were open before it is `opened`. Never raises."""
        for follower in (self.law, self.features):
            try:
                follower.on_document(uri, what)
            except Exception:
                log.exception("A document could not be followed")

    async def files_changed(self, uris: Iterable[str]) -> None:
        """Watched files have changed on the disk. A checkout may change very many: others have their turn between."""
        settings = law = servers = False
        for number, uri in enumerate(uris, 1):
            if not settings and is_settings_file(uri):
                settings = True
                self.spawn(self.configuration.reload())
            if not law and is_law(uri, self.configuration.law_files):
                law = True
                self.law.soon()
            if not servers and is_servers_file(uri):
                servers = True
                self.spawn(offer_servers(self.context, self._asked))
            if settings and law and servers:
                return
            if number % FILES_AT_ONCE == 0:
                await asyncio.sleep(0)

    def editor_trust(self, *, trusted: bool) -> None:
        """The editor trusts the folder, or no longer does: for turns that begin from now on (S-7)."""
        if trusted == self.configuration.trusted:
            return
        self.configuration.trusted = trusted
        if not trusted:
            self.context.session.set_trusted(trusted=False)
        self._trusting = self.spawn(self._retrust())

    async def folders_changed(self) -> None:
        """Tell the session the new folders; their settings files count as well."""
        self.context.session.set_folders(await self.configuration.resolve())
        await self.configuration.reload()
        await self._watch()

    async def close(self) -> None:
        """End the session: turns are cancelled, children killed, the store closed."""
        self.law.close()
        try:
            await self.context.session.close()
        finally:
            self.spawn.close()

    async def _reconfigure(self, before: EffectiveSettings) -> None:
        """Put in force the settings that were read again."""
        settings = self.configuration.effective
        self.context.session.reconfigure(settings)
        if before.value.model != settings.value.model and self._client.events:
            self._rpc.notify(MODEL_CHANGED, {})
        if before.value.law.files != settings.value.law.files:
            self.spawn(offer(self._rpc, self._client, settings.value.law.files, again=True))
            self.spawn(self._watch())
        self.law.soon()
        self._start_servers()
        await self._show_problems()

    async def _retrust(self) -> None:
        # The workspace's own settings first: they may deny what would else be allowed for a moment.
        await self.configuration.reload()
        self.context.session.set_trusted(trusted=self.configuration.trusted)
        self._start_servers()

    async def _late(self, pull: asyncio.Future[None]) -> None:
        await pull
        await self.configuration.reload()

    async def _watch(self) -> None:
        await self._watching.watch(self._folders.uris, self.configuration.law_files)

    async def _show_problems(self) -> None:
        offer_trust(self.context, self._asked)
        self.spawn(offer_servers(self.context, self._asked))
        rules = await self.context.session.permissions.rule_notices()
        self.context.ui.problems([*self.configuration.effective.problems, *rules])

    def _start_servers(self) -> None:
        """Have those ready for the first turn that may run (X-3)."""
        if not self._client.short_lived:
            self.spawn(self.context.session.servers.start())

    async def _warm(self) -> None:
        await self.context.session.warm()
        encoding.settle()

    async def _services(self) -> LanguageServices | None:
        """What the client lends of its language servers; their types are not loaded for one that lends nothing."""
        if not self._client.services:
            return None
        module = await asyncio.to_thread(importlib.import_module, "codelaw.lsp.client_calls.services")
        return module.ClientServices(self._rpc, self._client, self._documents)

    def _cancel_turn(self, chat_id: str) -> None:
        self._cancel(self.context.session.chats.cancel(chat_id))

    def _cancel_compaction(self, chat_id: str) -> None:
        self._cancel(self.context.session.contexts.cancel_compaction(chat_id))

    def _cancel(self, cancelling: Awaitable[bool]) -> None:
        async def cancel() -> None:
            with suppress(Refusal):
                await cancelling

        self.spawn(cancel())


def _as(result: type[Payload], value: object) -> Payload:
    return value if isinstance(value, Payload) else result.of(value)


def _spelt(result: type[Payload], value: object) -> Encoded:
    """An answer as JSON; nothing holds the answer itself any longer when this returns. For a thread."""
    return encoded(_as(result, value))


async def open_connection(
    *,
    rpc: Rpc,
    client: Client,
    documents: EditorDocuments,
    folders: Folders,
    arrived: Scopes,
    options: Any,
    open_session: Callable[..., Awaitable[Session]] | None,
) -> Connection:
    """The opened connection of a client.

    Raises:
        WireError: the session refused to open.
    """
    connection = Connection(
        rpc=rpc,
        client=client,
        documents=documents,
        folders=folders,
        arrived=arrived,
        configuration=Configuration(rpc, client, folders, options),
    )
    try:
        await connection.open(open_session or await asyncio.to_thread(_real_session))
    except Refusal as refused:
        raise refusal(refused.code, refused.message, refused.hint) from None
    return connection


def _real_session() -> Callable[..., Awaitable[Session]]:
    from codelaw.app.session import Session  # noqa: PLC0415 - not loaded where another session is given

    return Session.open
