"""Compactions, cancels, restores, steers and restarts at random moments of a busy chat; what holds after each (K-3, K-7)."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench, open_session
from tests.agent.talking import HONEST
from tests.agent.test_broken_store import agree
from tests.agent.test_control import until
from tests.loopback.server import LoopbackVendor
from tests.scenarios.soaking import Moody, Player, check_request, where, workspace

SETTINGS: dict[str, Any] = {
    "model": {"contextWindow": 32_000},
    "context": {"keepRounds": 3, "summaryTimeoutSeconds": 1},
    "permissions": {"default": "allow"},
}
OPERATIONS = 30


class Busy:
    """One chat to which everything happens."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self.bench = bench
        self.chance = random.Random(seed)
        self.chat = ""
        self.asked: list[int] = []
        self.steers: list[str] = []
        self.looked = 0

    async def happen(self) -> None:
        """One operation."""
        kinds = ("turn", "turn", "turn", "compact", "restore", "reopen", "both", "cancelled")
        await getattr(self, f"_{self.chance.choice(kinds)}")()
        await self.holds()

    async def _turn(self) -> None:
        running = await self._send()
        if self.chance.random() < 0.3:
            await self._wait(0.03)
            await self._steer()
        result = await running.result()
        assert result.stop_reason in {"finished", "cancelled"}, result.error

    async def _cancelled(self) -> None:
        running = await self._send()
        await self._wait(0.1)
        await self.bench.session.cancel(self.chat)
        assert (await running.result()).stop_reason in {"finished", "cancelled"}

    async def _compact(self) -> None:
        work = asyncio.create_task(self.bench.session.compact(self.chat))
        if self.chance.random() < 0.5:
            await self._wait(0.2)
            await self.bench.session.cancel_compaction(self.chat)
        report = await work
        assert report.reason in {"manual", "cancelled", "rounds_not_enough", "summary_failed", "summary_timed_out"}

    async def _both(self) -> None:
        """A compaction is asked for while a turn runs, or a turn while a compaction does."""
        if self.chance.random() < 0.5:
            running = await self._send()
            await self._wait(0.1)
            work = asyncio.create_task(self.bench.session.compact(self.chat))
        else:
            work = asyncio.create_task(self.bench.session.compact(self.chat))
            await self._wait(0.1)
            running = await self._send()
        if self.chance.random() < 0.3:
            await self._steer()
        if self.chance.random() < 0.3:
            await self._wait(0.15)
            await self._restore()
        result = await running.result()
        assert result.stop_reason == "finished", result.error
        await work

    async def _restore(self) -> None:
        cuts = (await self.bench.session.archive(self.chat)).checkpoints
        chosen = self.chance.choice([None, *(cut.id for cut in cuts)])
        try:
            await self.bench.session.restore(self.chat, chosen)
        except Refusal as refusal:
            assert refusal.code in ({"chat_busy", "nothing_to_undo"} if not cuts else {"chat_busy"})  # noqa: PT017

    async def _reopen(self) -> None:
        await self.bench.session.close()
        self.bench.session = await open_session(self.bench, SETTINGS)

    async def _send(self) -> Any:
        number = len(self.asked)
        running = await self.bench.session.send(self.chat or None, f"ASKCANARY{number}Z and what of it?")
        self.asked.append(number)
        self.chat = running.chat_id
        return running

    async def _steer(self) -> None:
        text = f"STEERCANARY{len(self.steers)}Z"
        try:
            await self.bench.session.steer(self.chat, text)
        except Refusal as refusal:
            assert refusal.code == "turn_not_found"  # noqa: PT017
        else:
            self.steers.append(text)

    async def _wait(self, most: float) -> None:
        await asyncio.sleep(self.chance.random() * most)

    async def holds(self) -> None:
        agent = await self.bench.session._chats.get(self.chat)
        await until(lambda: agent.idle and agent.following is None)
        vendor = self.bench.vendor
        assert vendor.refused == []
        for request in vendor.messages[self.looked :]:
            assert not request.overflowed
            accepted = self.asked if request.summary else self.asked[: where(request.json)[0] + 1]
            check_request(request.json, summary=request.summary, accepted=accepted)
        self.looked = len(vendor.messages)
        session = self.bench.session
        await agree(self.bench, self.chat)
        stored = await agent.house.store.load(self.chat)
        assert agent.past.generation == stored.chat.generation
        assert agent.past.transcript.checkpoints == stored.checkpoints
        assert agent.past.transcript.demotions == frozenset(stored.demotions)
        record = await session.read(self.chat)
        users = [message.content for message in record.messages if message.role == "user"]
        for text in (*(f"ASKCANARY{number}Z" for number in self.asked), *self.steers):
            assert sum(text in said for said in users) == 1
        seqs = [event.seq for event in record.events]
        assert seqs == sorted(set(seqs))
        begun = [event.event.phase for event in record.events if event.event.kind == "compaction"]  # type: ignore[union-attr]
        ends = [phase for phase in begun if phase in {"finished", "failed", "cancelled"}]
        assert begun.count("started") == len(ends), "every compaction has its end"


@pytest.mark.parametrize("seed", range(10))
async def test_a_busy_chat(seed: int, tmp_path: Path, home: Path):
    root = tmp_path / "work"
    root.mkdir()
    workspace(root)
    dialect = "react" if seed % 2 else "native"
    async with LoopbackVendor(
        brain=Player(seed, dialect, root, faulty=False), window=32_000, characters=HONEST
    ) as vendor:
        moody = Moody(seed, lag=0.12)
        vendor.summariser = moody
        bench = Bench(dialect, root, home, vendor, None)  # type: ignore[arg-type]
        bench.session = await open_session(bench, SETTINGS)
        busy = Busy(bench, seed)
        await busy._turn()
        await busy.holds()
        for _ in range(OPERATIONS):
            await busy.happen()
        await bench.session.close()
    assert moody.asked, "there was something to compact"
