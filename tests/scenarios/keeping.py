"""Random sessions with models that think, and an oracle of what of their thinking could go back (P-5).

`python -m tests.scenarios.keeping 1000` plays sessions 0 to 999 and prints what came of them.
"""

from __future__ import annotations

import asyncio
import collections
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench, open_session
from tests.agent.test_broken_store import agree
from tests.agent.test_control import until
from tests.loopback.claude import Account
from tests.loopback.models import known
from tests.loopback.rules import THINKING, blocks_of, system_of
from tests.loopback.script import VendorReply
from tests.loopback.server import Captured, LoopbackVendor

MODEL = "claude-sonnet-5-5"
OTHERS = ("claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5-1", "claude-fable-5-2", "claude-opus-5",
          "claude-sonnet-5", "claude-opus-4-8", "claude-sonnet-4-5", "some-local-model")  # fmt: skip
SEARCH = {"query": "names", "pages": [["Names", "https://a.example/names"]]}
FILES = 5
QUESTION = re.compile(r"ASKED(\d+)Z")
PLAIN = {"type": "thinking", "thinking": "hm"}
NOTE = {"type": "thinking", "thinking": "I look at it now.", "note": True}
HIDDEN = {"type": "redacted_thinking"}
OPERATIONS = 14


def settings(dialect: str) -> dict[str, Any]:
    """So small a window that batches and compactions come."""
    return {
        "model": {"contextWindow": 32_000, "name": MODEL, "dialect": dialect},
        "context": {"keepRounds": 3, "summaryTimeoutSeconds": 20},
        "permissions": {"default": "allow"},
        "tools": {"webSearch": dialect == "native"},
    }


# ------------------------------------------------------------------------------------------------------------- oracle


@dataclass
class Reply:
    """A reply that arrived whole."""

    asked: list[str]
    """Digests of the request: in front of each of its messages, and of the whole."""
    newest: str | None
    """The thinking that stood last in the request."""
    content: Sequence[Mapping[str, Any]]

    @property
    def secrets(self) -> list[str]:
        return secrets(self.content)

    @property
    def due(self) -> list[str]:
        """The thinking with something behind it, for none may end a message, and in front of all searches."""
        kinds = [block["type"] for block in self.content]
        spoken = [at for at, kind in enumerate(kinds) if kind not in THINKING]
        searched = kinds.index("server_tool_use") if "server_tool_use" in kinds else len(kinds)
        return secrets(self.content[: min(max(spoken, default=0), searched)])

    def leading(self) -> Reply:
        """With the thinking in front of its calls alone."""
        first = next((at for at, block in enumerate(self.content) if block["type"] == "tool_use"), len(self.content))
        return Reply(self.asked, self.newest, self.content[: first + 1])

    def first(self) -> Reply:
        """With the thinking in front of all else alone."""
        kinds = [block["type"] for block in self.content]
        spoken = next((at for at, kind in enumerate(kinds) if kind not in THINKING), len(kinds))
        return Reply(self.asked, self.newest, self.content[: spoken + 1])


@dataclass
class Oracle:
    """Looks at requests in their order, and says of each what could have gone back in it and did not."""

    replies: list[Reply] = field(default_factory=list)
    returned: int = 0
    """Blocks that went back."""
    withheld: int = 0
    """Blocks of the view that could not."""

    def missing(self, request: Captured) -> list[str]:
        body = request.json
        asked = prefixes(body)
        sent = {secret for message in body["messages"] for secret in secrets(blocks_of(message))}
        wrong: list[str] = []
        if known(body) is not None and body.get("tools"):
            could = self._chain(body, asked)
            wrong = [f"messages.{place}" for place, reply in could if not sent.issuperset(reply.due)]
            # A row of others that is as long is as good.
            going = sum(bool(secrets(blocks_of(message))) for message in body["messages"])
            wrong = wrong if going < len(could) else []
            self.returned += len(sent)
            self.withheld += len(self._said(body, asked)) - len(could)
        if request.answer is not None:
            newest = [secret for message in body["messages"] for secret in secrets(blocks_of(message))]
            self.replies.append(Reply(asked, newest[-1] if newest else None, list(request.answer)))
        return wrong

    def _chain(self, body: Mapping[str, Any], asked: Sequence[str]) -> list[tuple[int, Reply]]:
        """Of the replies that stand behind what they answered the longest row of such that stood before one another."""
        rows: list[list[tuple[int, Reply]]] = [[]]
        for place, reply in self._said(body, asked):
            if reply.asked[-1] == asked[place]:
                before = [row for row in rows if row and reply.newest in row[-1][1].secrets]
                rows.append([*max(before, key=len, default=[]), (place, reply)])
        return max(reversed(rows), key=len)

    def _said(self, body: Mapping[str, Any], asked: Sequence[str]) -> list[tuple[int, Reply]]:
        """The replies with thinking whose words stand in a request, each with its place.

        Of one whose calls are others now, only the thinking in front of them counts, and of one that was cut and gone
        on with that in front of all.
        """
        found: list[tuple[int, Reply]] = []
        for place, message in enumerate(body["messages"]):
            if message["role"] != "assistant":
                continue
            fit = [one for one in self.replies if one.secrets and one.asked[-1] == asked[place]]
            blocks = blocks_of(message)
            now = next((one for one in reversed(fit) if spoken(one.content) == spoken(blocks)), None)
            if now is None:
                like = next((one for one in reversed(fit) if outline(one.content) == outline(blocks)), None)
                now = None if like is None else like.leading()
            if now is None:
                cut = next((one for one in reversed(fit) if goes_on(blocks, one.content)), None)
                now = None if cut is None else cut.first()
            if now is None:
                now = next((one for one in reversed(self.replies) if spoken(one.content) == spoken(blocks)), None)
            if now is not None and now.secrets:
                found.append((place, now))
        return found


def secrets(blocks: Sequence[Mapping[str, Any]]) -> list[str]:
    return [block.get("signature") or block["data"] for block in blocks if block["type"] in THINKING]


def spoken(blocks: Sequence[Mapping[str, Any]]) -> str:
    """What a reply says and calls, whatever ids its calls have, without what stands behind thinking at its end."""
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    text = "".join(texts[:-1] if texts[-1:] == ["…"] else texts).strip()
    calls = [[block["name"], block["input"]] for block in blocks if block["type"] == "tool_use"]
    return json.dumps([text, calls], sort_keys=True)


def goes_on(blocks: Sequence[Mapping[str, Any]], cut: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a message begins with a reply that was cut, and another went on with it; not where the turn ended there."""
    (text, _), (begun, calls) = json.loads(spoken(blocks)), json.loads(spoken(cut))
    return bool(begun) and not calls and text.startswith(begun) and "[interrupted: " not in text


def outline(blocks: Sequence[Mapping[str, Any]]) -> str:
    """The same without what the calls are given; empty without any, as a cut reply may have been gone on with."""
    names = [block["name"] for block in blocks if block["type"] == "tool_use"]
    return json.dumps([json.loads(spoken(blocks))[0], names]) if names else json.dumps(id(blocks))


def prefixes(body: Mapping[str, Any]) -> list[str]:
    """The digest of what stands in front of each message, and of the whole, thinking and marks left out."""

    def plain(block: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in block.items() if key != "cache_control"}

    digest = json.dumps([[*map(plain, system_of(body))], [*map(plain, body.get("tools") or ())]], sort_keys=True)
    found = [sha256(digest.encode()).hexdigest()]
    for message in body["messages"]:
        said = [plain(block) for block in blocks_of(message) if block["type"] not in THINKING]
        text = found[-1] + message["role"] + json.dumps(said, sort_keys=True)
        found.append(sha256(text.encode()).hexdigest())
    return found


# ------------------------------------------------------------------------------------------------------------ session


class Session:
    """A chat, and its forks, to which everything happens that a chat can meet."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self.bench = bench
        self.chance = random.Random(seed)
        self.oracle = Oracle()
        self.chat: str | None = None
        self.turns: list[str] = []
        self.done: collections.Counter[str] = collections.Counter()
        self.looked = 0
        self.law = 0
        self.asked = 0
        for number in range(FILES):
            self._file(number)

    async def play(self, operations: int = OPERATIONS) -> None:
        kinds = ("turn", "turn", "turn", "turn", "turn", "steered", "cancelled", "other_model", "compact", "restore",
                 "restart", "fork", "undo", "change_law", "other_dialect", "rewritten")  # fmt: skip
        for _ in range(operations):
            kind = self.chance.choice(kinds)
            if self.chat is None and kind not in {"turn", "steered", "cancelled", "other_model"}:
                kind = "turn"
            self.done[kind] += 1
            await getattr(self, f"_{kind}")()
            await self.holds()

    async def holds(self) -> None:
        """What must be true after each operation."""
        if self.chat is not None:
            agent = await self.bench.session._chats.get(self.chat)
            await until(lambda: agent.idle and agent.following is None)
            if agent.past.transcript.messages:
                await agree(self.bench, self.chat)
        ends = collections.Counter(event.turn_id for event in self.bench.events if event.event.kind == "turn_ended")
        assert set(ends.values()) <= {1}, "each turn ends once"
        requests = self.bench.vendor.messages
        for request in requests[self.looked :]:
            assert request.refused is None, f"{request.refused}"
            asked = [int(number) for number in QUESTION.findall(json.dumps(request.json["messages"]))]
            assert asked == sorted(set(asked)) or request.summary, "each question stands once, in order"
            wrong = [one for one in request.transformed if one["reason"] == "prefix_binding_mismatch"]
            assert not wrong, f"thinking was sent that does not count any more: {wrong}"
            missing = self.oracle.missing(request)
            assert not missing, (
                f"thinking could have gone back and did not: {missing} of {len(request.json['messages'])}"
            )
        self.looked = len(requests)

    async def _turn(self, model: str | None = None) -> None:
        self.bench.vendor.play(*self._replies())
        mode = "ask" if self.chance.random() < 0.1 else None  # which has other tools
        running = await self.bench.session.send(self.chat, self._words(), model=model or self._model(), mode_once=mode)
        self.chat = running.chat_id
        result = await running.result()
        assert result.stop_reason in {"finished", "refused", "failed", "max_steps"}, result
        self.turns.append(result.turn_id)

    async def _other_model(self) -> None:
        await self._turn(self.chance.choice(OTHERS))

    async def _steered(self) -> None:
        self.bench.vendor.play(*self._replies(delay=0.002))
        running = await self.bench.session.send(self.chat, self._words(), model=self._model())
        self.chat = running.chat_id
        await asyncio.sleep(self.chance.random() * 0.05)
        try:
            await self.bench.session.steer(self.chat, "And mind the names.")
        except Refusal as refusal:
            assert refusal.code == "turn_not_found"  # noqa: PT017 - it has ended meanwhile
        self.turns.append((await running.result()).turn_id)

    async def _cancelled(self) -> None:
        self.bench.vendor.play(*self._replies(delay=0.002))
        running = await self.bench.session.send(self.chat, self._words(), model=self._model())
        self.chat = running.chat_id
        await asyncio.sleep(self.chance.random() * 0.1)
        await self.bench.session.cancel(self.chat)
        self.turns.append((await running.result()).turn_id)

    async def _compact(self) -> None:
        assert self.chat is not None
        await self.bench.session.compact(self.chat)

    async def _restore(self) -> None:
        assert self.chat is not None
        try:
            await self.bench.session.restore(self.chat)
        except Refusal as refusal:
            assert refusal.code == "nothing_to_undo"  # noqa: PT017

    async def _restart(self) -> None:
        await self.bench.reopen(**settings(self.bench.dialect))

    async def _other_dialect(self) -> None:
        self.bench.dialect = "react" if self.bench.dialect == "native" and self.chance.random() < 0.3 else "native"
        await self._restart()

    async def _fork(self) -> None:
        assert self.chat is not None
        turn = self.chance.choice([self.turns[-1], *self.turns[-3:]])
        self.chat = (await self.bench.session.fork(self.chat, turn)).id
        self.turns = self.turns[: self.turns.index(turn) + 1]

    async def _undo(self) -> None:
        """Of files, and often of what was said."""
        assert self.chat is not None
        try:
            said = self.chance.random() < 0.6
            await self.bench.session.revert(self.chat, self.turns[-1], messages=said)
        except Refusal as refusal:
            assert refusal.code in {"nothing_to_undo", "turn_not_found"}  # noqa: PT017

    async def _change_law(self) -> None:
        self.law = self.chance.randrange(3)
        (self.bench.root / "CODE_LAW.md").write_text(f"Rule {self.law}: be exact.\n")

    async def _rewritten(self) -> None:
        """Somebody else changes a file."""
        self._file(self.chance.randrange(FILES))

    def _file(self, number: int) -> None:
        text = f"value_{number} = {self.chance.randrange(9)}  # words of a line\n"
        (self.bench.root / f"f{number}.py").write_text(text * self.chance.choice([3, 40, 200, 400]))

    def _model(self) -> str | None:
        return self.chance.choice([MODEL, MODEL, MODEL, None])

    def _words(self) -> str:
        words = ["please go on", f"what of f{self.chance.randrange(FILES)}.py?", "@f1.py is it well?"]
        self.asked += 1
        return f"ASKED{self.asked}Z {self.chance.choice(words)}"

    def _call(self) -> dict[str, Any]:
        path = f"f{self.chance.randrange(FILES)}.py"
        status = self.chance.choice(["pending", "in_progress", "completed"])
        todos = [{"content": f"look {self.chance.randrange(3)}", "status": status}]
        return self.chance.choice(
            [
                {"name": "Read", "input": {"path": path}},
                {"name": "Read", "input": {"path": path, "limit": 30}},
                {"name": "Grep", "input": {"pattern": "value"}},
                {"name": "LS", "input": {}},
                {"name": "TodoWrite", "input": {"todos": todos}},
                {"name": "Write", "input": {"path": f"new{self.chance.randrange(4)}.py", "content": "y = 2\n" * 30}},
                {"name": "Edit", "input": {"path": path, "old": "words", "new": "more words"}},
                {"name": "Read", "json": '{"path": '},
                {"name": "NoSuchTool", "input": {"x": 1}},
            ]
        )

    def _blocks(self, calls: int) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = [
            dict(one) for one in self.chance.choices([PLAIN, NOTE, HIDDEN], k=self.chance.choice([0, 1, 1, 2, 3]))
        ]
        for block in blocks:
            if self.chance.random() < 0.4:
                block["call"] = self.chance.randrange(calls) if calls and self.chance.random() < 0.9 else calls
        return blocks

    def _step(self, delay: float) -> VendorReply:
        text = self.chance.choice(["", "I look.", "First this.\n\n"])
        if self.bench.dialect == "react":
            call = self._call()
            raw = call.get("json") or json.dumps(call["input"])
            return VendorReply(text=f"Thought: {text}\nAction: {call['name']}[{raw}]", delay=delay)
        calls = tuple(self._call() for _ in range(self.chance.choice([1, 1, 1, 2, 3])))
        searches = (SEARCH,) * (self.chance.random() < 0.1)
        return VendorReply(text=text, calls=calls, blocks=self._blocks(len(calls)), searches=searches, delay=delay)

    def _end(self, delay: float) -> list[VendorReply]:
        final = "Thought: done\nAction: Finish[done]" if self.bench.dialect == "react" else "It is **done**.\n"
        last = VendorReply(text=final, blocks=self._blocks(0), delay=delay)
        more: dict[str, Any] = {"text": "It is half", "delay": delay}
        ends: list[list[VendorReply]] = [
            [last], [last], [last], [last], [last],
            [VendorReply(**more, stop_reason="max_tokens", blocks=self._blocks(0)), last],
            [VendorReply(**more, stop_reason="pause_turn"), last],
            [VendorReply(**more, stop_reason="model_context_window_exceeded"), last],
            [VendorReply(text="", stop_reason="max_tokens"), last],
            [VendorReply(stop_reason="refusal", stop_details={"category": "cyber", "explanation": "no"}), last],
            [VendorReply(**more, stop_reason="refusal"), last],
            [VendorReply(**more, broken="error_event", error_type="overloaded_error"), last],
            [VendorReply(**more, broken="reset"), last],
        ]  # fmt: skip
        return self.chance.choice(ends)

    def _replies(self, delay: float = 0.0) -> list[VendorReply]:
        steps = [self._step(delay) for _ in range(self.chance.choice([0, 1, 2, 3, 5]))]
        return [*steps, *self._end(delay), VendorReply(text="done", times=0)]


async def session(seed: int, folder: Path, operations: int = OPERATIONS) -> Session:
    """Play one; every request is looked at."""
    root, home = folder / "work", folder / "home"
    root.mkdir(parents=True)
    home.mkdir()
    async with LoopbackVendor(account=Account()) as vendor:
        bench = Bench("native", root, home, vendor, None)  # type: ignore[arg-type]
        bench.session = await open_session(bench, settings(bench.dialect))
        played = Session(bench, seed)
        try:
            await played.play(operations)
        except Exception as error:
            error.add_note(f"session {seed}: {dict(played.done)}")
            raise
        finally:
            await bench.session.close()
    return played


def quick() -> None:
    """Retries are decided on as they are, and nobody waits for them."""
    from codelaw.agent.model_calls import recovery

    real = recovery.delay

    def delay(*args: Any, **more: Any) -> float | None:
        wait = real(*args, **more)
        return None if wait is None else 0.001

    recovery.delay = delay


def main() -> int:
    """Play many, and count."""
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    quick()
    begun, failed = time.monotonic(), 0
    totals: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                played = asyncio.run(session(seed, Path(folder)))
            except Exception as error:  # noqa: BLE001 - the others are played too
                failed += 1
                print(f"session {seed}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                continue
        totals += played.done
        totals["requests"] += played.looked
        totals["blocks returned"] += played.oracle.returned
        totals["replies whose blocks could not"] += played.oracle.withheld
    print(f"{count} sessions, {failed} failed, {time.monotonic() - begun:.0f} s")
    print(", ".join(f"{name} {number}" for name, number in totals.most_common()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
