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
from codelaw.lsp.client_calls.window import ClientUI
from codelaw.lsp.configuration import Configuration
from codelaw.lsp.features.features import Features
from codelaw.lsp.law import LawDiagnostics, is_law
from codelaw.lsp.methods.handlers import COMMANDS, METHODS, STANDARD
from codelaw.lsp.methods.workspace import offer_servers, offer_trust
from codelaw.lsp.server.registering import Registrations, is_servers_file, is_settings_file
from codelaw.lsp.transport import encoding
from codelaw.lsp.transport.encoding import encoded
from codelaw.lsp.transport.errors import bad_params, refusal
from codelaw.protocol import events as wire
from codelaw.protocol.base import field_errors
from codelaw.protocol.names import CHAT_EVENT, MODEL_CHANGED, STOPPING
from codelaw.settings.effective import EffectiveSettings
from codelaw.settings.places import home, process_environment

if TYPE_CHECKING:
    from codelaw.app.session import Session
    from codelaw.lsp.client import Client
    from codelaw.lsp.documents.documents import DocumentMoment, EditorDocuments
    from codelaw.lsp.folders import Folders
    from codelaw.lsp.transport.rpc import Encoded, Rpc
    from codelaw.ports.cancelling import Scopes
    from codelaw.ports.editor import LanguageServices

log = logging.getLogger(__name__)

FILES_AT_ONCE = 2_000
"""Names of changed files that are looked at in one turn of the event loop."""


class Connection:
    """One client with its session; made by `open_connection`."""

    law: LawDiagnostics
    """There when `open` has ended."""

    def __init__(self, context: Features) -> None:
        self.context = context
        self._registrations = Registrations(context.rpc, context.client)
        self._asked: set[tuple[str, str]] = set()
        """Settings files and servers about which the user was asked, each with its digest (S-3, X-3)."""
        self._trusting: asyncio.Task[None] | None = None
        """A change of the editor's trust that is being put in force; what is asked meanwhile waits for it."""

    async def open(self, open_session: Callable[..., Awaitable[Session]]) -> None:
        """Read the settings and open the session."""
        context = self.context
        configuration, spawn = context.configuration, context.spawn
        folders, late = await configuration.open()
        context.session = await open_session(
            settings=configuration.effective,
            folders=folders,
            documents=context.documents,
            approver=context.approver,
            emit=self.emit,
            home=context.home,
            editor=context.editor,
            services=await _services(context),
            **await _lenders(context),
            report=context.ui.notice,
            trusted=configuration.trusted,
            browser=context.ui,
            look_again=configuration.look_again,
        )
        self.law = LawDiagnostics(context)
        configuration.on_change = self._reconfigure
        await self._show_problems()
        for buffer in context.documents.all():
            self.document(buffer.uri, "opened")
        self._start_servers()
        spawn(self._warm())
        self.law.soon()
        spawn(self._registrations.offer(configuration.law_files))
        spawn(self._watch())
        if late is not None:
            spawn(self._late(late))

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
            await self.context.documents.settled()
            if self._trusting is not None:
                await asyncio.shield(self._trusting)
        answer, result = route.answer, route.result
        if command and route.command is not None:
            answer, result = route.command, route.started or result
        try:
            if not route.large:
                return result.told(await answer(self.context, params)).wire()
            with encoding.paused():
                return await encoding.handed(
                    lambda value: encoded(result.told(value)), [await answer(self.context, params)]
                )
        except Refusal as refused:
            raise refusal(refused.code, refused.message, refused.hint) from None

    async def answer(self, method: str, params: Any) -> Any:
        """Answer a method of LSP itself.

        Raises:
            WireError: a refusal.
        """
        await self.context.documents.settled()
        try:
            return await STANDARD[method](self.context, params)
        except Refusal as refused:
            raise refusal(refused.code, refused.message, refused.hint) from None

    def emit(self, event: ChatEvent) -> None:
        """Tell the client what happened; never raises."""
        context = self.context
        try:
            if context.client.events:
                context.rpc.notify(CHAT_EVENT, wire.ChatEventPayload.of(event).wire())
                if isinstance(event.event, NoticeEvent) and event.event.code == STAYS:
                    context.rpc.notify(MODEL_CHANGED, {})
            for follower in (context.ui, context.chat_files, context.contents):
                follower.on_event(event)
            if isinstance(event.event, TurnEnded):
                self.law.soon()  # the turn may have made a file that the law names
        except Exception:
            log.exception("An event could not be sent")

    def document(self, uri: str, what: DocumentMoment) -> None:
        """Something happened to an open document; for those that were open before it is `opened`. Never raises."""
        if what == "saved" and is_settings_file(uri):
            self.context.spawn(self.context.configuration.reload())
        for follower in (self.law, self.context.chat_files, self.context.contents):
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
                self.context.spawn(self.context.configuration.reload())
            if not law and is_law(uri, self.context.configuration.law_files):
                law = True
                self.law.soon()
            if not servers and is_servers_file(uri):
                servers = True
                self.context.spawn(offer_servers(self.context, self._asked))
            if settings and law and servers:
                return
            if number % FILES_AT_ONCE == 0:
                await asyncio.sleep(0)

    def editor_trust(self, *, trusted: bool) -> None:
        """The editor trusts the folder, or no longer does: for turns that begin from now on (S-7)."""
        if trusted == self.context.configuration.trusted:
            return
        self.context.configuration.trusted = trusted
        if not trusted:
            self.context.session.set_trusted(trusted=False)
        self._trusting = self.context.spawn(self._retrust())

    async def folders_changed(self) -> None:
        """Tell the session the new folders; their settings files count as well."""
        self.context.session.set_folders(await self.context.configuration.resolve())
        await self.context.configuration.reload()
        await self._watch()

    async def close(self) -> None:
        """End the session: turns are cancelled, children killed, the store closed."""
        self.law.close()
        try:
            await self.context.session.close()
        finally:
            self.context.spawn.close()

    async def _reconfigure(self, before: EffectiveSettings) -> None:
        """Put in force the settings that were read again."""
        settings = self.context.configuration.effective
        self.context.session.reconfigure(settings)
        if before.value.model != settings.value.model and self.context.client.events:
            self.context.rpc.notify(MODEL_CHANGED, {})
        if before.value.law.files != settings.value.law.files:
            self.context.spawn(self._registrations.offer(settings.value.law.files))
            self.context.spawn(self._watch())
        self.law.soon()
        self._start_servers()
        await self._show_problems()

    async def _retrust(self) -> None:
        # The workspace's own settings first: they may deny what would else be allowed for a moment.
        await self.context.configuration.reload()
        self.context.session.set_trusted(trusted=self.context.configuration.trusted)
        self._start_servers()

    async def _late(self, pull: asyncio.Future[None]) -> None:
        await pull
        await self.context.configuration.reload()

    async def _watch(self) -> None:
        await self._registrations.watch(self.context.folders.uris, self.context.configuration.law_files)

    async def _show_problems(self) -> None:
        offer_trust(self.context, self._asked)
        self.context.spawn(offer_servers(self.context, self._asked))
        rules = await self.context.session.permissions.rule_notices()
        self.context.ui.problems([*self.context.configuration.effective.problems, *rules])

    def _start_servers(self) -> None:
        """Have those ready for the first turn that may run (X-3)."""
        if not self.context.client.short_lived:
            self.context.spawn(self.context.session.servers.start())

    async def _warm(self) -> None:
        await self.context.session.warm()
        encoding.settle()


async def _services(context: Features) -> LanguageServices | None:
    """What the client lends of its language servers; their types are not loaded for one that lends nothing."""
    if not context.client.services:
        return None
    module = await asyncio.to_thread(importlib.import_module, "codelaw.lsp.client_calls.services")
    return module.ClientServices(context.rpc, context.client, context.documents)


async def _lenders(context: Features) -> dict[str, Any]:
    """The client, where it has models or tools to lend."""
    client, rpc = context.client, context.rpc
    if not (client.lends or client.lends_tools):
        return {}
    module = await asyncio.to_thread(importlib.import_module, "codelaw.lsp.client_calls.lending")
    models, tools = module.ClientLender(rpc), module.ClientTools(rpc)
    return ({"lender": models} if client.lends else {}) | ({"tools": tools} if client.lends_tools else {})


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
    data, spawn = home(process_environment()), Spawner()

    def cancel(resource: str, request: str, chat_id: str) -> None:
        async def cancelled() -> None:
            with suppress(Refusal):
                await getattr(getattr(context.session, resource), request)(chat_id)

        spawn(cancelled())

    bars = ProgressBars(
        rpc, spawn, partial(cancel, "chats", "cancel"), partial(cancel, "contexts", "cancel_compaction")
    )
    ui = ClientUI(rpc, client, data, spawn, bars)
    context = Features(
        rpc=rpc,
        client=client,
        documents=documents,
        folders=folders,
        configuration=Configuration(rpc, client, folders, options),
        arrived=arrived,
        home=data,
        spawn=spawn,
        ui=ui,
        approver=ClientApprover(rpc, client, data, ui),
        editor=ClientEditor(rpc, client, documents),
    )
    connection = Connection(context)
    try:
        await connection.open(open_session or await asyncio.to_thread(_real_session))
    except Refusal as refused:
        raise refusal(refused.code, refused.message, refused.hint) from None
    return connection


def _real_session() -> Callable[..., Awaitable[Session]]:
    from codelaw.app.session import Session  # noqa: PLC0415 - not loaded where another session is given

    return Session.open
