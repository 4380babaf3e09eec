"""Responses: what is sent, what is read, and what becomes of its failures, by a strict vendor on loopback (P-4, P-5)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from codelaw.adapters.models import wire
from codelaw.adapters.models.openai.model import OpenAIModel
from codelaw.domain.errors import ModelFailure
from codelaw.domain.media.images import Image
from codelaw.domain.messages import KeptItems
from codelaw.domain.models import (
    ApiMessage,
    Block,
    CallBlock,
    Delta,
    ImageBlock,
    KeptBlock,
    ModelReply,
    ModelRequest,
    ResultBlock,
    TextBlock,
    TextDelta,
    ThinkingDelta,
    ToolSchema,
    Usage,
)
from tests.loopback.responses import Asked, ResponsesVendor
from tests.loopback.script import VendorReply

KEY = "sk-proj-51f0c3-0815"
STRICT = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
TOOLS = (ToolSchema("Read", "Reads.", STRICT), ToolSchema("LS", "Lists.", {"type": "object", "properties": {}}))
CALL = {"name": "Read", "input": {"path": "a.py"}}


def request(*messages: ApiMessage, **fields: Any) -> ModelRequest:
    said = messages or (ApiMessage("user", (TextBlock("?", "5m"),)),)
    known: dict[str, Any] = {"thinking": "adaptive", "display": "summarized", "tools": TOOLS}
    return ModelRequest("gpt-6.2-sol", (TextBlock("The law.", "5m"),), said, 512, **known | fields)


@asynccontextmanager
async def asking(
    *replies: VendorReply, silence: float = 5, **options: Any
) -> AsyncIterator[tuple[ResponsesVendor, OpenAIModel]]:
    async with ResponsesVendor(*replies, **options) as vendor:
        model = OpenAIModel(KEY, vendor.url, silence=silence)
        try:
            yield vendor, model
        finally:
            await model.close()


async def failure(*replies: VendorReply, silence: float = 5, **options: Any) -> ModelFailure:
    async with asking(*replies, silence=silence, **options) as (_, model):
        with pytest.raises(ModelFailure) as caught:
            await model.reply(request(), lambda _: None)
    assert KEY not in caught.value.message
    return caught.value


def again(reply: ModelReply) -> ApiMessage:
    """A reply as it goes back."""
    kept = KeptItems("openai", reply.items)
    blocks: list[Block] = [KeptBlock(item, kept) for item in reply.items]
    blocks += [TextBlock(reply.text)] if reply.text else []
    return ApiMessage("assistant", (*blocks, *map(CallBlock, reply.calls)))


async def test_text_thinking_parallel_calls_and_usage_arrive() -> None:
    deltas: list[Delta] = []
    answer = VendorReply(text="I look.", thinking="Let me see.", calls=[CALL, {"name": "LS", "input": {}}], chunk=4)
    async with asking(answer, cached={"cached_tokens": 100, "cache_write_tokens": 50}) as (vendor, model):
        reply = await model.reply(request(), deltas.append)
    assert (reply.text, reply.stop_reason) == ("I look.", "tool_use")
    assert [(call.tool, dict(call.arguments)) for call in reply.calls] == [("Read", {"path": "a.py"}), ("LS", {})]
    assert "".join(one.text for one in deltas if isinstance(one, ThinkingDelta)) == "Let me see."
    assert "".join(one.text for one in deltas if isinstance(one, TextDelta)) == "I look."
    sent = len(vendor.requests[0].body) // 4
    assert reply.usage == Usage(sent, 100, 50, 40, thinking_tokens=16)
    assert not reply.doubted


async def test_the_body_is_what_the_vendor_wants() -> None:
    async with asking(VendorReply(text="a"), VendorReply(text="b")) as (vendor, model):
        await model.reply(request(effort="high"), lambda _: None)
        await model.reply(request(effort="high"), lambda _: None)
    first, second = vendor.requests
    assert first.body == second.body, "equal requests are equal bytes"
    body = first.json()
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
    keys = [asked.json()["prompt_cache_key"] for asked in vendor.requests]
    assert keys[0] == keys[1] != keys[2]


async def test_reasoning_goes_back_as_it_came_until_something_before_it_changes() -> None:
    question = ApiMessage("user", (TextBlock("?"),))
    async with asking(VendorReply(thinking="Hm.", calls=[CALL]), *[VendorReply(text="done")] * 3) as (vendor, model):
        reply = await model.reply(request(question), lambda _: None)
        answered = ApiMessage("user", (ResultBlock(reply.calls[0].id, "text of a.py"),))
        kept = await model.reply(request(question, again(reply), answered), lambda _: None)
        edited = ApiMessage("user", (TextBlock("another"),))
        lost = await model.reply(request(edited, again(reply), answered), lambda _: None)
    back = vendor.requests[1].json()["input"]
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
    assert vendor.requests[1].json()["input"][2]["phase"] == "commentary"


async def test_pictures_are_sent_in_messages_and_results() -> None:
    picture = Image("image/png", 1, 1, 3, "d1")
    call = VendorReply(calls=[CALL])
    async with asking(call, VendorReply(text="seen")) as (vendor, model):
        question = ApiMessage("user", (ImageBlock(picture, "no picture"), TextBlock("?")))
        images = {"d1": b"png"}
        reply = await model.reply(request(question, images=images), lambda _: None)
        result = ResultBlock(reply.calls[0].id, "this", images=(picture,), instead="no picture")
        await model.reply(request(question, again(reply), ApiMessage("user", (result,))), lambda _: None)
    assert vendor.requests[0].json()["input"][1]["content"][0]["image_url"].startswith("data:image/png;base64,")
    parts = vendor.requests[1].json()["input"]
    assert parts[1]["content"][0] == {"type": "input_text", "text": "no picture"}
    assert parts[-1]["output"][1] == {"type": "input_text", "text": "no picture"}


OVERFLOW = "Your input exceeds the context window of this model. Please adjust your input and try again."


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (VendorReply(status=400, error_type="invalid_request_error", error_message=OVERFLOW), "overflow"),
        (
            VendorReply(text="a", stop_reason="failed", error_type="context_length_exceeded", error_message=OVERFLOW),
            "overflow",
        ),
        (VendorReply(text="a", stop_reason="failed", error_type="server_error"), "server"),
        (VendorReply(text="a", stop_reason="failed", error_type="rate_limit_exceeded"), "rate_limit"),
        (
            VendorReply(text="a", broken="error_event", error_type="context_length_exceeded", error_message=OVERFLOW),
            "overflow",
        ),
        (VendorReply(text="a", stop_reason="failed", error_type="bio_policy"), "refused"),
        (VendorReply(status=429, error_type="requests", error_message="Rate limit reached"), "rate_limit"),
        (
            VendorReply(status=429, error_type="insufficient_quota", error_message="You exceeded your current quota"),
            "spending",
        ),
        (
            VendorReply(status=401, error_type="invalid_request_error", error_message=f"Incorrect API key: {KEY}"),
            "auth",
        ),
        (VendorReply(status=503, error_type="server_error"), "server"),
        (VendorReply(broken="reset_before"), "network"),
        (VendorReply(text="half of it", broken="reset"), "network"),
        (VendorReply(text="half of it", broken="end"), "truncated"),
    ],
)
async def test_failures_are_sorted(reply: VendorReply, kind: str) -> None:
    assert (await failure(reply)).kind == kind


async def test_a_limit_of_rate_says_how_long_it_lasts() -> None:
    limited = VendorReply(status=429, error_type="tokens", headers={"retry-after-ms": "1500"})
    assert (await failure(limited)).retry_after == 1.5


async def test_a_used_up_limit_is_waited_for_before_the_next_request() -> None:
    names = ("limit-requests", "remaining-requests", "reset-requests")
    headers = {f"x-ratelimit-{name}": value for name, value in zip(names, ("10", "0", "1m0s"), strict=True)}
    async with asking(VendorReply(text="a", headers=headers)) as (vendor, model):
        await model.reply(request(), lambda _: None)
        with pytest.raises(ModelFailure, match="rate limit is used up"):
            await model.reply(request(), lambda _: None)
        assert len(vendor.requests) == 1


@pytest.mark.parametrize(
    ("stop", "expected"), [("max_tokens", "max_tokens"), ("refusal", "refusal"), (None, "end_turn")]
)
async def test_stop_reasons(stop: str | None, expected: str) -> None:
    async with asking(VendorReply(text="words", stop_reason=stop)) as (_, model):
        reply = await model.reply(request(), lambda _: None)
    assert (reply.stop_reason, reply.refusal) == (expected, "content_filter" if stop == "refusal" else "")


async def test_calls_that_are_no_objects_are_broken() -> None:
    async with asking(VendorReply(calls=[{"name": "Read", "json": '{"path": '}])) as (_, model):
        reply = await model.reply(request(), lambda _: None)
    assert (reply.calls, reply.broken_calls[0].arguments_text) == ((), '{"path": ')


async def test_silence_is_a_broken_stream() -> None:
    reported = await failure(VendorReply(text="a", broken="silence", silence=20), silence=0.4)
    assert (reported.kind, "silent" in reported.message) == ("network", True)


async def test_a_whole_call_is_run_when_nothing_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "QUIET_SECONDS", 0.2)
    async with asking(VendorReply(calls=[CALL], broken="silence", behind=True)) as (_, model):
        reply = await model.reply(request(), lambda _: None)
    assert (reply.stop_reason, len(reply.calls)) == ("closed", 1)


async def test_a_text_that_is_enough_closes_the_stream() -> None:
    async with asking(VendorReply(text="</Finish> and a lot more", broken="silence", chunk=9)) as (vendor, model):
        pieces: list[str] = []

        def heard(delta: Delta) -> bool:
            pieces.append(delta.text if isinstance(delta, TextDelta) else "")
            return "</Finish>" in "".join(pieces)

        vendor.script[0] = VendorReply(text="</Finish> and a lot more", chunk=9)
        reply = await model.reply(request(tools=(), stop_sequences=("x",)), heard)
    assert reply.stop_reason == "closed"
    assert "stop" not in vendor.requests[0].json()


async def test_cancelling_closes_the_connection_at_once() -> None:
    async with asking(VendorReply(text="a", broken="silence", silence=20)) as (vendor, model):
        heard = asyncio.Event()
        task = asyncio.create_task(model.reply(request(), lambda _: heard.set()))
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(5):
            while not vendor.requests[0].closed_early:
                await asyncio.sleep(0.01)


async def test_an_older_endpoint_is_asked_without_breakpoints_from_then_on() -> None:
    async with asking(VendorReply(text="a"), VendorReply(text="b"), newer=False) as (vendor, model):
        said = 'a text with ,"prompt_cache_breakpoint":{"mode":"explicit"} in it'
        plain = request(ApiMessage("user", (TextBlock(said.replace("prompt_cache", "prompt-cache")),)))
        assert (await model.reply(plain, lambda _: None)).text == "a"
        assert (await model.reply(plain, lambda _: None)).text == "b"
    assert [asked.status for asked in vendor.requests] == [400, 200, 200]


@pytest.mark.parametrize(("name", "known"), [("gpt-6.2-sol", True), ("nobody", False)])
async def test_the_endpoint_says_which_models_it_has(name: str, *, known: bool) -> None:
    async with asking() as (_, model):
        assert await model.offers(name) is known


async def test_what_the_fake_streams_is_what_the_sdk_reads() -> None:
    from openai.types.responses import ResponseStreamEvent
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    vendor = ResponsesVendor()
    asked = Asked("POST", "/v1/responses", {}, json.dumps({"model": "m", "input": []}).encode(), 1, 0.0, 0.0)
    answers = [
        VendorReply(thinking="Hm.", text="words", calls=[CALL], blocks=[{"text": "note"}]),
        VendorReply(stop_reason="max_tokens"),
        VendorReply(stop_reason="failed", error_type="server_error"),
    ]
    kinds: list[str] = []
    for answer in answers:
        for place, (name, data) in enumerate(vendor.events(asked, answer, 1)):
            parsed = adapter.validate_python({**data, "sequence_number": place})
            assert parsed.type == name
            kinds.append(name)
    assert {"response.completed", "response.incomplete", "response.failed"} <= {*kinds}
