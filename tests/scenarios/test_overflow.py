"""An endpoint that takes less than its profile says, or nothing at all: the turn succeeds, or says so once (W-6)."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import Captured, Form, LoopbackVendor
from tests.loopback.summaries import Summariser
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start

MOST_CALLS = 12
"""Requests of one turn, however bad the day."""
FORMS: list[tuple[str, Form]] = [
    ("react", "tokens"),
    ("react", "no_numbers"),
    ("react", "413"),
    ("react", "output"),
    ("native", "tokens"),
    ("native", "413"),
]
BOTH = pytest.mark.parametrize("dialect", ["react", "native"])


class Table:
    """One chat with the real server, in either dialect."""

    def __init__(self, client: RawClient, vendor: LoopbackVendor, dialect: str) -> None:
        self.client, self.vendor, self.dialect = client, vendor, dialect
        self.chat: str | None = None
        self.number = 0

    def act(self, tool: str, **arguments: Any) -> VendorReply:
        if self.dialect == "native":
            return VendorReply(text="think", calls=({"name": tool, "input": arguments},))
        return VendorReply(text=f"Thought: think\nAction: {tool}[{json.dumps(arguments)}]")

    def finish(self, answer: str, **more: Any) -> VendorReply:
        text = f"Thought: done\nAction: Finish[{answer}]" if self.dialect == "react" else answer
        return VendorReply(text=text, chunk=4_000, **more)

    async def turn(self, *replies: VendorReply) -> tuple[dict[str, Any], list[Captured]]:
        """The next turn's result, and the requests it made."""
        first = len(self.vendor.messages)
        self.vendor.play(*replies)
        result = await self._send()
        await self.holds(self.vendor.messages[first:])
        return result, self.vendor.messages[first:]

    async def _send(self) -> dict[str, Any]:
        params: dict[str, Any] = {"text": f"ASKCANARY{self.number}Z please"}
        if self.chat is not None:
            params["chatId"] = self.chat
        result = await self.client.request("codelaw/chat/send", params)
        self.chat = result["chatId"]
        self.number += 1
        return result

    async def fill(self, rounds: int, size: int) -> None:
        """Quiet rounds of `size` characters of answer each."""
        for _ in range(rounds):
            self.vendor.play(self.finish(("plain words that say little " * (size // 28 + 1))[:size]))
            assert (await self._send())["stopReason"] == "finished"

    async def holds(self, requests: list[Captured]) -> None:
        """What holds after every turn: bounded, well-formed, shrinking, the question last and once."""
        assert len(requests) <= MOST_CALLS
        assert self.vendor.refused == []
        mark = f"ASKCANARY{self.number - 1}Z"
        steps = [request for request in requests if not request.summary]
        for request in steps:
            assert json.dumps(request.json["messages"]).count(mark) == 1
        for before, after in pairwise(steps):
            if before.overflowed:
                assert after.tokens < before.tokens, "what did not fit is not sent again"
        for request in requests:
            assert mark not in json.dumps(request.json["messages"]) or not request.summary, "the open turn is no past"
        record = await self.client.request("codelaw/chat/read", {"chatId": self.chat})
        said = [message["content"] for message in record["messages"] if message["role"] == "user"]
        assert [text.split()[0] for text in said] == [f"ASKCANARY{number}Z" for number in range(self.number)]


def options(vendor: LoopbackVendor, dialect: str, **context: Any) -> dict[str, Any]:
    model = {"baseUrl": vendor.url, "apiKey": "sk-test-SECRET", "name": "claude-sonnet-4-5", "dialect": dialect}
    return {"model": model, "context": context, "permissions": {"default": "allow"}}


def readable(result: dict[str, Any]) -> None:
    assert (result["stopReason"], result["error"]["code"]) == ("failed", "context_overflow")
    advice = result["error"]["hint"].lower()
    assert "new chat" in advice
    assert "larger window" in advice


@pytest.mark.parametrize(("dialect", "form"), FORMS)
async def test_an_endpoint_that_takes_nothing_ends_in_one_readable_error_and_the_chat_goes_on(
    start: Start, vendor: LoopbackVendor, dialect: str, form: Form
):
    async with start(options=options(vendor, dialect, keepRounds=3)) as client:
        table = Table(client, vendor, dialect)
        await table.fill(8, 2_000)
        vendor.form, vendor.always_full = form, True
        result, requests = await table.turn(table.finish("never"))
        readable(result)
        assert requests
        assert all(request.overflowed for request in requests)
        ended = [event for event in client.events(table.chat) if event["event"]["kind"] == "turn_ended"]
        assert len(ended) == table.number
        again, requests = await table.turn(table.finish("never"))
        readable(again)
        vendor.form, vendor.always_full = "tokens", False
        result, requests = await table.turn(table.finish("it is back"))
        assert result["answer"] == "it is back"
        assert "ASKCANARY8Z" in json.dumps(requests[-1].json["messages"]), "the turns that failed are remembered"


@pytest.mark.parametrize(("dialect", "form"), [("react", "tokens"), ("react", "413"), ("native", "tokens")])
async def test_a_heavy_turn_is_relieved_of_its_oldest_observations(
    start: Start, vendor: LoopbackVendor, root: Path, dialect: str, form: Form
):
    for number in range(10):
        lines = (f"value_{number}_{line} = compute({line})  # FILE{number}\n" for line in range(500))
        (root / f"m{number}.py").write_text("".join(lines))
    async with start(options=options(vendor, dialect)) as client:
        table = Table(client, vendor, dialect)
        vendor.window, vendor.form = 30_000, form
        reads = [table.act("Read", path=f"m{number}.py") for number in range(10)]
        result, requests = await table.turn(*reads, table.finish("read them all"))
        assert result["answer"] == "read them all", result["error"]
        assert any(request.overflowed for request in requests), "the endpoint has really been met"
        last = json.dumps(requests[-1].json["messages"])
        assert "value_9_499" in last, "what was read last is what is worked with"


# What comes after a summary that failed is the same in both dialects.
@pytest.mark.parametrize(
    ("dialect", "modes"),
    [
        ("react", ("good",)),
        ("react", ("overflow",)),
        ("react", ("413", "good")),
        ("react", ("headless",)),
        ("react", ("hang",)),
        ("native", ("good",)),
        ("native", ("413", "good")),
    ],
)
async def test_a_summary_that_fails_in_the_danger_does_not_fail_the_turn(
    start: Start, vendor: LoopbackVendor, dialect: str, modes: tuple[str, ...]
):
    seconds = 1 if modes == ("hang",) else 60
    async with start(options=options(vendor, dialect, summaryTimeoutSeconds=seconds)) as client:
        table = Table(client, vendor, dialect)
        await table.fill(6, 48_000)
        vendor.window, vendor.summariser = 40_000, Summariser(*modes)
        result, requests = await table.turn(table.finish("it fits"))
        assert result["answer"] == "it fits", result["error"]
        assert requests[-1].tokens <= 40_000
        said = [notice["message"] for notice in result["notices"]]
        if modes == ("good",):
            assert any(request.summary for request in requests)
            assert not any(request.summary and request.overflowed for request in requests), (
                "what it takes is known by then"
            )
            assert "SUMMARYCANARY" in json.dumps(requests[-1].json["system"])
            assert len(said) == 1
            assert "the newest round stays in view, not 10 (context.keepRounds)" in said[0]
        elif modes == ("hang",):
            assert said == ["Summary generation timed out, keeping recent history only."]
        elif modes[-1] != "good":
            assert len(said) == 1
            assert "without a summary" in said[0]


@BOTH
async def test_a_law_and_a_question_that_cannot_fit_are_refused_with_sizes_and_never_cut(
    start: Start, vendor: LoopbackVendor, root: Path, dialect: str
):
    (root / "CODE_LAW.md").write_text("LAWCANARY obey. " * 12_000)
    async with start(options=options(vendor, dialect)) as client:
        table = Table(client, vendor, dialect)
        vendor.window = 30_000
        result, requests = await table.turn(table.finish("never"))
        readable(result)
        for request in requests:
            assert json.dumps(request.json["system"]).count("LAWCANARY") == 12_000
        vendor.window = 200_000
        (root / "CODE_LAW.md").write_text("LAWCANARY short.")
        result, _ = await table.turn(table.finish("now it does"))
        assert result["answer"] == "now it does"
