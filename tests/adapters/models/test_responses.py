"""Responses: what is read, and what becomes of its failures, by a strict vendor on loopback (P-4, P-5)."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codelaw.adapters.models import wire
from codelaw.adapters.models.failures import ErrorEvent
from codelaw.adapters.models.openai.responses_stream import ResponsesReader
from codelaw.adapters.models.replies import EndlessReply, MalformedEvent
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import (
    Delta,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from tests.adapters.models.responding import CALL, KEY, asking, failure, request
from tests.loopback.responses import Asked, ResponsesVendor
from tests.loopback.script import VendorReply


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


def test_the_mark_at_the_end_of_chat_completions_says_nothing() -> None:
    reader = ResponsesReader(lambda _: None)
    reader.take(None)
    assert (reader.events, reader.complete) == (0, False)


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
    assert "stop" not in vendor.requests[0].json


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


JUNK = st.sampled_from([None, -1, 1.5, "", True, [], [1], {}, {"a": 1}, "{", "function_call", "commentary"])


def fields(**known: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with these fields, each as one of the known or as anything, or missing."""
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(values) | JUNK for name, values in known.items()})


ITEMS = fields(
    type=["message", "reasoning", "function_call"], call_id=["c"], name=["Read"], arguments=["{}", '{"a":', "[]"],
    phase=["commentary", "final_answer"], encrypted_content=["e"], status=["completed"],
)  # fmt: skip
KINDS = [
    "response.created", "response.output_item.added", "response.output_item.done", "response.output_text.delta",
    "response.reasoning_summary_text.delta", "response.function_call_arguments.delta", "response.refusal.delta",
    "response.completed", "response.incomplete",
]  # fmt: skip
EVENTS = st.builds(
    lambda event, item: {**event, "item": item},
    fields(type=KINDS, output_index=[0, 1], delta=["x"], summary_index=[0], response=[{"id": "r"}, {"usage": {}}]),
    ITEMS | JUNK,
)


def of_item(kind: str, **item: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": 0, "item": item}


@given(st.lists(EVENTS | JUNK, max_size=8))
@example([of_item("added", type="message"), of_item("done", type="function_call")])
def test_whatever_an_endpoint_streams_is_read_or_refused_by_its_shape(events: list[Any]) -> None:
    reader = ResponsesReader(lambda _: None)
    with suppress(MalformedEvent, EndlessReply, ErrorEvent):
        for event in events:
            reader.take(event)
    reader.flush()
    assert isinstance(reader.could_end, bool)
    for kept in reader.reply().items:
        assert not kept.body or isinstance(json.loads(kept.body), dict)
