"""Finding the old messages that a question is about (B-4)."""

from __future__ import annotations

import asyncio
import struct

import pytest

from codelaw.adapters.stores.opening import SqliteStore
from codelaw.agent.recall.question_vectors import Retriever
from codelaw.domain.errors import EmbeddingFailure
from tests.adapters.stores.index_suite import with_messages

EAST, NORTH = struct.pack("<2f", 1.0, 0.0), struct.pack("<2f", 0.0, 1.0)


class Compass:
    """An `Embedder`: texts with `east` point there, all others north. May fail, or never answer."""

    name = "compass"

    def __init__(self, *, fails: bool = False, hangs: bool = False) -> None:
        self.fails, self.hangs = fails, hangs
        self.begun, self.cancelled = asyncio.Event(), asyncio.Event()

    async def embed(self, texts):
        if self.fails:
            raise EmbeddingFailure("no such host")
        if self.hangs:
            self.begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        return [EAST if "east" in text else NORTH for text in texts]

    async def close(self):
        pass


@pytest.fixture
async def index(tmp_path):
    store = await SqliteStore.open(tmp_path / "chats.db")
    index = await with_messages(store, "a parser", "to the east", "tea", "parser and tea", "east of the parser")
    await index.index()
    passages = await index.claim("compass")
    vectors = await Compass().embed([passage.text for passage in passages])
    await index.store("compass", [(passage.id, made) for passage, made in zip(passages, vectors, strict=True)])
    yield index
    await store.close()


async def ids(retriever, question, **how):
    found = await retriever.hits("c1", question, **{"top_k": 5, **how})
    return [hit.message_id for hit in found.hits]


async def test_words_and_meaning_are_asked_together(index):
    found = await Retriever(index, Compass()).hits("c1", "parser in the east", top_k=3)
    assert found.hits[0].message_id == "m4"
    assert found.hits[0].similarity == pytest.approx(1.0)
    assert found.words_only == ""


async def test_an_embedder_that_fails_leaves_the_words_and_a_reason(index):
    found = await Retriever(index, Compass(fails=True)).hits("c1", "parser", top_k=5)
    assert {hit.message_id for hit in found.hits} == {"m0", "m3", "m4"}
    assert found.words_only == "no such host"


async def test_an_embedder_that_hangs_is_not_waited_for(index):
    embedder = Compass(hangs=True)
    found = await Retriever(index, embedder, patience=0.01).hits("c1", "parser", top_k=5)
    assert {hit.message_id for hit in found.hits} == {"m0", "m3", "m4"}
    assert ("10 ms" in found.words_only, found.late) == (True, True)


async def test_a_floor_drops_what_is_less_similar_and_only_that(index):
    retriever = Retriever(index, Compass())
    assert set(await ids(retriever, "east", min_similarity=0.5)) == {"m1", "m4"}
    assert len(await ids(retriever, "east")) == 5
    assert set(await ids(Retriever(index), "parser", min_similarity=0.5)) == {"m0", "m3", "m4"}


async def test_at_most_so_many_and_none_of_the_unwanted(index):
    retriever = Retriever(index, Compass())
    assert len(await ids(retriever, "parser", top_k=2)) == 2
    assert "m4" not in await ids(retriever, "parser in the east", without={"m4"})
    assert await ids(retriever, "parser", top_k=0) == []
