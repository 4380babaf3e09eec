"""What lies behind one client's connection, once it is loaded: settings, session, and the ways back to the user.

Importing this module loads the engine; `server` does it after `initialize` was answered (V-1).
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from codelaw.agent.chat.leaving import STAYS
from codelaw.domain.chats import Notice
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.errors import Refusal
from codelaw.domain.events import ChatEvent, CompactionEvent, NoticeEvent, SteerEvent, TurnEnded, TurnStarted
from codelaw.lsp.client import Client
from codelaw.lsp.client_calls.approver import ClientApprover
from codelaw.lsp.client_calls.browser import ClientBrowser
from codelaw.lsp.client_calls.edits import ClientEditor
from codelaw.lsp.client_calls.progress import Progress
from codelaw.lsp.client_calls.showing import log_message, show_answer, show_compaction, show_message
from codelaw.lsp.documents import convert
from codelaw.lsp.documents.documents import DocumentMoment, EditorDocuments
from codelaw.lsp.features.features import Features
from codelaw.lsp.law import LawDiagnostics, is_law
from codelaw.lsp.methods.handlers import COMMAND_HANDLERS, HANDLERS, TWINS
from codelaw.lsp.methods.server_offers import offer_servers
from codelaw.lsp.methods.standard import ANSWERS
from codelaw.lsp.methods.workspace import offer_trust
from codelaw.lsp.server.configuration import Configuration
from codelaw.lsp.server.dynamic_registration import offer
from codelaw.lsp.server.folders import Folders
from codelaw.lsp.server.watching import Watching, is_servers_file, is_settings_file
from codelaw.lsp.sessions import OpenSession, RunningTurn, Session
from codelaw.lsp.transport import collecting
from codelaw.lsp.transport.encoding import encoded
from codelaw.lsp.transport.errors import bad_params, refusal
from codelaw.lsp.transport.rpc import Encoded, Rpc
from codelaw.ports.cancelling import Scopes
from codelaw.ports.services import LanguageServices
from codelaw.protocol.base import Payload, field_errors
from codelaw.protocol.editor import COMMAND_TYPES
from codelaw.protocol.methods import METHODS
from codelaw.protocol.names import CHAT_EVENT, MODEL_CHANGED, STOPPING
from codelaw.settings import EffectiveSettings, home, process_environment

log = logging.getLogger(__name__)

PULL_SECONDS = 3.0
"""How long the first settings wait for the client's; later ones are laid over when they come."""
SHOWN_PROBLEMS = 5
FILES_AT_ONCE = 2_000
"""Names of changed files that are looked at in one turn of the event loop."""


LARGE = frozenset(
    {
        "codelaw/chat/list",
        "codelaw/chat/read",
        "codelaw/chat/picture",
        "codelaw/chat/export",
        "codelaw/context/archive",
        "codelaw/context/inspect",
        "codelaw/memory/list",
    }
)
"""Methods whose answers may be so large that they are spelt beside the event loop."""


class Connection:
    """One client with its session; made by `open`."""

    def __init__(
        self,
        *,
        rpc: Rpc,
        client: Client,
        documents: EditorDocuments,
        folders: Folders,
        configuration: Configuration,
    ) -> None:
        self.rpc = rpc
        self.client = client
        self.documents = documents
        self.folders = folders
        self.configuration = configuration
        self.arrived = Scopes()
        """The requests that begin something and are not answered yet."""
        self.trusted = client.trusted
        """The editor trusts the folder (S-7)."""
        self.settings: EffectiveSettings
        self.session: Session
        self.home: Path = home(process_environment())
        self._progress = Progress(rpc, self._cancel_chat, self._cancel_compaction)
        self._watching = Watching(rpc, client)
        self._told: set[str] = set()
        self.asked_trust: set[tuple[str, ...]] = set()
        """Workspace files, with the keys in them, about which the user was asked (S-3)."""
        self.asked_servers: set[tuple[str, str]] = set()
        """Servers, with the digest of what each is started with, about which the user was asked (X-3)."""
        self._compaction_told: CompactionReport | None = None
        self._begun_alone: set[str] = set()
        """Turns that began by themselves."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._reloading = asyncio.Lock()
        self._trusting: asyncio.Task[None] | None = None
        """A change of the editor's trust that is being put in force; what is asked meanwhile waits for it."""
        self.on_document: list[Callable[[str, DocumentMoment], None]] = []
        """Called with the uri of a document that was opened, changed, saved or closed; for the first also with those
        that were open before."""
        self.law = LawDiagnostics(self)
        self.features = Features(self)
        self.on_document += [self.law.document, self.features.on_document]

    @property
    def law_files(self) -> Sequence[str]:
        """The names that count beside CODE_LAW.md (X-10)."""
        return self.settings.value.law.files

    async def open(self, open_session: OpenSession) -> None:
        """Read the settings and open the session."""
        pull = asyncio.ensure_future(self.configuration.pull())
        done, _ = await asyncio.wait([pull], timeout=PULL_SECONDS)
        found = await asyncio.to_thread(self.folders.resolve)
        self.settings = await self.configuration.load(found, trusted=self.trusted)
        self.session = await open_session(
            settings=self.settings,
            folders=found,
            documents=self.documents,
            approver=ClientApprover(self.rpc, self.client, self.home),
            emit=self.emit,
            home=self.home,
            editor=ClientEditor(self.rpc, self.client, self.documents),
            services=await self._services(),
            tell=self._tell,
            trusted=self.trusted,
            browser=ClientBrowser(self.rpc, self.client),
            look_again=self.look_again,
        )
        await self._tell_problems()
        for buffer in self.documents.all():
            self.document(buffer.uri, "opened")
        self._start_servers()
        self.later(self._warm())
        self.law.soon()
        self.later(offer(self.rpc, self.client, self.law_files))
        self.later(self._watching.watch(self.folders.uris, self.law_files))
        if not done:
            self.later(self._late(pull))

    async def call(self, method: str, raw: Any, *, command: bool = False) -> dict[str, Any] | Encoded:
        """Answer one method, or as a command its twin; or a command that is not a method's.

        Raises:
            WireError: bad params or a refusal.
        """
        try:
            # Nothing is spelt in three ways: an empty Lua table is an array.
            kind = COMMAND_TYPES.get(method) or METHODS[method]
            params = kind.params.model_validate({} if raw is None or raw == [] else raw)
        except ValidationError as error:
            raise bad_params(field_errors(error)) from None
        if method not in STOPPING:  # which waits for nothing
            await self.documents.settled()
            if self._trusting is not None:
                await asyncio.shield(self._trusting)
        handler = COMMAND_HANDLERS.get(method) or (TWINS.get(method) if command else None) or HANDLERS[method]
        try:
            if method not in LARGE:
                return (await handler(self, params)).wire()
            with collecting.paused():
                return await self._spelt(handler(self, params))
        except Refusal as refused:
            raise refusal(refused.code, refused.message, refused.hint) from None

    @staticmethod
    async def _spelt(answering: Awaitable[Payload]) -> Encoded:
        """An answer as JSON; nothing holds the answer itself any longer when this returns."""
        return await collecting.handed(encoded, [await answering])

    def _start_servers(self) -> None:
        """Have those ready for the first turn that may run (X-3)."""
        if not self.client.short_lived:
            self.later(self.session.start_servers())

    async def _warm(self) -> None:
        await self.session.warm()
        collecting.settle()

    async def _services(self) -> LanguageServices | None:
        """What the client lends of its language servers; their types are not loaded for one that lends nothing."""
        if not self.client.services:
            return None
        module = await asyncio.to_thread(importlib.import_module, "codelaw.lsp.client_calls.services")
        return module.ClientServices(self.rpc, self.client, self.documents)

    async def answer(self, method: str, params: Any) -> Any:
        """Answer a method of LSP itself.

        Raises:
            WireError: a refusal.
        """
        await self.documents.settled()
        try:
            return await ANSWERS[method](self, params)
        except Refusal as refused:
            raise refusal(refused.code, refused.message, refused.hint) from None

    def document(self, uri: str, what: DocumentMoment) -> None:
        """Something happened to an open document; never raises."""
        for listener in self.on_document:
            try:
                listener(uri, what)
            except Exception:
                log.exception("A document could not be followed")

    async def files_changed(self, uris: Iterable[str]) -> None:
        """Watched files have changed on the disk. A checkout may change very many: others have their turn between."""
        settings = law = servers = False
        for number, uri in enumerate(uris, 1):
            if not settings and is_settings_file(uri):
                settings = True
                self.later(self.reload())
            if not law and is_law(uri, self.law_files):
                law = True
                self.law.soon()
            if not servers and is_servers_file(uri):
                servers = True
                self.later(offer_servers(self))
            if settings and law and servers:
                return
            if number % FILES_AT_ONCE == 0:
                await asyncio.sleep(0)

    def emit(self, event: ChatEvent) -> None:
        """Tell the client what happened; never raises."""
        try:
            if self.client.events:
                self.rpc.tell(CHAT_EVENT, convert.chat_event(event).wire())
                if isinstance(event.event, NoticeEvent) and event.event.code == STAYS:
                    self.rpc.tell(MODEL_CHANGED, {})
            elif isinstance(event.event, CompactionEvent) and event.turn_id:
                report = event.event.report
                if report is not None and report.message:  # within a turn only what must be said (K-6)
                    self.tell_compaction(report)
            elif isinstance(event.event, NoticeEvent) and event.event.code == "law_changed":
                log_message(self.rpc, event.event.level, event.event.message)
            if self.client.progress:
                self._progress.follow(event)
            self.features.on_event(event)
            self._show_next(event)
            if isinstance(event.event, TurnEnded):
                self.law.soon()  # the turn may have made a file that the law names
        except Exception:
            log.exception("An event could not be sent")

    def follow(self, turn: RunningTurn) -> None:
        """Watch over a turn that nobody waits for; a client without events is shown its answer."""
        self.later(self._show(turn))

    def tell_compaction(self, report: CompactionReport) -> None:
        """Tell a client without events how a compaction went, once, however many wait for it."""
        if not self.client.events and report is not self._compaction_told:
            self._compaction_told = report
            show_compaction(self.rpc, report)

    def progress_cancelled(self, token: object) -> None:
        """The user pressed cancel on a progress bar."""
        self._progress.cancelled(token)

    async def reload(self, *, pull: bool = False) -> None:
        """Read the settings again and put them in force."""
        if pull:
            await self.configuration.pull()  # which may take for ever
        async with self._reloading:
            found = await asyncio.to_thread(self.folders.resolve)
            before, files = self.settings.value.model, self.law_files
            self.settings = await self.configuration.load(found, trusted=self.trusted)
            self.session.reconfigure(self.settings)
            if before != self.settings.value.model and self.client.events:
                self.rpc.tell(MODEL_CHANGED, {})
            if files != self.law_files:
                self.later(offer(self.rpc, self.client, self.law_files, again=True))
                self.later(self._watching.watch(self.folders.uris, self.law_files))
            self.law.soon()
            self._start_servers()
            await self._tell_problems()

    async def look_again(self) -> None:
        """Read the settings again where a file of them has changed: not every client watches them."""
        async with self._reloading:
            pass  # what the client has said of them before is put in force first
        if await self.configuration.changed():
            await self.reload()

    def editor_trust(self, *, trusted: bool) -> None:
        """The editor trusts the folder, or no longer does: for turns that begin from now on (S-7)."""
        if trusted == self.trusted:
            return
        self.trusted = trusted
        if not trusted:
            self.session.set_trusted(trusted=False)
        self._trusting = asyncio.get_running_loop().create_task(_logged(self._retrust()))

    async def _retrust(self) -> None:
        # The workspace's own settings first: they may deny what would else be allowed for a moment.
        await self.reload()
        self.session.set_trusted(trusted=self.trusted)
        self._start_servers()

    async def folders_changed(self) -> None:
        """Tell the session the new folders; their settings files count as well."""
        async with self._reloading:
            self.session.set_folders(await asyncio.to_thread(self.folders.resolve))
        await self.reload()
        await self._watching.watch(self.folders.uris, self.law_files)

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something on the side; a failure is logged."""
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End the session: turns are cancelled, children killed, the store closed."""
        self.law.close()
        try:
            await self.session.close()
        finally:
            for task in [*self._tasks, *([self._trusting] if self._trusting is not None else [])]:
                task.cancel()

    async def _late(self, pull: asyncio.Future[None]) -> None:
        await pull
        await self.reload()

    def _show_next(self, event: ChatEvent) -> None:
        """Show a client without events the answer of a turn that began by itself, and what was not sent (R-9)."""
        if isinstance(event.event, SteerEvent) and event.event.state == "returned" and not self.client.events:
            show_message(self.rpc, "warning", f"Not sent, because the turn ended before: {event.event.text}")
        if isinstance(event.event, TurnStarted) and event.event.steered:
            self._begun_alone.add(event.turn_id)
        if isinstance(event.event, TurnEnded) and event.turn_id in self._begun_alone:
            self._begun_alone.discard(event.turn_id)
            if not self.client.events:
                self.later(show_answer(self.rpc, self.client, self.home, event.event.result))

    async def _show(self, turn: RunningTurn) -> None:
        result = await turn.result()
        if not self.client.events:
            await show_answer(self.rpc, self.client, self.home, result)

    def _cancel_chat(self, chat_id: str) -> None:
        async def cancel() -> None:
            with suppress(Refusal):
                await self.session.cancel(chat_id)

        self.later(cancel())

    def _cancel_compaction(self, chat_id: str) -> None:
        async def cancel() -> None:
            with suppress(Refusal):
                await self.session.cancel_compaction(chat_id)

        self.later(cancel())

    def _tell(self, notice: Notice) -> None:
        show_message(self.rpc, notice.level, f"codelaw: {notice.message}")

    async def _tell_problems(self) -> None:
        offer_trust(self)
        self.later(offer_servers(self))
        all_told = (*self.settings.problems, *await self.session.rule_notices())
        fresh: list[Notice] = [
            notice
            for notice in all_told
            if notice.message not in self._told and notice.code != "setting_refused"  # which the offer names
        ]
        self._told = {notice.message for notice in all_told}
        fresh.sort(key=lambda notice: notice.level != "error")
        for notice in fresh[:SHOWN_PROBLEMS]:
            show_message(self.rpc, notice.level, f"codelaw settings: {notice.message}")
        if len(fresh) > SHOWN_PROBLEMS:
            show_message(self.rpc, "warning", f"codelaw settings: {len(fresh) - SHOWN_PROBLEMS} more problems")


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("Work on the side failed")
