"""Chat Completions: what is sent, and what goes back, with each of the vendors (P-4, P-5)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from codelaw.adapters.models.openai.model import OpenAIModel
from codelaw.domain.errors import ModelFailure
from codelaw.domain.media.images import Image
from codelaw.domain.messages import Call, KeptItem, KeptItems
from codelaw.domain.models import (
    ApiMessage,
    CallBlock,
    Delta,
    ImageBlock,
    KeptBlock,
    ResultBlock,
    TextBlock,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from tests.fakes.completions import (
    CALLS,
    KEY,
    QUESTION,
    TOOLS,
    again,
    asking,
    made,
    request,
)
from tests.loopback.completion_rules import FLAVOURS, SKIP
from tests.loopback.completions import Asked, CompletionsVendor
from tests.loopback.responses import ResponsesVendor
from tests.loopback.script import VendorReply


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_text_thinking_parallel_calls_and_usage_of_each_vendor(flavour: str) -> None:
    deltas: list[Delta] = []
    answer = VendorReply(text="I look.", thinking="Let me see.", calls=CALLS, chunk=4)
    async with asking(flavour, answer, VendorReply(text="So it is."), VendorReply(text="Yes.")) as (vendor, model):
        reply = await model.reply(request(effort="high"), deltas.append)
        spoken = (QUESTION, *again(reply, "text of a.py", "a.py"))
        second = await model.reply(request(*spoken, effort="high"), lambda _: None)
        spoken = (*spoken, *again(second), ApiMessage("user", (TextBlock("Sure?"),)))
        await model.reply(request(*spoken, effort="high"), lambda _: None)
    how = FLAVOURS[flavour]
    assert (reply.text, reply.stop_reason, second.stop_reason) == ("I look.", "tool_use", "end_turn")
    assert made(reply) == [("Read", CALLS[0]["input"]), ("LS", {})]
    thoughts = "".join(one.text for one in deltas if isinstance(one, ThinkingDelta))
    assert thoughts == ("Let me see." if how.thinks else "")
    assert "".join(one.text for one in deltas if isinstance(one, TextDelta)) == "I look."
    unknown = {"mistral": 1, "groq": 1, "newer": 1, "plain400": 1, "plain422": 1}.get(flavour, 0)
    first = vendor.answered[0]
    sent = len(first.body) // 4
    counted = how.usage != "asked" or "stream_options" in first.json
    assert reply.usage == (Usage(sent - 8, 8, 0, 40, thinking_tokens=16) if counted else Usage())
    assert not reply.doubted
    asked = [one.status for one in vendor.requests]
    assert asked.count(200) == 3
    assert len(vendor.refused) <= 3 * unknown, vendor.refused
    if how.thinks not in {"", "tag"} and flavour != "groq":
        for one in vendor.answered[1:]:
            assert (vendor.given[0]["thinking"][0]["text"] if how.thinks == "parts" else "") in json.dumps(one.said[0])


@pytest.mark.parametrize("flavour", ["gemini", "deepseek", "openrouter", "mistral", "ollama", "moonshot", "xai"])
async def test_what_a_vendor_wants_back_goes_back_as_it_came(flavour: str) -> None:
    answer = VendorReply(text="I look.", thinking="Let me see.", calls=CALLS, chunk=4)
    async with asking(flavour, answer, VendorReply(text="So it is.")) as (vendor, model):
        reply = await model.reply(request(), lambda _: None)
        await model.reply(request(QUESTION, *again(reply, "text", "a.py")), lambda _: None)
    said = vendor.answered[-1].said[0]
    match flavour:
        case "gemini":
            assert "thought_signature" in json.dumps(said["tool_calls"][0])
            assert "extra_content" not in said["tool_calls"][1]
            assert SKIP not in json.dumps(said)
        case "mistral":
            assert said["content"] == [vendor.given[0], {"type": "text", "text": "I look."}]
        case "openrouter":
            assert said["reasoning_details"] == vendor.given[0]
        case _:
            assert said[FLAVOURS[flavour].thinks] == vendor.given[0]
    assert [one.status for one in vendor.requests if one.status != 200] == ([422] if flavour == "mistral" else [])


@pytest.mark.parametrize("flavour", ["gemini", "deepseek", "mistral", "groq"])
async def test_turns_of_other_models_are_taken_after_one_refusal_at_most(flavour: str) -> None:
    calls = (CallBlock(Call("toolu_1", "Read", {"path": "a"})), CallBlock(Call("toolu_2", "LS", {})))
    results = (ResultBlock("toolu_1", "x"), ResultBlock("toolu_2", "y"), TextBlock("And now?"))
    spoken = (QUESTION, ApiMessage("assistant", (TextBlock("Hm."), *calls)), ApiMessage("user", results))
    async with asking(flavour, VendorReply(text="a"), VendorReply(text="b")) as (vendor, model):
        for _ in range(2):
            await model.reply(request(*spoken), lambda _: None)
    refused = {"gemini": 1, "deepseek": 1, "mistral": 2, "groq": 0}[flavour]
    assert [one.status for one in vendor.requests][-2:] == [200, 200]
    assert len(vendor.requests) == 2 + refused, vendor.refused


async def test_a_signature_that_is_refused_can_be_left_out() -> None:
    async with asking("gemini", VendorReply(calls=CALLS), VendorReply(text="a")) as (_, model):
        reply = await model.reply(request(), lambda _: None)
        object.__setattr__(reply.items[0], "body", reply.items[0].body.replace('signature": "', 'signature": "x'))
        with pytest.raises(ModelFailure) as caught:
            await model.reply(request(QUESTION, *again(reply, "x", "y")), lambda _: None)
    assert caught.value.kind == "items"
    assert all(item.bound for item in reply.items)


async def test_equal_requests_are_equal_bytes_and_the_key_goes_as_a_bearer() -> None:
    async with asking("openai", VendorReply(text="a"), VendorReply(text="b")) as (vendor, model):
        for _ in range(2):
            await model.reply(request(effort="high"), lambda _: None)
    first, second = vendor.requests
    assert first.body == second.body
    assert first.headers["authorization"] == f"Bearer {KEY}"
    body = first.json
    assert body.pop("tools")[0]["function"] == {
        "name": "Read", "description": "Reads.", "parameters": TOOLS[0].input_schema
    }  # fmt: skip
    assert body == {
        "model": "some-model", "max_tokens": 512, "stream": True, "stream_options": {"include_usage": True},
        "reasoning_effort": "high",
        "messages": [{"role": "system", "content": "The law."}, {"role": "user", "content": "?"}],
    }  # fmt: skip


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_pictures_of_results_follow_behind_them(flavour: str) -> None:
    picture, lost = Image("image/png", 1, 1, 3, "d1"), Image("image/png", 1, 1, 3, "d2")
    async with asking(flavour, VendorReply(calls=CALLS[:1]), VendorReply(text="seen")) as (vendor, model):
        question = ApiMessage("user", (ImageBlock(picture, "no picture"), TextBlock("?")))
        reply = await model.reply(request(question, images={"d1": b"png"}), lambda _: None)
        said, _ = again(reply, "x")
        result = ResultBlock(said.blocks[-1].call.id, "this", images=(picture, lost), instead="no picture")  # type: ignore[union-attr]
        await model.reply(request(question, said, ApiMessage("user", (result,)), images={"d1": b"png"}), lambda _: None)
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}}
    sent = vendor.answered[-1].json["messages"]
    assert sent[1]["content"] == [url, {"type": "text", "text": "?"}]
    assert sent[3]["content"] == "this\n\nno picture"
    assert sent[-1] == {"role": "user", "content": [url]}


@pytest.mark.parametrize("flavour", ["openai", "deepseek", "openrouter", "groq"])
@pytest.mark.parametrize("answer", [VendorReply(text="words", thinking="Hm.", calls=CALLS, chunk=3), VendorReply(text="cut", stop_reason="max_tokens")])  # fmt: skip
async def test_what_is_read_is_what_the_sdk_reads(flavour: str, answer: VendorReply) -> None:
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    vendor = CompletionsVendor(flavour)
    body = json.dumps({"model": "m", "messages": [], "stream_options": {"include_usage": True}}).encode()
    state: Any = ChatCompletionStreamState()
    for chunk in vendor.bodies(Asked("POST", "", {}, body, 1, 0.0, 0.0), answer, 1):
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    theirs = state.current_completion_snapshot
    async with asking(flavour, answer) as (_, model):
        ours = await model.reply(request(), lambda _: None)
    choice = theirs.choices[0]
    assert ours.text == choice.message.content
    assert made(ours) == [
        (one.function.name, json.loads(one.function.arguments)) for one in choice.message.tool_calls or ()
    ]
    assert (ours.stop_reason == "max_tokens") == (choice.finish_reason == "length")
    if theirs.usage is not None:
        assert ours.usage.output_tokens == theirs.usage.completion_tokens


async def test_what_another_wire_has_kept_is_not_sent() -> None:
    kept = KeptItems("m", (KeptItem('{"type": "message", "content": [{"type": "output_text", "text": "x"}]}'),))
    said = ApiMessage("assistant", (KeptBlock(kept.items[0], kept), TextBlock("a")))
    async with asking("openai", VendorReply(text="b")) as (vendor, model):
        await model.reply(request(QUESTION, said, QUESTION), lambda _: None)
    assert vendor.answered[0].said == [{"role": "assistant", "content": "a"}]


async def test_whoever_does_not_know_responses_is_asked_by_chat_completions() -> None:
    async with CompletionsVendor("openai", VendorReply(text="a"), VendorReply(text="b")) as vendor:
        model = OpenAIModel(KEY, vendor.url, wire="responses")
        assert [(await model.reply(request(), lambda _: None)).text for _ in range(2)] == ["a", "b"]
        await model.close()
    paths = [one.path.removeprefix("/v1/") for one in vendor.requests]
    assert paths == ["responses", "chat/completions", "chat/completions"]


async def test_turns_that_learn_it_at_the_same_time_are_all_answered() -> None:
    async with CompletionsVendor("openai", *[VendorReply(text="a", delay=0.05)] * 3) as vendor:
        model = OpenAIModel(KEY, vendor.url, wire="responses")
        replies = await asyncio.gather(*(model.reply(request(), lambda _: None) for _ in range(3)))
        await model.close()
    assert [reply.text for reply in replies] == ["a"] * 3


async def test_a_model_that_is_missing_is_no_reason_to_ask_otherwise() -> None:
    async with ResponsesVendor(VendorReply(status=404, error_message="The model 'x' does not exist")) as vendor:
        model = OpenAIModel(KEY, vendor.url, wire="responses")
        with pytest.raises(ModelFailure) as caught:
            await model.reply(request(max_tokens=64), lambda _: None)
        await model.close()
    assert (caught.value.kind, len(vendor.requests)) == ("unknown_model", 1)
