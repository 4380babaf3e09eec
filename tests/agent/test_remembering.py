"""Memory as a chat sees it, with stores and embedders that hang or fail (B-6 to B-8)."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from codelaw.agent.recall import question_vectors, remembering
from codelaw.agent.recall.question_vectors import EmbedderInUse
from codelaw.agent.recall.remembering import ChatMemory, EmbeddingTasks, RecallLimits
from codelaw.domain.errors import EmbeddingFailure, Refusal
from codelaw.domain.memories import Category, Memory, MemoryScope, Places
from codelaw.templates.render import preload
from tests.agent.test_control import until
from tests.fakes.remembering import Lens, Shelf

HERE = Places("ann", ("example.org/app",), "c1")
LONG = 60.0
"""Seconds: never waited out."""


def a_memory(id_, text, category: Category = "event", scope: MemoryScope = "user", **changes):
    owner = {"user": "ann", "project": "example.org/app", "session": "c1"}[scope]
    return replace(Memory(id_, text, category, scope, owner, 0.8, 100.0), **changes)


ENTRIES = (
    a_memory("likes", "The user prefers tabs over spaces", "preference"),
    a_memory("party", "The walrus party was in May"),
    a_memory("chosen", "The project uses pnpm", "decision", "project"),
)


@pytest.fixture(autouse=True)
async def templates():
    await asyncio.to_thread(preload)  # as a session does


@pytest.fixture
async def attic():
    made = EmbeddingTasks()
    yield made
    await made.close()


@pytest.fixture
def shelf():
    return Shelf(*ENTRIES)


@pytest.fixture
def lens():
    return Lens()


@pytest.fixture
def memory(shelf, lens, attic, monkeypatch):
    monkeypatch.setattr(question_vectors, "RESERVE_SECONDS", 1.5)  # a slow machine takes longer to look up words
    monkeypatch.setattr(question_vectors, "RESERVE_SHARE", 0.75)
    return ChatMemory(shelf, EmbedderInUse(lens), HERE, RecallLimits(seconds=LONG), attic)


def names(remembered):
    return [part.name for part in remembered.fragments]


async def test_profile_and_recalled_stand_beside_the_question_each_thing_once(memory, shelf, attic):
    began = time.time()
    beside = await memory.beside("When was the walrus party, and tabs or spaces?")
    assert names(beside) == ["profile", "memories"]
    profile, recalled = (part.text for part in beside.fragments)
    assert "prefers tabs" in profile
    assert "uses pnpm" in profile
    assert "walrus party" in recalled
    assert "tabs" not in recalled, "it stands in the profile"
    assert [one.memory.id for one in beside.recalled] == ["party"]
    assert beside.notices == ()
    await attic.settle()
    assert {entry.id: entry.uses for entry in shelf.entries.values()} == {"likes": 1, "party": 1, "chosen": 1}
    assert all(began <= entry.used_at <= time.time() for entry in shelf.entries.values())


async def test_without_memories_nothing_is_shown_and_no_embedder_is_bothered(memory, shelf, lens):
    shelf.entries.clear()
    assert await memory.beside("anything") == remembering.Remembered()
    assert lens.asked == []


async def test_switched_off_nothing_is_asked(memory, shelf):
    off = replace(memory, limits=RecallLimits(enabled=False))
    assert await off.beside("walrus") == remembering.Remembered()
    assert shelf.calls == []
    with pytest.raises(Refusal, match="switched off"):
        await off.save("The user likes tea")


async def hurried(memory, question="walrus", seconds=2.0):
    """What is shown after two seconds at the latest, of which the embedder may take half a second."""
    began = time.monotonic()
    beside = await replace(memory, limits=RecallLimits(seconds=seconds)).beside(question)
    assert time.monotonic() - began < LONG / 2
    return beside


async def test_a_store_that_hangs_holds_up_no_turn_and_is_told_once(memory, shelf, attic):
    shelf.seconds = LONG
    beside = await hurried(memory)
    assert beside.fragments == ()
    assert [(notice.level, notice.code) for notice in beside.notices] == [("warning", "memory_unavailable")]
    assert "memory.timeoutMs" in beside.notices[0].message
    assert (shelf.running, len(shelf.calls)) == (1, 1)
    for _ in range(3):  # nothing piles up behind what hangs, and nobody waits again
        assert await hurried(memory, "again", LONG) == remembering.Remembered()
    assert (shelf.running, len(shelf.calls)) == (1, 1)
    await attic.close()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert shelf.running == 0


async def test_an_embedder_that_hangs_leaves_the_words(memory, lens, attic):
    lens.seconds = LONG
    beside = await hurried(memory)
    assert names(beside) == ["profile", "memories"]
    assert len(beside.notices) == 1
    assert beside.notices[0].code == "embedder_slow"
    assert "memory.timeoutMs" in beside.notices[0].message
    await until(lambda: (lens.running, attic.hangs) == (1, False))  # its answer will be of use; words are looked up
    assert (await hurried(memory, "walrus party")).notices == (), "told once in a chat"
    assert lens.asked == ["walrus"], "nothing piles up behind it"
    other = replace(memory, places=replace(HERE, session="c2"))
    assert [notice.code for notice in (await hurried(other)).notices] == ["embedder_slow"], "and in every chat"


async def test_an_embedder_that_fails_leaves_the_words(memory, lens):
    lens.trouble = EmbeddingFailure("The endpoint answered 500.")
    beside = await memory.beside("walrus")
    assert names(beside) == ["profile", "memories"]
    assert "answered 500" in beside.notices[0].message


@pytest.mark.parametrize("trouble", [Refusal("store_unavailable", "The disk is full."), RuntimeError("a bug")])
async def test_a_store_that_fails_is_a_notice(memory, shelf, trouble):
    shelf.trouble = trouble
    beside = await memory.beside("walrus")
    assert beside.fragments == ()
    assert len(beside.notices) == 1
    assert (await memory.beside("walrus")).notices == ()


async def test_a_text_is_saved_where_it_belongs(memory, shelf, lens):
    began = time.time()
    saved = await memory.save("The user likes tea", "preference")
    assert not saved.merged
    kept = saved.memory
    assert (kept.scope, kept.belongs_to, kept.confidence) == ("user", "ann", 0.8)
    assert began <= kept.created_at <= time.time()
    assert shelf.entries[kept.id] == kept
    assert lens.asked == ["The user likes tea"]
    assert (await memory.save("Builds run on Sundays")).memory.belongs_to == "example.org/app"
    assert (await memory.save("We talk about walruses", None, "session", 0.1)).memory.belongs_to == "c1"


async def test_what_was_said_before_is_merged(memory, shelf):
    saved = await memory.save("User prefers tabs over spaces everywhere", None, None, 0.9)
    assert (saved.merged, saved.memory.id) == (True, "likes")
    assert saved.memory == replace(ENTRIES[0], text="User prefers tabs over spaces everywhere", confidence=0.9)
    assert len(shelf.entries) == 3


async def test_what_a_project_has_is_not_taken_from_it_by_one_user(memory, shelf):
    theirs = await memory.save("Releases are cut from the branch stable", "decision", "project")
    mine = await memory.save("Releases are cut from the branch stable", "preference", "user")
    assert (mine.merged, mine.memory.scope) == (False, "user")
    assert shelf.entries[theirs.memory.id] == theirs.memory
    here = await memory.save("Releases are cut from the branch stable", "context", "session")
    assert here.merged, "a chat needs no copy of what its project has"


async def test_the_same_saved_twice_at_once_is_one_entry(memory, shelf):
    saved = await asyncio.gather(*(memory.save("Deploys go to Frankfurt") for _ in range(4)))
    assert sorted(one.merged for one in saved) == [False, True, True, True]
    assert len(shelf.entries) == 4


async def test_a_secret_reaches_neither_store_nor_embedder(memory, shelf, lens):
    with pytest.raises(Refusal) as caught:
        await memory.save("The key is sk-ant-api03-abcDEF123456789")
    assert caught.value.code == "memory_refused"
    assert (shelf.calls, lens.asked) == ([], [])


async def test_saving_needs_no_embedder_that_works(memory, lens, monkeypatch):
    monkeypatch.setattr(remembering, "PATIENCE", 0.05)
    lens.seconds = LONG
    assert not (await memory.save("Deploys go to Frankfurt")).merged
    assert [one.memory.text for one in await memory.search("where do deploys go")] == ["Deploys go to Frankfurt"]


async def test_an_entry_is_changed_and_forgotten(memory, shelf):
    changed = await memory.update("party", text="The walrus party is in June", confidence=0.2, scope="project")
    assert shelf.entries["party"] == changed
    assert (changed.belongs_to, changed.created_at, changed.category) == ("example.org/app", 100.0, "event")
    with pytest.raises(Refusal, match="secrets are not remembered"):
        await memory.update("party", text="password=hunter2")
    await memory.forget("party")
    assert "party" not in shelf.entries


async def test_what_is_another_users_is_not_there(memory, shelf):
    shelf.entries["theirs"] = a_memory("theirs", "Bob likes coffee", belongs_to="bob")
    for refused in (memory.update("theirs", text="x"), memory.forget("theirs"), memory.forget("nope")):
        with pytest.raises(Refusal) as caught:
            await refused
        assert caught.value.code == "memory_not_found"


@pytest.mark.parametrize("category", ["preference", "habit", "skill", "fact", None])
async def test_what_is_saved_unasked_stays_in_the_project(memory, category):
    assert (await memory.save("Always builds with ninja", category, unasked=True)).memory.scope == "project"
    assert (await memory.save("Always builds with make", "preference")).memory.scope == "user"
    alone = replace(memory, places=Places("ann", (), "c1"))
    assert (await alone.save("Always builds with meson", category, unasked=True)).memory.scope == "session"


@pytest.mark.parametrize("scope", [None, "project", "session"])
async def test_what_is_saved_unasked_changes_nothing_of_the_users(memory, shelf, scope):
    before = await shelf.get("likes")
    more = "The user prefers tabs over spaces and really always runs setup"
    saved = await memory.save(more, "habit", scope, 1.0, unasked=True)
    assert saved.memory.scope != "user"
    again = await memory.save(before.text, "habit", scope, 1.0, unasked=True)
    assert (again.memory, again.merged) == (before, True)
    assert await shelf.get("likes") == before


async def test_what_is_forgotten_while_it_is_changed_stays_forgotten(memory, shelf, lens):
    lens.seconds = 0.3
    changing = asyncio.create_task(memory.update("party", text="The walrus party was in June"))
    while not lens.running:
        await asyncio.sleep(0.001)
    await memory.forget("party")
    with pytest.raises(Refusal) as refused:
        await changing
    assert refused.value.code == "memory_not_found"
    assert "party" not in shelf.entries
