"""A server killed in the middle of the queue: the next one finishes it, nothing twice and nothing lost (B-5)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from codelaw.agent.recall.embedding import BATCH
from tests.loopback.embeddings import Answer, LoopbackEmbeddings
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, finish

PARTS = 45
SAID = "\n\n".join(f"question {number} {'and what stands beside it, ' * 26}" for number in range(PARTS))
"""A message of so many passages."""
NAME = "openai/text-embedding-3-small"
pytestmark = pytest.mark.blocking


def rows(home: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(home / "codelaw.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def vectors(home: Path) -> set[str]:
    """The texts that have one of the endpoint's."""
    found = rows(home, f"SELECT body FROM passages JOIN vectors ON passage_id = passages.id WHERE embedder = '{NAME}'")
    assert len(found) == len(set(found)), "nothing twice"
    return {body for (body,) in found}


def complete(home: Path) -> bool:
    bodies = vectors(home)
    every = all(any(f"question {number} " in body for body in bodies) for number in range(PARTS))
    return every and len(bodies) == rows(home, "SELECT count(*) FROM passages")[0][0]


async def talk(start: Start, vendor: LoopbackVendor) -> str:
    """A chat that the default embedder has embedded, or begun to."""
    vendor.reset([VendorReply(text=finish("fine"))])
    async with start() as client:
        return (await client.request("codelaw/chat/send", {"text": SAID}))["chatId"]


async def until(met: Any, seconds: float = 150) -> None:
    async with asyncio.timeout(seconds):
        while not met():
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("steps", [1, 2])
async def test_a_killed_queue_is_finished_by_the_next_server(
    start: Start, vendor: LoopbackVendor, home: Path, steps: int
):
    await talk(start, vendor)
    async with LoopbackEmbeddings() as embedding:
        embedding.script = [*[Answer()] * steps, Answer(broken="hang")]
        options = {"embedding": {"provider": "openai", "baseUrl": embedding.url, "apiKey": embedding.key}}
        async with start(options=options) as client:
            await until(lambda: len(embedding.requests) == steps + 1)
            await client.process.kill()
        before = vectors(home)
        assert len(before) == BATCH * steps
        assert rows(home, "SELECT 1 FROM claims"), "it died with work in its hands"
        asked = len(embedding.requests)
        async with start(options=options):
            await until(lambda: complete(home) and not rows(home, "SELECT 1 FROM claims"))
        again = [text for request in embedding.requests[asked:] for text in request.texts]
        assert not before & set(again), "what was stored is not embedded again"
        assert max(Counter(again).values()) == 1
