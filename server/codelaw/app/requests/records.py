"""Requests about whole chats: forked, and exported (D-2)."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from codelaw.agent.recording.history import with_summaries
from codelaw.app.models import shown
from codelaw.domain.chats import Chat
from codelaw.transcript.chat_file.markdown import transcript
from codelaw.transcript.record import record

if TYPE_CHECKING:
    from codelaw.app.chats import OpenChats
    from codelaw.app.in_force import SettingsInForce
    from codelaw.domain.safety.redaction import Redaction

TITLE_CHARACTERS = 200
_FORK = re.compile(r" \(fork(?: (?P<number>[1-9]\d{0,5}))?\)\Z")


@dataclass(frozen=True, slots=True)
class Records:
    """Chats as a whole: forked, and exported."""

    settings: SettingsInForce
    opened: OpenChats
    redaction: Redaction

    async def fork(self, chat_id: str, turn_id: str | None) -> Chat:
        """A new chat with everything of this one up to and including that turn; None: nothing of it but its settings.

        What turns did to files can be undone in the original only.

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`; `chat_busy`: that turn has not ended.
        """
        agent = await self.opened.get(chat_id)
        await agent.outbox.drain()
        store = await self.opened.store()
        now = time.time()
        source = await store.chat(chat_id)
        fork = Chat(
            id=uuid4().hex[:12],
            title=forked_title(source.title),
            kind=source.kind,
            mode=source.mode,
            model=source.model,
            strategy=source.strategy,
            created_at=now,
            updated_at=now,
            chosen=source.chosen,
            effort=source.effort,
            places=source.places if turn_id is not None else (),
        )
        await store.fork(chat_id, turn_id, fork)
        return shown(self.settings.value, await store.chat(fork.id))

    async def export(self, chat_id: str, form: Literal["markdown", "json"]) -> str:
        """The whole record of a chat: as Markdown for people, as JSON with everything that is stored of it.

        It is made to be passed on: known keys, and what has the shape of one, are taken out (S-5).

        Raises:
            Refusal: `chat_not_found`.
        """
        agent = await self.opened.get(chat_id)
        await agent.outbox.drain()
        store = await self.opened.store()
        stored = await store.load(chat_id)
        stored = replace(
            stored,
            chat=replace(shown(self.settings.value, stored.chat), running=agent.running_turn or stored.chat.running),
        )
        events = await store.events(chat_id, 0)
        if form == "markdown":
            reported = with_summaries(stored.messages, agent.past.transcript.checkpoints)
            text = await asyncio.to_thread(transcript, stored.chat, reported, events)
            return await asyncio.to_thread(self.redaction.text, text, shapes=True)
        refs = dict.fromkeys(message.metadata.ref for message in stored.messages if message.metadata.ref is not None)
        results = await store.results(chat_id, refs)
        text = await asyncio.to_thread(record, stored, results, events)
        return await asyncio.to_thread(self.redaction.text, text, shapes=True)


def forked_title(title: str) -> str:
    """The title of a fork: `Title (fork)`, and of a fork of that `Title (fork 2)`."""
    if not title:
        return ""
    found = _FORK.search(title)
    suffix = f" (fork {int(found['number'] or 1) + 1})" if found else " (fork)"
    kept = title[: found.start()] if found else title
    return kept[: TITLE_CHARACTERS - len(suffix)].rstrip() + suffix
