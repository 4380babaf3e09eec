"""Whole turns over Responses, in both dialects, by a strict vendor on loopback (P-4 to P-6, R-4)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench, open_session
from tests.loopback.responses import ResponsesVendor
from tests.loopback.script import VendorReply
from tests.loopback.summaries import good

OPENAI: dict[str, Any] = {"model": {"provider": "openai"}}
OVERFLOW = "Your input exceeds the context window of this model. Please adjust your input and try again."
THOUGHT = "I weigh it."


@pytest.fixture
async def gpt(dialect: str, tmp_path: Path, home: Path) -> AsyncIterator[Bench]:
    root = tmp_path / "work"
    root.mkdir()
    for name in ("a.py", "b.py"):
        (root / name).write_text(f"name = '{name}'\n")
    async with ResponsesVendor() as vendor:
        made = Bench(dialect, root, home, cast("Any", vendor), cast("Any", None), model="gpt-6.2-sol")
        made.session = await open_session(made, OPENAI)
        yield made
        await made.session.close()
        assert vendor.refused == []


def removed(bench: Bench) -> list[str]:
    """The reasoning that the vendor has left out, of all requests."""
    return [one for asked in cast("Any", bench.vendor).messages for one in asked.removed]


def kinds(bench: Bench, number: int = -1) -> list[str]:
    """What a request consists of."""
    return [item["type"] for item in bench.sent(number)["input"]]


def reads(bench: Bench) -> VendorReply:
    """Two files at once where the dialect can."""
    if bench.dialect == "react":
        return bench.act("Read", {"path": "a.py"}, thinking=THOUGHT)
    calls = [{"name": "Read", "input": {"path": path}} for path in ("a.py", "b.py")]
    return VendorReply(thinking=THOUGHT, blocks=[{"text": "Reading both."}], calls=calls)


async def test_a_turn_calls_in_parallel_and_returns_what_was_thought(gpt: Bench):
    result = await gpt.turn("Which names?", replies=[reads(gpt), gpt.finish("a and b", thinking="Clear.")])
    assert (result.stop_reason, result.answer) == ("finished", "a and b")
    first = gpt.sent(0)
    assert (first["store"], first["include"]) == (False, ["reasoning.encrypted_content"])
    assert first["reasoning"] == {"summary": "auto"}
    assert first["input"][0]["role"] == "developer"
    assert first["prompt_cache_options"] == {"mode": "explicit"}
    assert THOUGHT in gpt.shown("thought")
    await gpt.session.close()
    gpt.session = await open_session(gpt, OPENAI)
    await gpt.turn("And now?", result.chat_id, replies=[gpt.finish("the same", thinking="Hm.")])
    items = gpt.sent()["input"]
    if gpt.dialect == "react":
        assert "tools" not in first
        assert {*kinds(gpt)} == {"message"}
        return
    assert "Reading both." in gpt.shown("thought")
    back = [item for item in items if item["type"] != "message" or item["role"] == "assistant"]
    assert [item["type"] for item in back] == [
        "reasoning", "message", "function_call", "function_call", "function_call_output", "function_call_output",
        "reasoning", "message",
    ]  # fmt: skip
    assert [item["phase"] for item in back if item["type"] == "message"] == ["commentary", "final_answer"]
    assert [item["summary"][0]["text"] for item in back if item["type"] == "reasoning"] == [THOUGHT, "Clear."]
    assert [item["content"][0]["text"] for item in back if item["type"] == "message"] == ["Reading both.", "a and b"]
    assert removed(gpt) == []


async def test_after_a_compaction_the_chat_goes_on_without_what_it_thought_before(gpt: Bench):
    chat = None
    await gpt.session.close()
    gpt.session = await open_session(gpt, OPENAI | {"context": {"keepRounds": 1, "minMessages": 1}})
    for number in range(4):
        answered = gpt.finish(f"answer {number}", thinking=f"thought {number}")
        chat = (await gpt.turn(f"question {number}", chat, replies=[reads(gpt), answered])).chat_id
    gpt.vendor.play(VendorReply(text=good(), thinking="I sum up."))
    report = await gpt.session.compact(chat)
    assert (report.compacted, report.summary) == (True, "model")
    asked = gpt.sent()["input"][-1]["content"][-1]["text"]
    assert "Archived Session Summary" in asked
    for word in ("on", "on and on"):
        gpt.vendor.play(reads(gpt), gpt.finish(word, thinking="Anew."))
        assert (await gpt.turn("go on", chat)).answer == word
    assert "SUMMARYCANARY1Z" in json.dumps(gpt.sent())
    assert "question 0" not in json.dumps(gpt.sent())
    assert removed(gpt) == [], "what does not count any more is not sent"
    if gpt.dialect == "native":
        assert kinds(gpt).count("reasoning") == 3, "what was thought since comes back"


async def test_a_note_alone_is_no_answer(gpt: Bench):
    note = VendorReply(thinking=THOUGHT, blocks=[{"text": "I will look."}])
    result = await gpt.turn("Say it", replies=[note, gpt.finish("said")])
    assert (result.stop_reason, result.answer) == ("finished", "said")
    assert len(gpt.vendor.messages) == 2
    assert removed(gpt) == []


@pytest.mark.parametrize(
    "refusal",
    [
        VendorReply(status=400, error_type="invalid_request_error", error_message=OVERFLOW),
        VendorReply(text="a", stop_reason="failed", error_type="context_length_exceeded", error_message=OVERFLOW),
    ],
    ids=["400", "failed"],
)
async def test_an_overflow_is_asked_again_shorter_and_told_if_it_stays(gpt: Bench, refusal: VendorReply):
    (gpt.root / "a.py").write_text("name = 'a'  # and a word about it\n" * 900)
    chat = None
    for number in range(6):
        answered = gpt.finish(f"answer {number}", thinking="Hm.")
        chat = (await gpt.turn(f"question {number}", chat, replies=[reads(gpt), answered])).chat_id
    summary = VendorReply(text=good(), when_contains="Archived Session Summary")
    result = await gpt.turn("Look", chat, replies=[summary, refusal, gpt.finish("seen")])
    assert (result.stop_reason, result.answer) == ("finished", "seen")
    assert [event.reason for event in gpt.kinds("retry")] == ["the model found the context too long"]
    whole, shorter = (asked.body for asked in (gpt.vendor.messages[0], gpt.vendor.messages[-1]))
    assert len(shorter) < len(whole)
    assert removed(gpt) == []
    result = await gpt.turn("Look", replies=[refusal] * 9)
    assert result.error is not None
    assert result.error.code == "context_overflow"
    assert len(gpt.vendor.messages) < 9, "it is not asked for ever"


async def test_a_limit_of_rate_is_waited_for_and_one_of_spending_is_not(gpt: Bench):
    limited = VendorReply(status=429, error_type="requests", headers={"retry-after-ms": "50"})
    result = await gpt.turn("Hello", replies=[limited, limited, gpt.finish("hello")])
    assert result.answer == "hello"
    assert [event.in_seconds for event in gpt.kinds("retry")] == [0.05, 0.05]
    spent = VendorReply(status=429, error_type="insufficient_quota", error_message="You exceeded your current quota.")
    result = await gpt.turn("Hello", replies=[spent] * 3)
    assert result.error is not None
    assert "spending limit" in result.error.message
    assert len(gpt.vendor.messages) == 1


async def test_effort_is_sent_as_chosen_and_what_a_model_refuses_is_not(gpt: Bench):
    chat = (await gpt.turn("Hello", replies=[gpt.finish("hello")])).chat_id
    for effort in ("max", "medium"):
        await gpt.session.update(chat, effort=effort)
        await gpt.turn("Again", chat, replies=[gpt.finish("hello")])
        said = gpt.sent()["reasoning"]
        assert said == {"summary": "auto"} | ({"effort": effort} if effort != "medium" else {}), "medium is its default"
    await gpt.session.close()
    gpt.session = await open_session(gpt, {"model": OPENAI["model"] | {"name": "gpt-5.1"}})
    with pytest.raises(Refusal, match="low, medium, high"):
        await gpt.turn("Hello", effort="max")


async def test_a_model_that_need_not_think_does_not_where_that_could_not_go_back(gpt: Bench):
    await gpt.session.close()
    gpt.session = await open_session(gpt, {"model": OPENAI["model"] | {"name": "gpt-6-luna"}})
    await gpt.turn("Hello", replies=[gpt.finish("hello")])
    thinks = gpt.dialect == "native"
    assert gpt.sent()["reasoning"] == ({"summary": "auto"} if thinks else {"effort": "none"})
