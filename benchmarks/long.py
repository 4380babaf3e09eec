"""A long chat in a cold server, and many chats begun at once (D-1, R-1).

    .venv/bin/python benchmarks/long.py [--turns 5000] [--begun 50]

A chat of so many turns (question, Read, result, answer, with their events) is written into the database; each figure
is the median of some new servers, each of which has answered something else before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

from client import Server, environment, median, table

from codelaw.adapters.stores import chat_rows, event_rows
from codelaw.adapters.stores.database import Session
from codelaw.adapters.stores.sqlite import SqliteStore
from codelaw.domain.chats import Chat, StoredTurn, TurnResult
from codelaw.domain.events import AnswerDelta, Event, ToolCallEvent, TurnEnded, TurnStarted
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.models import Usage
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

SERVERS = 5
PAGE = 30
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
        Message(f"{turn}-t", turn, "tool", observation, Metadata(step=1, tool_name="Read", call_id=call.id)),
        Message(f"{turn}-f", turn, "assistant", f"Thought: done\nAction: Finish[{answer}]", closing),
    ]


def told(chat: str, turn: str, number: int) -> list[Event]:
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

    def work(session: Session) -> None:
        chat_rows.create(session, chat)
        for number in range(turns):
            turn = StoredTurn(f"t{number}", chat.id, "running", store.owner, now + number)
            messages = said(turn.id, number)
            chat_rows.begin_turn(session, lambda _: True, turn, messages[0])
            ended = StoredTurn(turn.id, chat.id, "ended", turn.owner, turn.started_at, USAGE, "finished")
            chat_rows.end_turn(session, ended, messages[1:])
            at = turn.started_at
            event_rows.append(session, chat.id, turn.id, [(at, event) for event in told(chat.id, turn.id, number)])

    await store.database.write(work)
    await store.close()
    return chat.id


async def cold(home: Path, workspace: Path, vendor: LoopbackVendor, chat: str) -> tuple[float, float, float]:
    """Seconds of the first page, of another one, and from chat/send to the request's first byte, in new servers."""
    settings = {"model": {"contextWindow": 1_000_000}, "memory": {"enabled": False}}
    environ = environment(home, ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
    pages: list[float] = []
    server = await Server.ready(workspace, environ, settings)
    await server.turn("Hello")  # all that every first request pays is paid
    for _ in range(2):
        await server.request("codelaw/chat/read", {"chatId": chat, "turns": PAGE})
        pages.append(time.monotonic() - server.sent)
    await server.stop()
    server = await Server.ready(workspace, environ, settings)
    await server.turn("Hello")
    vendor.reset()
    turn = asyncio.create_task(server.turn("And now?", chat))
    await asyncio.sleep(0)
    sent = server.sent
    await turn
    await server.stop()
    return pages[0], pages[1], vendor.messages[0].first_byte - sent


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
        async with LoopbackVendor(fallback=reply, window=1_000_000) as vendor:
            figures = [await cold(home, workspace, vendor, chat) for _ in range(SERVERS)]
            environ = environment(Path(folder) / "other", ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
            server = await Server.ready(workspace, environ)
            await server.turn("Hello")
            rounds = [await begun(server, vendor, given.begun) for _ in range(SERVERS)]
            await server.stop()
    first, again, request = (median(column) for column in zip(*figures, strict=True))
    asked, answered = (median(column) for column in zip(*rounds, strict=True))
    table(
        f"A chat of {given.turns} turns, medians of {SERVERS} new servers",
        [
            (f"the first page of {PAGE} turns", f"{first * 1000:.0f} ms", "<= 200 ms"),
            ("the same page again", f"{again * 1000:.0f} ms", ""),
            ("chat/send to the request's first byte", f"{request * 1000:.0f} ms", "<= 500 ms"),
            (
                f"{given.begun} chats at once: the last request",
                f"{asked * 1000:.0f} ms",
                "<= 400 ms",
            ),
            (f"{given.begun} chats at once: all answered", f"{answered * 1000:.0f} ms", ""),
        ],
    )


asyncio.run(main())
