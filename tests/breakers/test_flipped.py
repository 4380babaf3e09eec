"""Bytes that a disk has flipped: what is read is what was written, or it says that it is not; nothing is lost unseen (D-1).

Twenty bytes are flipped in each of two stores; with CODELAW_TEST_THOROUGH in fourteen of each size.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.stores.memories import SqlMemories
from codelaw.adapters.stores.opening import SqliteStore
from codelaw.domain.chats import StoredChat, Todo
from codelaw.domain.edits import DAMAGED, KeptChange
from codelaw.domain.errors import Refusal
from codelaw.domain.events import AnswerDelta
from codelaw.domain.memories import Memory, Places
from codelaw.domain.messages import Call
from tests.adapters.stores.suite import a_chat, a_checkpoint, a_turn, said

THOROUGH = bool(os.environ.get("CODELAW_TEST_THOROUGH"))
STORES = 14 if THOROUGH else 2
FLIPS = 20
CHATS, TURNS = 8, 12
PLACES = Places("me", ("here",), None)

pytestmark = pytest.mark.blocking


@dataclass(slots=True)
class Written:
    """What was written, by chat."""

    chats: dict[str, StoredChat] = field(default_factory=dict[str, StoredChat])
    results: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict[tuple[str, str], dict[str, Any]])
    changes: dict[tuple[str, str], list[KeptChange]] = field(default_factory=dict[tuple[str, str], list[KeptChange]])
    events: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])


def prose(source: random.Random, most: int) -> str:
    return " ".join(
        source.choice(("alpha", "beta", "gamma", "Öl", "é", "0x1f")) for _ in range(source.randint(1, most))
    )


async def fill(path: Path, seed: int, most: int) -> Written:
    """A store of chats with turns of five messages, results, before-images, summaries and memories."""
    source, written = random.Random(seed), Written()
    store = await SqliteStore.open(path)
    memories = SqlMemories(store.database)
    for chat_number in range(CHATS):
        chat_id = f"chat{chat_number}"
        await store.create(a_chat(chat_id, title=prose(source, 8), updated_at=100.0 + chat_number))
        for turn_number in range(TURNS):
            await a_turn_of(store, written, (chat_id, f"t{turn_number}"), lambda words=most: prose(source, words))
        await store.save_todos(chat_id, [Todo(prose(source, 9), "pending") for _ in range(3)])
        await store.reshape(chat_id, 0, a_checkpoint(f"k{chat_number}", "t3"))
        written.chats[chat_id] = await store.load(chat_id)
        written.events[chat_id] = [(event.seq, event.event) for event in await store.events(chat_id, 0)]
        memory = Memory(f"mem{chat_number}", prose(source, 30), "fact", "user", "me", 0.9, 100.0)
        await memories.save(memory)
        written.memories[memory.id] = memory
    await store.close()
    return written


async def a_turn_of(store: SqliteStore, written: Written, which: tuple[str, str], text: Callable[..., str]) -> None:
    chat_id, turn = which
    call = Call(f"k{turn}", "Read", {"path": text(3)})
    await store.begin_turn(a_turn(store, turn, chat_id), said(f"ask_{turn}", text(), turn=turn))
    asked = said(f"call_{turn}", text(), turn, "assistant", step=1, calls=(call,))
    full = {"status": "success", "data": {"text": text()}}
    reported = said(f"result_{turn}", f'{{"text": "{text()}"}}', turn, "tool", call_id=call.id, ref=f"r{turn}")
    await store.append(chat_id, [asked, reported], [(f"r{turn}", full)])
    await store.append_events(chat_id, turn, [(1.0, AnswerDelta(text(), 1)), (2.0, AnswerDelta("b", 2))])
    path = f"src/{text(2)}"
    change = KeptChange(0, turn, call.id, path, f"file:///{path}", text(), "after", state="done")
    number = await store.plan_change(chat_id, change)
    ended = a_turn(store, turn, chat_id, status="ended", stop_reason="finished")
    thought = said(f"think_{turn}", text(), turn, "assistant", step=2)
    await store.end_turn(ended, [thought, said(f"end_{turn}", text(), turn, "assistant", answer="done")])
    written.results[chat_id, f"r{turn}"] = full
    written.changes[chat_id, turn] = [replace(change, number=number)]


@dataclass(slots=True)
class Found:
    """How what was read compares to what was written."""

    same: int = 0
    reported: int = 0
    unseen: list[str] = field(default_factory=list[str])

    def item(self, what: str, *, same: bool, reported: bool) -> None:
        self.same += same
        self.reported += reported and not same
        if not same and not reported:
            self.unseen.append(what)


class Reader:
    """Reads a damaged store as a person would: who is told to restart does so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store: SqliteStore | None = None
        self.notices: list[str] = []

    async def read(self, ask: Callable[[SqliteStore], Any]) -> Any:
        """What the store answers, or the refusal that it stays with."""
        for _ in range(2):
            try:
                if self.store is None:
                    self.store = await SqliteStore.open(self.path)
                    self.notices += [notice.message for notice in self.store.notices]
                return await ask(self.store)
            except Refusal as refusal:
                if refusal.code != "store_unavailable":
                    return refusal
                last = refusal
                await self.close()
        return last

    async def close(self) -> None:
        if self.store is not None:
            await self.store.close()
        self.store = None


async def compare(path: Path, written: Written) -> Found:
    found, reader = Found(), Reader(path)
    try:
        for chat_id in written.chats:  # a page that cannot be read lets the file be saved before anything is compared
            await reader.read(lambda store, chat_id=chat_id: store.load(chat_id))
        for chat_id, before in written.chats.items():
            await compare_chat(reader, found, chat_id, before)
            events = await reader.read(lambda store, chat_id=chat_id: store.events(chat_id, 0))
            there = {} if isinstance(events, Refusal) else {event.seq: event.event for event in events}
            for seq, event in written.events[chat_id]:
                now = there.get(seq)
                lost = now is None or getattr(now, "code", "") == "record_damaged"
                found.item(f"event {seq} of {chat_id}: {now}", same=now == event, reported=lost)
        for (chat_id, ref), body in written.results.items():
            now = await reader.read(lambda store, chat_id=chat_id, ref=ref: store.results(chat_id, [ref]))
            lost = not now or isinstance(now, Refusal)
            found.item(f"result {ref} of {chat_id}: {now}", same=now == {ref: body}, reported=lost)
        for (chat_id, turn), changes in written.changes.items():
            now = await reader.read(lambda store, chat_id=chat_id, turn=turn: store.changes(chat_id, turn))
            lost = isinstance(now, Refusal) or bool(reader.notices) or any(one.encoding == DAMAGED for one in now)
            found.item(f"changes of {turn} of {chat_id}: {now}", same=now == changes, reported=lost)
        await compare_memories(reader, found, written)
    finally:
        await reader.close()
    return found


async def compare_chat(reader: Reader, found: Found, chat_id: str, before: StoredChat) -> None:
    now = await reader.read(lambda store: store.load(chat_id))
    if isinstance(now, Refusal):
        reported = now.code == "store_unavailable" or bool(reader.notices)
        for message in before.messages:
            found.item(f"{message.id} of {chat_id}: {now.message}", same=False, reported=reported)
        return
    there = {message.id: message for message in now.messages}
    for message in before.messages:
        read = there.get(message.id)
        reported = bool(now.losses) if read is None else read.metadata.damaged
        found.item(f"{message.id} of {chat_id}: {read}", same=read == message, reported=reported)
    for message in now.messages:
        if not message.metadata.damaged and message not in before.messages:
            found.unseen.append(f"{message.id} of {chat_id} was never said: {message}")
    right = [message.id for message in before.messages if there.get(message.id) == message]
    order = [message.id for message in now.messages if message in before.messages]
    found.item(f"the order of {chat_id}", same=order == right, reported=bool(now.losses))
    found.item(f"the title of {chat_id}", same=now.chat.title == before.chat.title, reported=bool(now.losses))
    found.item(f"the tasks of {chat_id}", same=now.todos == before.todos, reported=bool(now.losses))
    cuts = now.checkpoints == before.checkpoints
    found.item(f"the cuts of {chat_id}", same=cuts, reported=bool(now.losses) or bool(reader.notices))


async def compare_memories(reader: Reader, found: Found, written: Written) -> None:
    async def ask(store: SqliteStore) -> Any:
        return await SqlMemories(store.database).list(PLACES, None, None, 100, None)

    listed = await reader.read(ask)
    there = {} if isinstance(listed, Refusal) else {memory.id: memory for memory in listed[0]}
    for id_, memory in written.memories.items():
        now = there.get(id_)
        found.item(f"memory {id_}: {now}", same=now == memory, reported=now is None)


def flip(path: Path, source: random.Random, count: int = FLIPS) -> list[tuple[int, int, int]]:
    content = bytearray(path.read_bytes())
    flips: list[tuple[int, int, int]] = []
    for _ in range(count):
        at, bits = source.randrange(len(content)), source.randint(1, 255)
        content[at] ^= bits
        flips.append((at, content[at] ^ bits, content[at]))
    path.write_bytes(content)
    return flips


@pytest.mark.parametrize("most", [40, 600], ids=["short", "long"])
@pytest.mark.parametrize("number", range(STORES))
async def test_no_flipped_byte_alters_anything_unseen(tmp_path: Path, number: int, most: int):
    path = tmp_path / "codelaw.db"
    written = await fill(path, number, most)
    shutil.rmtree(tmp_path / "owners")
    flips = flip(path, random.Random(7000 + number))
    found = await compare(path, written)
    assert not found.unseen, f"{flips}: {found.unseen[:5]}"
    assert found.same > found.reported, "most of it can still be read"
