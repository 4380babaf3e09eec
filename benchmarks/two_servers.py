"""Two servers that write to one database as fast as they can: nothing is lost, nothing stands there twice (D-4)."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from client import environment, table

from codelaw.adapters.stores.opening import open_stores
from codelaw.domain.chats import Chat, StoredTurn
from codelaw.domain.checkpoints import Checkpoint, Demotion
from codelaw.domain.errors import Refusal
from codelaw.domain.events import AnswerDelta
from codelaw.domain.messages import Message
from codelaw.ports.store import ChatStore

WRITERS = 2
SHARED = "shared"


def said(id_: str, turn: str) -> Message:
    return Message(id_, turn, "assistant", f"{id_} \0 {'words and more words ' * 20}")


async def write(url: str, name: str, seconds: float) -> dict[str, Any]:
    """What one server was told is stored. Both want the turns and cuts of one chat, and each has a chat of its own."""
    store = (await open_stores(url, Path())).chats
    reported: dict[str, Any] = {"messages": [], "own": [], "seqs": [], "turns": [], "cuts": [], "busy": 0, "times": []}
    own = f"of {name}"
    await store.create(Chat(own, own, "panel", "agent", "model", "layered", 1.0, 1.0))
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        number += 1
        id_ = f"{name}-{number}"
        started = time.perf_counter()
        await store.append(SHARED, [said(id_, "t")], [(id_, {"body": id_})])
        reported["times"].append(time.perf_counter() - started)
        reported["messages"].append(id_)
        reported["seqs"] += await store.append_events(SHARED, "t", [(1.0, AnswerDelta(id_, 1))] * 2)
        await store.append(own, [said(id_, "t")])
        reported["own"].append(id_)
        if number % 5 == 0:
            await contend(store, id_, reported)
    await store.close()
    return reported


async def contend(store: ChatStore, id_: str, reported: dict[str, Any]) -> None:
    """Try what only one of them may do at a time."""
    try:
        turn = StoredTurn(id_, SHARED, "running", store.owner, 2.0)
        await store.begin_turn(turn, Message(f"u-{id_}", id_, "user", ""))
        reported["turns"].append(id_)
        await store.end_turn(replace(turn, status="ended"), [said(f"e-{id_}", id_)])
    except Refusal as refusal:
        reported["busy"] += 1
        if refusal.code != "chat_busy":
            raise
    try:
        generation = (await store.chat(SHARED)).generation
        cut = Checkpoint(id_, id_, 3.0, 1, None, "none", ())
        reported["cuts"].append([await store.reshape(SHARED, generation, cut, [Demotion(id_, "result")]), id_])
    except Refusal as refusal:
        reported["busy"] += 1
        if refusal.code != "chat_busy":
            raise


async def check(store: ChatStore, reported: dict[str, dict[str, Any]]) -> list[str]:
    """What is wrong."""
    wrong: list[str] = []

    def expect(what: str, found: Any, wanted: Any) -> None:
        if found != wanted:
            wrong.append(f"{what}: {str(found)[:200]} instead of {str(wanted)[:200]}")

    everything = list(reported.values())
    shared = await store.load(SHARED)
    turns = [turn for one in everything for turn in one["turns"]]
    messages = [id_ for one in everything for id_ in one["messages"]]
    spoken = messages + [f"{mark}-{turn}" for turn in turns for mark in ("u", "e")]
    expect("messages", Counter(message.id for message in shared.messages), Counter(spoken))
    expect(
        "words",
        {said(message.id, message.turn_id) == message for message in shared.messages} - {True},
        {False} if turns else set(),
    )
    expect("turns", sorted(turn.id for turn in shared.turns), sorted(turns))
    expect("open turns", [turn.id for turn in shared.turns if turn.status != "ended"], [])
    cuts = sorted(cut for one in everything for cut in one["cuts"])
    expect("generations", [cut[0] for cut in cuts], list(range(1, len(cuts) + 1)))
    expect("cuts", [cut.id for cut in shared.checkpoints], [cut[1] for cut in cuts])
    expect("demotions", [one.message_id for one in shared.demotions], [cut[1] for cut in cuts])
    seqs = sorted(seq for one in everything for seq in one["seqs"])
    expect("events", seqs, list(range(1, len(seqs) + 1)))
    expect("stored events", [event.seq for event in await store.events(SHARED, 0)], seqs)
    for name, one in reported.items():
        theirs = set(one["messages"])
        order = [message.id for message in shared.messages if message.id in theirs]
        expect(f"order of {name}", order, one["messages"])
        expect(f"own chat of {name}", [message.id for message in (await store.load(f"of {name}")).messages], one["own"])
    for id_ in messages[:: max(1, len(messages) // 100)]:
        expect("results", (await store.results(SHARED, [id_])).get(id_), {"body": id_})
    return wrong


async def run(url: str, seconds: float) -> int:
    store = (await open_stores(url, Path())).chats
    await store.create(Chat(SHARED, SHARED, "panel", "agent", "model", "layered", 1.0, 1.0))
    names = [f"w{number}" for number in range(WRITERS)]
    with tempfile.TemporaryDirectory() as home:
        processes = [
            await asyncio.create_subprocess_exec(
                sys.executable, __file__, url, "--seconds", str(seconds), "--writer", name,
                stdout=asyncio.subprocess.PIPE, env=environment(Path(home)), limit=2**30,
            )
            for name in names
        ]  # fmt: skip
        outputs = [output for output, _ in await asyncio.gather(*(process.communicate() for process in processes))]
    if any(process.returncode for process in processes):
        print("a server failed")
        return 1
    reported = dict(zip(names, map(json.loads, outputs), strict=True))
    wrong = await check(store, reported)
    await store.close()
    times = sorted(took for one in reported.values() for took in one["times"])
    turned, cut, waited = (sum(_count(one[key]) for one in reported.values()) for key in ("turns", "cuts", "busy"))
    table(
        f"{WRITERS} servers, {seconds:g} s",
        [
            ("messages in one chat", str(sum(len(one["messages"]) for one in reported.values())), ""),
            ("events in it", str(sum(len(one["seqs"]) for one in reported.values())), ""),
            ("turns, cuts, told to wait", f"{turned}, {cut}, {waited}", ""),
            ("append, median", f"{times[len(times) // 2] * 1000:.1f} ms", ""),
            ("append, 99 of 100", f"{times[int(len(times) * 0.99)] * 1000:.1f} ms", ""),
            ("append, slowest", f"{times[-1] * 1000:.0f} ms", ""),
            ("lost or doubled", "nothing" if not wrong else "; ".join(wrong), "nothing"),
        ],
    )
    return 1 if wrong else 0


def _count(value: Any) -> int:
    return value if isinstance(value, int) else len(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", help="as store.url, of an empty database; a new SQLite file without it")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--writer", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.writer:
        print(json.dumps(asyncio.run(write(given.url, given.writer, given.seconds))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(run(given.url or f"{folder}/chats.db", given.seconds))


if __name__ == "__main__":
    sys.exit(main())
