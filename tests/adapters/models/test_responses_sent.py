"""Responses: what is sent, and what of a reply goes back, as a strict vendor on loopback takes it (P-4, P-5)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from codelaw.domain.errors import ModelFailure
from codelaw.domain.media.images import Image
from codelaw.domain.messages import KeptItem, KeptItems
from codelaw.domain.models import (
    ApiMessage,
    Delta,
    ImageBlock,
    KeptBlock,
    ResultBlock,
    TextBlock,
    ThinkingDelta,
)
from tests.adapters.models.responding import CALL, KEY, again, asking, request
from tests.loopback.script import VendorReply


async def test_the_body_is_what_the_vendor_wants() -> None:
    async with asking(VendorReply(text="a"), VendorReply(text="b")) as (vendor, model):
        await model.reply(request(effort="high"), lambda _: None)
        await model.reply(request(effort="high"), lambda _: None)
    first, second = vendor.requests
    assert first.body == second.body, "equal requests are equal bytes"
    body = first.json
    assert body["input"][0]["role"] == "developer"
    assert body["input"][0]["content"][0]["prompt_cache_breakpoint"] == {"mode": "explicit"}
    assert body["reasoning"] == {"effort": "high", "summary": "auto"}
    assert body["include"] == ["reasoning.encrypted_content"]
    assert [tool["strict"] for tool in body["tools"]] == [True, False]
    assert len(body["prompt_cache_key"]) == 32
    assert first.headers["authorization"] == f"Bearer {KEY}"


async def test_a_chat_keeps_its_cache_key() -> None:
    async with asking(VendorReply(text="a"), VendorReply(text="b"), VendorReply(text="c")) as (vendor, model):
        for words in (["?"], ["?", "a", "more"], ["other"]):
            roles = ("user", "assistant", "user")
            said = [ApiMessage(roles[place], (TextBlock(word),)) for place, word in enumerate(words)]  # pyright: ignore[reportArgumentType]
            await model.reply(request(*said), lambda _: None)
    keys = [asked.json["prompt_cache_key"] for asked in vendor.requests]
    assert keys[0] == keys[1] != keys[2]


async def test_reasoning_goes_back_as_it_came_until_something_before_it_changes() -> None:
    question = ApiMessage("user", (TextBlock("?"),))
    async with asking(VendorReply(thinking="Hm.", calls=[CALL]), *[VendorReply(text="done")] * 3) as (vendor, model):
        reply = await model.reply(request(question), lambda _: None)
        answered = ApiMessage("user", (ResultBlock(reply.calls[0].id, "text of a.py"),))
        kept = await model.reply(request(question, again(reply), answered), lambda _: None)
        edited = ApiMessage("user", (TextBlock("another"),))
        lost = await model.reply(request(edited, again(reply), answered), lambda _: None)
    back = vendor.requests[1].json["input"]
    assert [item["type"] for item in back] == [
        "message",
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert vendor.requests[1].removed == []
    assert kept.cache_miss == ""
    assert vendor.requests[2].removed == [back[2]["id"]]
    assert lost.cache_miss == "messages_changed"


@pytest.mark.parametrize(
    "damage",
    [lambda item: {**item, "encrypted_content": "zz.00"}, lambda item: {**item, "encrypted_content": None}],
    ids=["damaged", "bare"],
)
async def test_reasoning_that_is_not_taken_back_is_a_failure_of_the_items(damage: Callable[[Any], Any]) -> None:
    async with asking(VendorReply(thinking="Hm.", text="a"), VendorReply(text="b")) as (_, model):
        question = ApiMessage("user", (TextBlock("?"),))
        reply = await model.reply(request(question), lambda _: None)
        item = reply.items[0]
        object.__setattr__(item, "body", json.dumps(damage(json.loads(item.body))))
        with pytest.raises(ModelFailure) as caught:
            await model.reply(request(question, again(reply), question), lambda _: None)
    assert caught.value.kind == "items"


async def test_notes_on_the_progress_are_shown_as_such_and_go_back() -> None:
    deltas: list[Delta] = []
    question = ApiMessage("user", (TextBlock("?"),))
    first = VendorReply(blocks=[{"text": "Reading a.py."}], calls=[CALL])
    async with asking(first, VendorReply(text="done")) as (vendor, model):
        reply = await model.reply(request(question), deltas.append)
        answered = ApiMessage("user", (ResultBlock(reply.calls[0].id, "x"),))
        await model.reply(request(question, again(reply), answered), lambda _: None)
    notes = [one for one in deltas if isinstance(one, ThinkingDelta)]
    assert "".join(note.text for note in notes) == "Reading a.py."
    assert all(note.progress for note in notes)
    assert reply.text == ""
    assert vendor.requests[1].json["input"][2]["phase"] == "commentary"


async def test_texts_go_back_with_their_phase() -> None:
    question = ApiMessage("user", (TextBlock("?"),))
    async with asking(VendorReply(thinking="Hm.", text="The answer."), *[VendorReply(text="b")] * 2) as (vendor, model):
        reply = await model.reply(request(question), lambda _: None)
        await model.reply(request(question, again(reply), question), lambda _: None)
        other = ApiMessage("assistant", (TextBlock("Another's answer."),))
        await model.reply(request(question, other, question), lambda _: None)
    assert reply.text == "The answer."
    _, _, thought, said, _ = vendor.requests[1].json["input"]
    assert (thought["type"], said["phase"], said["content"][0]["text"]) == ("reasoning", "final_answer", "The answer.")
    assert vendor.requests[1].removed == []
    assert "phase" not in vendor.requests[2].json["input"][2]


async def test_what_another_wire_keeps_does_not_go_along() -> None:
    question = ApiMessage("user", (TextBlock("?"),))
    kept = KeptItems("openai", (KeptItem(json.dumps({"type": "thinking", "thinking": "", "signature": "x"})),))
    answer = ApiMessage("assistant", (KeptBlock(kept.items[0], kept), TextBlock("a")))
    async with asking(VendorReply(text="b")) as (vendor, model):
        await model.reply(request(question, answer, question), lambda _: None)
    assert [item["type"] for item in vendor.requests[0].json["input"]] == ["message"] * 4


async def test_reasoning_without_its_content_is_not_kept() -> None:
    """An endpoint that does not know `include` gives none, and has stored none."""
    question = ApiMessage("user", (TextBlock("?"),))
    async with asking(VendorReply(thinking="Hm.", text="a"), VendorReply(text="b")) as (_, model):
        reply = await model.reply(request(question, thinking=None), lambda _: None)
        assert [json.loads(item.body)["type"] for item in reply.items] == ["message"]
        assert (await model.reply(request(question, again(reply), question), lambda _: None)).text == "b"


async def test_a_model_can_be_told_not_to_think() -> None:
    async with asking(VendorReply(text="a")) as (vendor, model):
        said = replace(request(thinking="disabled", display=None), model="gpt-6-luna")
        await model.reply(said, lambda _: None)
    body = vendor.requests[0].json
    assert (body["reasoning"], "include" in body) == ({"effort": "none"}, False)


async def test_pictures_are_sent_in_messages_and_results() -> None:
    picture = Image("image/png", 1, 1, 3, "d1")
    call = VendorReply(calls=[CALL])
    async with asking(call, *[VendorReply(text="seen")] * 2) as (vendor, model):
        question = ApiMessage("user", (ImageBlock(picture, "no picture"), TextBlock("?")))
        images = {"d1": b"png"}
        reply = await model.reply(request(question, images=images), lambda _: None)
        result = ResultBlock(reply.calls[0].id, "this", images=(picture,), instead="no picture")
        answered = (question, again(reply), ApiMessage("user", (result,)))
        for shown in (images, {}):
            await model.reply(request(*answered, images=shown), lambda _: None)
    seen = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{b64encode(b'png').decode()}"}
    unseen = {"type": "input_text", "text": "no picture"}
    for asked, part in zip(vendor.requests[1:], (seen, unseen), strict=True):
        items = asked.json["input"]
        assert items[1]["content"] == [part, {"type": "input_text", "text": "?"}]
        assert items[-1]["output"] == [{"type": "input_text", "text": "this"}, part]


async def test_breakpoints_stand_where_the_vendor_takes_them() -> None:
    picture = Image("image/png", 1, 1, 3, "d1")
    call = VendorReply(calls=[CALL])
    async with asking(call, VendorReply(text="a")) as (vendor, model):
        question = ApiMessage("user", (TextBlock("?"), ImageBlock(picture, "no picture", "1h")))
        reply = await model.reply(request(question), lambda _: None)
        result = ApiMessage("user", (ResultBlock(reply.calls[0].id, "text", breakpoint="5m"),))
        await model.reply(request(question, again(reply), result), lambda _: None)
    first, second = (asked.json for asked in vendor.requests)
    assert first["prompt_cache_options"] == {"mode": "explicit"}
    long = {"type": "input_text", "text": "no picture", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}
    assert second["input"][1]["content"] == [{"type": "input_text", "text": "?"}, long]
    marked = {"type": "input_text", "text": "text", "prompt_cache_breakpoint": {"mode": "explicit"}}
    assert second["input"][-1]["output"] == [marked]


async def test_an_older_endpoint_is_asked_without_breakpoints_from_then_on() -> None:
    async with asking(VendorReply(text="a"), VendorReply(text="b"), newer=False) as (vendor, model):
        said = 'a text with ,"prompt_cache_breakpoint":{"mode":"explicit"} in it'
        plain = request(ApiMessage("user", (TextBlock(said.replace("prompt_cache", "prompt-cache")),)))
        assert (await model.reply(plain, lambda _: None)).text == "a"
        assert (await model.reply(plain, lambda _: None)).text == "b"
    assert [asked.status for asked in vendor.requests] == [400, 200, 200]
    assert said.replace("prompt_cache", "prompt-cache") == vendor.requests[1].json["input"][1]["content"][0]["text"]


async def test_a_refusal_that_leaving_out_does_not_mend_changes_nothing() -> None:
    refused = VendorReply(status=400, error_type="invalid_request_error", error_message="Unknown: 'include[0]'.")
    async with asking(refused, refused, VendorReply(thinking="Hm.", text="a")) as (vendor, model):
        with pytest.raises(ModelFailure, match="include"):
            await model.reply(request(), lambda _: None)
        await model.reply(request(), lambda _: None)
    assert ["include" in asked.json for asked in vendor.requests] == [True, False, True]


@pytest.mark.parametrize(
    "words",
    [
        "Encrypted content is not supported with this model.",
        "Your organization must be verified to generate reasoning summaries.",
    ],
)
async def test_what_a_model_does_not_take_is_left_out_from_then_on_for_it_alone(words: str) -> None:
    refused = VendorReply(status=400, error_type="invalid_request_error", error_message=words)
    async with asking(refused, *[VendorReply(text="a")] * 3) as (vendor, model):
        for name in ("gpt-6.2-sol", "gpt-6.2-sol", "gpt-6.2-astra"):
            await model.reply(replace(request(), model=name), lambda _: None)
    whole = [{"include", "reasoning"} <= asked.json.keys() for asked in vendor.requests]
    assert whole == [True, False, False, True]
