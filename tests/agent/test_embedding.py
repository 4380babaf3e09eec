"""The background queue: everything is embedded once, whoever fails, stops or dies (B-5, B-8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, cast

import pytest

from codelaw.agent.recall import embedding as queue
from codelaw.agent.recall.embedding import BATCH, Embedding
from codelaw.agent.recall.question_vectors import EmbedderInUse
from codelaw.domain.chats import Notice
from codelaw.domain.errors import EmbeddingFailure, Refusal
from codelaw.domain.memories import Memory
from codelaw.ports.memories import Vector
from tests.fakes.index import MemoryIndex, SharedPassages


class Embedder:
    """Gives every text a vector of its own; may fail, or hang."""

    def __init__(self, name: str = "fake") -> None:
        self.name = name
        self.failure: EmbeddingFailure | None = None
        self.free = asyncio.Event()
        self.free.set()
        self.asked: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.append(list(texts))
        await self.free.wait()
        if self.failure is not None:
            raise self.failure
        return [f"{self.name}:{text}".encode() for text in texts]

    async def close(self) -> None: ...


class Memories:
    """The part of a `MemoryStore` that the queue uses."""

    def __init__(self, *texts: str) -> None:
        self.memories = [Memory(str(number), text, "fact", "user", "me", 1.0, 0.0) for number, text in enumerate(texts)]
        self.vectors: dict[tuple[str, str], Vector] = {}

    async def unembedded(self, embedder: str, limit: int, user: str | None = None) -> Sequence[Memory]:
        assert user == "me"
        return [one for one in self.memories if (one.id, embedder) not in self.vectors][:limit]

    async def store_vectors(self, embedder: str, vectors: Sequence[tuple[str, Vector]]) -> None:
        for memory_id, vector in vectors:
            self.vectors[memory_id, embedder] = vector


class World:
    """One database, and the servers at it."""

    def __init__(self) -> None:
        self.shared = SharedPassages()
        self.in_use = EmbedderInUse(Embedder())
        self.reported: list[tuple[str, Notice]] = []
        self.servers: list[Embedding] = []

    @property
    def embedder(self) -> Embedder:
        return cast("Embedder", self.in_use.now)

    @embedder.setter
    def embedder(self, other: Embedder) -> None:
        self.in_use.now = other

    def server(
        self, owner: str = "us", memories: Any = None, *, remembering: bool = True, team: bool = False
    ) -> tuple[Embedding, MemoryIndex]:
        index = MemoryIndex(self.shared, owner)
        made = Embedding(
            index,
            memories,
            self.in_use,
            lambda *reported: self.reported.append(reported),
            whose="me" if remembering else None,
            shared=team,
        )
        self.servers.append(made)
        return made, index


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    yield made
    for one in made.servers:
        await one.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "PAUSE", 0.0)
    monkeypatch.setattr(queue, "FIRST_WAIT", 0.05)


async def until(met: Callable[[], Any]) -> None:
    async with asyncio.timeout(150):
        while not met():
            await asyncio.sleep(0.002)


async def done(one: Embedding) -> None:
    await until(lambda: not one.busy)


async def test_what_was_said_in_a_chat_is_indexed_and_embedded_in_small_batches(world: World):
    made, _ = world.server()
    world.shared.add("c", *(f"text {number}" for number in range(2 * BATCH + 3)))
    world.shared.add("other", "not asked for")
    made.kick("c")
    await done(made)
    assert [len(batch) for batch in world.embedder.asked] == [BATCH, BATCH, 3]
    assert world.shared.waiting("fake") == []
    assert world.shared.unindexed == [("other", "not asked for")]
    assert world.shared.claims == {}
    assert world.shared.vectors[1, "fake"] == b"fake:text 0"


async def test_in_a_teams_store_only_the_chats_at_hand_are_embedded_unasked(world: World):
    made, _ = world.server(team=True)
    world.shared.add("theirs", "never asked for")
    world.shared.add("mine", "said here")
    made.kick()
    made.renew()
    assert not made.busy
    made.kick("mine")
    await done(made)
    assert world.shared.unindexed == [("theirs", "never asked for")]
    assert await made.backfill() == 1


async def test_a_failure_is_told_once_in_the_chat_and_tried_again_later(world: World):
    made, _ = world.server()
    world.embedder.failure = EmbeddingFailure("The endpoint answered 500.")
    world.shared.add("c", "text")
    made.kick("c")
    await until(lambda: len(world.embedder.asked) >= 3)
    assert world.shared.claims == {}, "what failed is given back in between"
    world.embedder.failure = None
    await done(made)
    assert world.shared.waiting("fake") == []
    assert [(chat, notice.level, notice.code) for chat, notice in world.reported] == [
        ("c", "warning", "embedding_failed")
    ]
    assert "The endpoint answered 500." in world.reported[0][1].message


async def test_a_lasting_failure_ends_the_trying_but_not_the_index(world: World):
    made, _ = world.server()
    world.embedder.failure = EmbeddingFailure("embedding.path is not a folder.", lasting=True)
    world.shared.add("c", "text")
    made.kick()
    await done(made)
    assert len(world.embedder.asked) == 1
    assert world.reported == [], "there is no chat yet to tell it in"
    world.shared.add("c", "more")
    made.kick("c")
    await done(made)
    assert (len(world.embedder.asked), len(world.reported), world.shared.unindexed) == (1, 1, [])
    made.kick("c")
    await done(made)
    assert len(world.reported) == 1
    world.embedder = Embedder("better")
    made.renew()
    await done(made)
    assert world.shared.waiting("better") == []


async def test_a_store_that_fails_is_waited_for_and_nobody_is_told(world: World):
    made, index = world.server()
    index.broken = Refusal("store_unavailable", "the disk is full")
    world.shared.add("c", "text")
    made.kick("c")
    await until(lambda: len(index.calls) >= 2)
    index.broken = None
    await done(made)
    assert world.shared.waiting("fake") == []
    assert world.reported == []


async def test_a_bug_in_one_chat_keeps_no_other_from_being_indexed(world: World, monkeypatch: pytest.MonkeyPatch):
    made, index = world.server()
    asked: list[str | None] = []

    async def broken(chat_id: str | None) -> int:
        asked.append(chat_id)
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(index, "index", broken)
    for chat in "cd":
        made.kick(chat)
        await done(made)
    assert asked == ["c", "d"]


async def test_two_living_servers_never_embed_the_same_passage(world: World):
    for chat in "abc":
        world.shared.add(chat, *(f"{chat}{number}" for number in range(100)))
    servers = [world.server(owner)[0] for owner in ("one", "two", "three")]
    for one in servers:
        one.kick()
    await asyncio.gather(*map(done, servers))
    assert sorted(world.shared.stored) == sorted(world.shared.passages)
    assert len(world.shared.passages) == 300
    texts = [text for batch in world.embedder.asked for text in batch]
    assert len(texts) == len(set(texts)) == 300


async def test_what_a_dead_server_had_claimed_is_taken_over_and_what_a_living_one_has_is_not(world: World):
    world.embedder.free.clear()
    dying, _ = world.server("dying")
    world.shared.add("c", *(f"{number}" for number in range(BATCH + 5)))
    dying.kick("c")
    await until(lambda: world.embedder.asked)
    hung, world.embedder = world.embedder, Embedder()
    living, _ = world.server("living")
    living.kick()
    await done(living)
    assert len(world.shared.stored) == 5, "the rest is claimed by one who lives"
    world.shared.dead.add("dying")
    living.kick()
    await done(living)
    assert sorted(world.shared.stored) == sorted(world.shared.passages)
    assert not hung.free.is_set()


@pytest.mark.parametrize("at", ["embed", "claim"])
async def test_closing_takes_no_time_and_gives_claims_back(world: World, at: str):
    made, index = world.server()
    world.shared.add("c", "one", "two")
    (world.embedder.free if at == "embed" else index.slow).clear()
    made.kick("c")
    await until(lambda: world.shared.claims)
    loop = asyncio.get_running_loop()
    began = loop.time()
    if at == "claim":
        loop.call_later(0.1, index.slow.set)
    await made.close()
    assert loop.time() - began < 120
    assert world.shared.claims == {}
    made.kick("c")
    assert not made.busy


async def test_a_backfill_embeds_all_that_waits_and_counts_it(world: World):
    memories = Memories("likes tabs")
    made, _ = world.server(memories=memories)
    world.shared.add("a", *(f"{number}" for number in range(450)))
    world.shared.add("b", "b")
    assert await made.backfill("a") == 450
    assert world.shared.unindexed == [("b", "b")]
    assert await made.backfill() == 2, "a message and a memory"
    assert await made.backfill() == 0


async def test_a_backfill_that_fails_says_why_and_keeps_what_it_has(world: World):
    made, _ = world.server()
    world.shared.add("a", *(f"{number}" for number in range(100)))
    real = world.embedder.embed

    async def once(texts: Sequence[str]) -> list[Vector]:
        world.embedder.failure = (
            EmbeddingFailure("The endpoint answered 401.", lasting=True) if world.embedder.asked else None
        )
        return await real(texts)

    world.embedder.embed = once  # type: ignore[method-assign]
    with pytest.raises(Refusal, match=r"answered 401\. 64 were embedded before") as caught:
        await made.backfill("a")
    assert caught.value.code == "model_unavailable"
    assert "embedding" in caught.value.hint
    assert (len(world.shared.vectors), world.shared.claims) == (64, {})


async def test_while_memory_is_switched_off_no_memory_is_given_to_the_embedder(world: World):
    made, _ = world.server(memories=Memories("The user likes walruses"), remembering=False)
    world.shared.add("c", "a message")
    made.kick()
    await done(made)
    assert await made.backfill() == 0
    assert world.embedder.asked == [["a message"]]
