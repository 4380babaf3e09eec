"""What today's models can be asked for and what they tell: each field as it is sent, and as it is read."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from codelaw.adapters.models.failures import RateLimits
from codelaw.adapters.models.messages.model import MessagesModel
from codelaw.adapters.models.messages.stream import MessageReader
from codelaw.agent.dialects.native import Native
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import KeptItems, Message, Metadata, WebSearch
from codelaw.domain.models import (
    ApiMessage,
    CallBlock,
    Delta,
    KeptBlock,
    ModelReply,
    ModelRequest,
    TextBlock,
    ThinkingDelta,
    Usage,
)
from tests.loopback.claude import Account
from tests.loopback.rules import UPDATES
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

NOW = 1_790_000_000.0
DIAGNOSIS = "cache-diagnosis-2026-04-07"
REQUEST = ModelRequest("claude-sonnet-5-5", (), (ApiMessage("user", (TextBlock("q"),)),), 32_000)


@pytest.fixture
async def vendor() -> AsyncIterator[LoopbackVendor]:
    async with LoopbackVendor(fallback=VendorReply(text="ok"), account=Account()) as server:
        yield server


@pytest.fixture
async def model(vendor: LoopbackVendor) -> AsyncIterator[MessagesModel]:
    made = MessagesModel("sk-test-0815", vendor.url, silence=5)
    yield made
    await made.close()


async def ask(endpoint: MessagesModel, **fields: Any) -> ModelReply:
    return await endpoint.reply(replace(REQUEST, **fields), lambda _: None)


@pytest.mark.parametrize(
    ("asked", "sent", "betas"),
    [
        (
            {"thinking": "adaptive", "display": "updates", "effort": "xhigh"},
            {"thinking": {"type": "adaptive", "display": "updates"}, "output_config": {"effort": "xhigh"}},
            UPDATES,
        ),
        ({"thinking": "between_tools", "display": "updates"}, {"thinking": {"type": "between_tools"}}, ""),
        (
            {"thinking": "enabled", "display": "summarized"},
            {"thinking": {"type": "enabled", "budget_tokens": 16_000, "display": "summarized"}},
            "",
        ),
        ({"thinking": "enabled", "max_tokens": 1500}, {"thinking": {"type": "enabled", "budget_tokens": 1024}}, ""),
        ({"previous": "msg_7"}, {"diagnostics": {"previous_message_id": "msg_7"}}, DIAGNOSIS),
        (
            {"previous": "msg_7", "thinking": "adaptive", "display": "updates"},
            {
                "thinking": {"type": "adaptive", "display": "updates"},
                "diagnostics": {"previous_message_id": "msg_7"},
            },
            f"{UPDATES},{DIAGNOSIS}",
        ),
    ],
)
async def test_what_is_asked_for_is_sent_with_the_header_that_it_needs(
    vendor: LoopbackVendor, model: MessagesModel, asked: dict[str, Any], sent: dict[str, Any], betas: str
) -> None:
    vendor.account = None
    await ask(model, **asked)
    (captured,) = vendor.messages
    usual = {"model", "max_tokens", "stream", "messages"}
    assert {name: value for name, value in captured.json.items() if name not in usual} == sent
    assert captured.headers.get("anthropic-beta", "") == betas


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        ("output_config: Extra inputs are not permitted", {"output_config"}),
        ("thinking.adaptive.display: Extra inputs are not permitted", {"display"}),
        ("[{'type': 'extra_forbidden', 'loc': ('body', 'diagnostics'), 'msg': 'Extra inputs are not permitted'}]",
         {"diagnostics"}),
        ("Unrecognized request argument supplied: thinking", {"thinking"}),
        ("Unexpected value(s) `cache-diagnosis-2026-04-07` for the `anthropic-beta` header.", {"display", "diagnostics"}),
    ],
)  # fmt: skip
async def test_an_endpoint_that_does_not_know_a_field_is_asked_without_it(words: str, left_out: set[str]) -> None:
    refused = VendorReply(status=400, error_type="invalid_request_error", error_message=words)
    async with LoopbackVendor([refused], fallback=VendorReply(text="ok")) as vendor:
        model = MessagesModel("k", vendor.url)
        asked = {"thinking": "adaptive", "display": "updates", "effort": "low", "previous": "msg_1"}
        assert (await ask(model, **asked)).text == "ok"
        assert (await ask(model, **asked)).text == "ok"
        await model.close()
    first, *others = (request.json for request in vendor.messages)
    assert first["thinking"] == {"type": "adaptive", "display": "updates"}
    assert len(others) == 2  # and it is not told again
    for body in others:
        assert ("display" in body.get("thinking", {})) is not bool(left_out & {"display", "thinking"})
        assert {name for name in ("thinking", "output_config", "diagnostics") if name not in body} == left_out - {
            "display"
        }


async def test_what_is_wrong_with_a_field_that_is_known_is_told(vendor: LoopbackVendor, model: MessagesModel) -> None:
    with pytest.raises(ModelFailure, match="thinking is disabled"):
        await ask(model, thinking="between_tools", effort="max")
    with pytest.raises(ModelFailure, match="not supported for this model"):
        await ask(model, thinking="enabled")
    assert len(vendor.messages) == 2


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def block(index: int, start: Mapping[str, Any], *deltas: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        event("content_block_start", index=index, content_block=start),
        *(event("content_block_delta", index=index, delta=delta) for delta in deltas),
        event("content_block_stop", index=index),
    ]


def thinking(index: int, signature: str, *pieces: str) -> list[dict[str, Any]]:
    start = {"type": "thinking", "thinking": "", "signature": ""}
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    return block(index, start, *deltas, {"type": "signature_delta", "signature": signature})


def text(index: int, said: str) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": said})


def call(index: int, name: str) -> list[dict[str, Any]]:
    start = {"type": "tool_use", "id": name, "name": "Read", "input": {}}
    return block(index, start, {"type": "input_json_delta", "partial_json": json.dumps({"path": name})})


def stopped(why: str = "end_turn", **fields: Any) -> list[dict[str, Any]]:
    return [event("message_delta", delta={"stop_reason": why}, **fields), event("message_stop")]


def read(events: Sequence[Mapping[str, Any]], heard: list[Delta] | None = None, **options: Any) -> ModelReply:
    reader = MessageReader((heard if heard is not None else []).append, **options)
    for one in events:
        reader.take(one)
    return reader.reply()


def test_the_order_of_text_thinking_and_calls_goes_back() -> None:
    reply = read(
        [
            *thinking(0, "s0", ""),
            *block(1, {"type": "redacted_thinking", "data": "r1"}),
            *text(2, "First."),
            *call(3, "a"),
            *text(4, "Then."),
            *thinking(5, "s5", "I go", " on."),
            *thinking(6, "s6"),
            *call(7, "b"),
            *call(8, "c"),
            *text(9, "Last."),
            *stopped("tool_use"),
        ]
    )
    kept = KeptItems("anthropic", reply.items)
    said = Message("m", "t", "assistant", reply.text, Metadata(calls=reply.calls, native=True, kept=kept))
    role, blocks = Native().message(said)
    assert role == "assistant"
    shown: list[Any] = []
    for one in blocks:
        match one:
            case TextBlock(words):
                shown.append(words)
            case CallBlock(made):
                shown.append(made.id)
            case KeptBlock(item):
                shown.append(json.loads(item.body))
            case _:
                raise AssertionError(one)
    assert shown == [
        {"type": "thinking", "thinking": "", "signature": "s0"},
        {"type": "redacted_thinking", "data": "r1"},
        "First.",
        "a",
        "Then.",
        {"type": "thinking", "thinking": "I go on.", "signature": "s5"},
        {"type": "thinking", "thinking": "", "signature": "s6"},
        "b",
        "c",
        "Last.",
    ]


def test_progress_notes_are_told_as_they_come_and_apart() -> None:
    events = [*thinking(0, "s", ""), *thinking(1, "s", "I look", " at it."), *thinking(2, "s", "Now the rest.")]
    heard: list[Delta] = []
    read(events, heard, progress=True)
    assert heard == [
        ThinkingDelta("I look", progress=True),
        ThinkingDelta(" at it.", progress=True),
        ThinkingDelta("\n\nNow the rest.", progress=True),
    ]
    heard.clear()
    read(events, heard)
    assert {delta.progress for delta in heard if isinstance(delta, ThinkingDelta)} == {False}


def test_what_is_told_of_the_reply_and_its_tokens_is_read() -> None:
    begun = {
        "id": "msg_9",
        "diagnostics": {"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 70}},
        "usage": {
            "input_tokens": 4,
            "cache_read_input_tokens": 5,
            "cache_creation_input_tokens": 30,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
            "output_tokens": 1,
        },
    }
    reported = {"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 40}}
    reply = read([event("message_start", message=begun), *text(0, "x"), *stopped(usage=reported)])
    assert (reply.id, reply.cache_miss, reply.doubted) == ("msg_9", "tools_changed", False)
    assert reply.usage == Usage(4, 5, 30, 50, cache_write_1h_tokens=20, thinking_tokens=40)
    waiting = {**begun, "diagnostics": {"cache_miss_reason": None}}
    assert read([event("message_start", message=waiting), *stopped()]).cache_miss == ""
    odd = {"cache_creation": {"ephemeral_1h_input_tokens": -1}, "output_tokens_details": 7}
    reply = read([event("message_start", message={"id": 3, "diagnostics": [], "usage": odd}), *stopped()])
    assert (reply.id, reply.cache_miss, reply.usage, reply.doubted) == ("", "", Usage(), True)


def test_attempts_that_the_total_leaves_out_are_counted() -> None:
    attempts = [
        {"type": "compaction", "input_tokens": 900, "output_tokens": 60},
        {"type": "message", "input_tokens": 100, "output_tokens": 0, "model": "claude-fable-5-1"},
        {"type": "fallback_message", "input_tokens": 100, "cache_read_input_tokens": 7, "output_tokens": 30},
    ]
    reported = {"input_tokens": 100, "output_tokens": 30, "cache_read_input_tokens": 7, "iterations": attempts}
    assert read(stopped(usage=reported)).usage == Usage(1000, 7, 0, 90)


async def test_a_reply_that_fills_the_window_is_an_overflow(vendor: LoopbackVendor, model: MessagesModel) -> None:
    vendor.play(VendorReply(text="half", stop_reason="model_context_window_exceeded"))
    with pytest.raises(ModelFailure) as caught:
        await ask(model)
    assert (caught.value.kind, caught.value.partial) == ("overflow", "half")
    assert caught.value.usage.output_tokens > 0


async def test_what_the_vendor_paused_goes_back_as_it_came_and_on(vendor: LoopbackVendor, model: MessagesModel) -> None:
    search = {"query": "pygls", "pages": [["pygls", "https://pygls.example"]]}
    usage = {"input_tokens": 10, "output_tokens": 5}
    vendor.account = None
    vendor.play(
        VendorReply(thinking="hm", searches=(search,), text="I searched.", stop_reason="pause_turn", usage=usage),
        VendorReply(searches=(search,), text=" Here it is.", usage=usage),
    )
    reply = await ask(model, searching=True)
    first, second = (request.json for request in vendor.messages)
    assert second["messages"][:-1] == first["messages"]
    assert second["messages"][-1]["role"] == "assistant"
    back = second["messages"][-1]["content"]
    assert [one["type"] for one in back] == ["thinking", "server_tool_use", "web_search_tool_result", "text"]
    assert back[1]["input"] == {"query": "pygls"}
    assert back[2]["content"][0]["encrypted_content"] == "Zm9v"
    assert (reply.text, reply.stop_reason) == ("I searched. Here it is.", "end_turn")
    assert reply.usage == Usage(20, 0, 0, 10, web_searches=2, thinking_tokens=50)
    found = WebSearch("pygls", reply.searches[0].found)
    assert reply.searches == (found, found)
    kinds = [json.loads(item.body)["type"] for item in reply.items]
    assert kinds == ["thinking", *["server_tool_use", "web_search_tool_result"] * 2]


async def test_where_it_may_another_model_answers_what_one_refuses(vendor: LoopbackVendor) -> None:
    vendor.account = None
    vendor.fallback = VendorReply(status=400, error_type="invalid_request_error",
                                  error_message="fallbacks: Extra inputs are not permitted")  # fmt: skip
    model = MessagesModel("k", vendor.url, fallbacks=True)
    for name in ("claude-sonnet-5-5", "some-other-model"):
        with pytest.raises(ModelFailure):
            await ask(model, model=name)
    await model.close()
    sent = [
        (one.json["model"], one.json.get("fallbacks"), one.headers.get("anthropic-beta")) for one in vendor.messages
    ]
    assert sent == [
        ("claude-sonnet-5-5", "default", "server-side-fallback-2026-07-01"),
        ("claude-sonnet-5-5", None, None),
        ("some-other-model", None, None),
    ]


def test_of_a_model_that_has_refused_only_the_text_is_kept() -> None:
    handed = {"type": "fallback", "from": {"model": "claude-fable-5-1"}, "to": {"model": "claude-opus-5"}}
    before = [*thinking(0, "s0"), *text(1, "Let me "), *call(2, "a")]
    reply = read([*before, *block(3, handed), *thinking(4, "s4"), *text(5, "see."), *stopped()])
    assert (reply.served, reply.text, reply.calls) == ("claude-opus-5", "Let me see.", ())
    assert [json.loads(item.body)["signature"] for item in reply.items] == ["s4"]


def limits(kind: str, limit: int, remaining: int, seconds: float) -> dict[str, str]:
    reset = datetime.fromtimestamp(NOW + seconds, UTC).isoformat().replace("+00:00", "Z")
    return {
        f"anthropic-ratelimit-{kind}-{name}": str(value)
        for name, value in {"limit": limit, "remaining": remaining, "reset": reset}.items()
    }


@pytest.mark.parametrize(
    ("headers", "later", "seconds"),
    [
        ({}, 0, 0.0),
        (limits("requests", 60, 0, 60), 0.7, 0.0),
        (limits("input-tokens", 60_000, 20_000, 40), 0, 10.0),
        (limits("input-tokens", 60_000, 20_000, 40), 4, 6.0),
        (limits("requests", 60, 0, 60) | limits("tokens", 60_000, 0, 60), 0, 30.0),
        (limits("requests", 2, 0, 3600), 0, 0.0),
        (limits("requests", 60, 0, 60) | {"anthropic-ratelimit-requests-reset": "soon"}, 0, 0.0),
    ],
)
def test_how_long_a_rate_limit_makes_wait(headers: dict[str, str], later: float, seconds: float) -> None:
    known = RateLimits()
    known.used = 30_000
    known.take(headers, NOW)
    assert known.wait(NOW + later) == pytest.approx(seconds, abs=0.01)
    assert known.wait(NOW + later) == 0.0


async def test_a_request_that_would_be_refused_is_not_sent(vendor: LoopbackVendor, model: MessagesModel) -> None:
    reset = datetime.fromtimestamp(time.time() + 60, UTC).isoformat()
    names = {"limit": "4", "remaining": "0", "reset": reset}
    headers = {f"anthropic-ratelimit-requests-{name}": value for name, value in names.items()}
    vendor.play(VendorReply(text="one", headers=headers))
    await ask(model)
    with pytest.raises(ModelFailure, match="rate limit") as caught:
        await ask(model)
    assert caught.value.kind == "rate_limit"
    assert 0 < (caught.value.retry_after or 0) <= 15
    assert len(vendor.messages) == 1
    # Whoever has waited asks, and hears what the vendor says.
    assert (await ask(model)).text == "ok"
