"""Recall among very many memories: `python benchmarks/memory.py [--entries N] [--questions N] [--postgres URL]`.

Every entry is a user's or a project's and has words and a vector of the built-in embedder; the same ones lie in every
store. Prints milliseconds for a question, vector and ranking included: the first one, which reads the vectors,
then median, 95th percentile and the slowest; and how many of the five that an exact comparison of all vectors ranks
nearest are among the candidates, asked by vector alone. The goals are 50 ms on SQLite and 20 ms on PostgreSQL.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

BATCH = 5_000
OPENINGS = ("The user prefers", "We decided on", "The project needs", "Remember that", "Never touch", "The team uses")
THINGS = ("tests", "branches", "modules", "releases", "endpoints", "tables", "queues", "builds", "caches", "dialogs")
ENDS = ("on Fridays", "before every release", "since the migration", "in the main package", "for the mobile client", "")


def entries(count: int) -> list[str]:
    """Sentences: some words are everywhere, as in life, and some are in a few entries only."""
    chance = random.Random(11)
    letters = "bcdfghklmnprstvz"
    names = ["".join(chance.choice(letters) + chance.choice("aeiou") for _ in range(3)) for _ in range(20_000)]
    said: list[str] = []
    for number in range(count):
        name, other = (names[int(len(names) * chance.random() ** 3)] for _ in range(2))
        said.append(
            f"{chance.choice(OPENINGS)} {name} for {chance.choice(THINGS)} instead of {other} {chance.choice(ENDS)} "
            f"({chance.choice(THINGS)} {number % 977})."
        )
    return said


async def fill(stores: Any, said: list[str], vectors: list[bytes], name: str) -> None:
    from codelaw.adapters.stores.memories import SqlMemories
    from codelaw.domain.memories import Memory

    for start in range(0, len(said), BATCH):
        part = range(start, min(start + BATCH, len(said)))

        def work(session: Any, part: range = part) -> None:
            for number in part:
                scope, owner = ("project", "example.org/app") if number % 3 else ("user", "ann")
                entry = Memory(f"m{number}", said[number], "fact", scope, owner, 0.8, float(number))  # type: ignore[arg-type]
                SqlMemories.put.__wrapped__(stores.memories, session, entry, (name, vectors[number]))

        await stores.chats.database.write(work)


async def measure(label: str, stores: Any, data: tuple[list[str], list[bytes]], embedder: Any, questions: int) -> None:
    import numpy as np

    from codelaw.domain.memories import Places
    from codelaw.memory.recall import ranked

    said, vectors = data
    here = Places("ann", ("example.org/app",))
    chance = random.Random(5)
    asked = [_question(chance.choice(said), chance) for _ in range(questions)]
    matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    times: list[float] = []
    same = 0
    for question in asked:
        began = time.perf_counter()
        (vector,) = await embedder.embed([question])
        ranked(await stores.memories.candidates(here, question, embedder=embedder.name, vector=vector))
        times.append((time.perf_counter() - began) * 1000)
        exact = {f"m{number}" for number in np.argpartition(-(matrix @ np.frombuffer(vector, "<f4")), 5)[:5]}
        near = await stores.memories.candidates(here, "", embedder=embedder.name, vector=vector, limit=50)
        same += len(exact & {one.memory.id for one in near})
    rest = sorted(times[1:])
    print(
        f"{label:12}{times[0]:10.1f}{statistics.median(rest):10.1f}{rest[int(0.95 * len(rest))]:10.1f}{rest[-1]:10.1f}"
        f"{100 * same / (5 * questions):12.1f} %"
    )


def _question(entry: str, chance: random.Random) -> str:
    words = entry.split()
    return f"What about {' '.join(chance.sample(words, 5))}? Please look at the code and tell me."


async def run(count: int, questions: int, url: str | None) -> None:
    from codelaw.adapters.embedders.hashing import HashingEmbedder
    from codelaw.adapters.stores.opening import open_stores

    said, embedder = entries(count), HashingEmbedder()
    vectors: list[bytes] = []
    for start in range(0, count, BATCH):
        vectors += await embedder.embed(said[start : start + BATCH])
    print(f"{count} entries, {questions} questions")
    print(f"{'store':12}{'first ms':>10}{'median':>10}{'95 %':>10}{'slowest':>10}{'nearest 5':>14}")
    with tempfile.TemporaryDirectory(prefix="codelaw-memory-") as folder:
        for label, where in (("SQLite", None), *([("PostgreSQL", url)] if url else [])):
            stores = await open_stores(where, Path(folder) / "codelaw.db")
            try:
                await fill(stores, said, vectors, embedder.name)
                await measure(label, stores, (said, vectors), embedder, questions)
            finally:
                await stores.chats.close()


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--entries", type=int, default=100_000)
    reader.add_argument("--questions", type=int, default=100)
    reader.add_argument("--postgres", metavar="URL", help="an empty database with pgvector, for the same measure")
    options = reader.parse_args()
    asyncio.run(run(options.entries, options.questions, options.postgres))


if __name__ == "__main__":
    main()
