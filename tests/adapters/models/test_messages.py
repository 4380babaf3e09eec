"""The Messages API over real loopback HTTP: what is sent, what is read, and each way it can break."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from codelaw.adapters.models import wire
from codelaw.adapters.models.endpoints import retry_after
from codelaw.adapters.models.failures import kind_of_status
from codelaw.adapters.models.messages.model import MessagesModel
from codelaw.agent.model_calls.recovery import refused
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import Call
from codelaw.domain.models import (
    ApiMessage,
    Begun,
    CallBlock,
    Delta,
    ModelReply,
    ModelRequest,
    ResultBlock,
    TextBlock,
    TextDelta,
    ThinkingDelta,
    ToolSchema,
    Usage,
)
from tests.loopback.script import VendorReply, fault
from tests.loopback.server import LoopbackVendor

KEY = "sk-test-51f0c3"
LLAMA = "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"
GEMINI = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575)."
REQUEST = ModelRequest(
    model="claude-sonnet-5-5",
    system=(TextBlock("system words", breakpoint="5m"), TextBlock("the law")),
    messages=(ApiMessage("user", (TextBlock("Where is it?"), TextBlock("[env]", breakpoint="5m"))),),
    max_tokens=512,
    stop_sequences=("\n[tool]", "\nObservation:"),
)
TEXT = "The whole answer, in a few pieces, and then some more of it."


@pytest.fixture
async def vendor() -> AsyncIterator[LoopbackVendor]:
    async with LoopbackVendor() as server:
        yield server


@pytest.fixture
async def model(vendor: LoopbackVendor) -> AsyncIterator[MessagesModel]:
    model = MessagesModel(KEY, vendor.url, silence=5)
    yield model
    await model.close()


async def ask(model: MessagesModel, request: ModelRequest = REQUEST, deltas: list[Delta] | None = None) -> ModelReply:
    return await model.reply(request, (deltas if deltas is not None else []).append)


async def failure(model: MessagesModel) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        await ask(model)
    return caught.value


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(150):
        while not holds():
            await asyncio.sleep(0.005)


async def test_text_thinking_calls_and_usage_arrive(vendor: LoopbackVendor, model: MessagesModel) -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 5, "output_tokens": 42}
    calls = [{"id": "toolu_a", "name": "Read", "input": {"path": "ä.py"}}, {"name": "LS", "input": {}}]
    vendor.script = [VendorReply(text="Hello ✓", thinking="hmm", calls=calls, usage=usage, chunk=3)]
    deltas: list[Delta] = []
    reply = await ask(model, deltas=deltas)
    assert reply.text == "Hello ✓"
    assert reply.stop_reason == "tool_use"
    assert reply.usage == Usage(10, 7, 5, 42, thinking_tokens=50)
    assert [(call.tool, call.arguments) for call in reply.calls] == [("Read", {"path": "ä.py"}), ("LS", {})]
    assert reply.calls[0].id == "toolu_a"
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "Hello ✓"
    assert "".join(delta.text for delta in deltas if isinstance(delta, ThinkingDelta)) == "hmm"
    assert deltas[0] == Begun(Usage(10, 7, 5, 1))
    assert len([delta for delta in deltas[1:] if not isinstance(delta, Begun) and delta.text]) == 4


async def test_the_body_is_what_the_vendor_wants(vendor: LoopbackVendor, model: MessagesModel) -> None:
    vendor.fallback = VendorReply(text="ok")
    schema = ToolSchema("Read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}})
    call = Call("toolu_1", "Read", {"path": 'a "b".py', "limit": 3})
    request = ModelRequest(
        model="claude-haiku-4-5",
        system=(TextBlock("L1", breakpoint="5m"), TextBlock("L2")),
        messages=(
            ApiMessage("user", (TextBlock("q\u2028\n\t", breakpoint="5m"),)),
            ApiMessage("assistant", (TextBlock("t"), CallBlock(call))),
            ApiMessage("user", (ResultBlock("toolu_1", "gone", is_error=True, breakpoint="5m"), TextBlock("go on"))),
        ),
        max_tokens=99,
        tools=(schema,),
    )
    await ask(model, request)
    mark = {"cache_control": {"type": "ephemeral"}}
    assert vendor.messages[0].json == {
        "model": "claude-haiku-4-5",
        "max_tokens": 99,
        "stream": True,
        "tools": [{"name": "Read", "description": "Reads.", "input_schema": schema.input_schema}],
        "system": [{"type": "text", "text": "L1"} | mark, {"type": "text", "text": "L2"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "q\u2028\n\t"} | mark]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "t"},
                    {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": 'a "b".py', "limit": 3}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "gone", "is_error": True} | mark,
                    {"type": "text", "text": "go on"},
                ],
            },
        ],
    }
    headers = vendor.messages[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"] == "application/json"
    assert "anthropic-version" in headers


async def test_equal_requests_are_equal_bytes_on_one_connection(vendor: LoopbackVendor, model: MessagesModel) -> None:
    vendor.fallback = VendorReply(text="ok")
    for _ in range(3):
        copy = ModelRequest(
            REQUEST.model,
            tuple(TextBlock(block.text, block.breakpoint) for block in REQUEST.system),
            tuple(ApiMessage(message.role, message.blocks) for message in REQUEST.messages),
            REQUEST.max_tokens,
            stop_sequences=tuple(REQUEST.stop_sequences),
        )
        await ask(model, copy)
    first, *others = vendor.messages
    assert [other.body for other in others] == [first.body, first.body]
    assert {request.connection for request in vendor.messages} == {1}
    assert json.loads(first.body)["stop_sequences"] == ["\n[tool]", "\nObservation:"]


async def test_a_longer_chat_keeps_the_bytes_of_its_beginning(vendor: LoopbackVendor, model: MessagesModel) -> None:
    vendor.fallback = VendorReply(text="ok")
    longer = (*REQUEST.messages, ApiMessage("assistant", (TextBlock("a"),)), ApiMessage("user", (TextBlock("b"),)))
    system = (TextBlock("system words " * 200, breakpoint="5m"),)  # the vendor's cache takes nothing short
    await ask(model, ModelRequest(REQUEST.model, system, REQUEST.messages, 512, (), REQUEST.stop_sequences))
    await ask(model, ModelRequest(REQUEST.model, system, longer, 512, (), REQUEST.stop_sequences))
    first, second = (request.body for request in vendor.messages)
    assert second.startswith(first.removesuffix(b"]}"))
    usages = [request.usage for request in vendor.messages]
    assert usages[0]["cache_read_input_tokens"] == 0
    assert usages[1]["cache_read_input_tokens"] == usages[0]["cache_creation_input_tokens"] > 0


async def test_text_that_is_no_unicode_is_sent_all_the_same(vendor: LoopbackVendor, model: MessagesModel) -> None:
    vendor.fallback = VendorReply(text="ok")
    messages = (ApiMessage("user", (TextBlock("bad \ud800 surrogate"),)),)
    await ask(model, ModelRequest("claude-sonnet-5-5", (), messages, 10))
    assert vendor.messages[0].json["messages"][0]["content"][0]["text"] == "bad ? surrogate"


@pytest.mark.parametrize(
    ("name", "kind", "partial"),
    [
        ("429_once", "rate_limit", ""),
        ("529_thrice", "overload", ""),
        ("500", "server", ""),
        ("401", "auth", ""),
        ("413", "overflow", ""),
        ("prompt_too_long", "overflow", ""),
        ("reset_midstream", "network", TEXT[:30]),
        ("no_message_stop", "truncated", TEXT[:30]),
        ("error_event", "server", TEXT[:30]),
        ("bad_data_line", "malformed", TEXT[:30]),
    ],
)
async def test_a_fault_is_sorted_and_keeps_what_arrived(
    vendor: LoopbackVendor, model: MessagesModel, name: str, kind: str, partial: str
) -> None:
    vendor.script = [fault(name, TEXT, chunk=10), VendorReply(text="fine")]
    times = 3 if name.endswith("thrice") else 1
    for _ in range(times):
        broken = await failure(model)
        assert (broken.kind, broken.partial) == (kind, partial)
        assert broken.retry_after == (1.0 if name.startswith("429") else None)
        assert urlsplit(vendor.url).netloc in broken.message
        assert broken.__cause__ is None
        assert broken.__context__ is None
        assert (broken.usage.total_tokens > 0) == bool(partial)
    assert (await ask(model)).text == "fine"
    assert len(vendor.messages) == times + 1


async def test_a_long_silence_is_a_broken_stream(vendor: LoopbackVendor) -> None:
    model = MessagesModel(KEY, vendor.url, silence=2.0)
    vendor.script = [fault("silence", TEXT, chunk=10, silence=20), fault("hang")]
    broken = await failure(model)
    assert (broken.kind, broken.partial) == ("network", TEXT[:30])
    again = await failure(model)
    assert again.kind == "network"
    assert again.message == f"{urlsplit(vendor.url).netloc} was silent for too long."
    await model.close()


async def test_no_server_is_a_network_failure() -> None:
    async with LoopbackVendor() as vendor:
        url = vendor.url
    model = MessagesModel(KEY, url)
    broken = await failure(model)
    assert broken.kind == "network"
    assert broken.message.startswith(f"No connection to {urlsplit(url).netloc}: nothing listens there")
    await model.close()


async def test_calls_that_are_no_objects_are_broken(vendor: LoopbackVendor, model: MessagesModel) -> None:
    raw = ['{"path": "a.py", ', "[1]", "null"]
    vendor.script = [VendorReply(calls=[{"name": "Read", "json": text} for text in raw]), fault("unknown_tool")]
    reply = await ask(model)
    assert reply.calls == ()
    assert [broken.arguments_text for broken in reply.broken_calls] == raw
    assert [call.tool for call in (await ask(model)).calls] == ["NoSuchTool"]


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("pause_turn", "max_tokens"),
        ("something_new", "end_turn"),
    ],
)
async def test_stop_reasons(vendor: LoopbackVendor, model: MessagesModel, stop: str, expected: str) -> None:
    vendor.script = [VendorReply(text="some", stop_reason=stop)]
    reply = await ask(model)
    assert (reply.stop_reason, reply.text) == (expected, "some")


async def test_cancelling_closes_the_connection_at_once(vendor: LoopbackVendor, model: MessagesModel) -> None:
    vendor.script = [fault("silence", TEXT, silence=30)]
    arrived = asyncio.Event()
    task = asyncio.create_task(model.reply(REQUEST, lambda _: arrived.set()))
    await arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: vendor.messages[0].closed_early)


async def test_the_key_is_in_no_message_and_no_log(vendor: LoopbackVendor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    echo = VendorReply(status=401, error_type="authentication_error", error_message=f"bad key {KEY}\nline")
    vendor.script = [echo]
    model = MessagesModel(KEY, vendor.url)
    broken = await failure(model)
    assert "bad key [key]" in broken.message
    await model.close()
    odd = MessagesModel(f"{KEY}\nx", vendor.url)
    broken = await failure(odd)
    assert broken.kind == "auth"
    assert KEY not in repr(broken)
    assert KEY not in str(broken.args)
    assert KEY not in caplog.text
    await odd.close()


@pytest.mark.parametrize("url", ["not a url", "ftp://127.0.0.1", "http://x:port"])
async def test_a_base_url_that_is_none_is_invalid(url: str) -> None:
    model = MessagesModel(KEY, url)
    for _ in range(2):
        assert (await failure(model)).kind == "invalid"
    await model.close()


async def test_a_fault_of_the_listener_is_no_fault_of_the_stream(vendor: LoopbackVendor, model: MessagesModel) -> None:
    def listener(_: Delta) -> None:
        raise ValueError("a bug")

    vendor.script = [VendorReply(text="ok")]
    with pytest.raises(ValueError, match="a bug"):
        await model.reply(REQUEST, listener)


def test_importing_the_adapter_does_not_import_the_sdk() -> None:
    program = "import sys, codelaw.adapters.models.messages.model; sys.exit('anthropic' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": os.pathsep.join(sys.path)}, check=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "soon", "retry-after": "-3"}, 0.0),
    ],
)
def test_how_long_the_vendor_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("status", "error_type", "message", "kind"),
    [
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 20000",
            "overflow",
        ),
        (404, "not_found_error", "model: nope", "unknown_model"),
        (402, "billing_error", "pay", "spending"),
        (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "spending"),
        (429, "rate_limit_error", "You have reached your specified workspace API usage limits.", "spending"),
        (429, "rate_limit_error", "This would exceed the rate limit of your organization.", "rate_limit"),
        (429, "insufficient_quota", "You exceeded your current quota.", "spending"),
        (402, None, "Insufficient Balance", "spending"),
        (400, "invalid_request_error", "This organization has been disabled.", "auth"),
        (503, "overloaded_error", "busy", "overload"),
        (200, "overloaded_error", "busy", "overload"),
        (200, "invalid_request_error", "prompt is too long: 3 > 2", "overflow"),
        (400, "exceed_context_size_error", LLAMA, "overflow"),
        (500, None, "Error code: 500 - {'error': 'input exceeds context length'}", "overflow"),
        (400, "invalid_request_error", GEMINI, "overflow"),
        (400, "invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block.", "items"),
    ],
)
def test_the_kinds_of_errors(status: int, error_type: str | None, message: str, kind: str) -> None:
    assert kind_of_status(status, error_type, message) == kind


async def test_a_refusal_names_its_category(vendor: LoopbackVendor, model: MessagesModel) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "It may do harm."}
    vendor.script = [VendorReply(stop_reason="refusal", stop_details=details), VendorReply(stop_reason="refusal")]
    reply = await ask(model)
    assert (reply.stop_reason, reply.refusal) == ("refusal", "bio: It may do harm.")
    assert refused(reply.refusal, asked_to_reason=True).message == "The model refused to answer (bio: It may do harm.)."
    assert refused("reasoning_extraction", asked_to_reason=True).hint.endswith("set model.dialect to native.")
    assert "dialect" not in refused("reasoning_extraction", asked_to_reason=False).hint
    assert (await ask(model)).refusal == ""


async def test_the_vendor_counts_the_input_of_a_request_alone(vendor: LoopbackVendor, model: MessagesModel) -> None:
    vendor.script = [VendorReply(text="x")]
    await ask(model)
    counted = await model.count(REQUEST)
    assert counted == vendor.messages[0].tokens
    sent, asked = vendor.messages[0].json, vendor.counted[0].json
    assert asked == {name: sent[name] for name in ("model", "system", "messages")}
    assert vendor.refused == []


async def test_an_endpoint_that_counts_nothing_is_no_failure(vendor: LoopbackVendor, model: MessagesModel) -> None:
    vendor.counts = False
    assert await model.count(REQUEST) is None
    vendor.key = "another"
    with pytest.raises(ModelFailure) as caught:
        await model.count(REQUEST)
    assert caught.value.kind == "auth"
    assert KEY not in caught.value.message


SEVERAL = ({"name": "LS", "input": {}}, {"name": "Read", "json": '{"path": "a.py"}'})


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        (VendorReply(text="I look", calls=SEVERAL, broken="silence", silence=600, behind=True), ["LS", "Read"]),
        (
            VendorReply(calls=SEVERAL[:1], searches=({"query": "q"},), broken="silence", silence=600, behind=True),
            ["LS"],
        ),
    ],
)
async def test_silence_behind_whole_calls_ends_the_reply(
    vendor: LoopbackVendor, model: MessagesModel, monkeypatch: pytest.MonkeyPatch, reply: VendorReply, calls: list[str]
) -> None:
    monkeypatch.setattr(wire, "QUIET_SECONDS", 0.2)
    vendor.script = [reply]
    asked = await model.reply(REQUEST, lambda _: None)
    assert (asked.stop_reason, [call.tool for call in asked.calls], asked.broken_calls) == ("closed", calls, ())


@pytest.mark.parametrize(
    "calls", [({"name": "LS", "input": {}}, {"name": "Read", "json": '{"path": "a' + "b" * 90}), ()]
)
async def test_silence_before_a_call_is_whole_is_waited_out(
    vendor: LoopbackVendor, model: MessagesModel, monkeypatch: pytest.MonkeyPatch, calls: tuple[dict[str, Any], ...]
) -> None:
    monkeypatch.setattr(wire, "QUIET_SECONDS", 0.05)
    vendor.script = [VendorReply(text=TEXT, calls=calls, broken="silence", silence=1.0)]
    asked = await model.reply(REQUEST, lambda _: None)
    assert asked.stop_reason == ("tool_use" if calls else "end_turn")
    assert len(asked.calls) + len(asked.broken_calls) == len(calls)
