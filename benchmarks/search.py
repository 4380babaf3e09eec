"""A search in many chats while a turn is sent, before and after they are indexed, and how soon it stops (D-1, D-2).

    .venv/bin/python benchmarks/search.py [--megabytes 300] [--file chats.db]

The real server with the offline model. With `--file` the chats are made once and used again. Times are medians and 95th
percentiles in milliseconds, as a client sees them.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from client import Server, environment, median, quantile, table

from codelaw.adapters.stores.migrations import migrate
from codelaw.adapters.stores.opening import SqliteStore
from codelaw.adapters.stores.rows import chat_rows, search_rows
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.adapters.stores.sqlite.connection import SqliteDatabase
from codelaw.adapters.stores.sqlite.damage import make_search_anew
from codelaw.adapters.stores.sqlite.session import SqliteSession
from codelaw.domain.chats import Chat

PER_CHAT = 200
TURNS = 12
_SAID = Path(__file__).resolve().parents[1] / "server"


def make(path: Path, megabytes: float) -> None:
    """A database of chats of that size, as one from before there was an index; one that is there is used again."""
    if path.exists():
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            make_search_anew(connection)
        return
    chance = random.Random(3)
    said = "\n".join(file.read_text("utf-8") for file in sorted(_SAID.rglob("*.py")))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        migrate(connection)
        connection.execute("BEGIN")
        connection.execute("DROP TRIGGER messages_said")
        written, number = 0, 0
        while written < megabytes * 1e6:
            chat = f"chat{number // PER_CHAT}"
            if number % PER_CHAT == 0:
                session = SqliteSession(connection)
                chat_rows.create(
                    session,
                    Chat(chat, f"Chat {chat}", "panel", "agent", "offline", "layered", float(number), float(number)),
                )
                connection.execute(
                    "INSERT INTO turns (chat_id, id, status, owner, started_at, number, said, checksum)"
                    " VALUES (?, 't1', 'ended', 'o', 1.0, 1, 0, 0)",
                    (chat,),
                )
            length = chance.choice([100, 400, 1_500, 6_000])
            start = chance.randrange(len(said) - length)
            text = said[start : start + length] + (" Nädelchen" if number == PER_CHAT // 2 else "")
            connection.execute(
                "INSERT INTO messages (chat_id, id, turn_id, role, content, metadata, checksum, indexed)"
                " VALUES (?, ?, 't1', 'assistant', ?, '{}', 0, 1)",
                (chat, f"m{number}", text),
            )
            written += len(text)
            number += 1
        connection.execute("COMMIT")
        make_search_anew(connection)


def left(path: Path) -> int:
    """How many messages are not in the index."""
    sql = "SELECT count(*) FROM search_waiting"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchone()[0]


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


async def sending(server: Server, searching: str | None) -> list[float]:
    """From `chat/send` to the first event of the turn, while a search is under way all the time."""
    over = asyncio.Event()

    async def search() -> None:
        while searching is not None and not over.is_set():
            await server.request("codelaw/chat/list", {"query": searching})

    searches = asyncio.create_task(search())
    await asyncio.sleep(0.1)
    times: list[float] = []
    for _ in range(TURNS):
        first = asyncio.get_running_loop().create_future()

        def on_event(_: dict[str, Any], first: asyncio.Future[float] = first) -> None:
            if not first.done():
                first.set_result(time.monotonic())

        server.on_event = on_event
        turn = asyncio.create_task(server.turn("hello"))
        times.append((await first - server.sent) * 1000)
        await turn
    over.set()
    await searches
    return times


def look_through(session: SqlSession) -> Any:
    """What a search is without an index."""
    holds = search_rows.HOLDS["sqlite"].format("content")
    return session.execute(f"SELECT count(*) FROM messages WHERE {holds}", ("nowhere",)).fetchone()


async def stopping(path: Path) -> list[float]:
    """From the moment at which a search is given up until its thread is free."""
    store = await SqliteStore.open(path)
    database = store.database
    if not isinstance(database, SqliteDatabase):
        raise TypeError(database)
    times: list[float] = []
    for _ in range(10):
        search = asyncio.create_task(database.read(look_through, slow=True))
        await asyncio.sleep(0.05)
        search.cancel()
        started = time.perf_counter()
        while database.readings:  # noqa: ASYNC110 - it is measured from outside
            await asyncio.sleep(0.001)
        times.append((time.perf_counter() - started) * 1000)
    await store.close()
    return times


async def rows(file: Path, megabytes: float) -> list[tuple[str, str, str]]:
    """The rows of the table; `file` is made if it is not there."""
    found: list[tuple[str, str, str]] = []

    def row(name: str, times: list[float], goal: str = "") -> None:
        found.append((name, f"{median(times):.0f} ms (p95 {quantile(times, 0.95):.0f})", goal))

    await asyncio.to_thread(make, file, megabytes)
    row("a search that is given up stops", await stopping(file), "<= 200 ms")
    with tempfile.TemporaryDirectory() as folder:
        home, workspace = Path(folder) / "home", Path(folder) / "workspace"
        workspace.mkdir()
        settings = {"store": {"url": str(file)}, "model": {"id": "offline"}}
        server = await Server.ready(workspace, environment(home), settings)
        await server.turn("hello")  # what is loaded with the first turn is no matter of the store
        row("send to the first event, nobody searches", await sending(server, None))
        for state in ("before it is indexed", "indexed"):
            for wanted in ("nädelchen", "def parsed_nowhere", "import"):
                times = [
                    await timed(lambda wanted=wanted: server.request("codelaw/chat/list", {"query": wanted}))
                    for _ in range(3)
                ]
                row(f"search for {wanted!r}, {state}", times)
            row(f"send to the first event during a search, {state}", await sending(server, "nädelchen"), "<= 200 ms")
            started = time.monotonic()
            while await asyncio.to_thread(left, file):  # noqa: ASYNC110 - in another process
                await asyncio.sleep(0.2)
            if state != "indexed":
                found.append(("indexed behind the turns, after that", f"{time.monotonic() - started:.0f} s", ""))
        await server.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--file", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = (arguments.file or Path(folder) / "chats.db").absolute()
        found = asyncio.run(rows(file, arguments.megabytes))
        table(f"Searching {file.stat().st_size / 1e6:.0f} MB of chats", found)


if __name__ == "__main__":
    main()
