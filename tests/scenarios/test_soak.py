"""One chat through kills, cancels, overflows and bad summaries: it never breaks (D-1, W-6, K-9).

`CODELAW_TEST_SOAK_TURNS=300` makes it a long one, `CODELAW_TEST_SOAK_SEED` another one.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import Ended, RawClient, result_of
from tests.scenarios.conftest import Start
from tests.scenarios.soaking import QUESTION, Asked, Moody, Player, check_record, check_request, where, workspace

WINDOW = 32_000
TURNS = int(os.environ.get("CODELAW_TEST_SOAK_TURNS", "60"))
SEED = int(os.environ.get("CODELAW_TEST_SOAK_SEED", "1"))
KILL_EVERY = 20
STOPS = {"finished", "cancelled"}


class Soak:
    """One chat, one server at a time."""

    def __init__(self, start: Start, vendor: LoopbackVendor, options: dict[str, Any], seed: int) -> None:
        self.start, self.vendor, self.options = start, vendor, options
        self.chance = random.Random(seed)
        self.asked = Asked()
        self.chat: str | None = None
        self.looked = 0
        self.stops: list[str] = []
        self.client: RawClient
        self._open = AsyncExitStack()

    async def boot(self) -> None:
        """A server, after the death of the one before if there was one."""
        await self._open.aclose()
        self.client = await self._open.enter_async_context(self.start(options=self.options))
        self.client.answers["codelaw/approval/request"] = _allow

    async def close(self) -> None:
        await self._open.aclose()

    async def turn(self, number: int) -> None:
        """One turn, as it is or disturbed; afterwards all requests so far are looked at."""
        params: dict[str, Any] = {"text": f"ASKCANARY{number}Z and what of it?"}
        if self.chat is not None:
            params["chatId"] = self.chat
        mark = len(self.client.messages)
        _, future = await self.client.start("codelaw/chat/send", params)
        if number % KILL_EVERY == KILL_EVERY - 1:
            await self._kill(number, mark)
        else:
            drawn = self.chance.random()
            if drawn < 0.12:
                await self._cancel(mark)
            elif drawn < 0.18:
                await self._steer(number, mark)
            result = result_of(await self.client.wait_for(future))
            self.asked.numbers.append(number)
            self.chat = result["chatId"]
            self.stops.append(result["stopReason"])
            if result["stopReason"] not in STOPS:
                pytest.fail(json.dumps(result["error"]))
        self.look()

    async def _cancel(self, mark: int) -> None:
        started = await self.client.event("turn_started", mark)
        await asyncio.sleep(self.chance.random() * 0.15)
        await self.client.request("codelaw/chat/cancel", {"chatId": started["chatId"]})

    async def _steer(self, number: int, mark: int) -> None:
        started = await self.client.event("turn_started", mark)
        await asyncio.sleep(self.chance.random() * 0.03)
        text = f"STEERCANARY{number}Z"
        response = await self.client.response("codelaw/chat/steer", {"chatId": started["chatId"], "text": text})
        if "result" in response:
            self.asked.steers.append(text)
            await self._heard(started["chatId"], response["result"]["id"])
        else:
            assert response["error"]["data"]["code"] == "turn_not_found"

    async def _heard(self, chat: str, steer: str) -> None:
        """Wait until a steer has been told or returned, or the turn that it became has ended."""
        async with asyncio.timeout(150):
            while True:
                record = await self.client.request("codelaw/chat/read", {"chatId": chat, "limit": 0})
                reported = [(event["turnId"], event["event"]) for event in record["events"]]
                ended = {turn for turn, event in reported if event["kind"] == "turn_ended"}
                if any(event.get("id") == steer and event["state"] != "waiting" for _, event in reported):
                    return
                if any(steer in event.get("steers", ()) and turn in ended for turn, event in reported):
                    return
                await asyncio.sleep(0.05)

    async def _kill(self, number: int, mark: int) -> None:
        """The server dies at some moment of the turn; what it had accepted is found in the record."""
        if self.chance.random() < 0.8:
            started = await self.client.event("turn_started", mark)
            self.chat = started["chatId"]
        await asyncio.sleep(self.chance.random() * 0.2)
        assert self.client.process is not None
        await self.client.process.kill()
        await self.boot()
        record = await self.client.request("codelaw/chat/read", {"chatId": self.chat, "limit": 60})
        assert record["running"] is None
        if any(f"ASKCANARY{number}Z" in message["content"] for message in record["messages"]):
            self.asked.numbers.append(number)

    def look(self) -> None:
        """Every request since the last look: well-formed, inside the window, with what must be in it."""
        assert self.vendor.refused == []
        requests = self.vendor.messages
        while self.looked < len(requests):
            request = requests[self.looked]
            assert not request.overflowed, f"{request.tokens} tokens in a window of {WINDOW}"
            body = request.json
            accepted = self.asked.numbers
            if not request.summary:
                accepted = accepted[: accepted.index(where(body)[0]) + 1]
            check_request(body, summary=request.summary, accepted=accepted)
            self.looked += 1

    def log(self) -> str:
        """The end of what the server has logged."""
        return self.client.process.stderr[-6_000:] if self.client.process is not None else ""

    async def ends_whole(self, dialect: str) -> None:
        """The record at the end: every question once and in order, every call with one result."""
        record = await self.client.request("codelaw/chat/read", {"chatId": self.chat})
        messages = [message for message in record["messages"] if message["role"] != "summary"]
        users = [message["content"] for message in messages if message["role"] == "user"]
        asked = [int(found[1]) for text in users if (found := QUESTION.search(text))]
        assert asked == self.asked.numbers
        for text in self.asked.steers:
            assert sum(text in said for said in users) == 1
        check_record(record, dialect)


def _allow(params: dict[str, Any]) -> dict[str, str]:
    """Commands are asked for where there is no sandbox."""
    return {"optionId": next(option["id"] for option in params["options"] if option["kind"] == "allow_once")}


@pytest.mark.parametrize(
    ("dialect", "turns", "seed"), [("react", TURNS, SEED), ("native", max(TURNS // 2, 30), SEED + 1)]
)
async def test_a_chat_never_breaks(  # noqa: PLR0917
    start: Start, vendor: LoopbackVendor, root: Path, dialect: str, turns: int, seed: int
):
    workspace(root)
    vendor.window = WINDOW
    vendor.characters = 3.3
    vendor.reset()
    player, moody = Player(seed, dialect, root), Moody(seed)
    vendor.brain, vendor.summariser = player, moody
    model = {"baseUrl": vendor.url, "apiKey": "sk-test-SECRET", "name": "claude-sonnet-4-5", "dialect": dialect}
    options = {
        "model": {**model, "contextWindow": WINDOW},
        "context": {"summaryTimeoutSeconds": 1, "keepRounds": 6},
        "permissions": {"default": "allow"},
    }
    soak = Soak(start, vendor, options, seed)
    number = -1
    try:
        await soak.boot()
        for number in range(turns):
            await soak.turn(number)
        await soak.ends_whole(dialect)
    except (AssertionError, TimeoutError, Ended, pytest.fail.Exception) as error:
        error.add_note(f"seed {seed}, turn {number}, {dialect}\n{soak.log()}")
        raise
    finally:
        await soak.close()
    assert soak.stops.count("finished") > 0.7 * turns
    assert player.faults > turns // 30, "there was something to go wrong"
    assert "good" in moody.given, "there was something to compact"
