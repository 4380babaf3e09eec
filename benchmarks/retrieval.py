"""What finding old messages costs a turn (B-4): `python benchmarks/retrieval.py [--messages N] [--dimension N]`.

One chat of 10,000 messages in SQLite, as agents write them (a question, a call, a result of some kilobytes, an answer),
with a vector for each passage. Prints milliseconds: saving a message while nothing is indexed and while the background
indexes the same chat; indexing a message; a search that finds nothing in memory, one that finds all, and one after a
new turn, each with and without vectors, embedding the question taken off. The goals are 2 ms for saving and 100 ms for
what a search adds to a turn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

CHAT = "chat"


class Words:
    """Sentences and code of an invented vocabulary in which, as in life, some words are everywhere."""

    def __init__(self) -> None:
        self._chance = random.Random(7)
        letters = "bcdfghklmnprstvz"
        self._words = [
            "".join(self._chance.choice(letters) + self._chance.choice("aeiou") for _ in range(3)) for _ in range(9_000)
        ]

    def word(self) -> str:
        return self._words[int(len(self._words) * self._chance.random() ** 3)]

    def prose(self, count: int) -> str:
        return " ".join(self.word() for _ in range(count)) + "."

    def code(self, lines: int) -> str:
        return "\n".join(f"    {self.word()}_{self.word()} = {self.word()}({self.word()})" for _ in range(lines))


async def turn(store: Any, words: Words, number: int) -> list[float]:
    """A turn of four messages; seconds that saving the three later ones took, together with ending the turn."""
    from codelaw.domain.chats import StoredTurn
    from codelaw.domain.messages import Message

    id_, at = f"t{number}", 1.7e9 + 600.0 * number
    await store.begin_turn(
        StoredTurn(id_, CHAT, "running", store.owner, at), Message(f"{id_}-q", id_, "user", words.prose(30))
    )
    result = json.dumps({"status": "success", "data": {"content": words.code(60)}, "text": words.prose(8)})
    call = f'Thought: {words.prose(12)}\nAction: Read[{{"path": "src/{words.word()}.py"}}]'
    saved: list[float] = []
    for message in (Message(f"{id_}-c", id_, "assistant", call), Message(f"{id_}-r", id_, "tool", result)):
        began = time.perf_counter()
        await store.append(CHAT, [message])
        saved.append(time.perf_counter() - began)
    answer = Message(
        f"{id_}-a", id_, "assistant", f"{words.prose(60)}\n\n{words.prose(80)}\n\n```\n{words.code(20)}\n```"
    )
    began = time.perf_counter()
    await store.end_turn(StoredTurn(id_, CHAT, "ended", store.owner, at), [answer])
    saved.append(time.perf_counter() - began)
    return saved


async def embed(index: Any, chance: Any, dimension: int) -> int:
    """A vector for every passage, of chance: what it costs to compare them does not depend on what they say."""
    import numpy as np

    done = 0
    while passages := await index.claim("chance", CHAT, 1_000):
        made = chance.standard_normal((len(passages), dimension)).astype("<f4")
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        await index.store("chance", [(one.id, row.tobytes()) for one, row in zip(passages, made, strict=True)])
        done += len(passages)
    return done


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def reported(label: str, milliseconds: list[float]) -> None:
    ordered = sorted(milliseconds)
    slow = ordered[int(0.95 * (len(ordered) - 1))]
    print(f"  {label:52} {statistics.median(ordered):8.2f} {slow:8.2f} {ordered[-1]:8.2f}", flush=True)


async def run(messages: int, dimension: int, folder: Path) -> None:
    import numpy as np

    from codelaw.adapters.stores.index import SqlIndex
    from codelaw.adapters.stores.opening import SqliteStore
    from codelaw.domain.chats import Chat

    store = await SqliteStore.open(folder / "chats.db")
    index = SqlIndex(store.database)
    await store.create(Chat(CHAT, "", "panel", "agent", "m", "layered", 0.0, 0.0))
    words, chance = Words(), np.random.default_rng(3)
    turns = messages // 4
    print(f"  {'milliseconds':52} {'median':>8} {'95 %':>8} {'slowest':>8}")
    quiet = [1000 * one for number in range(turns) for one in await turn(store, words, number)]
    reported("saving a message", quiet)

    began = time.perf_counter()
    background = asyncio.create_task(index.index(CHAT, messages))
    beside: list[float] = []
    number = turns
    while not background.done():
        beside += [1000 * one for one in await turn(store, words, number)]
        number += 1
        await asyncio.sleep(0.02)
    done = background.result()
    reported("saving a message while the chat is indexed", beside or [0.0])
    print(f"  indexing a message, in the background {1000 * (time.perf_counter() - began) / done:24.2f}")
    while await index.index(CHAT):
        pass
    passages = await embed(index, chance, dimension)
    print(f"  {passages} passages, vectors of {dimension} numbers")

    questions = [words.prose(12) for _ in range(40)]
    vectors = chance.standard_normal((len(questions), dimension)).astype("<f4")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for label, asked in (
        ("words", [{} for _ in questions]),
        ("words and vectors", [{"embedder": "chance", "vector": row.tobytes()} for row in vectors]),
    ):
        fresh = [
            await timed(
                lambda asked=asked, place=place: SqlIndex(store.database).search(
                    CHAT, questions[place], limit=5, **asked[place]
                )
            )
            for place in range(5)
        ]
        reported(f"a search by {label}, nothing in memory", fresh)
        await index.search(CHAT, questions[0], limit=5, **asked[0])
        reported(
            f"a search by {label}",
            [
                await timed(lambda q=q, a=a: index.search(CHAT, q, limit=5, **a))
                for q, a in zip(questions, asked, strict=True)
            ],
        )
        grown: list[float] = []
        for q, a in zip(questions[:15], asked[:15], strict=True):
            await turn(store, words, number)
            number += 1
            await index.index(CHAT)
            if a:
                await embed(index, chance, dimension)
            grown.append(await timed(lambda q=q, a=a: index.search(CHAT, q, limit=5, **a)))
        reported(f"a search by {label} after a new turn", grown)
    await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--dimension", type=int, default=384)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(arguments.messages, arguments.dimension, Path(folder)))


if __name__ == "__main__":
    main()
