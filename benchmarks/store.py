"""What the SQLite store costs, against plain sqlite3 with the same pragmas and the same rows in the same run (D-1).

    .venv/bin/python benchmarks/store.py [--chats 1000] [--messages 100]

Times are medians and 95th percentiles in milliseconds, as the event loop sees them: with the way to the store's thread
and back. The plain column writes the same rows in the same transactions without a thread, a codec or a check.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from client import median, quantile, table

from codelaw.adapters.stores.opening import SqliteStore
from codelaw.domain.chats import Chat, StoredTurn
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.models import Usage

REPEATS = 300
LONG = 2_000
_WORDS = [
    f"{a}{b}" for a in ("par", "tok", "mer", "view", "cach", "lin") for b in ("ser", "en", "ge", "ing", "er", "es")
]


def prose(chance: random.Random, characters: int) -> str:
    words: list[str] = []
    while sum(map(len, words)) + len(words) < characters:
        words.append(chance.choice(_WORDS))
    return " ".join(words)


def messages(chance: random.Random, turn: str, count: int, characters: int) -> list[Message]:
    found: list[Message] = []
    for number in range(count):
        role = ("user", "assistant", "tool", "assistant")[number % 4]
        calls = (Call(f"{turn}-{number}", "Read", {"path": "src/a.py", "limit": 100}),) if number % 4 == 1 else ()
        kept = Metadata(step=number, calls=calls, call_id=f"{turn}-{number}" if role == "tool" else None)
        found.append(Message(f"{turn}-{number}", turn, role, prose(chance, characters), kept))
    return found


async def timed(work: Callable[[int], Awaitable[Any]], repeats: int) -> list[float]:
    times: list[float] = []
    for number in range(repeats):
        started = time.perf_counter()
        await work(number)
        times.append((time.perf_counter() - started) * 1000)
    return times


def plain(path: Path) -> sqlite3.Connection:
    """The same schema and pragmas, bare."""
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


class Plain:
    """What is compared with: the statements alone."""

    def __init__(self, path: Path) -> None:
        self.connection = plain(path)

    def insert(self, message: Message, chat_id: str) -> None:
        columns = "chat_id, id, turn_id, role, content, metadata, checksum"
        sql = f"INSERT INTO messages ({columns}) VALUES (?, ?, ?, ?, ?, ?, 0)"
        row = (chat_id, message.id, message.turn_id, message.role, message.content, '{"step":1}')
        self.connection.execute(sql, row)

    async def append(self, message: Message) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self.insert(message, "plain")
        self.connection.execute("COMMIT")

    async def turn(self, turn_id: str, message: Message) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        sql = (
            "INSERT INTO turns (chat_id, id, status, owner, started_at, number, said, checksum)"
            " VALUES (?, ?, 'running', 'o', 1.0, 1, 1, 0)"
        )
        self.connection.execute(sql, ("plain", turn_id))
        self.insert(message, "plain")
        self.connection.execute("COMMIT")
        self.connection.execute("BEGIN IMMEDIATE")
        sql = "UPDATE turns SET status = 'ended' WHERE chat_id = ? AND id = ?"
        self.connection.execute(sql, ("plain", turn_id))
        self.connection.execute("COMMIT")

    async def load(self, chat_id: str) -> None:
        sql = "SELECT id, turn_id, role, content, metadata FROM messages WHERE chat_id = ? ORDER BY position"
        for row in self.connection.execute(sql, (chat_id,)).fetchall():
            json.loads(row[4])

    async def search(self, wanted: str) -> None:
        sql = "SELECT DISTINCT chat_id FROM messages WHERE content LIKE ?"
        self.connection.execute(sql, (f"%{wanted}%",)).fetchall()


def a_chat(chat_id: str, at: float) -> Chat:
    return Chat(chat_id, f"Chat {chat_id}", "panel", "agent", "model", "layered", at, at)


def a_turn(store: SqliteStore, chat_id: str, turn_id: str) -> StoredTurn:
    return StoredTurn(turn_id, chat_id, "running", store.owner, 1.0)


async def fill(store: SqliteStore, chats: int, count: int, chance: random.Random) -> None:
    for number in range(chats):
        chat_id = f"chat{number}"
        await store.create(a_chat(chat_id, float(number)))
        first, *rest = messages(chance, "t1", count, 400)
        turn = a_turn(store, chat_id, "t1")
        await store.begin_turn(turn, first)
        if number in {0, chats // 2}:
            rest[-1] = Message("needle", "t1", "assistant", f"{rest[-1].content} Nädelchen STRASSE")
        await store.append(chat_id, rest)
        await store.end_turn(StoredTurn("t1", chat_id, "ended", store.owner, 1.0, Usage(1), "finished"))


async def run(chats: int, count: int, folder: Path) -> None:
    chance = random.Random(7)
    store = await SqliteStore.open(folder / "codelaw.db")
    bare = Plain(folder / "codelaw.db")
    for chat_id in ("ours", "plain", "long"):
        await store.create(a_chat(chat_id, 0.0))
    rows: list[tuple[str, str, str]] = []

    def row(name: str, ours: list[float], other: list[float] | None = None, goal: str = "") -> None:
        against = f"; plain {median(other):.2f}, × {median(ours) / median(other):.1f}" if other else ""
        rows.append((name, f"{median(ours):.2f} ms (p95 {quantile(ours, 0.95):.2f}{against})", goal))

    said = messages(chance, "t0", REPEATS, 2_000)
    ours = await timed(lambda number: store.append("ours", [said[number]]), REPEATS)
    other = await timed(lambda number: bare.append(said[number]), REPEATS)
    row("append a message of 2 000 characters", ours, other, "<= 2 ms")

    async def a_whole_turn(number: int) -> None:
        turn = a_turn(store, "ours", f"u{number}")
        await store.begin_turn(turn, Message(f"q{number}", turn.id, "user", said[number].content))
        await store.end_turn(StoredTurn(turn.id, "ours", "ended", store.owner, 1.0, Usage(1), "finished"))

    asked = [Message(f"p{number}", "t", "user", said[number].content) for number in range(REPEATS)]
    ours = await timed(a_whole_turn, REPEATS)
    row("begin_turn and end_turn", ours, await timed(lambda number: bare.turn(f"v{number}", asked[number]), REPEATS))

    await store.append("long", messages(chance, "t0", LONG, 800))
    ours = await timed(lambda _: store.load("long"), 20)
    row(f"load a chat of {LONG} messages", ours, await timed(lambda _: bare.load("long"), 20))
    fork = iter(range(1_000))
    turn = a_turn(store, "long", "t0")
    await store.begin_turn(turn, Message("q", "t0", "user", "x"))
    await store.end_turn(StoredTurn("t0", "long", "ended", store.owner, 1.0, Usage(1), "finished"))
    row("fork it", await timed(lambda _: store.fork("long", "t0", a_chat(f"fork{next(fork)}", 0.0)), 10))

    started = time.perf_counter()
    await fill(store, chats, count, chance)
    filled = time.perf_counter() - started
    row(f"list 50 of {chats} chats", await timed(lambda _: store.list(None, 50, None), 30))
    for name, wanted in [
        ("a word of two chats", "nädelchen"),
        ("folded: straße", "straße"),
        ("of no chat", "xyzzy-nowhere"),
        ("of nearly all", "parser"),
    ]:
        found, _ = await store.list(wanted, 50, None)
        ours = await timed(lambda _, wanted=wanted: store.list(wanted, 50, None), 5)
        other = await timed(lambda _, wanted=wanted: bare.search(wanted), 5)
        row(f"search {chats} × {count} messages: {name} ({len(found)} found)", ours, other, "<= 300 ms")
    bare.connection.close()
    await store.close()
    table("The SQLite store", rows)
    size = (folder / "codelaw.db").stat().st_size / 1e6
    print(f"{chats * count} messages stored in {filled:.1f} s; the file has {size:.0f} MB.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=1_000)
    parser.add_argument("--messages", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(arguments.chats, arguments.messages, Path(folder)))


if __name__ == "__main__":
    main()
