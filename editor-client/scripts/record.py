"""Records streams of the real server for the tests of the panel.

From the root: `python editor-client/scripts/record.py`, with the names of those to record anew, or all.

Each stream is one file in `editor-client/test/streams`: the events as they came, and what `codelaw/chat/read` says
afterwards. Ids and times are made the same in every recording.
"""

# ruff: noqa: INP001 - a script, and no part of a package

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.loopback.summaries import good  # noqa: E402 - what the server's own tests stand on
from tests.lsp.raw import RawClient, stdio  # noqa: E402

STREAMS = ROOT / "editor-client" / "test" / "streams"
BEGAN = 1_760_000_000.0


def act(tool: str, thought: str, **arguments: Any) -> dict[str, Any]:
    """A reply that calls a tool."""
    return {"text": f"Thought: {thought}\nAction: {tool}[{json.dumps(arguments)}]", "chunk": 24}


def finish(answer: str, **more: Any) -> dict[str, Any]:
    """A reply that ends the turn."""
    return {"text": f"Thought: done\nAction: Finish[{answer}]", "chunk": 24, **more}


class Stage:
    """A home, a workspace and the servers on them."""

    def __init__(self, folder: Path, replies: list[dict[str, Any]], settings: dict[str, Any] | None = None) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        (self.work / "greeting.py").write_text('def greet(name):\n    print("hello", name)\n\n\ngreet("world")\n')
        self.script = folder / "script.json"
        self.script.write_text(json.dumps({"replies": replies}))
        self.settings = settings or {}

    def server(self) -> AbstractAsyncContextManager[RawClient]:
        """A server's process."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CODELAW_", "ANTHROPIC_"))}
        env = {**kept, "CODELAW_HOME": str(self.home), "PYTHONPATH": str(ROOT / "server")}
        return stdio([sys.executable, "-m", "codelaw", "serve", "--stdio"], env=env)

    async def begin(self, client: RawClient) -> RawClient:
        """`initialize`, with approvals given as they are asked for."""
        model = {"provider": "scripted", "script": str(self.script)}
        await client.initialize(folders=[self.work], options={"model": model, **self.settings})
        client.answers["codelaw/approval/request"] = lambda params: {"optionId": params["options"][0]["id"]}
        return client


async def read(client: RawClient, chat_id: str) -> dict[str, Any]:
    """The chat as the server stored it."""
    record: dict[str, Any] = await client.request("codelaw/chat/read", {"chatId": chat_id})
    return record


def stream(client: RawClient, record: dict[str, Any]) -> dict[str, Any]:
    """What is written down."""
    return {"events": client.events(record["chat"]["id"]), "record": record}


async def _plain(stage: Stage) -> dict[str, Any]:
    async with stage.server() as client:
        await stage.begin(client)
        sent = await client.request("codelaw/chat/send", {"text": "What does @greeting.py do?"})
        return stream(client, await read(client, sent["chatId"]))


async def _edit(stage: Stage) -> dict[str, Any]:
    async with stage.server() as client:
        await stage.begin(client)
        sent = await client.request("codelaw/chat/send", {"text": "Make it say good morning."})
        await client.request("codelaw/chat/revert", {"chatId": sent["chatId"], "turnId": sent["turnId"]})
        return stream(client, await read(client, sent["chatId"]))


async def _cancelled(stage: Stage) -> dict[str, Any]:
    async with stage.server() as client:
        await stage.begin(client)
        _, answer = await client.start("codelaw/chat/send", {"text": "Tell me a long story."})
        begun = await client.event("thought")
        await client.request("codelaw/chat/cancel", {"chatId": begun["chatId"]})
        await client.wait_for(answer)
        return stream(client, await read(client, begun["chatId"]))


async def _steer(stage: Stage) -> dict[str, Any]:
    async with stage.server() as client:
        await stage.begin(client)
        _, answer = await client.start("codelaw/chat/send", {"text": "Count to three."})
        begun = await client.event("thought")
        await client.request("codelaw/chat/steer", {"chatId": begun["chatId"], "text": "To four, please."})
        await client.wait_for(answer)
        return stream(client, await read(client, begun["chatId"]))


async def _compaction(stage: Stage) -> dict[str, Any]:
    async with stage.server() as client:
        await stage.begin(client)
        sent = await client.request("codelaw/chat/send", {"text": "First question."})
        chat_id = sent["chatId"]
        for text in ("Second question.", "Third question."):
            await client.request("codelaw/chat/send", {"chatId": chat_id, "text": text})
        await client.request("codelaw/context/compact", {"chatId": chat_id})
        await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "Fourth question."})
        return stream(client, await read(client, chat_id))


async def _killed(stage: Stage) -> dict[str, Any]:
    async with stage.server() as client:
        await stage.begin(client)
        await client.start("codelaw/chat/send", {"text": "Work on this for long."})
        begun = await client.event("tool_call", status="completed")
        before = client.events(begun["chatId"])
        if client.process is not None:
            await client.process.kill()
    async with stage.server() as client:
        await stage.begin(client)
        record = await read(client, begun["chatId"])
        return {"events": before, "record": record}


LOOK = act("Read", "I look at the file first.", path="greeting.py")
EDIT = act("Edit", "Now the change.", path="greeting.py", old_string='"hello"', new_string='"good morning"')
ANSWER = 'It **greets** whoever is named:\n\n```python\ngreet("world")\n```\n\nSee `greeting.py:5`.'

SCENES: dict[str, tuple[list[dict[str, Any]], Callable[[Stage], Awaitable[dict[str, Any]]]]] = {
    "plain": ([LOOK, finish(ANSWER)], _plain),
    "edit": ([LOOK, EDIT, act("Bash", "Does it run?", command="python3 greeting.py"), finish("Done.")], _edit),
    "cancelled": ([{"text": "Thought: " + "once upon a time, " * 200, "chunk": 40, "delay": 0.05}], _cancelled),
    "retry": (
        [{"failure": "overload", "text": "Thought: I begin to", "retry_after": 0.1}, finish("Here it is.")],
        _plain,
    ),
    "steer": (
        [{**act("LS", "one, two " * 12, path="."), "delay": 0.05, "chunk": 12}, finish("One, two, three, four.")],
        _steer,
    ),
    "compaction": (
        [*(finish(f"Answer {number}.") for number in (1, 2, 3)), {"text": good()}, finish("4.")],
        _compaction,
    ),
    "failed": ([{"failure": "invalid", "text": ""}], _plain),
    "killed": ([LOOK, {"text": "Thought: " + "on and on " * 200, "chunk": 40, "delay": 0.05}], _killed),
}
SETTINGS: dict[str, dict[str, Any]] = {"compaction": {"context": {"keepRounds": 1, "minMessages": 3}}}


def settled(recorded: dict[str, Any], folder: Path) -> str:
    """As text: without this machine's paths, with ids and times that only depend on their order."""
    text = json.dumps(recorded, ensure_ascii=False)
    text = text.replace((folder / "work").as_uri(), "file:///code").replace(str(folder / "work"), "/code")
    text = text.replace(str(folder), "/folder")
    chat_id = recorded["record"]["chat"]["id"]
    ids = [chat_id, *(event["turnId"] for event in recorded["events"] if event["turnId"])]
    ids += [message["id"] for message in recorded["record"]["messages"]]
    ids += [event["event"]["id"] for event in recorded["events"] if event["event"]["kind"] == "steer"]
    for number, known in enumerate(dict.fromkeys(ids)):
        text = text.replace(known, "chat" if known == chat_id else f"id{number}")
    text = re.sub(r'"checkpointId": "[^"]+"', '"checkpointId": "checkpoint"', text)
    first = min(event["at"] for event in recorded["events"])
    shift = lambda match: f'"{match[1]}": {round(BEGAN + float(match[2]) - first, 3)}'  # noqa: E731
    text = re.sub(r'"(at|createdAt|updatedAt|mtime)": (\d+\.\d+)', shift, text)
    return json.dumps(json.loads(text), ensure_ascii=False, indent=1) + "\n"


async def main() -> None:
    """Record those that are named, or all."""
    STREAMS.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SCENES:
        replies, scene = SCENES[name]
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            recorded = await scene(Stage(folder, replies, SETTINGS.get(name)))
            (STREAMS / f"{name}.json").write_text(settled(recorded, folder), encoding="utf-8")
        sys.stdout.write(f"{name}: {len(recorded['events'])} events\n")


if __name__ == "__main__":
    asyncio.run(main())
