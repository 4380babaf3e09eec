"""Chat Completions: what becomes of what goes wrong (P-1, P-4)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from codelaw.adapters.models import wire
from codelaw.adapters.models.openai.completions_stream import CompletionsReader
from codelaw.domain.models import (
    Delta,
    TextDelta,
)
from tests.fakes.completions import (
    CALLS,
    KEY,
    asking,
    call,
    delta,
    failure,
    read,
    request,
    stream,
)
from tests.loopback.completion_rules import FLAVOURS
from tests.loopback.completions import CompletionsVendor
from tests.loopback.script import VendorReply
from tests.loopback.scripted import Asked, Raw

GEMINI_FULL = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
LLAMA_FULL = "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"
OPENAI_FULL = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130245 tokens. "
    "Please reduce the length of the messages."
)


MISTRAL_FULL = "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length"
XAI_FULL = "This model's maximum prompt length is 131072 but the request contains 136973 tokens."
XAI_FULL_TOO = "[input_too_large] Current message (1149677 tokens) exceeds budget (975424 tokens)"
KIMI_FULL = "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)"
VLLM_FULL = (
    "This model's maximum context length is 131072 tokens. However, you requested 128000 output tokens and your prompt "
    "contains at least 3073 input tokens, for a total of at least 131073 tokens."
)
STUDIO_FULL = "The number of tokens to keep from the initial prompt is greater than the context length."
DEEPSEEK_FULL = "This model's maximum context length is 65536 tokens. However, you requested 190402 tokens."
GROQ_FULL = "Please reduce the length of the messages or completion."
FULL = [
    ("openai", OPENAI_FULL, 130_245, 128_000),
    ("xai", XAI_FULL, 136_973, 131_072),
    ("xai", XAI_FULL_TOO, 1_149_677, 975_424),
    ("openai", VLLM_FULL, 131_073, 131_072),
    ("gemini", GEMINI_FULL, 1_200_000, 1_048_576),
    ("mistral", MISTRAL_FULL, 65_673, 32_768),
    ("groq", GROQ_FULL, None, None),
    ("deepseek", DEEPSEEK_FULL, 190_402, 65_536),
    ("openrouter", VLLM_FULL, 131_073, 131_072),
    ("moonshot", KIMI_FULL, 291_351, 262_144),
    ("ollama", LLAMA_FULL, 9_000, 4_096),
    ("ollama", STUDIO_FULL, None, None),
]


@pytest.mark.parametrize(("flavour", "words", "size", "limit"), FULL)
@pytest.mark.parametrize("inside", [False, True])
async def test_a_full_window_is_known_by_their_words(
    flavour: str, words: str, size: int | None, limit: int | None, *, inside: bool
) -> None:
    reply = VendorReply(status=400, error_message=words, error_type="invalid_request_error")
    if inside:
        body = {"error": {"message": words, "code": 400, "type": "exceed_context_size_error"}}
        raw = stream(delta(content="a"), body, done=False)
        failed = await failure(flavour, raw)
    else:
        failed = await failure(flavour, reply)
    assert (failed.kind, failed.size, failed.limit) == ("overflow", size, limit)


async def test_a_full_window_is_known_by_its_code() -> None:
    body = {"error": {"message": "Too much.", "type": "invalid_request_error", "code": "context_length_exceeded"}}
    assert (await failure("openai", Raw(json.dumps(body).encode(), "application/json", 400))).kind == "overflow"
    said = "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 12000"
    failed = await failure("groq", refused(413, said, "rate_limit_exceeded"))
    assert (failed.kind, failed.size, failed.limit) == ("overflow", 12_000, 6_000)


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_limit_is_one_with_each_vendor(flavour: str) -> None:
    limited = VendorReply(status=429, error_message="Please retry in 2s.", headers={"retry-after": "3"})
    failed = await failure(flavour, limited)
    assert (failed.kind, failed.retry_after) == ("rate_limit", 3.0)


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


@pytest.mark.parametrize("flavour", FLAVOURS)
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
    # Half of a tag is text, as nobody knows what it would have been.
    assert "I look.".startswith(failed.partial.removeprefix("\n<t"))


async def test_nothing_is_missing_once_the_reason_to_stop_has_come() -> None:
    assert (await read(delta("stop", content="a"), done=False)).stop_reason == "end_turn"
    async with asking("openai", VendorReply(text="all of it", broken="reset", behind=True)) as (_, model):
        assert (await model.reply(request(), lambda _: None)).text == "all of it"


@pytest.mark.parametrize(
    "endless",
    [delta(content="x" * 60_000), delta(reasoning="x" * 60_000), call(None, "x" * 60_000), call("LS", "{}"),
     delta(content=[{"type": "thinking", "thinking": "x" * 60_000}]),
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


@pytest.mark.parametrize("piece", ['"k": "some words",', "{ }"])
def test_arguments_are_read_in_time_that_grows_with_them(piece: str) -> None:
    reader = CompletionsReader(lambda _: None, room=10_000_000)
    for one in (call("LS", "{}", index=0, id="0"), call("Read", "{", index=1, id="1")):
        reader.take({"choices": [one]})
    event = {"choices": [call(None, piece, index=1 if piece.endswith(",") else 0)]}
    for _ in range(60_000):  # read again with each piece, they would take hours
        reader.take(event)
        assert not reader.could_end


async def test_silence_is_a_broken_stream() -> None:
    failed = await failure("openai", VendorReply(text="a", broken="silence", silence=20), silence=0.4)
    assert (failed.kind, "silent" in failed.message) == ("network", True)


async def test_a_whole_call_is_run_when_nothing_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "QUIET_SECONDS", 0.2)
    # Behind the finish reason nothing is missing; in front of it the calls could still end there.
    chunks = [call("Read", "{}", index=0, id="1"), call("LS", "{}", index=1, id="2")]
    async with asking("openai") as (vendor, model):
        vendor.bodies = lambda *_: iter([{"id": "x", "choices": [one]} for one in [*chunks, delta("stop")]])  # type: ignore[method-assign]
        vendor.script.append(VendorReply(broken="silence", behind=True))
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
