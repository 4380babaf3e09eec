"""One client's session: its settings, folders, chats and model, behind one facade."""

from __future__ import annotations

import asyncio
import logging
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from codelaw.adapters.models import catalog
from codelaw.adapters.stores.sqlite import SqliteStore
from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.adapters.workspace.processes import LocalProcesses
from codelaw.agent.approval import Gate
from codelaw.agent.chat import AgentChat, House
from codelaw.app import inspection, models
from codelaw.app.chats import OpenChats
from codelaw.app.turns import TurnMaker, policy
from codelaw.domain.chats import Chat, Mode, Strategy
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.errors import Refusal
from codelaw.domain.permissions import Grant
from codelaw.domain.reports import ArchiveReport, ChatRecord, ContextReport, LawReport, MentionItem, ModelInfo
from codelaw.settings import process_environment
from codelaw.templates.render import preload

if TYPE_CHECKING:
    from codelaw.agent.ground import Ground
    from codelaw.agent.running import RunningTurn
    from codelaw.domain.events import ChatEvent
    from codelaw.domain.files import Folder
    from codelaw.domain.requests import Attachment, EditorState
    from codelaw.ports.approver import Approver
    from codelaw.ports.model import ChatModel
    from codelaw.ports.store import ChatStore
    from codelaw.ports.workspace import OpenDocuments
    from codelaw.settings import EffectiveSettings

TITLE_CHARACTERS = 60

_log = logging.getLogger(__name__)


class Session:
    """What a client connection can ask for. Refusals are raised as `Refusal`; everything else is a bug."""

    def __init__(
        self,
        *,
        settings: EffectiveSettings,
        folders: Sequence[Folder],
        documents: OpenDocuments,
        approver: Approver,
        emit: Callable[[ChatEvent], None],
        home: Path,
    ) -> None:
        self._settings = settings
        self._approver = approver
        self._emit = emit
        self._home = home
        self._workspace = DiskWorkspace(folders, documents)
        self._processes = LocalProcesses(process_environment())
        self._turns = TurnMaker(self._workspace, time.time, _operating_system())
        self._always: list[Grant] = []
        self._chats = OpenChats(self._open_store, self._make_agent)
        self._model: ChatModel | None = None
        self._retired: list[ChatModel] = []

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
    ) -> Session:
        """A session; the store is opened at its first use, so that a damaged one refuses only what needs it."""
        await asyncio.to_thread(_preload)
        return cls(settings=settings, folders=folders, documents=documents, approver=approver, emit=emit, home=home)

    # Chats

    async def create(
        self,
        *,
        title: str | None = None,
        mode: Mode | None = None,
        model: str | None = None,
        strategy: Strategy | None = None,
        kind: str = "panel",
    ) -> Chat:
        """A new, empty chat."""
        store = await self._chats.store()
        now = time.time()
        chat = Chat(
            uuid4().hex[:12],
            title or "",
            kind,
            mode or "agent",
            model or models.current_name(self._settings.value),
            strategy or self._settings.value.context.strategy,
            now,
            now,
        )
        await store.create(chat)
        return chat

    async def list(self, query: str | None, limit: int, cursor: str | None) -> tuple[list[Chat], str | None]:
        """Stored chats, newest first; the second value continues the list."""
        return await (await self._chats.store()).list(query, limit, cursor)

    async def read(
        self, chat_id: str, *, since_seq: int | None = None, limit: int | None = None, before: str | None = None
    ) -> ChatRecord:
        """A chat with its messages (the newest `limit` before the message `before`) and events after `since_seq`."""
        agent = await self._chats.get(chat_id)
        await agent.outbox.drain()
        store = await self._chats.store()
        stored = await store.load(chat_id)
        events = await store.events(chat_id, since_seq or 0)
        running = agent.running_turn
        messages = agent.past.told(stored.messages)
        if before is not None:
            ids = [message.id for message in messages]
            messages = messages[: ids.index(before)] if before in ids else messages
        if limit is not None:
            messages = messages[-limit:] if limit else ()
        return ChatRecord(replace(stored.chat, running=running), messages, tuple(events), running)

    async def send(
        self,
        chat_id: str | None,
        text: str,
        *,
        mode: Mode | None = None,
        model: str | None = None,
        strategy: Strategy | None = None,
        attachments: Sequence[Attachment] = (),
        editor: EditorState | None = None,
    ) -> RunningTurn:
        """Start a turn, in a new chat without `chat_id`. Everything that can be refused is refused before it starts.

        Not to be cancelled: a turn might begin that nobody knows of.
        """
        settings = self._settings.value
        self._turns.check_text(text)
        speaker = self._chat_model()
        known = await self._chats.get(chat_id) if chat_id is not None else None
        agent = known
        if agent is not None:
            agent.claim()
        try:
            name = models.effective_name(settings, model or (known.chat.model if known else settings.model.name))
            chosen = mode or (known.chat.mode if known else "agent")
            plan = await self._turns.plan(
                text=text,
                settings=settings,
                name=name,
                mode=chosen,
                attachments=attachments,
                editor=editor,
                agent=known,
            )
            if agent is None:
                chat = await self.create(title=_title(text), mode=mode, model=model, strategy=strategy)
                agent = await self._chats.get(chat.id)
                agent.claim()
            elif mode or model or strategy or not agent.chat.title:
                title = agent.chat.title or _title(text)
                await self._change(agent, title=title, mode=mode, model=model, strategy=strategy)
            agent.gate.policy, unread = policy(settings, chosen, self._processes)
            around = await self._turns.surroundings(plan, agent, speaker, settings)
            return await agent.start(plan.question, text, around, [*plan.notices, *unread], models.cost_of(name))
        except BaseException:
            if agent is not None:
                agent.release()
            if agent is not None and known is None:
                await self._discard(agent.chat.id)
            raise

    async def steer(self, chat_id: str, text: str) -> None:
        """Add to the running turn (R-9)."""
        self._turns.check_text(text)
        (await self._chats.get(chat_id)).steer(text)

    async def cancel(self, chat_id: str) -> bool:
        """Stop the running turn or compaction and wait until it has ended; False when there was none (R-8)."""
        agent = await self._chats.get(chat_id)
        running = agent.running
        cancelled = running.cancel() if running is not None else False
        stopped = await agent.compacting.cancel()
        if running is not None:
            await running.result()
        return cancelled or stopped

    async def update(
        self,
        chat_id: str,
        *,
        title: str | None = None,
        mode: Mode | None = None,
        model: str | None = None,
        strategy: Strategy | None = None,
    ) -> Chat:
        """Change what is given; a running turn goes on as it started (X-1)."""
        agent = await self._chats.get(chat_id)
        await self._change(agent, title=title, mode=mode, model=model, strategy=strategy)
        return agent.chat

    async def delete(self, chat_id: str) -> None:
        """Delete a chat and everything of it; a running turn is stopped first.

        Raises:
            Refusal: `chat_busy`: the turn runs in another server.
        """
        await self.cancel(chat_id)
        store = await self._chats.store()
        if (await store.chat(chat_id)).running not in {None, (await self._chats.get(chat_id)).owes}:
            raise Refusal("chat_busy", "A turn of another codelaw runs in this chat.", "Cancel it there first.")
        await store.delete(chat_id)
        self._chats.forget(chat_id)

    # Context

    async def inspect(self, chat_id: str | None, text: str | None) -> ContextReport:
        """What would be sent now (L-5)."""
        settings = self._settings.value
        agent = await self._chats.get(chat_id) if chat_id is not None else None
        name = models.effective_name(settings, agent.chat.model if agent else settings.model.name)
        mode: Mode = agent.chat.mode if agent else "agent"
        plan = await self._turns.plan(
            text=text or "",
            settings=settings,
            name=name,
            mode=mode,
            attachments=(),
            editor=None,
            agent=agent,
            checked=False,
        )
        ground = self._turns.ground(plan, agent.chat, self._chat_model(), settings) if agent else None
        return await inspection.inspect(plan, agent, settings, ground, asked=bool(text))

    async def compact(self, chat_id: str) -> CompactionReport:
        """Archive all but `context.keepRounds` rounds (K-10); joins a compaction in flight.

        Cancelling the caller does not cancel it: `cancel_compaction` does.
        """
        agent = await self._chats.get(chat_id)
        return await agent.compact(await self._ground(agent))

    async def cancel_compaction(self, chat_id: str) -> bool:
        """Stop a compaction, and only that; False when there was none. The history stays as it was (K-6)."""
        return await (await self._chats.get(chat_id)).compacting.cancel()

    async def restore(self, chat_id: str, checkpoint_id: str | None = None) -> Chat:
        """Undo a compaction, the newest without an id, and those after it (K-3).

        Raises:
            Refusal: `nothing_to_undo`; `chat_busy`: a compaction is running.
        """
        agent = await self._chats.get(chat_id)
        await agent.restore(checkpoint_id)
        return agent.chat

    async def archive(self, chat_id: str) -> ArchiveReport:
        """What compactions have archived, as a person reads it."""
        transcript = (await self._chats.get(chat_id)).past.transcript
        return ArchiveReport("\n\n".join(summary.content for summary in transcript.summaries), transcript.checkpoints)

    async def law(self) -> LawReport:
        """The law as it is now (L-4)."""
        return await inspection.law_report(self._workspace)

    async def mentions(self, prefix: str, limit: int) -> list[MentionItem]:
        """Completions of an `@path` (M-4)."""
        return await inspection.completions(self._workspace, prefix, limit)

    def models(self) -> list[ModelInfo]:
        """The models that can be chosen."""
        return models.listed(self._settings.value)

    # The session itself

    async def warm(self) -> None:
        """Load what the first turn needs, off the event loop; asks no model (V-1)."""
        try:
            await self._chat_model().warm()
            await self._chats.store()
        except Refusal as refusal:
            _log.warning("not ready yet: %s", refusal.message)

    def set_folders(self, folders: Sequence[Folder]) -> None:
        """The workspace folders have changed."""
        self._workspace.folders = tuple(folders)

    def reconfigure(self, settings: EffectiveSettings) -> None:
        """New settings; turns that run go on as they started."""
        if settings.value.model != self._settings.value.model and self._model is not None:
            self._retired.append(self._model)
            self._model = None
        self._settings = settings

    async def close(self) -> None:
        """Stop every turn, end every process, and give the store back."""
        await self._chats.close()
        for model in [*self._retired, *([self._model] if self._model else [])]:
            await model.close()

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

    async def _open_store(self) -> ChatStore:
        store = await SqliteStore.open(self._home / "codelaw.db")
        self._always[:] = await store.grants()
        return store

    def _make_agent(self, store: ChatStore, chat: Chat) -> AgentChat:
        house = House(store, self._workspace, self._processes, self._emit, time.time)
        rules, _ = policy(self._settings.value, chat.mode, self._processes)
        return AgentChat(chat, house, Gate(rules, self._approver, store.add_grant, self._always))

    async def _discard(self, chat_id: str) -> None:
        """Take back a chat that was made for a message that could not be sent."""
        try:
            await self.delete(chat_id)
        except Refusal as refusal:
            _log.warning("chat %s stays, empty: %s", chat_id, refusal.message)

    def _chat_model(self) -> ChatModel:
        if self._model is None:
            self._model = models.make_model(self._settings.value)
        return self._model


def _preload() -> None:
    """Read what lies on the disk and every turn needs."""
    preload()
    catalog.profiles()


def _title(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"


def _operating_system() -> str:
    return f"{platform.system()} {platform.machine()}"
