"""A server that dies again and again on one home and one folder, and what must hold after each death.

    life = Life(start, vendor, root, seed=7)
    async with life:
        asked = await life.ask([("Write", {"path": "a.txt", "content": "x"})])     the turn runs
        await life.die(after=0.2)                                                  kill -9
        await life.boot()
        record = await life.holds()                                                nothing lost, nothing doubled

Each test here has a short form, which is the default, and a long one with `CODELAW_TEST_LONG=1`. What chance decides
follows from a seed; a failure names it, and `CODELAW_TEST_SEED=7` runs that one alone.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp import raw
from tests.lsp.raw import RawClient, result_of
from tests.scenarios.conftest import Start
from tests.scenarios.soaking import Player, check_record

LONG = bool(os.environ.get("CODELAW_TEST_LONG"))
SEED = os.environ.get("CODELAW_TEST_SEED")
WINDOW = 200_000

Call = tuple[str, Mapping[str, Any]]
States = dict[str, list[str | None]]
"""By path the texts that a file may have, in order; None: there is no file."""


def seeds(short: int, long: int) -> list[int]:
    """The seeds of a test: `short` of them, `long` in the long form, or the one that is to be repeated."""
    return [int(SEED)] if SEED is not None else list(range(long if LONG else short))


@dataclass
class Actor(Player):
    """The brain: the calls of each turn are planned by its number; then it answers."""

    faulty: bool = False
    plans: dict[int, Sequence[Call]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    answer: int = 400
    """Characters of an answer."""
    pace: float = 0.0
    """Seconds before each delta."""

    def _reply(self, turn: int, step: int, chance: random.Random) -> VendorReply:
        plan = self.plans.get(turn, ())
        reply = self._act([plan[step]]) if step < len(plan) else self._finish(turn, self.answer)  # type: ignore[list-item]
        return replace(reply, delay=self.pace, chunk=60)


@dataclass(frozen=True)
class Asked:
    """A message that was sent; `answer` is the whole response."""

    number: int
    text: str
    mark: int
    """Where in the client's messages it began."""
    answer: asyncio.Future[dict[str, Any]]


class Life:
    """One home, one folder and one chat, with one server at a time; `beside` another one it has the same model."""

    def __init__(
        self,
        start: Start,
        vendor: LoopbackVendor,
        root: Path,
        *,
        seed: int = 0,
        dialect: str | None = None,
        options: dict[str, Any] | None = None,
        beside: Life | None = None,
    ) -> None:
        self.vendor, self.root, self.seed = vendor, root, seed
        self.chance = random.Random(seed)
        if beside is None:
            self.dialect = dialect or ("native" if seed % 2 else "react")
            vendor.brain = self.actor = Actor(seed, self.dialect, root)
        else:
            self.dialect, self.actor = beside.dialect, beside.actor
        model = {"baseUrl": vendor.url, "apiKey": "sk-test-SECRET", "name": "claude-sonnet-4-5"}
        self.options = {
            "model": {**model, "dialect": self.dialect, "contextWindow": WINDOW},
            "permissions": {"default": "allow"},
            **(options or {}),
        }
        self.chat: str | None = None
        self.sent: list[str] = []
        """The questions that were sent, whatever became of them."""
        self.client: RawClient
        self.seen: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
        """By chat and `seq` all that the clients were shown, deltas included."""
        self._start = start
        self._harvested = 0
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self.boot()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(f"CODELAW_TEST_SEED={self.seed}, {self.dialect}, {len(self.sent)} sent\n{self.log()}")
        await self.close()

    async def boot(self) -> None:
        """Start a server; the one before is gone, or is asked to go."""
        await self.close()
        self.client = await self._open.enter_async_context(self._start(options=self.options))
        self.client.answers["codelaw/approval/request"] = allow
        self._harvested = 0

    async def close(self) -> None:
        """End the server as an editor does."""
        if hasattr(self, "client"):
            self.harvest()
        await self._open.aclose()

    async def die(self, after: float = 0.0) -> None:
        """Kill it, after that many seconds."""
        await asyncio.sleep(after)
        assert self.client.process is not None
        await self.client.process.kill()
        await asyncio.wait_for(self.client.ended.wait(), raw.PATIENCE)
        self.harvest()

    def log(self) -> str:
        """The end of what the server has logged."""
        return self.client.process.stderr[-6_000:] if hasattr(self, "client") and self.client.process else ""

    async def ask(self, plan: Sequence[Call] = (), *, pace: float = 0.0, answer: int = 400) -> Asked:
        """Begin a turn with these calls, and do not wait for it; the first one makes the chat."""
        number = next(self.actor.numbers)
        self.actor.plans[number] = plan
        self.actor.pace, self.actor.answer = pace, answer
        text = f"ASKCANARY{number}Z and what of it?"
        self.sent.append(text)
        mark = len(self.client.messages)
        params = {"text": text} | ({} if self.chat is None else {"chatId": self.chat})
        _, future = await self.client.start("codelaw/chat/send", params)
        return Asked(number, text, mark, future)

    async def ended(self, asked: Asked) -> dict[str, Any]:
        """The result of a turn that is left to end."""
        result = result_of(await self.client.wait_for(asked.answer))
        self.chat = result["chatId"]
        return result

    async def idle(self) -> None:
        """Wait until nothing runs in the chat, also where the store was away for a while."""
        async with asyncio.timeout(raw.PATIENCE):
            while True:
                answer = await self.client.response("codelaw/chat/read", {"chatId": self.chat, "limit": 0})
                if "result" in answer and answer["result"]["running"] is None:
                    return
                await asyncio.sleep(0.05)

    async def swept(self) -> None:
        """Wait until what a dead server was writing is gone: the next one removes it soon after its start."""
        async with asyncio.timeout(raw.PATIENCE):
            while list(self.root.rglob(".codelaw-*")):
                await asyncio.sleep(0.02)

    async def talk(self, plan: Sequence[Call] = (), **how: Any) -> dict[str, Any]:
        """A whole turn, which must finish: the chat goes on."""
        result = await self.ended(await self.ask(plan, **how))
        assert result["stopReason"] == "finished", result
        return result

    def harvest(self) -> None:
        """Keep what the client was shown; nothing may be shown twice, by whichever server."""
        messages = self.client.messages
        for message in messages[self._harvested :]:
            if message.get("method") != "codelaw/chat/event":
                continue
            event = message["params"]
            if event["event"]["kind"] == "tool_output":
                continue  # it has the number of the event before it, and is not kept
            seen = self.seen[event["chatId"]]
            assert event["seq"] not in seen, f"shown twice: {event} and {seen[event['seq']]}"
            seen[event["seq"]] = event
        self._harvested = len(messages)

    async def record(self) -> dict[str, Any]:
        return await self.client.request("codelaw/chat/read", {"chatId": self.chat})

    def turn_of(self, record: Mapping[str, Any], asked: Asked) -> str | None:
        """The id of the turn that a message has begun, if it was stored."""
        said = [message for message in record["messages"] if message["role"] == "user"]
        return next((message["turnId"] for message in said if message["content"].startswith(asked.text)), None)

    async def holds(self, *others: str) -> dict[str, Any]:
        """Check the record of a chat in which nothing runs, against all that was sent and shown; gives it.

        `others` are texts that were sent past `ask`; they may be there or not.
        """
        self.harvest()
        record = await self.record()
        assert record["running"] is None
        check_record(record, self.dialect)
        check_turns(record)
        check_shown(self.seen[record["chat"]["id"]], record)
        stored = [message["content"] for message in record["messages"] if message["role"] == "user"]
        stored = [text for text in stored if text not in others and not text.startswith("<system-reminder>")]
        assert len(set(stored)) == len(stored), f"a question stands twice: {stored}"
        assert [text for text in self.sent if text in stored] == stored, "out of order, or not what was sent"
        assert not self.vendor.refused
        return record


def check_turns(record: Mapping[str, Any]) -> None:
    """Every turn begins once and ends once, and all of it lies between."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for event in record["events"]:
        if event["turnId"]:
            kinds[event["turnId"]].append(event["event"]["kind"])
    for turn, reported in kinds.items():
        assert reported[0] == "turn_started", (turn, reported)
        assert reported.count("turn_started") == reported.count("turn_ended") == 1, (turn, reported)
        behind = reported[reported.index("turn_ended") + 1 :]
        assert not {"thought", "answer", "tool_call", "usage"} & set(behind), (turn, reported)
    phases = [event["event"]["phase"] for event in record["events"] if event["event"]["kind"] == "compaction"]
    ends = sum(phase in {"finished", "failed", "cancelled"} for phase in phases)
    assert phases.count("started") == ends, f"a client would wait for ever: {phases}"


def check_shown(seen: Mapping[int, Mapping[str, Any]], record: Mapping[str, Any]) -> None:
    """What a client was shown stands in the record just so; deltas of ended turns may be merged there."""
    stored = {event["seq"]: event for event in record["events"]}
    heard, kept = _spoken(seen.values()), _spoken(record["events"])
    for seq, event in seen.items():
        if event["event"]["kind"] not in {"thought", "answer"}:
            assert stored.get(seq) == event, f"lost or changed: {event}, now {stored.get(seq)}"
    for place, text in heard.items():
        assert kept[place].startswith(text), f"lost of {place}: {text!r}, kept is {kept[place]!r}"


def _spoken(events: Any) -> dict[tuple[str, int, str], str]:
    reported: dict[tuple[str, int, str], str] = defaultdict(str)
    for event in sorted(events, key=lambda event: event["seq"]):
        inner = event["event"]
        if inner["kind"] in {"thought", "answer"}:
            reported[event["turnId"], inner["step"], inner["kind"]] += inner["delta"]
    return reported


def texts(root: Path) -> dict[str, str]:
    """All files of a folder, with hidden ones."""
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def check_files(root: Path, states: Mapping[str, Sequence[str | None]]) -> None:
    """Every file has one of the texts it may have, and there is no other file."""
    found = texts(root)
    assert set(found) <= set(states), f"litter: {set(found) - set(states)}"
    for path, allowed in states.items():
        text = found.get(path)
        assert text in allowed, f"{path} is no whole state: {text if text is None else text[:200]!r}"


def whole(name: str, version: int, lines: int = 400) -> str:
    """A file that shows whether it is whole."""
    body = "".join(f"{name} line {line} of version {version}\n" for line in range(lines))
    return f"begin {name} {version}\n{body}end {name} {version}\n"


def allow(params: dict[str, Any]) -> dict[str, str]:
    """The answer to an approval that lets it run once."""
    return {"optionId": next(option["id"] for option in params["options"] if option["kind"] == "allow_once")}
