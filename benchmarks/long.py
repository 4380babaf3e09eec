"""A long chat in a cold server, and many chats begun at once (D-1, R-1).

    .venv/bin/python benchmarks/long.py [--turns 5000] [--begun 50]

A chat of so many turns (question, Read, result, answer, with their events) is written into the database; each figure
is the median of some new servers, each of which has answered something else before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from pathlib import Path

from client import Server, environment, median, table

from codelaw.adapters.stores.opening import SqliteStore
from codelaw.domain.chats import Chat, StoredTurn, TurnResult
from codelaw.domain.events import AnswerDelta, Event, ToolCallEvent, TurnEnded, TurnStarted
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.models import Usage
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

SERVERS = 5
PAGE = 30
ROOMY, FULL = 2_000_000, 1_000_000
"""Tokens of a window that holds 5 000 turns, and of one in which they are compacted before anything is asked."""
OPEN_SECONDS = 3.0
"""From the page of a chat to what is sent to it: a person reads and writes meanwhile."""
SETTLE_SECONDS = 10.0
"""For the index of what was said, which is filled behind the first turn."""
USAGE = Usage(1000, 0, 0, 30)


def said(turn: str, number: int) -> list[Message]:
    """One round."""
    call = Call(f"r{number}", "Read", {"path": f"src/m{number % 50}.py", "limit": 10})
    written = f"Thought: look\nAction: Read[{json.dumps(call.arguments)}]"
    content = "\n".join(f"{line:>4}\tvalue_{line} = compute({line})" for line in range(5))
    observation = json.dumps({"status": "success", "data": {"path": "src/m.py", "content": content}, "ref": call.id})
    answer = f"It is line {number}."
    closing = Metadata(step=2, answer=answer)
    return [
        Message(f"{turn}-u", turn, "user", f"What does m{number} do?"),
        Message(f"{turn}-a", turn, "assistant", written, Metadata(step=1, calls=(call,))),
        Message(
            f"{turn}-t", turn, "tool", observation, Metadata(step=1, tool_name="Read", call_id=call.id, as_text=True)
        ),
        Message(f"{turn}-f", turn, "assistant", f"Thought: done\nAction: Finish[{answer}]", closing),
    ]


def reported(chat: str, turn: str, number: int) -> list[Event]:
    """Its events."""
    call = (f"r{number}", "Read", f"Read src/m{number % 50}.py")
    return [
        TurnStarted(f"What does m{number} do?"),
        ToolCallEvent(*call, "running", 1),
        ToolCallEvent(*call, "completed", 1),
        AnswerDelta(f"It is line {number}.", 2),
        TurnEnded(TurnResult(chat, turn, "finished", f"It is line {number}.", 2, USAGE)),
    ]


async def fill(home: Path, turns: int) -> str:
    """A database with one chat; gives its id."""
    store = await SqliteStore.open(home / "codelaw.db")
    now = time.time() - turns
    chat = Chat("long", "A long chat", "thread", "agent", "claude-sonnet-4-5", "layered", now, now, chosen=True)

    await store.create(chat)
    for number in range(turns):
        turn = StoredTurn(f"t{number}", chat.id, "running", store.owner, now + number)
        messages = said(turn.id, number)
        await store.begin_turn(turn, messages[0])
        ended = StoredTurn(turn.id, chat.id, "ended", turn.owner, turn.started_at, USAGE, "finished")
        await store.end_turn(ended, messages[1:])
        at = turn.started_at
        await store.append_events(chat.id, turn.id, [(at, event) for event in reported(chat.id, turn.id, number)])
    await store.close()
    return chat.id


async def pages(home: Path, workspace: Path, vendor: LoopbackVendor, chat: str) -> tuple[float, float]:
    """Seconds of the first page and of the same again, in a new server."""
    server = await _ready(home, workspace, vendor, ROOMY)
    seconds: list[float] = []
    for _ in range(2):
        await server.request("codelaw/chat/read", {"chatId": chat, "turns": PAGE})
        seconds.append(time.monotonic() - server.sent)
    await server.stop()
    return seconds[0], seconds[1]


async def sent(
    home: Path, workspace: Path, vendor: LoopbackVendor, chat: str, *, window: int = ROOMY, opened: bool = False
) -> float:
    """Seconds from chat/send to the request's first byte in a new server; `opened`: a while after its page was read."""
    with tempfile.TemporaryDirectory() as folder:  # a turn changes the chat: each has its own
        own = Path(folder) / "home"
        await asyncio.to_thread(shutil.copytree, home, own)
        server = await _ready(own, workspace, vendor, window)
        if opened:
            await server.request("codelaw/chat/read", {"chatId": chat, "turns": PAGE})
            await asyncio.sleep(OPEN_SECONDS)
        vendor.reset()
        turn = asyncio.create_task(server.turn("And now?", chat))
        await asyncio.sleep(0)
        begun = server.sent
        await turn
        await server.stop()
    if window == ROOMY and vendor.messages[0].summary:
        raise RuntimeError("the chat does not fit into the window: a summary was asked for first")
    return vendor.messages[0].first_byte - begun


async def _ready(home: Path, workspace: Path, vendor: LoopbackVendor, window: int) -> Server:
    settings = {"model": {"contextWindow": window}, "memory": {"enabled": False}}
    environ = environment(home, ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
    server = await Server.ready(workspace, environ, settings)
    await server.turn("Hello")  # all that every first request pays is paid
    return server


async def begun(server: Server, vendor: LoopbackVendor, count: int) -> tuple[float, float]:
    """Seconds until the requests of so many new chats have come, and until all are answered."""
    vendor.reset()
    started = time.monotonic()
    await asyncio.gather(*(server.turn(f"Question {number}") for number in range(count)))
    return max(request.first_byte for request in vendor.messages) - started, time.monotonic() - started


async def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--turns", type=int, default=5000)
    options.add_argument("--begun", type=int, default=50)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, workspace = Path(folder) / "home", Path(folder) / "project"
        workspace.mkdir()
        home.mkdir()
        chat = await fill(home, given.turns)
        reply = VendorReply(text="Thought: easy\nAction: Finish[yes]", times=0)
        async with LoopbackVendor(fallback=reply, window=ROOMY) as vendor:
            settled = await _ready(home, workspace, vendor, ROOMY)
            await asyncio.sleep(SETTLE_SECONDS)
            await settled.stop()
            figures = [await pages(home, workspace, vendor, chat) for _ in range(SERVERS)]
            cold = [await sent(home, workspace, vendor, chat) for _ in range(SERVERS)]
            warm = [await sent(home, workspace, vendor, chat, opened=True) for _ in range(SERVERS)]
            full = [await sent(home, workspace, vendor, chat, window=FULL) for _ in range(SERVERS)]
            environ = environment(Path(folder) / "other", ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
            server = await Server.ready(workspace, environ)
            await server.turn("Hello")
            rounds = [await begun(server, vendor, given.begun) for _ in range(SERVERS)]
            await server.stop()
    first, again = (median(column) for column in zip(*figures, strict=True))
    asked, answered = (median(column) for column in zip(*rounds, strict=True))
    table(
        f"A chat of {given.turns} turns, medians of {SERVERS} new servers",
        [
            (f"the first page of {PAGE} turns", f"{first * 1000:.0f} ms", "<= 200 ms"),
            ("the same page again", f"{again * 1000:.0f} ms", ""),
            ("chat/send to the request's first byte", f"{median(cold) * 1000:.0f} ms", "<= 500 ms"),
            ("the same of a chat that is open", f"{median(warm) * 1000:.0f} ms", "<= 500 ms"),
            ("the same where a summary is asked for first", f"{median(full) * 1000:.0f} ms", ""),
            (
                f"{given.begun} chats at once: the last request",
                f"{asked * 1000:.0f} ms",
                "<= 400 ms",
            ),
            (f"{given.begun} chats at once: all answered", f"{answered * 1000:.0f} ms", ""),
        ],
    )


asyncio.run(main())
