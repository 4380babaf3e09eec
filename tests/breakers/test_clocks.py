"""The clock of the machine jumps, by an hour or by years, forwards and back: what orders things is never the clock."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.breakers.harness import LONG, Life, seeds, whole
from tests.loopback.server import LoopbackVendor
from tests.loopback.summaries import Summariser
from tests.lsp.raw import result_of
from tests.scenarios.conftest import starting

HOUR, YEAR = 3_600.0, 31_557_600.0
JUMPS = (HOUR, -2 * HOUR, -YEAR, YEAR, 40 * YEAR, -30 * YEAR, -50 * YEAR, 0.0)
"""Where the clock stands against the true one, in seconds; the last but one is before the epoch's first days."""
JUMPING = """
import pathlib, sys, time
real, place = time.time, pathlib.Path(sys.argv[1])
time.time = lambda: real() + float(place.read_text())
del sys.argv[1]
from codelaw.cli.main import main
sys.exit(main())
"""


def jump_by(place: Path, seconds: float) -> None:
    """Set the server's clock; it reads the file at any moment and must never find it empty."""
    fresh = place.with_suffix(".new")
    fresh.write_text(str(seconds))
    fresh.replace(place)


@pytest.mark.parametrize("seed", seeds(1, 8))
async def test_a_clock_that_jumps_in_mid_turn(
    vendor: LoopbackVendor, root: Path, home: Path, tmp_path: Path, seed: int
):
    (root / "a.txt").write_text(whole("a.txt", 0))
    place = tmp_path / "clock"
    jump_by(place, 0)
    command = [sys.executable, "-c", JUMPING, str(place), "serve", "--stdio"]
    vendor.summariser = Summariser("late", seconds=0.3)
    options = {"context": {"keepRounds": 1, "minMessages": 2}}
    life = Life(starting(command, vendor, root, home), vendor, root, seed=seed, options=options)
    jumps = list(JUMPS)
    life.chance.shuffle(jumps)
    jumps = jumps if LONG else jumps[:4]
    turns: list[str] = []
    async with life:
        turns += [(await life.talk())["turnId"] for _ in range(2)]
        for number, jump in enumerate(jumps, 1):
            plan = [
                ("Read", {"path": "a.txt"}),
                ("Write", {"path": "a.txt", "content": whole("a.txt", number)}),
                ("Bash", {"command": "sleep 0.1"}),
            ]
            asked = await life.ask(plan, pace=0.002)
            await asyncio.sleep(life.chance.random() * 0.2)
            jump_by(place, jump)
            result = await life.ended(asked)
            turns.append(result["turnId"])
            assert result["stopReason"] == "finished", result
            assert (root / "a.txt").read_text() == whole("a.txt", number)
            if number % 3 == 2:
                mark = len(life.client.messages)
                _, compacting = await life.client.start("codelaw/context/compact", {"chatId": life.chat})
                await life.client.event("compaction", mark, phase="summarising")
                jump_by(place, -jump or HOUR)
                report = result_of(await life.client.wait_for(compacting))
                assert 0 <= report["seconds"] < 60, report
                assert report["compacted"], report
        record = await life.holds()
        begun = [event["turnId"] for event in record["events"] if event["event"]["kind"] == "turn_started"]
        assert begun == turns, "turns stand in the order in which they were begun"
        page = await life.client.request("codelaw/chat/read", {"chatId": life.chat, "turns": 3})
        assert [m["turnId"] for m in page["messages"] if m["role"] == "user"] == turns[-3:]
        earlier = await life.client.request(
            "codelaw/chat/read", {"chatId": life.chat, "turns": 100, "beforeTurn": turns[-3]}
        )
        assert [m["turnId"] for m in earlier["messages"] if m["role"] == "user"] == turns[:-3]
        jump_by(place, -YEAR)
        await life.boot()
        await life.talk()
        reverted = await life.client.request("codelaw/chat/revert", {"chatId": life.chat, "turnId": turns[-1]})
        assert reverted["conflicts"] == []
        assert (root / "a.txt").read_text() == whole("a.txt", len(jumps) - 1)
        listed = await life.client.request("codelaw/chat/list", {})
        assert [chat["id"] for chat in listed["chats"]] == [life.chat]
        await life.holds()
        assert "Traceback" not in life.log()
