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
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codelaw.domain.events import ChatEvent
from codelaw.domain.files import Folder
from codelaw.settings.effective import load_settings
from tests.fakes.editor import Buffers, User
from tests.fakes.flat_session import Session
from tests.loopback.script import VendorReply, fault
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import NO_ANSWER, RawClient, result_of
from tests.scenarios.conftest import Start, act, finish

LONG = bool(os.environ.get("CODELAW_TEST_LONG"))
SEED = int(os.environ.get("CODELAW_TEST_SEED", random.Random().randrange(10**6) if LONG else 1))
IN_PROCESS = 4_000 if LONG else 300
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
class Bench:
    """A session in this process, on a real store, a real disk and real HTTP."""

    vendor: LoopbackVendor
    root: Path
    home: Path
    session: Session
    user: User
    events: list[ChatEvent]

    @classmethod
    async def open(cls, vendor: LoopbackVendor, root: Path, home: Path) -> Bench:
        events: list[ChatEvent] = []
        user = User(answer=None)
        client = {
            "model": {"baseUrl": vendor.url, "apiKey": "sk-test", "name": "claude-sonnet-4-5", "dialect": "react"},
            "permissions": {"allow": ["Bash(sleep 600)"]},
            "turn": {"maxSteps": 500},
            "context": {"keepRounds": 1},
        }
        settings = load_settings(environ={}, client=client)
        assert settings.problems == []
        session = await Session.open(
            settings=settings,
            folders=[Folder(root.name, root, root.as_uri())],
            documents=Buffers(),
            approver=user,
            emit=events.append,
            home=home,
        )
        return cls(vendor, root, home, session, user, events)


async def moment(chance: random.Random) -> None:
    """A random moment: none, some turns of the loop, or some time."""
    drawn = chance.random()
    if drawn < 0.15:
        return
    if drawn < 0.5:
        for _ in range(chance.randrange(1, 120)):
            await asyncio.sleep(0)
    else:
        await asyncio.sleep(chance.random() ** 2 * 0.25)


async def test_random_cancels_of_a_session_are_all_effective(vendor: LoopbackVendor, root: Path, home: Path):
    print(f"CODELAW_TEST_SEED={SEED}")
    chance = random.Random(SEED)
    bench = await Bench.open(vendor, root, home)
    vendor.reset([VendorReply(text=finish("hello"))])
    chat = (await (await bench.session.send(None, "hello")).result()).chat_id
    done: Counter[str] = Counter()
    for number in range(IN_PROCESS):
        name = chance.choice(list(BUSY))
        vendor.reset(BUSY[name])
        if chance.random() < 0.05:  # a session that knows nothing of the chat yet
            await bench.session.close()
            bench = await Bench.open(vendor, root, home)
        case = f"CODELAW_TEST_SEED={SEED}, cancel {number}, {name}"
        sending = asyncio.create_task(bench.session.send(chat, f"{name} {number}"))
        await asyncio.sleep(0)
        await moment(chance)
        cancels = [asyncio.create_task(bench.session.cancel(chat)) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
        if chance.random() < 0.2:  # as the request's own cancel, which has the turn itself
            (await sending).cancel()
        try:
            async with asyncio.timeout(PATIENCE):
                assert await asyncio.gather(*cancels) == [True] * len(cancels), case
                result = await (await sending).result()
        except TimeoutError:
            pytest.fail(f"{case}: lost")
        assert result.stop_reason == "cancelled", (case, result.error)
        assert await bench.session.cancel(chat) is False, f"{case}: nothing runs any more"
        done[name] += 1
    vendor.reset([VendorReply(text=finish("and on"))])
    assert (await (await bench.session.send(chat, "go on")).result()).answer == "and on"
    assert sum(done.values()) == IN_PROCESS
    ended = [event.turn_id for event in bench.events if event.event.kind == "turn_ended"]
    assert len(ended) == len(set(ended)), "each turn ends once"
    assert not (root / "new.txt").exists()
    await bench.session.close()


async def test_random_cancels_of_compactions_change_nothing(vendor: LoopbackVendor, root: Path, home: Path):
    print(f"CODELAW_TEST_SEED={SEED}")
    chance = random.Random(SEED)
    bench = await Bench.open(vendor, root, home)
    chat = ""
    for number in range(6):
        vendor.reset([VendorReply(text=finish(f"answer {number}"))])
        chat = (await (await bench.session.send(chat or None, f"question {number}")).result()).chat_id
    vendor.summariser = None
    vendor.reset([SILENCE])
    for number in range(IN_PROCESS // 5):
        case = f"CODELAW_TEST_SEED={SEED}, compaction {number}"
        asked = asyncio.create_task(bench.session.compact(chat))
        await asyncio.sleep(0)
        await moment(chance)
        try:
            async with asyncio.timeout(PATIENCE):
                assert await bench.session.cancel(chat) is True, (case, asked)
                report = await asked
        except TimeoutError:
            pytest.fail(f"{case}: lost")
        assert (report.compacted, report.reason) == (False, "cancelled"), case
    assert (await bench.session.archive(chat)).checkpoints == ()
    await bench.session.close()


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
