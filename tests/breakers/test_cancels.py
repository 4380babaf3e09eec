"""Cancels at random moments, cold starts included: each is effective, answered, and never refused (R-8).

`CODELAW_TEST_LONG=1` gives five thousand of them instead of some hundreds. What chance decides follows from a seed,
which is printed; `CODELAW_TEST_SEED=7` repeats one run.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from tests.loopback.script import VendorReply, fault
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import NO_ANSWER, RawClient, result_of
from tests.scenarios.conftest import Start, act, finish

LONG = bool(os.environ.get("CODELAW_TEST_LONG"))
SEED = int(os.environ.get("CODELAW_TEST_SEED", random.Random().randrange(10**6) if LONG else 1))
ON_THE_WIRE = 900 if LONG else 60
COLD = 200 if LONG else 16
PATIENCE = 150.0
"""Seconds after which a cancel counts as lost; it is answered within one, where nothing else runs."""

STREAM = VendorReply(text=finish("word " * 100_000), delay=0.002, times=0)
SILENCE = VendorReply(text=finish("late"), wait=600.0, times=0)
STALL = VendorReply(text=finish("word " * 40), broken="hang", times=0)
BACKOFF = fault("529", times=0)
COMMAND = VendorReply(text=act("Bash", json.dumps({"command": "sleep 600"})), times=0)
QUESTION = VendorReply(text=act("Write", '{"path": "new.txt", "content": "hi"}'), times=0)
STEPS = VendorReply(text=act("LS", '{"path": "."}'), times=0)
CHILD = VendorReply(text=act("Task", '{"kind": "explore", "prompt": "Look."}'))
BUSY = {"stream": [STREAM], "silence": [SILENCE], "stall": [STALL], "backoff": [BACKOFF], "command": [COMMAND]}
BUSY |= {"question": [QUESTION], "steps": [STEPS], "child": [CHILD, SILENCE], "talking child": [CHILD, STREAM]}
"""Turns that end by no answer of their own, but for the limit of steps."""
ALLOWED = {"allow": ["Bash(sleep 600)"]}
SLOW = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"]}
HOOKS = {"UserPromptSubmit": [{"command": "sleep 0.2"}], "PreCompact": [{"command": "sleep 0.2"}]}
AROUND: list[dict[str, Any]] = [{}, {"hooks": HOOKS}, {"mcp": {"servers": {"slow": SLOW}}}]
AROUND.append({key: value for one in AROUND for key, value in one.items()})
"""What a turn waits for before it begins: hooks, and a server that never says that it is ready."""


@dataclass
class Stopped:
    """What was begun, and what its cancels and it were answered with."""

    client: RawClient
    chat: str
    chance: random.Random
    case: str
    compacting: bool = False

    async def begin(self, wait: float) -> None:
        method = "codelaw/context/compact" if self.compacting else "codelaw/chat/send"
        sent = {"chatId": self.chat} | ({} if self.compacting else {"text": self.case})
        self.request_id, self.future = await self.client.start(method, sent)
        await asyncio.sleep(self.chance.choice([0.0, 0.0, self.chance.random() ** 2 * wait]))

    async def stop(self) -> None:
        """In one of the ways there are; what is not effective does not come back from here."""
        way = self.chance.choice(["chat", "chat", "twice", "command", "both", "request"])
        cancels: list[asyncio.Future[dict[str, Any]]] = []
        for _ in range({"request": 0, "twice": 2}.get(way, 1)):
            named = {"chatId": self.chat}
            if way == "command":
                params = {"command": "codelaw.chat.cancel", "arguments": [named]}
                cancels.append((await self.client.start("workspace/executeCommand", params))[1])
            else:
                cancels.append((await self.client.start("codelaw/chat/cancel", named))[1])
        if way in {"both", "request"}:
            await self.client.cancel(self.request_id)
        try:
            async with asyncio.timeout(PATIENCE):
                reported = [result_of(await cancel) for cancel in cancels]
                answer = await self.future
        except TimeoutError:
            pytest.fail(f"{self.case} ({way}): lost")
        if "error" in answer:  # no hook had let it through, so it is not kept
            assert answer["error"]["data"]["code"] == "hook_blocked", (self.case, way, answer)
        else:
            reason = answer["result"]["reason" if self.compacting else "stopReason"]
            assert reason == "cancelled", (self.case, way, answer)
        # A second one may come when the turn has ended.
        assert not cancels or {"cancelled": True} in reported, (self.case, way)


async def stopped(  # noqa: PLR0917
    client: RawClient, vendor: LoopbackVendor, chat: str, chance: random.Random, case: str, wait: float
) -> None:
    """One message, or a compaction, that is cancelled at a random moment; then nothing of it goes on."""
    one = Stopped(client, chat, chance, case, compacting=chance.random() < 0.3)
    name = chance.choice(["silence", "stream"] if one.compacting else list(BUSY))
    one.case = f"{case}, {name}"
    vendor.reset(BUSY[name])
    await one.begin(wait)
    await one.stop()
    assert (await client.request("codelaw/chat/read", {"chatId": chat, "limit": 0}))["running"] is None, case


async def talk(client: RawClient) -> str:
    """A chat with rounds that can be archived."""
    chat: str | None = None
    for number in range(4):
        given = {"text": f"question {number}"} | ({} if chat is None else {"chatId": chat})
        chat = (await client.request("codelaw/chat/send", given))["chatId"]
    assert chat is not None
    return chat


async def test_random_cancels_on_the_wire_are_all_effective(start: Start, vendor: LoopbackVendor):
    print(f"CODELAW_TEST_SEED={SEED}")
    chance = random.Random(SEED)
    vendor.reset([VendorReply(text=finish("hello"), times=0)])
    options = {"permissions": ALLOWED, "context": {"keepRounds": 1}, "hooks": HOOKS}
    async with start(options=options) as client:
        client.answers["codelaw/approval/request"] = NO_ANSWER
        chat = await talk(client)
        vendor.summariser = None
        for number in range(ON_THE_WIRE):
            await stopped(client, vendor, chat, chance, f"CODELAW_TEST_SEED={SEED}, cancel {number}", 0.3)
            asked = len(vendor.messages)
        await client.request("codelaw/chat/list", {})
        assert len(vendor.messages) == asked, "no model is asked behind the last cancel"
        vendor.reset([VendorReply(text=finish("and on"))])
        assert (await client.request("codelaw/chat/send", {"chatId": chat, "text": "on"}))["answer"] == "and on"


async def test_random_cancels_of_a_cold_server_are_all_effective(start: Start, vendor: LoopbackVendor):
    print(f"CODELAW_TEST_SEED={SEED}")
    chance = random.Random(SEED)
    vendor.reset([VendorReply(text=finish("hello"), times=0)])
    async with start() as client:
        chat = await talk(client)
    vendor.summariser = None
    for number in range(COLD):
        around = chance.choice(AROUND)
        async with start(options={**around, "context": {"keepRounds": 1}, "permissions": ALLOWED}) as client:
            client.answers["codelaw/approval/request"] = NO_ANSWER
            case = f"CODELAW_TEST_SEED={SEED}, cold {number} with {sorted(around)}"
            await stopped(client, vendor, chat, chance, case, 1.5)
