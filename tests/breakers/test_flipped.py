"""Bytes that a disk has flipped: what is read is what was written, or it says that it is not; nothing is lost unseen (D-1).

Twenty bytes are flipped in each of two stores; with CODELAW_TEST_THOROUGH in fourteen of each size.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.stores.memories import SqlMemories
from codelaw.adapters.stores.opening import SqliteStore
from codelaw.domain.chats import Todo
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


def prose(source: random.Random, most: int) -> str:
    return " ".join(
        source.choice(("alpha", "beta", "gamma", "Öl", "é", "0x1f")) for _ in range(source.randint(1, most))
    )


async def fill(path: Path, seed: int, most: int) -> dict[str, Any]:
    """A store of chats with turns of five messages, results, before-images, summaries and memories; all of it."""
    source = random.Random(seed)
    store = await SqliteStore.open(path)
    memories = SqlMemories(store.database)
    for number in range(CHATS):
        chat_id = f"chat{number}"
        await store.create(a_chat(chat_id, title=prose(source, 8), updated_at=100.0 + number))
        for turn in range(TURNS):
            await a_turn_of(store, (chat_id, f"t{turn}"), lambda words=most: prose(source, words))
        await store.save_todos(chat_id, [Todo(prose(source, 9), "pending") for _ in range(3)])
        await store.reshape(chat_id, 0, a_checkpoint(f"k{number}", "t3"))
        await memories.save(Memory(f"mem{number}", prose(source, 30), "fact", "user", "me", 0.9, 100.0))
    await store.close()
    written, notices, refused = await everything(path)
    assert (notices, refused) == ([], [])
    return written


async def a_turn_of(store: SqliteStore, which: tuple[str, str], text: Callable[..., str]) -> None:
    chat_id, turn = which
    call = Call(f"k{turn}", "Read", {"path": text(3)})
    await store.begin_turn(a_turn(store, turn, chat_id), said(f"ask_{turn}", text(), turn=turn))
    asked = said(f"call_{turn}", text(), turn, "assistant", step=1, calls=(call,))
    reported = said(f"result_{turn}", f'{{"text": "{text()}"}}', turn, "tool", call_id=call.id, ref=f"r{turn}")
    await store.append(chat_id, [asked, reported], [(f"r{turn}", {"status": "success", "data": {"text": text()}})])
    await store.append_events(chat_id, turn, [(1.0, AnswerDelta(text(), 1)), (2.0, AnswerDelta("b", 2))])
    path = f"src/{text(2)}"
    await store.plan_change(
        chat_id, KeptChange(0, turn, call.id, path, f"file:///{path}", text(), "after", state="done")
    )
    ended = a_turn(store, turn, chat_id, status="ended", stop_reason="finished")
    thought = said(f"think_{turn}", text(), turn, "assistant", step=2)
    await store.end_turn(ended, [thought, said(f"end_{turn}", text(), turn, "assistant", answer="done")])


async def everything(path: Path) -> tuple[dict[str, Any], list[str], list[str]]:
    """What can be read, by its name, the notices, and what was refused; who is reported to restart does so."""
    found: dict[str, Any] = {}
    notices: list[str] = []
    refused: list[str] = []
    opened: list[SqliteStore] = []

    async def read(name: str, ask: Callable[[SqliteStore], Any]) -> Any:
        for _ in range(2):
            try:
                if not opened:
                    opened.append(await SqliteStore.open(path))
                    notices.extend(notice.message for notice in opened[0].notices)
                return await ask(opened[0])
            except Refusal as refusal:
                if refusal.code == "store_unavailable" and opened:
                    await opened.pop().close()
        refused.append(name)
        return None

    for chat_id in [f"chat{number}" for number in range(CHATS)] * 2:  # a page that cannot be read is mended before
        chat = await read(chat_id, lambda store, one=chat_id: store.load(one))
        events = await read(f"{chat_id} event", lambda store, one=chat_id: store.events(one, 0))
        found |= {f"{chat_id} event {event.seq}": event.event for event in events or ()}
        for turn in (f"t{number}" for number in range(TURNS)):
            name = f"{chat_id} {turn}"
            results = await read(name, lambda store, one=chat_id, r=turn: store.results(one, [f"r{r}"]))
            found[f"{name} result"] = results or None
            found[f"{name} changes"] = await read(name, lambda store, one=chat_id, r=turn: store.changes(one, r))
        if chat is not None:
            found |= {f"{chat_id} message {message.id}": message for message in chat.messages}
            found[f"{chat_id} whole"] = (chat.chat.title, chat.todos, chat.checkpoints)
            found[f"{chat_id} order"] = [message.id for message in chat.messages]
            refused += [chat_id] if chat.losses else []

    async def listing(store: SqliteStore) -> Any:
        return (await SqlMemories(store.database).list(PLACES, None, None, 100, None))[0]

    found |= {f"memory {memory.id}": memory for memory in await read("memory", listing) or ()}
    for store in opened:
        await store.close()
    return found, notices, refused


def unseen(name: str, before: Any, now: Any, *, reported: bool) -> bool:
    """Whether something is another than it was, and nobody is told."""
    if now == before:
        return False
    if now is None:
        return not reported and " message " in name
    if name.endswith("order"):
        return not reported and [one for one in now if one in before] != [one for one in before if one in now]
    marked = getattr(getattr(now, "metadata", None), "damaged", False) or getattr(now, "code", "") == "record_damaged"
    changed = name.endswith("changes") and any(one.encoding == DAMAGED for one in now)
    return not (marked or changed or (reported and name.endswith(("whole", "changes"))))


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
    now, notices, refused = await everything(path)
    wrong = [
        f"{name}: {now.get(name)}"
        for name in {*written, *now}
        if unseen(
            name,
            written.get(name),
            now.get(name),
            reported=bool(notices) or any(name.startswith(one) for one in refused),
        )
    ]
    assert not wrong, f"{flips}: {wrong[:5]}"
    assert sum(now.get(name) == one for name, one in written.items()) > len(written) / 2, "most of it can still be read"
