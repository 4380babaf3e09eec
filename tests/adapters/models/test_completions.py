"""Chat Completions: what is sent, what is read, and what its failures come to, with each of the vendors (P-4, P-5)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from codelaw.adapters.models import wire
from codelaw.adapters.models.openai.model import OpenAIModel
from codelaw.agent.dialects.native import Native
from codelaw.domain.errors import ModelFailure
from codelaw.domain.media.images import Image
from codelaw.domain.messages import Call, KeptItems, Message, Metadata
from codelaw.domain.models import (
    ApiMessage,
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
from tests.loopback.completions import FLAVOURS, SKIP, Asked, CompletionsVendor, Raw
from tests.loopback.script import VendorReply

KEY = "key-51f0c3-0815-of-nobody"
TOOLS = (
    ToolSchema("Read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSchema("LS", "Lists.", {"type": "object", "properties": {}}),
)
CALLS = [{"name": "Read", "input": {"path": 'a "{" \\.py'}}, {"name": "LS", "input": {}}]
QUESTION = ApiMessage("user", (TextBlock("?"),))


def request(*messages: ApiMessage, **fields: Any) -> ModelRequest:
    known: dict[str, Any] = {"tools": TOOLS, "max_tokens": 512} | fields
    return ModelRequest("some-model", (TextBlock("The law."),), messages or (QUESTION,), **known)


@asynccontextmanager
async def asking(
    flavour: str, *replies: VendorReply | Raw, silence: float = 5, **options: Any
) -> AsyncIterator[tuple[CompletionsVendor, OpenAIModel]]:
    async with CompletionsVendor(flavour, *replies, **options) as vendor:
        model = OpenAIModel(KEY, vendor.url, wire="completions", silence=silence)
        try:
            yield vendor, model
        finally:
            await model.close()


async def failure(flavour: str, reply: VendorReply | Raw, silence: float = 5) -> ModelFailure:
    async with asking(flavour, reply, silence=silence) as (_, model):
        with pytest.raises(ModelFailure) as caught:
            await model.reply(request(), lambda _: None)
    assert KEY not in caught.value.message
    return caught.value


def again(reply: ModelReply, *results: str) -> tuple[ApiMessage, ...]:
    """A reply as the engine sends it back, and the results of its calls."""
    read = Native().read(reply, "s")
    calls = tuple(one if isinstance(one, Call) else one.call for one in read.calls)
    kept = KeptItems("m", reply.items) if reply.items else None
    said = Message("m", "t", "assistant", reply.text, Metadata(calls=calls, native=True, kept=kept))
    role, blocks = Native().message(said)
    answers = tuple(ResultBlock(call.id, text) for call, text in zip(calls, results, strict=False))
    messages = (ApiMessage(role, tuple(blocks)),)
    return (*messages, ApiMessage("user", answers)) if answers else messages


def stream(*chunks: Any, done: bool = True, content_type: str = "text/event-stream") -> Raw:
    """A stream by hand; each is a choice, or a whole chunk where it has `choices`."""
    rows = [chunk if not isinstance(chunk, dict) or chunk.keys() & {"choices", "error", "object", "usage"}
            else {"id": "x", "choices": [chunk]} for chunk in chunks]  # fmt: skip
    text = "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + ("data: [DONE]\n\n" if done else "")
    return Raw(text.encode(), content_type)


def delta(finish: str | None = None, /, **fields: Any) -> dict[str, Any]:
    return {"index": 0, "delta": fields, "finish_reason": finish}


def call(name: str | None, arguments: Any, **more: Any) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return delta(tool_calls=[{"type": "function", "function": function, **more}])


async def read(*chunks: Any, heard: list[Delta] | None = None, **more: Any) -> ModelReply:
    async with asking("openai", stream(*chunks, **more)) as (_, model):
        return await model.reply(request(), ([] if heard is None else heard).append)


def made(reply: ModelReply) -> list[tuple[str, Any]]:
    return [(one.tool, dict(one.arguments)) for one in reply.calls]


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
    counted = how.usage != "asked" or "stream_options" in first.json()
    assert reply.usage == (Usage(sent - 8, 8, 0, 40, thinking_tokens=16) if counted else Usage())
    assert not reply.doubted
    asked = [one.status for one in vendor.requests]
    assert asked.count(200) == 3
    assert len(vendor.refused) <= 3 * unknown, vendor.refused
    if how.thinks not in {"", "tag"} and flavour != "groq":
        for one in vendor.answered[1:]:
            assert (vendor.given[0]["thinking"][0]["text"] if how.thinks == "parts" else "") in json.dumps(one.said[0])


@pytest.mark.parametrize("flavour", ["gemini", "deepseek", "openrouter", "mistral", "ollama", "moonshot"])
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
    body = first.json()
    assert body.pop("tools")[0]["function"] == {
        "name": "Read", "description": "Reads.", "parameters": TOOLS[0].input_schema
    }  # fmt: skip
    assert body == {
        "model": "some-model", "max_tokens": 512, "stream": True, "stream_options": {"include_usage": True},
        "reasoning_effort": "high",
        "messages": [{"role": "system", "content": "The law."}, {"role": "user", "content": "?"}],
    }  # fmt: skip


@pytest.mark.parametrize("flavour", ["openai", "mistral"])
async def test_pictures_of_results_follow_behind_them(flavour: str) -> None:
    picture, lost = Image("image/png", 1, 1, 3, "d1"), Image("image/png", 1, 1, 3, "d2")
    async with asking(flavour, VendorReply(calls=CALLS[:1]), VendorReply(text="seen")) as (vendor, model):
        question = ApiMessage("user", (ImageBlock(picture, "no picture"), TextBlock("?")))
        reply = await model.reply(request(question, images={"d1": b"png"}), lambda _: None)
        said, _ = again(reply, "x")
        result = ResultBlock(said.blocks[-1].call.id, "this", images=(picture, lost), instead="no picture")  # type: ignore[union-attr]
        await model.reply(request(question, said, ApiMessage("user", (result,)), images={"d1": b"png"}), lambda _: None)
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}}
    sent = vendor.answered[-1].json()["messages"]
    assert sent[1]["content"] == [url, {"type": "text", "text": "?"}]
    assert sent[3]["content"] == "this\n\nno picture"
    assert sent[-1] == {"role": "user", "content": [url]}


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


GEMINI_FULL = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
LLAMA_FULL = "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"
OPENAI_FULL = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130245 tokens. "
    "Please reduce the length of the messages."
)


@pytest.mark.parametrize(
    ("flavour", "words", "size", "limit"),
    [
        ("openai", OPENAI_FULL, 130_245, 128_000),
        ("gemini", GEMINI_FULL, 1_200_000, 1_048_576),
        ("ollama", LLAMA_FULL, 9_000, 4_096),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
async def test_a_full_window_is_known_by_their_words(
    flavour: str, words: str, size: int, limit: int, *, inside: bool
) -> None:
    reply = VendorReply(status=400, error_message=words, error_type="invalid_request_error")
    if inside:
        body = {"error": {"message": words, "code": 400, "type": "exceed_context_size_error"}}
        raw = stream(delta(content="a"), body, done=False)
        failed = await failure(flavour, raw)
    else:
        failed = await failure(flavour, reply)
    assert (failed.kind, failed.size, failed.limit) == ("overflow", size, limit)


def refused(status: int, message: str = "No.", code: str = "x", **more: Any) -> VendorReply:
    return VendorReply(status=status, error_message=message, error_type=code, **more)


@pytest.mark.parametrize("flavour", ["openai", "gemini", "mistral", "openrouter"])
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refused(401, f"Incorrect API key: {KEY}"), "auth"),
        (refused(400, "API key not valid. Please pass a valid API key."), "auth"),
        (refused(402, "Insufficient Balance"), "spending"),
        (refused(403, "no"), "auth"),
        (refused(404, "models/nobody is not found for API version v1main"), "unknown_model"),
        (refused(400, "Model Not Exist"), "unknown_model"),
        (refused(413, "Request Entity Too Large"), "overflow"),
        (refused(429, "Too many requests"), "rate_limit"),
        (refused(429, "You exceeded your current quota, please check your plan"), "spending"),
        (refused(429, "You exceeded your current quota. Please retry in 27.38s."), "rate_limit"),
        (refused(500), "server"),
        (refused(503, "The model is overloaded."), "server"),
        (refused(400, "Something else"), "invalid"),
        (VendorReply(broken="reset_before"), "network"),
        (VendorReply(text="half of it", broken="reset"), "network"),
        (VendorReply(text="half of it", broken="end"), "truncated"),
        (VendorReply(text="half of it", broken="error_event"), "server"),
    ],
    ids=lambda one: one if isinstance(one, str) else f"{one.status}{one.broken or ''}",
)
async def test_failures_are_sorted_whoever_tells_them(flavour: str, reply: VendorReply, kind: str) -> None:
    failed = await failure(flavour, reply)
    assert failed.kind == kind
    if reply.status == 429 and kind == "rate_limit":
        assert failed.retry_after == (27.38 if "27.38" in reply.error_message else None)
    if reply.broken == "error_event":
        assert reply.error_message in failed.message


@pytest.mark.parametrize(
    ("raw", "kind", "words"),
    [
        (Raw(b'[{"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}]', "application/json"), "server", "Overloaded."),
        (Raw(b'{"error": {"code": 429, "message": "Slow down."}}', "application/json"), "rate_limit", "Slow down."),
        (Raw(b'{"error": "no such thing"}', "application/json"), "server", "no such thing"),
        (Raw(b'{"object": "error", "message": "Bad.", "code": 401}', "application/json"), "auth", "Bad."),
        (stream(delta(content="a"), {"error": {"message": "It died.", "type": "BadRequestError", "code": 400}}), "invalid", "It died."),
        (stream(delta("error", content="a")), "server", "ended by `error`"),
        (stream(delta("insufficient_system_resource", content="a")), "overload", "insufficient"),
        (stream(done=True), "truncated", "before the reply was complete"),
        (stream({"choices": "none"}, done=False), "truncated", ""),
        (stream({"choices": [7]}), "malformed", ""),
        (stream(delta(content=7)), "malformed", ""),
        (stream(call(None, "{}", index=0)), "malformed", "no name"),
        (Raw(b"data: {no json\n\n"), "malformed", ""),
        (Raw(b"<html>Log in.</html>", "text/html"), "malformed", "text/html"),
        (Raw(b"", "application/json"), "malformed", "application/json"),
        (Raw(b"[]", "application/json"), "server", ""),
        (Raw(b'{"detail": "Not here."}', "application/json", 404), "invalid", "Not here."),
    ],
)  # fmt: skip
async def test_what_is_no_reply_is_told_by_its_name(raw: Raw, kind: str, words: str) -> None:
    failed = await failure("openai", raw)
    assert (failed.kind, words in failed.message) == (kind, True), failed.message


@pytest.mark.parametrize("flavour", ["openai", "gemini", "mistral", "openrouter", "ollama"])
@pytest.mark.parametrize("place", [2, 4, -1])
async def test_a_stream_that_is_cut_anywhere_is_no_whole_reply(flavour: str, place: int) -> None:
    answer = VendorReply(text="I look.", thinking="Let me see.", calls=CALLS, chunk=4)
    vendor = CompletionsVendor(flavour)
    body = json.dumps({"model": "m", "messages": [], "stream_options": {"include_usage": True}}).encode()
    rows = list(vendor.chunks(Asked("POST", "", {}, body, 1, 0.0, 0.0), answer, 1))
    ended = next(number for number, row in enumerate(rows) if b'"finish_reason": null' not in row)
    cut = b"".join(rows[: ended if place == -1 else min(place, ended)]) + rows[ended][: len(rows[ended]) // 2]
    failed = await failure(flavour, Raw(cut))
    assert failed.kind == "truncated"
    assert "I look.".startswith(failed.partial)


async def test_nothing_is_missing_once_the_reason_to_stop_has_come() -> None:
    assert (await read(delta("stop", content="a"), done=False)).stop_reason == "end_turn"
    async with asking("openai", VendorReply(text="all of it", broken="reset", behind=True)) as (_, model):
        assert (await model.reply(request(), lambda _: None)).text == "all of it"


@pytest.mark.parametrize(
    "endless",
    [delta(content="x" * 60_000), delta(reasoning="x" * 60_000), call(None, "x" * 60_000), call("LS", "{}"),
     delta(content=[{"type": "thinking", "thinking": "x" * 60_000}]), delta(refusal="x" * 60_000),
     delta(reasoning_details=[{"type": "reasoning.encrypted", "data": "x" * 60_000}])],
    ids=["text", "reasoning", "arguments", "calls", "parts", "details"],
)  # fmt: skip
async def test_a_reply_without_end_is_closed(endless: dict[str, Any]) -> None:
    chunks = [call("Read", "", index=0, id="1")]
    for number in range(300):
        more = json.loads(json.dumps(endless))
        if more["delta"].get("tool_calls") and more["delta"]["tool_calls"][0]["function"].get("name"):
            more["delta"]["tool_calls"][0] |= {"index": number, "id": str(number)}
        chunks.append(more)
    failed = await failure("openai", stream(*chunks))
    assert (failed.kind, "the connection was closed" in failed.message) == ("invalid", True), failed.message


async def test_a_long_call_is_read_in_time_that_grows_with_it() -> None:
    pieces = ["{", *['"k": "some words",'] * 40_000, '"z": 1}']
    chunks = [call("LS", "{}", index=0, id="0"), call("Read", "", index=1, id="1")]
    async with asyncio.timeout(20):
        reply = await read(*chunks, *(call(None, piece, index=1) for piece in pieces), delta("stop"))
    assert dict(reply.calls[1].arguments) == {"k": "some words", "z": 1}


async def test_silence_is_a_broken_stream() -> None:
    failed = await failure("openai", VendorReply(text="a", broken="silence", silence=20), silence=0.4)
    assert (failed.kind, "silent" in failed.message) == ("network", True)


async def test_a_whole_call_is_run_when_nothing_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "QUIET_SECONDS", 0.2)
    # Behind the finish reason nothing is missing; in front of it the calls could still end there.
    chunks = [call("Read", "{}", index=0, id="1"), call("LS", "{}", index=1, id="2")]
    async with asking("openai") as (vendor, model):
        vendor.bodies = lambda *_: iter([{"id": "x", "choices": [one]} for one in [*chunks, delta("stop")]])  # type: ignore[method-assign]
        vendor.script = [VendorReply(broken="silence", behind=True)]
        reply = await model.reply(request(), lambda _: None)
    assert len(reply.calls) == 2


async def test_cancelling_closes_the_connection_at_once() -> None:
    async with asking("openai", VendorReply(text="a", broken="silence", silence=20)) as (vendor, model):
        heard = asyncio.Event()
        task = asyncio.create_task(model.reply(request(), lambda _: heard.set()))
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(5):
            while not vendor.requests[0].closed_early:
                await asyncio.sleep(0.01)


async def test_text_that_is_enough_closes_the_stream() -> None:
    async with asking("openai", VendorReply(text="Finish[a] and a lot more", chunk=9)) as (_, model):
        pieces: list[str] = []

        def heard(one: Delta) -> bool:
            pieces.append(one.text if isinstance(one, TextDelta) else "")
            return "Finish[a]" in "".join(pieces)

        reply = await model.reply(request(tools=()), heard)
    assert (reply.stop_reason, "more" in reply.text) == ("closed", False)


@pytest.mark.parametrize(("name", "known"), [("gemini-3.8-flash", True), ("nobody", False)])
async def test_the_endpoint_says_which_models_it_has(name: str, *, known: bool) -> None:
    async with asking("openai") as (_, model):
        assert await model.offers(name) is known


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
