"""A team's PostgreSQL stops and comes back in the middle of turns: told, and nothing lost or doubled (D-1, D-3)."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.breakers.harness import LONG, Life, check_files, seeds, whole
from tests.fakes.postgres import PASSWORD, Postgres
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start

ROUNDS = 3 if LONG else 2


@pytest.mark.parametrize("seed", seeds(1, 15))
async def test_postgresql_restarts_in_mid_turn(  # noqa: PLR0917
    start: Start, vendor: LoopbackVendor, root: Path, postgres: Postgres, postgres_url: str, seed: int
):
    (root / "a.txt").write_text(whole("a.txt", 0))
    life = Life(start, vendor, root, seed=seed, options={"store": {"url": postgres_url}})
    async with life:
        await life.talk()
        for number in range(ROUNDS):
            before, after = (root / "a.txt").read_text(), whole("a.txt", number + 1)
            plan = [("Read", {"path": "a.txt"}), ("Write", {"path": "a.txt", "content": after}), ("LS", {})]
            asked = await life.ask(plan, answer=3_000, pace=0.004)
            await asyncio.sleep(life.chance.random() ** 2 * 0.8)
            await asyncio.to_thread(postgres.stop)
            try:
                await asyncio.sleep(life.chance.choice([0.0, 0.3, 1.0]))
            finally:
                await asyncio.to_thread(postgres.start)
            response = await life.client.wait_for(asked.answer)
            if "error" in response:
                assert response["error"]["data"]["code"] == "store_unavailable", response
            elif response["result"]["stopReason"] != "finished":
                assert response["result"]["error"]["code"] == "store_unavailable", response
            check_files(root, {"a.txt": [before, after]})
            await life.idle()
            await life.talk()
            await life.holds()
        if sys.platform != "win32":
            await life.ask(plan, pace=0.004)
            await asyncio.sleep(life.chance.random() * 0.3)
            postgres.signal(signal.SIGSTOP)
            try:
                await life.die()
            finally:
                postgres.signal(signal.SIGCONT)
            await life.boot()
            await life.idle()
            await life.talk()
            await life.holds()
        assert PASSWORD not in life.log()
        assert "Traceback" not in life.log()
