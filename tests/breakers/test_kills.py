"""The server is killed at moments that chance chooses, in the middle of everything it does (D-1, E-2, K-6, R-6).

Five hundred deaths in the long form. After each: no event lost or doubled, every file whole, the turn can be undone,
the chat goes on, and nothing lies about.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.breakers.harness import LONG, Asked, Call, Life, States, check_files, seeds, texts, whole
from tests.fakes.living import own_seconds, sleeps
from tests.loopback.server import LoopbackVendor
from tests.loopback.summaries import Summariser
from tests.lsp import raw
from tests.lsp.raw import result_of
from tests.scenarios.conftest import Start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")

DEATHS = 10 if LONG else 5
KINDS = ("turn", "edits", "command", "revert", "compaction")
SUMMARY_SECONDS = 0.15
NAMES = ("a.txt", "b.txt", "c.txt")


class Kills(Life):
    """Deaths of one chat's servers, one after the other."""

    async def begins(self) -> None:
        """A history long enough to be compacted, and files to change."""
        for name in NAMES:
            (self.root / name).write_text(whole(name, 0))
        for _ in range(3):
            await self.talk()

    async def one(self, kind: str) -> None:
        """One death in the middle of that, and what must hold after it."""
        before = texts(self.root)
        match kind:
            case "turn":
                await self._within(await self.ask(answer=6_000, pace=0.004))
                states = unchanged(before)
            case "edits":
                plan, states = self._edits(before)
                asked = await self._within(await self.ask(plan, pace=0.001))
                await self._undone(asked, before, states)
                return
            case "command":
                await self._command(before)
                return
            case "revert":
                plan, states = self._edits(before)
                await self._revert(await self.talk(plan), before, states)
                return
            case _:
                await self.client.start("codelaw/context/compact", {"chatId": self.chat})
                await self.die(self.chance.random() * 2 * SUMMARY_SECONDS)
                states = unchanged(before)
        await self._back(states)

    async def _back(self, states: States) -> dict[str, Any]:
        """The next server: nothing is lost, and nothing lies about; gives the record."""
        await self.boot()
        record = await self.holds()
        await self.swept()
        check_files(self.root, states)
        return record

    async def _within(self, asked: Asked) -> Asked:
        """The server dies at some moment of a turn, perhaps before it has begun, perhaps after it has ended."""
        if self.chance.random() < 0.7:
            await self.client.event("turn_started", asked.mark)
        await self.die(self.chance.random() ** 2 * 0.6)
        return asked

    def _edits(self, before: dict[str, str]) -> tuple[list[Call], States]:
        """Changes of two files and a new one, and the states that they go through."""
        number = len(self.sent)
        first = before["a.txt"].partition("\n")[0]
        a = [before["a.txt"]] + [before["a.txt"].replace(first, f"begin {n} {number}", 1) for n in ("one", "two")]
        b, new = whole("b.txt", number), f"new{number}.txt"
        plan: list[Call] = [
            ("Read", {"path": "a.txt", "limit": 5}),
            ("Edit", {"path": "a.txt", "old_string": first, "new_string": f"begin one {number}"}),
            ("Read", {"path": "b.txt", "limit": 5}),
            ("Write", {"path": "b.txt", "content": b}),
            ("Write", {"path": new, "content": whole(new, number)}),
            ("Edit", {"path": "a.txt", "old_string": f"begin one {number}", "new_string": f"begin two {number}"}),
        ]
        states = {**unchanged(before), "a.txt": [*a], "b.txt": [before["b.txt"], b], new: [None, whole(new, number)]}
        return plan, states

    async def _undone(self, asked: Asked, before: dict[str, str], states: States) -> None:
        """After the death in a turn of edits all of it can be undone."""
        record = await self._back(states)
        turn = self.turn_of(record, asked)
        if turn is not None:
            await self._reverted(turn)
        assert texts(self.root) == before, "not as it was"

    async def _command(self, before: dict[str, str]) -> None:
        """The death in a command: none of its processes lives on, and what it has done can be undone."""
        number, seconds = len(self.sent), own_seconds()
        steps = [f"printf {number} > made.txt", "sleep 0.05", "rm -f c.txt", f"printf {number} > c.txt"]
        command = "; ".join([*steps, f"test {self.chance.random()} \\< 0.3 || sleep {seconds}"])
        asked = await self._within(await self.ask([("Read", {"path": "c.txt"}), ("Bash", {"command": command})]))
        states = unchanged(before) | {
            "made.txt": [before.get("made.txt"), "", str(number)],
            "c.txt": [before.get("c.txt"), None, "", str(number)],
        }
        record = await self._back(states)
        async with asyncio.timeout(raw.PATIENCE):
            while sleeps(seconds):
                await asyncio.sleep(0.05)
        turn = self.turn_of(record, asked)
        if turn is not None:
            await self._reverted(turn)
        assert texts(self.root) == before, "not as it was"

    async def _revert(self, result: dict[str, Any], before: dict[str, str], states: States) -> None:
        """The death in a revert: whatever it had come to, a second one completes it."""
        params = {"chatId": self.chat, "turnId": result["turnId"]}
        await self.client.start("codelaw/chat/revert", params)
        await self.die(self.chance.random() ** 2 * 0.15)
        await self._back(states)
        await self._reverted(result["turnId"])
        assert texts(self.root) == before, "not as it was"

    async def _reverted(self, turn: str) -> None:
        response = await self.client.response("codelaw/chat/revert", {"chatId": self.chat, "turnId": turn})
        if "error" in response:
            assert response["error"]["data"]["code"] == "nothing_to_undo", response
        else:
            assert result_of(response)["conflicts"] == []


def unchanged(before: dict[str, str]) -> States:
    return {path: [text] for path, text in before.items()}


@pytest.mark.parametrize("seed", seeds(2, 50))
async def test_deaths_lose_nothing(  # noqa: PLR0917
    start: Start, vendor: LoopbackVendor, root: Path, home: Path, tmp_path: Path, monkeypatch: Any, seed: int
):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    vendor.summariser = Summariser("late", seconds=SUMMARY_SECONDS)
    context = {"keepRounds": 1, "minMessages": 2}
    sandbox = "off" if seed % 4 == 1 else "auto"
    options = {"context": context, "tools": {"bash": {"sandbox": sandbox}}}
    life = Kills(start, vendor, root, seed=seed, options=options)
    async with life:
        await life.begins()
        kinds = [KINDS[(seed + place) % len(KINDS)] for place in range(DEATHS)]
        life.chance.shuffle(kinds)
        for kind in kinds:
            try:
                await life.one(kind)
                await life.talk()
            except BaseException as error:
                error.add_note(f"a death in: {kind}")
                raise
        record = await life.holds()
        archive = await life.client.request("codelaw/context/archive", {"chatId": life.chat})
        summaries = [message for message in record["messages"] if message["role"] == "summary"]
        assert len(archive["checkpoints"]) >= len(summaries)
        assert "Traceback" not in life.log()
    connection = sqlite3.connect(home / "codelaw.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    assert not list(temporary.rglob("*")), "something was left in the folder for temporary files"
    assert not [path for path in home.rglob("*") if "damaged" in path.name]
    assert json.dumps(record)
