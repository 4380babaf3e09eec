"""Thousands of messages that nobody would send: each id is answered once, and the server is as well as before (V-2)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.breakers.fuzzing import BROKEN, Chance, spelled
from tests.breakers.harness import LONG, allow, seeds
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import EVERYTHING, RawClient, stdio
from tests.scenarios.conftest import SERVER, finish

COUNT = 25_000 if LONG else 800
AT_ONCE = 40
FLAT_MB = 40.0
"""Growth of a server between the first third of the messages and the end; what lies in its caches by then is all."""


def resident(client: RawClient) -> float:
    """Resident memory of the server in MB."""
    assert client.process is not None
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


async def settle(client: RawClient, waiting: dict[int | str, Any], answered: Counter[int | str]) -> None:
    """Every request so far is answered; what was said meanwhile is counted and forgotten."""
    try:
        async with asyncio.timeout(150):
            await asyncio.gather(*(client.wait_for(future) for _, future in waiting.values()))
    except TimeoutError:
        silent = [spelled(message)[:600] for message, future in waiting.values() if not future.done()]
        raise AssertionError(f"never answered: {silent}") from None
    waiting.clear()
    answered.update(message["id"] for message in client.messages if "id" in message and "method" not in message)
    client.messages.clear()


@pytest.mark.parametrize("seed", seeds(1, 1))
async def test_each_id_is_answered_once_whatever_is_sent(vendor: LoopbackVendor, root: Path, home: Path, seed: int):
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("some words\n" * 50)
    vendor.fallback = VendorReply(text=finish("A short answer."), times=0)
    model = {"baseUrl": vendor.url, "apiKey": "sk-test-SECRET", "name": "claude-sonnet-4-5"}
    env = {**os.environ, "CODELAW_HOME": str(home)}
    async with stdio(SERVER, env=env) as client:
        client.answers |= {"codelaw/approval/request": allow, "workspace/applyEdit": {"applied": False}}
        await client.initialize(EVERYTHING, folders=[root], options={"model": model})
        results = [await client.request("codelaw/chat/send", {"text": "hello"}) for _ in range(3)]
        chance = Chance(seed, root, [one["chatId"] for one in results], [one["turnId"] for one in results])
        waiting: dict[int | str, Any] = {}
        answered: Counter[int | str] = Counter()
        asked: set[int | str] = set()
        client.messages.clear()
        before = 0.0
        try:
            for number in range(COUNT):
                if chance.random.random() < 0.03:
                    await client.send_body(chance.random.choice(BROKEN))
                message = chance.message()
                if "id" in message:
                    asked.add(message["id"])
                    waiting[message["id"]] = message, client.expect(message["id"])
                await client.send_body(spelled(message))
                if len(waiting) >= AT_ONCE or number == COUNT - 1:
                    await settle(client, waiting, answered)
                if number == COUNT // 3:
                    before = resident(client) if sys.platform == "linux" else 0.0
            grown = resident(client) - before if sys.platform == "linux" else 0.0
            assert (await client.request("codelaw/model/list", {}))["models"], "the server is well"
            await asyncio.sleep(0.5)
            await settle(client, waiting, answered)
        except BaseException as error:
            log = client.process.stderr[-4_000:] if client.process is not None else ""
            error.add_note(f"CODELAW_TEST_SEED={seed}, after {len(asked)} requests\n{log}")
            raise
        wrong = {key: answered[key] for key in asked if answered[key] != 1}
        assert wrong == {}, f"CODELAW_TEST_SEED={seed}: not answered once"
        assert client.process is not None
        assert "Traceback" not in client.process.stderr, f"CODELAW_TEST_SEED={seed}: {client.process.stderr[-4_000:]}"
        assert grown < FLAT_MB, f"CODELAW_TEST_SEED={seed}: {grown:.0f} MB more than after a third"
        print(json.dumps({"messages": COUNT, "requests": len(asked), "grown_mb": round(grown, 1)}))
