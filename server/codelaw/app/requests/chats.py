"""Requests about chats."""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4

from codelaw.agent.chat.turns import halt
from codelaw.agent.inputs.gathering import NOTHING_CALLED
from codelaw.agent.recording.history import with_summaries
from codelaw.agent.turn.pending import QueuedSteer
from codelaw.app import models
from codelaw.app.choices import chosen, with_effort
from codelaw.app.hooking import let_through
from codelaw.app.in_force import applied as strategy_options_applied
from codelaw.app.plans import TurnPlan, TurnRequest
from codelaw.domain.chats import Chat, Choices, EffortChoice, Mode, Notice, Strategy
from codelaw.domain.errors import Refusal
from codelaw.domain.media.images import NoImage, Picture, image_of, picture_ref
from codelaw.domain.reports import ChatRecord
from codelaw.ports.cancelling import Cancelled, Scope, Scopes

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.turn.running import TurnTask
    from codelaw.app.beginnings import Beginnings
    from codelaw.app.chats import OpenChats
    from codelaw.app.in_force import SettingsInForce
    from codelaw.app.models import ChatModels
    from codelaw.app.turns import TurnMaker
    from codelaw.domain.messages import Message
    from codelaw.domain.requests import EditorState, Enclosed
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.workspace import Workspace

TITLE_CHARACTERS = 60
PAGE = 50
"""Chats in a list where no limit is named."""
STOP_SECONDS = 0.8
"""How long a cancel waits for the end of what it stops, within the second of R-8."""
AFTER = 0.001
"""Seconds by which a new chat is put behind the newest one."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Chats:
    """Chats: made, listed, read, talked to, changed, deleted."""

    settings: SettingsInForce
    opened: OpenChats
    workspace: Workspace
    redaction: Redaction
    turns: TurnMaker
    models: ChatModels
    scopes: Scopes
    beginnings: Beginnings

    async def create(self, *, kind: str | None = None, **choices: Unpack[Choices]) -> Chat:
        """A new, empty chat; without a kind one that is talked in at length (H-5)."""
        stores = await self.opened.stores()
        settings = self.settings.value
        now, (newest, _) = time.time(), await stores.chats.list(None, 1, None)
        used = max([now, *(other.updated_at + AFTER for other in newest)])  # the clock may have been set back
        chat = Chat(
            id=uuid4().hex[:12],
            title="",
            kind=kind_of(kind, shared=stores.shared),
            mode="agent",
            model=models.answerer(settings).name,
            strategy=settings.context.strategy,
            created_at=now,
            updated_at=used,
        )
        chat = self._chosen(chat, **choices)
        await stores.chats.create(chat, self._folder_addresses())
        return models.shown(settings, chat)

    def _chosen(
        self,
        chat: Chat,
        *,
        title: str | None = None,
        mode: Mode | None = None,
        model: str | None = None,
        strategy: Strategy | None = None,
        effort: EffortChoice | None = None,
    ) -> Chat:
        """With what is given. Who chooses a vendor's model for a chat has agreed that its text goes there (P-4)."""
        settings = self.settings.value
        title = chat.title if title is None else self.redaction.text(title)
        changed = replace(chat, title=title, mode=mode or chat.mode, strategy=strategy or chat.strategy)
        if model is not None:
            changed = chosen(settings, changed, model)
        return with_effort(settings, changed, effort, self.turns.profiles.reported)

    async def list(
        self, query: str | None, limit: int | None, cursor: str | None, *, here: bool | None = False
    ) -> tuple[list[Chat], str | None]:
        """Stored chats, newest first; the second value continues the list. `here`: of this workspace alone."""
        folders = self._folder_addresses() if here else None
        found, cursor = await (await self.opened.store()).list(query, limit or PAGE, cursor, folders)
        return [models.shown(self.settings.value, chat) for chat in found], cursor

    def _folder_addresses(self) -> tuple[str, ...]:
        return tuple(folder.root.as_uri() for folder in self.workspace.folders)

    async def read(
        self,
        chat_id: str,
        *,
        since_seq: int | None = None,
        limit: int | None = None,
        before: str | None = None,
        turns: int | None = None,
        before_turn: str | None = None,
    ) -> ChatRecord:
        """A chat with its messages (the newest `limit` before the message `before`) and events after `since_seq`.

        With `turns` or `before_turn` only that many turns, before that one; the other three are not looked at then.
        """
        paged = turns is not None or before_turn is not None
        agent = await self.opened.get(chat_id, whole=not paged and limit != 0)
        if before_turn is None and (not agent.loaded or self.settings.value.model.warm_cache):
            self.opened.ahead.looked_at(chat_id)
        store = await self.opened.store()
        while True:
            # A turn that begins or ends while the store is read would be told as one that neither runs nor has ended.
            running = agent.running_turn
            await agent.outbox.drain()
            if paged:
                record = await store.page(chat_id, turns, before_turn)
                record = replace(record, messages=with_summaries(record.messages, agent.checkpoints))
            elif limit == 0:
                chat, events = await store.chat(chat_id), await store.events(chat_id, since_seq or 0)
                record = ChatRecord(chat, (), tuple(events), running)
            else:
                stored = await store.load(chat_id)
                events = await store.events(chat_id, since_seq or 0)
                messages = _page(with_summaries(stored.messages, agent.past.transcript.checkpoints), before, limit)
                record = ChatRecord(stored.chat, messages, tuple(events), running)
            if agent.running_turn == running:
                agent.report_losses(record.losses)
                shown = replace(models.shown(self.settings.value, record.chat), running=running)
                return replace(record, chat=shown, running=running)

    async def send(
        self,
        chat_id: str | None,
        text: str,
        *,
        mode_once: Mode | None = None,
        strategy_options: Mapping[str, float] | None = None,
        attachments: Sequence[Enclosed] = (),
        editor: EditorState | None = None,
        kind: str | None = None,
        scope: Scope | None = None,
        **choices: Unpack[Choices],
    ) -> TurnTask:
        """Start a turn, without `chat_id` in a new chat of `kind`. What can be refused is refused before it starts.

        What is chosen stays with the chat; `mode_once` and `strategy_options` are for this turn alone.
        Not to be cancelled as a task: a turn might begin that nobody knows of. `cancel` and `scope` stop it; the
        message is kept then, in a turn that ends as cancelled, but where a hook has not let it through.
        """
        self.turns.check_text(text)
        agent: AgentChat | None = None
        with self.scopes.open(chat_id, scope) as opened:
            settings = strategy_options_applied(await self.settings.now(), strategy_options or {})
            restricted = self.settings.restricted
            typed, text = text, self.redaction.text(text)
            known = await self.opened.get(chat_id) if chat_id is not None else None
            if known is not None:
                known.claim()
                self.opened.ahead.make_way()
                agent = known
            try:
                if (model := choices.get("model")) is not None:
                    models.check_choice(settings, model)
                who = models.answerer(settings, known.chat if known else None, model)
                self.models.of(who.provider)  # refused now where there is none
                mode_now = mode_once or choices.get("mode") or (known.chat.mode if known else "agent")
                asked = TurnRequest(
                    text=text,
                    settings=settings,
                    mode=mode_now,
                    attachments=attachments,
                    editor=editor,
                    restricted=restricted,
                    redacted=text != typed,
                )
                plan: TurnPlan | None = None
                with suppress(Cancelled):
                    plan = await opened.wait(self.beginnings.plan(asked, who, known))
                if agent is None:
                    chat = await self.create(kind=kind, **(choices | {"title": _title(text)}))
                    self.scopes.name(opened, chat.id)
                    agent = await self.opened.get(chat.id)
                    agent.claim()
                elif any(choices.values()) or not agent.chat.title:
                    title = agent.chat.title or _title(text)
                    await self.opened.keep(agent, self._chosen(agent.chat, **(choices | {"title": title})))
                return await self.beginnings.started(agent, asked, who, plan, opened)
            except BaseException:
                if agent is not None:
                    agent.release()
                if agent is not None and known is None:
                    await self._discard(agent.chat.id)
                raise

    async def steer(
        self, chat_id: str, text: str, editor: EditorState | None = None, attachments: Sequence[Enclosed] = ()
    ) -> str:
        """Add to the running turn, or to the next; gives the id by which it can be withdrawn (R-9).

        Raises:
            Refusal: `turn_not_found`, `hook_blocked`; `invalid_attachment`: too many pictures wait.
        """
        self.turns.check_text(text)
        agent, text = await self.opened.get(chat_id), self.redaction.text(text)
        attachments = self.redaction.value(tuple(attachments))
        hooked = await let_through(agent, text)
        around = self.turns.around(self.settings.value, agent, restricted=self.settings.restricted)
        called = await self.turns.referring.gathered(text, NOTHING_CALLED, around)
        pictures = [one for one in attachments if isinstance(one, Picture)]
        name, reported = models.shown(self.settings.value, agent.chat).model, self.turns.profiles.reported
        if pictures and (unseen := models.unseen(self.settings.value, name, reported)) is not None:
            called = replace(called, notices=(*called.notices, Notice("warning", "image_unseen", unseen)))
        called = self.redaction.value(called)
        steer = QueuedSteer(text, editor, called, tuple(attachments), hooked)
        await agent.steer(steer)
        return steer.id

    async def picture(self, chat_id: str, digest: str) -> tuple[str, str]:
        """A picture of a chat by its digest, sent or of a result: what it is, and its bytes in base64 (M-6).

        Raises:
            Refusal: `chat_not_found`; `invalid_attachment`: the chat has none of that digest, or it is damaged.
        """
        agent = await self.opened.get(chat_id)
        await agent.outbox.drain()
        ref = picture_ref(digest)
        data = str((await (await self.opened.store()).results(chat_id, [ref])).get(ref, {}).get("data", ""))
        try:
            content = await asyncio.to_thread(base64.b64decode, data, validate=True)
            return image_of(content).media_type, data
        except (ValueError, NoImage):
            message = "This picture is not in the chat any more, or damaged."
            raise Refusal("invalid_attachment", message, "Send it again.") from None

    async def unsteer(self, chat_id: str, steer_id: str) -> bool:
        """Withdraw what the model has not been told yet; says whether it could be (R-9)."""
        return await (await self.opened.get(chat_id)).unsteer(steer_id)

    async def stop_call(self, chat_id: str, call_id: str) -> bool:
        """End the command that a call runs; the turn goes on with what it has printed. False: none runs (R-8)."""
        agent = await self.opened.get(chat_id)
        halt = None if agent.opened is None else agent.opened.halts.get(call_id)
        if halt is None:
            return False
        halt.set()
        return True

    async def cancel(self, chat_id: str) -> bool:
        """Stop the turn or compaction that runs or is about to begin; False when there was none (R-8).

        Waits until it has ended, and `STOP_SECONDS` at most: a slow store writes the end later.
        """
        stopping = self._stopping(chat_id)
        if stopping is not None:
            await asyncio.wait([stopping], timeout=STOP_SECONDS)
            return True
        looking = asyncio.ensure_future(self.opened.get(chat_id))
        looking.add_done_callback(_heard)
        await asyncio.wait([looking], timeout=STOP_SECONDS)
        if looking.done():
            looking.result()  # refuses what is not a chat
        return False

    def _stopping(self, chat_id: str) -> asyncio.Future[list[None]] | None:
        """Have all stopped that runs in a chat or is about to; ends when it has. None: there is nothing.

        At once, so that what is sent after the cancel is not meant by it.
        """
        agent = self.opened.at_hand(chat_id)
        ends: list[Awaitable[None]] = [scope.ended() for scope in self.scopes.cancel(chat_id)]
        halted = None if agent is None else halt(agent)
        if halted is not None:
            ends.append(halted)
        if not ends:
            return None
        stopping = asyncio.gather(*ends)
        stopping.add_done_callback(_heard)
        return stopping

    async def update(self, chat_id: str, **choices: Unpack[Choices]) -> Chat:
        """Change what is given; a running turn goes on as it started (X-1)."""
        agent = await self.opened.get(chat_id)
        await self.opened.keep(agent, self._chosen(agent.chat, **choices))
        return models.shown(self.settings.value, agent.chat)

    async def delete(self, chat_id: str) -> None:
        """Delete a chat and everything of it; a running turn is stopped first.

        Raises:
            Refusal: `chat_busy`: the turn runs in another server.
        """
        stopping = self._stopping(chat_id)
        if stopping is not None:
            await asyncio.shield(stopping)
        await self._erase(chat_id)

    async def _erase(self, chat_id: str) -> None:
        await (await self.opened.get(chat_id)).rolling.cancel()
        store = await self.opened.store()
        if (await store.chat(chat_id)).running not in {None, (await self.opened.get(chat_id)).owes}:
            raise Refusal("chat_busy", "A turn of another codelaw runs in this chat.", "Cancel it there first.")
        await store.delete(chat_id)
        self.opened.forget(chat_id)

    async def _discard(self, chat_id: str) -> None:
        """Take back a chat that was made for a message that could not be sent."""
        try:
            await self._erase(chat_id)
        except Refusal as refusal:
            _log.warning("chat %s stays, empty: %s", chat_id, refusal.message)


def kind_of(wanted: str | None, *, shared: bool) -> str:
    """The kind of a new chat (H-5): in a team's store a chat that is talked in at length is the team's."""
    kind = wanted or "panel"
    return "shared" if shared and kind == "panel" else kind


def _page(messages: tuple[Message, ...], before: str | None, limit: int | None) -> tuple[Message, ...]:
    """The newest `limit` of the messages before the one with the id `before`; without either all of them."""
    place = next((place for place, message in enumerate(messages) if message.id == before), len(messages))
    return messages[:place] if limit is None else messages[:place][-limit:]


def _heard(task: asyncio.Future[Any]) -> None:
    """Of a task that perhaps nobody waits for any more."""
    if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, Refusal):
        _log.error("a cancel was not seen to its end", exc_info=error)


def _title(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"
