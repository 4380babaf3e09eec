"""What stands behind a message stays in the view as shown, until a batch or a compaction cuts that round (L-3, C-6)."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from codelaw.agent.chat.chat import AgentChat
from codelaw.domain.checkpoints import Demotion
from tests.agent.conftest import Bench
from tests.agent.talking import blocks, said

TEA = "The user likes tea"
PATIENT = {"timeoutMs": 20_000}
"""Of memory, so that a busy machine loses none."""
NO_CACHE = "claude-3-haiku"


async def remembering(bench: Bench, text: str = TEA, **settings: Any) -> str:
    """A session that remembers a preference of the user, which is in the profile; gives its id."""
    await bench.reopen(memory=PATIENT, **settings)
    return (await bench.session.memories.save(text, category="preference")).memory.id


async def talked(bench: Bench, *texts: str, chat: str | None = None) -> str:
    for text in texts:
        bench.vendor.play(bench.finish(f"answer to {text}"))
        result = await bench.turn(text, chat)
        assert result.stop_reason == "finished", result.error
        chat = result.chat_id
    assert chat is not None
    return chat


async def agent_of(bench: Bench, chat: str) -> AgentChat:
    return await bench.session._chats.get(chat)


def times(bench: Bench, text: str = TEA) -> int:
    return said(bench.sent()).count(text)


async def test_it_is_said_once_and_every_request_begins_with_the_bytes_of_the_one_before(bench: Bench):
    await remembering(bench)
    chat = await talked(bench, "one", "two", "three")
    requests = [blocks(request.json) for request in bench.vendor.messages]
    for before, after in pairwise(requests):
        assert after[: len(before)] == before
    assert times(bench) == 1, "it is in the view of every turn, and said once"
    before = blocks(bench.sent())
    await bench.reopen(memory=PATIENT)
    await talked(bench, "four", chat=chat)
    assert blocks(bench.sent())[: len(before)] == before, "a restart shows the same bytes"
    fork = await bench.session.fork(
        chat, None if chat is None else (await bench.session.read(chat)).messages[-1].turn_id
    )
    before = blocks(bench.sent())
    await talked(bench, "elsewhere", chat=fork.id)
    assert blocks(bench.sent())[: len(before)] == before, "a fork too"


async def test_no_record_and_no_export_has_it(bench: Bench):
    await remembering(bench)
    chat = await talked(bench, "one", "two")
    record = await bench.session.read(chat)
    exports = [await bench.session.export(chat, form) for form in ("json", "markdown")]
    assert TEA not in json.dumps([message.content for message in record.messages])
    assert all(not message.metadata.asides for message in record.messages)
    assert not any(TEA in text or "aside" in text for text in exports)


async def test_a_batch_takes_it_away_for_good_and_the_next_question_says_it_again(bench: Bench):
    await remembering(bench)
    chat = await talked(bench, "one")
    past = (await agent_of(bench, chat)).past
    (question,) = past.transcript.beside
    await past.reshape(None, [Demotion(question, "aside")])
    for text in ("two", "three"):
        await talked(bench, text, chat=chat)
        reported = said(bench.sent())
        assert reported.count(TEA) == 1
        assert reported.index("two") < reported.index(TEA)
    before = blocks(bench.sent())
    await bench.reopen(memory=PATIENT)
    await talked(bench, "four", chat=chat)
    assert blocks(bench.sent())[: len(before)] == before


async def test_a_compaction_takes_it_away_with_its_round_and_an_undo_brings_it_back(bench: Bench):
    await remembering(bench, context={"keepRounds": 1})
    chat = await talked(bench, "one", "two", "three")
    bench.vendor.reset()
    report = await bench.session.compact(chat)
    assert report.compacted
    await talked(bench, "four", chat=chat)
    reported = said(bench.sent())
    assert reported.count(TEA) == 1
    assert reported.index("four") < reported.index(TEA)
    await bench.session.restore(chat)
    await talked(bench, "five", chat=chat)
    reported = said(bench.sent())
    assert reported.index("one") < reported.index(TEA) < reported.index("two")


async def test_a_forgotten_memory_is_gone_from_the_view_and_the_disk(bench: Bench):
    memory = await remembering(bench)
    chat = await talked(bench, "one", "two")
    await bench.session.memories.forget(memory)
    await talked(bench, "three", chat=chat)
    assert times(bench) == 0
    await bench.session.close()
    assert not any(TEA.encode() in file.read_bytes() for file in bench.home.rglob("*.db*"))
