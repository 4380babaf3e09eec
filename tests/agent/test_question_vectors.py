"""A question is embedded once, a slow embedder is told of, and what it brings late is kept (B-6, B-8)."""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from codelaw.adapters.stores.opening import open_stores
from codelaw.agent.recall import question_vectors
from codelaw.agent.recall.question_vectors import EmbedderInUse, Late, QuestionVectors
from codelaw.agent.recall.remembering import ChatMemory, EmbeddingTasks, RecallLimits
from codelaw.domain.errors import EmbeddingFailure
from codelaw.domain.memories import Places
from codelaw.memory.background import QUESTIONS, SENTENCES, texts
from codelaw.templates.render import preload
from tests.agent.conftest import Bench
from tests.agent.test_beside import old_chat
from tests.agent.test_control import until
from tests.fakes.remembering import Lens
from tests.loopback.embeddings import LoopbackEmbeddings

PAINT = "What was the paint of the lighthouse again?"


@pytest.fixture
def dialect() -> str:
    return "native"


@pytest.fixture
async def vectors() -> AsyncIterator[QuestionVectors]:
    made = QuestionVectors()
    yield made
    made.close()


async def test_whoever_asks_the_same_at_once_waits_for_one_answer(vectors):
    lens = Lens(0.05)
    both = await asyncio.gather(*(vectors.vector(lens, "tea?", 5.0) for _ in range(3)))
    assert (len(set(both)), lens.asked) == (1, ["tea?"])
    assert await vectors.vector(lens, "tea?", 0.0) == both[0]
    assert lens.asked == ["tea?"]


async def test_what_comes_late_is_there_when_the_same_is_asked_again(vectors):
    lens = Lens(0.2)
    with pytest.raises(Late, match="longer than 10 ms"):
        await vectors.vector(lens, "tea?", 0.01)
    with pytest.raises(Late, match="earlier question"):
        await vectors.vector(lens, "coffee?", 5.0)
    await until(lambda: not lens.running)
    assert await vectors.vector(lens, "tea?", 0.0)
    assert lens.asked == ["tea?"]


async def test_an_embedder_that_never_answers_is_stopped_and_asked_again(vectors, monkeypatch):
    monkeypatch.setattr(question_vectors, "LEFT_SECONDS", 0.05)
    lens = Lens(30.0)
    with pytest.raises(Late):
        await vectors.vector(lens, "tea?", 0.01)
    await until(lambda: not lens.running)
    lens.seconds = 0.0
    assert await vectors.vector(lens, "tea?", 5.0)
    assert lens.asked == ["tea?", "tea?"]


async def test_a_failure_is_raised_and_not_kept(vectors):
    lens = Lens(trouble=EmbeddingFailure("no such host"))
    with pytest.raises(EmbeddingFailure):
        await vectors.vector(lens, "tea?", 5.0)
    lens.trouble = None
    assert await vectors.vector(lens, "tea?", 5.0)


async def test_a_cancelled_turn_stops_no_embedder_that_another_waits_for(vectors):
    lens = Lens(0.2)
    one, other = (asyncio.create_task(vectors.vector(lens, "tea?", 5.0)) for _ in range(2))
    await until(lambda: lens.running)
    one.cancel()
    assert await other
    assert (one.cancelled(), lens.asked) == (True, ["tea?"])


async def test_an_embedder_that_cannot_be_measured_is_not_asked_at_every_question(vectors):
    lens = Lens(trouble=EmbeddingFailure("no such host"))
    for _ in range(3):
        assert await vectors.floor(lens, b"\0\0\x80\x3f", 5.0) is None
    assert len(lens.asked) == len(texts())


class Knowing:
    """An `Embedder` that knows what texts are about: those of one topic have nearly one vector."""

    name = "knowing"

    def __init__(self, *topics: set[str]) -> None:
        self.topics = [*topics]
        for group, asked in zip(SENTENCES, QUESTIONS, strict=True):
            self.topics += [{group[place], question} for question, place in asked]

    async def embed(self, asked):
        return [self._vector(text) for text in asked]

    async def close(self):
        pass

    def _vector(self, text):
        topic = next((str(number) for number, topic in enumerate(self.topics) if text in topic), text)
        common, own = random.Random(topic), random.Random(text)
        numbers = [common.gauss(0, 1) + own.gauss(0, 0.5) for _ in range(256)]
        length = sum(number * number for number in numbers) ** 0.5
        return struct.pack("<256f", *(number / length for number in numbers))


async def test_a_similarity_that_was_shown_to_mean_something_recalls_a_paraphrase(tmp_path):
    await asyncio.to_thread(preload)
    question, entry = "What should the whitespace at the start of a line be?", "The user prefers tabs over spaces"
    embedder: Any = Knowing({question, entry})
    stores = await open_stores(None, tmp_path / "codelaw.db")
    attic = EmbeddingTasks()
    memory = ChatMemory(
        stores.memories, EmbedderInUse(embedder), Places("ann", (), "c1"), RecallLimits(seconds=30.0), attic
    )
    try:
        await memory.save(entry)
        await memory.save("The walrus party was in May")
        beside = await memory.beside(question)
        assert [one.memory.text for one in beside.recalled] == [entry]
        assert "relevance 0." in beside.fragments[0].text
        assert (await memory.beside("What is 17 times 23?")).recalled == ()
        assert [one.memory.text for one in await memory.search(question)] == [entry]
    finally:
        await attic.close()
        await stores.chats.close()


@pytest.fixture
async def vendor() -> AsyncIterator[LoopbackEmbeddings]:
    async with LoopbackEmbeddings() as made:
        yield made


async def slow(bench: Bench, vendor: LoopbackEmbeddings, wait: Callable[[], Awaitable[object]], limit: int) -> None:
    """A session on an endpoint that lets questions wait, and that may take `limit` milliseconds."""
    vendor.held = lambda asked: wait() if any("?" in text for text in asked) and len(asked) == 1 else None
    embedding: dict[str, Any] = {"provider": "openai", "baseUrl": vendor.url, "apiKey": vendor.key}
    await bench.reopen(context={"recentMax": 6}, embedding=embedding, memory={"timeoutMs": limit})


def asked_for(vendor: LoopbackEmbeddings, question: str) -> int:
    return sum(request.texts == [question] for request in vendor.requests)


async def test_an_embedder_that_is_too_slow_is_told_once_in_a_chat_and_its_answer_kept(
    bench: Bench, vendor: LoopbackEmbeddings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(question_vectors, "RESERVE_SECONDS", 3.6)  # a slow machine takes longer to look up words
    monkeypatch.setattr(question_vectors, "RESERVE_SHARE", 0.9)
    answered = asyncio.Event()
    await bench.reopen(context={"recentMax": 6})
    chat = await old_chat(bench)
    await bench.session.memories.save("The lighthouse keeper is called Otto")
    await slow(bench, vendor, answered.wait, 4_000)
    await bench.session.memories.backfill(None)
    vendor.requests.clear()
    report = await bench.session.inspect(chat, PAINT)
    assert any("memory.timeoutMs" in entry.reason for entry in report.dropped)
    assert "called Otto" in report.text, "words are looked up"
    for number in range(2):
        bench.vendor.play(bench.finish("zinc yellow"))
        reported = [notice for notice in (await bench.turn(PAINT, chat)).notices if notice.code == "embedder_slow"]
        assert len(reported) == (1 if number == 0 else 0)
        assert all("Set memory.timeoutMs, now 4000, to 12000" in notice.message for notice in reported)
    answered.set()
    async with asyncio.timeout(150):
        while any("memory.timeoutMs" in one.reason for one in (await bench.session.inspect(chat, PAINT)).dropped):
            await asyncio.sleep(0.05)
    assert asked_for(vendor, PAINT) == 1
