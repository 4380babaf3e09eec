"""Chat Completions: what is read, of streams as they come from endpoints of all kinds (P-4, P-5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codelaw.domain.models import (
    CallBlock,
    Delta,
    KeptBlock,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from tests.fakes.completions import (
    CALLS,
    again,
    asking,
    call,
    delta,
    made,
    read,
    request,
)
from tests.loopback.script import VendorReply
from tests.loopback.scripted import Raw


@pytest.mark.parametrize(
    "chunks",
    [
        [call("Read", '{"path": "a"}', index=0, id="1"), call("LS", "{}", index=0, id="2")],
        [call("Read", '{"path": "a"}', index=0, id="1"), call("LS", "{}", index=0, id="1")],
        [call("Read", '{"path": "a"}', index=0), call("LS", "{}", index=0)],
        [call("Read", '{"path": "a"}', id="1"), call("LS", "", id="2")],
        [call("Read", '{"path": "a"}'), call("LS", "")],
        [call("Read", {"path": "a"}, id=""), call("LS", {}, id="")],
        [call("Read", "", index=0, id="1"), call(None, '{"pa'), call(None, 'th": "a"}'), call("LS", "{}", id="2")],
        [call("Read", "", index=0, id="1"), call("LS", "", index=1, id="2"), call(None, '{"path": "a"}', index=0)],
        [call("Read", '{"path": ', index=0, id="1"), call("Read", '"a"}', index=0, id="1"), call("LS", "", index=1)],
        [call("Read", '{"path": "a"}', index=0, id="1"), call("Read", '{"path": "a"}', index=0, id="1"), call("LS", "")],
        [call("Read", '{"path": "a"}', index=7, id="1"), call("LS", None, index=3, id="1")],
    ],
    ids=["index 0 for all", "and one id", "and no id", "no index", "neither", "objects", "pieces without index",
         "mixed pieces", "names again", "a whole call again", "odd indices"],
)  # fmt: skip
@pytest.mark.parametrize("finish", ["tool_calls", "stop", None])
async def test_calls_are_told_apart_whatever_names_them(chunks: list[Any], finish: str | None) -> None:
    reply = await read(*chunks, *([delta(finish)] if finish else []))
    assert made(reply) == [("Read", {"path": "a"}), ("LS", {})]
    assert (reply.stop_reason, reply.broken_calls) == ("tool_use", ())


async def test_two_calls_of_one_tool_without_index_or_id_are_two() -> None:
    reply = await read(call("Read", '{"path": "a"}'), call("Read", '{"path": "b"}'), delta("stop"))
    assert made(reply) == [("Read", {"path": "a"}), ("Read", {"path": "b"})]


async def test_what_was_signed_stays_with_its_call_where_one_is_broken() -> None:
    def signed(name: str, arguments: str, seal: str) -> dict[str, Any]:
        return call(name, arguments, extra_content={"google": {"thought_signature": seal}})

    reply = await read(signed("Read", '{"path": ', "s0"), signed("LS", "{}", "s1"), delta("stop"))
    assert (made(reply), reply.broken_calls[0].arguments_text) == ([("LS", {})], '{"path": ')
    back: list[str] = []
    for one in again(reply)[0].blocks:
        if isinstance(one, CallBlock):
            back.append(one.call.tool)
        elif isinstance(one, KeptBlock):
            back.append(json.loads(one.item.body)["tool_calls"][0]["extra_content"]["google"]["thought_signature"])
    assert back == ["s1", "LS", "s0", "Read"]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("<think>a < b </thi</think>\n\nSo.", "a < b </thi", "So."),
        ("\n <think>only this", "only this", ""),
        ("<think></think>So.", "", "So."),
        ("<thinking>So.", "", "<thinking>So."),
        ("A <think>x</think>", "", "A <think>x</think>"),
        ("<thi", "", "<thi"),
        (" " * 200, "", " " * 200),
    ],
)
async def test_thinking_within_the_text_is_told_apart(text: str, thought: str, said: str, size: int) -> None:
    heard: list[Delta] = []
    pieces = [delta(content=text[place : place + size]) for place in range(0, len(text), size)]
    reply = await read(*pieces, delta("stop"), heard=heard)
    assert (reply.text, reply.items) == (said, ())
    assert "".join(one.text for one in heard if isinstance(one, ThinkingDelta)) == thought
    assert "".join(one.text for one in heard if isinstance(one, TextDelta)) == said


@pytest.mark.parametrize(
    ("chunks", "usage"),
    [
        ([delta("stop")], Usage()),
        ([{"choices": [delta("stop")], "usage": None}, {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}],
         Usage(9, 0, 0, 2)),
        ([delta("stop"), {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}], Usage(9, 0, 0, 2)),
        ([{**delta("stop"), "usage": {"prompt_tokens": 9, "cached_tokens": 4, "completion_tokens": 2}}], Usage(5, 4, 0, 2)),
        ([{"choices": [delta("stop")], "x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}}], Usage(9, 0, 0, 2)),
        ([{"choices": [delta("stop")], "usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4, "completion_tokens": 2,
                                                 "total_tokens": 11}}], Usage(5, 4, 0, 2)),
        ([{"choices": [delta("stop")], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 20}}],
         Usage(9, 0, 0, 11)),
        ([{"choices": [delta("stop")], "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
          {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}], Usage(9, 0, 0, 2)),
        ([{"choices": [delta("stop")], "usage": {}}], Usage()),
    ],
    ids=["none", "choice-less", "without choices", "in a choice", "x_groq", "deepseek", "thought beside", "growing", "empty"],
)  # fmt: skip
async def test_usage_is_found_wherever_it_stands(chunks: list[Any], usage: Usage) -> None:
    reply = await read(delta(content="a"), *chunks)
    assert (reply.usage, reply.doubted) == (usage, False)


async def test_usage_that_cannot_be_is_doubted() -> None:
    for said in ({"prompt_tokens": 9, "cached_tokens": 10}, {"prompt_tokens": -1}, {"prompt_tokens": "9"}):
        assert (await read(delta("stop", content="a"), {"choices": [], "usage": said})).doubted, said


@pytest.mark.parametrize(
    ("finish", "expected"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("model_length", "max_tokens"), ("content_filter", "refusal"),
     ("content_filter: RECITATION", "refusal"), ("eos", "end_turn"), (None, "end_turn")],
)  # fmt: skip
async def test_stop_reasons(finish: str | None, expected: str) -> None:
    reply = await read(delta(content="words"), *([delta(finish)] if finish else []))
    assert (reply.stop_reason, reply.refusal) == (expected, "content_filter" if expected == "refusal" else "")


async def test_a_refusal_in_words_is_one() -> None:
    reply = await read(delta(refusal="I will "), delta("stop", refusal="not."))
    assert (reply.stop_reason, reply.refusal) == ("refusal", "I will not.")


WHOLE = {
    "id": "x", "object": "chat.completion", "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    "choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": "So.", "reasoning_content": "Hm.",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "LS", "arguments": "{}"}}]}}],
}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 2])
async def test_a_whole_completion_instead_of_a_stream_is_read(indent: int | None) -> None:
    raw = Raw(json.dumps(WHOLE, indent=indent).encode(), "application/json; charset=utf-8")
    async with asking("openai", raw) as (_, model):
        reply = await model.reply(request(), lambda _: None)
    assert (reply.text, made(reply), reply.usage) == ("So.", [("LS", {})], Usage(9, 0, 0, 2))
    assert json.loads(reply.items[0].body) == {"reasoning_content": "Hm."}


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", ""])
async def test_a_stream_under_another_name_is_read(content_type: str) -> None:
    assert (await read(delta(content="a"), delta("stop"), content_type=content_type)).text == "a"


async def test_a_stream_that_a_proxy_buffers_is_read() -> None:
    async with asking("gemini", VendorReply(text="words", calls=CALLS), buffered=True) as (_, model):
        reply = await model.reply(request(), lambda _: None)
    assert (reply.text, len(reply.calls)) == ("words", 2)


@pytest.mark.parametrize(("written", "arguments"), [("null", {}), (" {} ", {}), ("[]", None), ("7", None), ("{", None)])
async def test_arguments_that_are_none_and_those_that_are_no_object(written: str, arguments: Any) -> None:
    reply = await read(call("LS", written, index=0, id="1"), delta("tool_calls"))
    assert made(reply) == ([] if arguments is None else [("LS", arguments)])
    assert [one.arguments_text for one in reply.broken_calls] == ([written] if arguments is None else [])
