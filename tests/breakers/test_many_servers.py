"""Eight servers on one store and one folder at once, two of which die: nothing lost, nothing doubled (D-4)."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.breakers.harness import LONG, Call, Life, check_shown, check_turns, seeds, texts, whole
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start

SERVERS = 8
TURNS = 6 if LONG else 2


def plan(number: int, turn: int) -> list[Call]:
    """One server's own file, and one that all of them write."""
    own = f"own{number}.txt"
    return [
        ("Read", {"path": "shared.txt"}),
        ("Write", {"path": own, "content": whole(own, turn)}) if turn == 0 else ("Read", {"path": own}),
        ("Write", {"path": own, "content": whole(own, turn)}),
        ("Write", {"path": "shared.txt", "content": whole(f"shared by {number}", turn)}),
    ]


async def share(life: Life, shared: str, chance: random.Random) -> list[str]:
    """Questions to a chat that all servers want at once; gives those that were answered."""
    answered: list[str] = []
    for _ in range(TURNS):
        text = f"ASKCANARY{next(life.actor.numbers)}Z of all"
        response = await life.client.response("codelaw/chat/send", {"chatId": shared, "text": text})
        if "result" in response:
            assert response["result"]["stopReason"] == "finished", response
            answered.append(text)
        else:
            assert response["error"]["data"]["code"] == "chat_busy", response
        await asyncio.sleep(chance.random() * 0.05)
    return answered


@pytest.mark.parametrize("seed", seeds(1, 10))
async def test_eight_servers_on_one_store_and_one_folder(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path, seed: int
):
    (root / "shared.txt").write_text(whole("shared by nobody", 0))
    first = Life(start, vendor, root, seed=seed)
    lives = [first, *(Life(start, vendor, root, seed=seed, beside=first) for _ in range(SERVERS - 1))]
    chance = random.Random(seed)
    try:
        await asyncio.gather(*(life.boot() for life in lives))
        await asyncio.gather(*(life.talk() for life in lives))
        made = await first.client.request("codelaw/chat/create", {"title": "shared"})
        shared = made["id"]

        async def work(number: int, life: Life) -> list[str]:
            for turn in range(TURNS):
                await life.talk(plan(number, turn), pace=0.001)
            return await share(life, shared, chance)

        async def dies(life: Life) -> list[str]:
            await life.ask(plan(SERVERS, 0), pace=0.003)
            await life.die(chance.random() * 0.5)
            await life.boot()
            await life.talk()
            return []

        doomed = set(chance.sample(range(SERVERS), 2))
        answered = await asyncio.gather(
            *(dies(life) if number in doomed else work(number, life) for number, life in enumerate(lives))
        )
        for life in lives:
            await life.holds()
        record: dict[str, Any] = await first.client.request("codelaw/chat/read", {"chatId": shared})
        stored = Counter(message["content"] for message in record["messages"] if message["role"] == "user")
        assert stored == Counter(text for texts_ in answered for text in texts_)
        assert sum(stored.values()) > 0
        check_turns(record)
        for life in lives:
            check_shown(life.seen[shared], record)
        ids = [chat["id"] for chat in (await first.client.request("codelaw/chat/list", {"limit": 100}))["chats"]]
        assert sorted(ids) == sorted({shared, *(str(life.chat) for life in lives)})
    except BaseException as error:
        error.add_note(f"CODELAW_TEST_SEED={seed}\n{json.dumps([life.log() for life in lives])[-6_000:]}")
        raise
    finally:
        await asyncio.gather(*(life.close() for life in lives))
    for name, text in texts(root).items():
        lines = text.splitlines()
        assert lines[0].removeprefix("begin ") == lines[-1].removeprefix("end "), f"{name} is not whole"
        assert len(lines) == 402
    connection = sqlite3.connect(home / "codelaw.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert not [path for path in home.rglob("*") if "damaged" in path.name]
