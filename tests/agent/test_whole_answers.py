"""An answer arrives byte for byte: as it streams, in the turn's result, in the record and its events (R-3, R-1a)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codelaw.domain.events import AnswerDelta
from tests.agent.answers import answers
from tests.agent.conftest import Bench
from tests.loopback.script import VendorReply

ANSWERS = answers()
CHUNKS = (1, 3, 7, 24, 1000)
FORMS = (
    "Thought: done\nAction: Finish[{}]",
    "Thought: done\nAction: Finish[{}]\n",
    "Action: Finish[{}]",
    "**Thought:** a [b]\n**Action:** Finish[{}]",
    "Thought: done\n```\nAction: Finish[{}]\n```",
    "Finish[{}]",
)


def reply(bench: Bench, number: int, answer: str) -> VendorReply:
    """The answer as the dialect spells it, the spelling and the pieces changing from one to the next."""
    text = FORMS[number % len(FORMS)].replace("{}", answer) if bench.dialect == "react" else answer
    return VendorReply(text=text, chunk=CHUNKS[number % len(CHUNKS)])


@pytest.mark.parametrize("part", range(4))
async def test_every_answer_arrives_byte_for_byte(bench: Bench, part: int):
    chat_id = None
    for number, answer in list(enumerate(ANSWERS))[part * 25 : part * 25 + 25]:
        given = reply(bench, number, answer)
        bench.vendor.reset([given])
        bench.events.clear()
        result = await bench.turn("go", chat_id)
        chat_id = result.chat_id
        assert (result.stop_reason, result.answer, result.steps) == ("finished", answer, 1)
        assert bench.shown("answer") == answer
    record = await bench.session.read(chat_id or "")
    said = [message for message in record.messages if message.role == "assistant"]
    assert [message.metadata.answer for message in said] == ANSWERS[part * 25 : part * 25 + 25]
    assert [message.content for message in said] == [
        reply(bench, number, answer).text for number, answer in list(enumerate(ANSWERS))[part * 25 : part * 25 + 25]
    ]
    pieces = dict.fromkeys((message.turn_id for message in said), "")
    for event in record.events:
        if isinstance(event.event, AnswerDelta):
            pieces[event.turn_id] += event.event.delta
    assert list(pieces.values()) == ANSWERS[part * 25 : part * 25 + 25]
    assert all("stop_sequences" not in request.json for request in bench.vendor.messages)


@pytest.mark.parametrize(
    "text",
    [
        "The crash comes from `items[0]`.\n\n**Action:** guard it\n",
        "So:\n```py\nrows[0]\n```",
        "\n\n- Thought: none\n- Action: see [the docs](x)\n[tool]\nname = []\n",
    ],
)
async def test_a_reply_without_an_action_is_the_answer_whole(bench: Bench, text: str):
    for chunk in CHUNKS:
        bench.events.clear()
        result = await bench.turn("go", replies=[VendorReply(text=text, chunk=chunk)])
        assert (result.stop_reason, result.answer, bench.shown("answer")) == ("finished", text, text)


INVENTED = '\n[tool] {"status": "success", "data": {"entries": ["no such file"]}}\n' + "Thought: so it is\n" * 400


async def test_what_a_model_invents_behind_a_call_is_not_paid_for(bench: Bench):
    if bench.dialect == "native":
        pytest.skip("calls stand beside the text")
    call = bench.act("LS", {})
    result = await bench.turn("go", replies=[replace(call, text=call.text + INVENTED, delay=0.001), bench.finish("ok")])
    assert (result.stop_reason, result.answer, result.steps) == ("finished", "ok", 2)
    first, second = bench.vendor.messages
    assert first.closed_early
    assert not second.closed_early
    assert "no such file" not in second.body.decode()
    usage = bench.kinds("usage")
    assert usage[0].usage.input_tokens + usage[0].usage.cache_write_tokens > 100, "as reported when the reply began"
    assert 5 < usage[0].usage.output_tokens < 200, "of what arrived"
    assert result.usage.total_tokens == usage[0].usage.total_tokens + usage[1].usage.total_tokens


@pytest.mark.parametrize("named", ["\n[user]", None])
async def test_an_answer_that_an_endpoints_own_stop_sequence_cuts_is_continued(bench: Bench, named: str | None):
    whole = "Set this:\n\n[core]\na = [1]\n[user]\nname = me\n"
    head, tail = whole.split("\n[user]")
    opened = "Thought: t\nAction: Finish[" if bench.dialect == "react" else ""
    closing = "]" if bench.dialect == "react" else ""
    stopped = VendorReply(text=opened + head, stop_reason="stop_sequence", stop_sequence=named)
    rest = tail if named else f"\n[user]{tail}"
    result = await bench.turn("go", replies=[stopped, VendorReply(text=rest + closing)])
    if bench.dialect == "native" and named is None:
        assert (result.answer, [notice.code for notice in result.notices]) == (head, ["answer_may_be_cut"])
        return
    assert (result.stop_reason, result.answer, bench.shown("answer")) == ("finished", whole, whole)
    assert "stop sequence" in bench.kinds("retry")[0].reason


async def test_what_a_closed_stream_has_not_told_of_its_request_is_estimated(bench: Bench):
    """Some endpoints tell the input only at the end; without it the chat would look empty, and never be compacted."""
    if bench.dialect == "native":
        pytest.skip("calls stand beside the text")
    call = bench.act("LS", {})
    untold = {"input_tokens": 0, "output_tokens": 0}
    bench.vendor.reset([replace(call, text=call.text + INVENTED, delay=0.001, usage=untold), bench.finish("ok")])
    result = await bench.turn("go")
    assert bench.vendor.messages[0].closed_early
    first, second = bench.kinds("usage")
    told = second.usage.total_tokens - second.usage.output_tokens
    assert 0.5 * told < first.usage.input_tokens < 2 * told
    assert result.usage.total_tokens == first.usage.total_tokens + second.usage.total_tokens


async def test_an_answer_that_a_stop_sequence_always_cuts_is_not_shown_as_whole(bench: Bench):
    text = "Thought: t\nAction: Finish[so" if bench.dialect == "react" else "so"
    bench.vendor.reset([VendorReply(text=text, stop_reason="stop_sequence", stop_sequence="\n#", times=0)])
    result = await bench.turn("go")
    assert (result.stop_reason, len(bench.vendor.messages)) == ("token_limit", 4)
    assert "stop sequence" in (await bench.session.read(result.chat_id)).messages[-1].content
