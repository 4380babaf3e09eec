"""What stands beside the question: memories and what was said earlier, or a notice in their place (L-3, B-4, B-8)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from codelaw.agent.chat.retrieved_context import SpanLimits
from codelaw.domain.errors import Refusal
from codelaw.domain.memories import MessageHit
from tests.agent.conftest import Bench

BLOCK = "<earlier-messages>"


def texts_of(request):
    """Every text of a request's messages, in order."""
    found = []
    for message in request["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
        found += [block["text"] for block in blocks if "text" in block]
    return found


async def old_chat(bench: Bench, rounds: int = 12) -> str:
    """A chat whose first round speaks of the lighthouse, and the others of other things."""
    bench.vendor.play(bench.finish("It is painted with zinc yellow, number 1018."))
    first = await bench.turn("Which paint does the lighthouse need?", strategy="span-retrieval")
    for number in range(rounds):
        bench.vendor.play(bench.finish(f"Module {number} parses its arguments."))
        await bench.turn(f"What does module_{number} do with its arguments?", first.chat_id)
    return first.chat_id


async def asked(bench: Bench, chat: str, text: str):
    bench.vendor.play(bench.finish("so"))
    result = await bench.turn(text, chat)
    assert result.stop_reason == "finished", result.error
    return result, bench.sent()


async def test_what_was_said_earlier_about_the_question_stands_right_behind_it(bench: Bench):
    await bench.reopen(context={"recentMax": 6})
    chat = await old_chat(bench)
    result, sent = await asked(bench, chat, "What was the paint of the lighthouse again?")
    texts = texts_of(sent)
    block = next(place for place, text in enumerate(texts) if BLOCK in text)
    question = next(place for place, text in enumerate(texts) if "the lighthouse again" in text)
    assert block >= question
    assert "zinc yellow" in texts[block]
    assert not any("zinc yellow" in text for text in texts[:question]), "it was not among the newest"
    assert "module_11" in "\n".join(texts[:question])
    assert "module_11" not in texts[block].partition(BLOCK)[2], "nothing is told twice"
    assert [notice.code for notice in result.notices] == []
    stored = await bench.session.read(chat)
    assert BLOCK not in json.dumps([message.content for message in stored.messages]), "never stored"


async def test_what_was_withdrawn_is_not_found_again(bench: Bench):
    await bench.reopen(context={"recentMax": 6})
    chat = await old_chat(bench)
    record = await bench.session.read(chat)
    await bench.session.revert(chat, record.messages[0].turn_id, files=False, messages=True)
    _, sent = await asked(bench, chat, "What was the paint of the lighthouse again?")
    assert "zinc yellow" not in json.dumps(sent)


class Stuck:
    """A `Retriever` whose search does what it is told."""

    def __init__(self, trouble: Exception | None = None) -> None:
        self.trouble = trouble
        self.searched = asyncio.Event()
        self.cancelled = False

    async def hits(self, *_: object, **__: object) -> tuple[MessageHit, ...]:
        self.searched.set()
        if self.trouble is not None:
            raise self.trouble
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        raise AssertionError


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        (None, "memory.timeoutMs"),
        (Refusal("store_unavailable", "The disk is gone."), "The disk is gone"),
        (ZeroDivisionError(), "the log says why"),
    ],
    ids=["hangs", "refuses", "has a bug"],
)
async def test_a_search_that_hangs_or_fails_is_told_once_and_stops_no_turn(bench: Bench, trouble, why, monkeypatch):
    await bench.reopen(context={"recentMax": 6})
    chat = await old_chat(bench)
    stuck = Stuck(trouble)
    real = type(bench.session.resources.contexts.recall).gatherer

    async def gatherer(*given):
        made = await real(*given)
        return replace(made, retriever=stuck, limits=SpanLimits(seconds=0.05))

    monkeypatch.setattr(type(bench.session.resources.contexts.recall), "gatherer", gatherer)
    first, sent = await asked(bench, chat, "What was the paint of the lighthouse again?")
    assert stuck.searched.is_set()
    assert not any(BLOCK in text for text in texts_of(sent))
    (notice,) = first.notices
    assert (notice.code, why in notice.message) == ("retrieval_unavailable", True)
    second, _ = await asked(bench, chat, "And the colour of its door?")
    assert second.notices == ()
    assert stuck.cancelled or trouble is not None, "nothing is left running"
