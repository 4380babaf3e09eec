"""The embedder for OpenAI-like endpoints, against a real HTTP server on loopback (B-5)."""

from __future__ import annotations

import asyncio
import logging
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from email.utils import formatdate
from typing import Any

import pytest

from codelaw.adapters.embedders.http import (
    ATTEMPTS,
    CHARACTERS_AT_ONCE,
    LONGEST_TEXT,
    SHOWN,
    TEXTS_AT_ONCE,
    HttpEmbedder,
)
from codelaw.adapters.loading import trusted
from codelaw.domain.errors import EmbeddingFailure
from tests.loopback.embeddings import Answer, LoopbackEmbeddings, vector

KEY = "sk-test-SECRET"
Made = Callable[..., HttpEmbedder]


class Waits(list[float]):
    """A clock that notes how long it was asked to wait."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
async def vendor() -> AsyncIterator[LoopbackEmbeddings]:
    async with LoopbackEmbeddings() as made:
        yield made


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
async def make(vendor: LoopbackEmbeddings, waits: Waits) -> AsyncIterator[Made]:
    opened: list[HttpEmbedder] = []

    def made(url: str | None = None, key: str | None = KEY, **more: Any) -> HttpEmbedder:
        more = {"sleep": waits, "jitter": lambda: 0.5, **more}
        opened.append(HttpEmbedder(url or vendor.url, key, **more))
        return opened[-1]

    yield made
    for one in opened:
        await one.close()


def numbers(packed: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(packed) // 4}f", packed)


def same(packed: bytes, text: str, size: int = 32) -> bool:
    return numbers(packed) == pytest.approx(vector(text, size), abs=1e-6)


async def failure(asking: Awaitable[Any]) -> EmbeddingFailure:
    with pytest.raises(EmbeddingFailure) as caught:
        await asking
    shown = f"{caught.value} {caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    assert KEY not in shown
    return caught.value


async def test_texts_get_their_vectors_in_order_and_dimensions_are_sent_only_when_set(vendor, make):
    made = make()
    assert [same(*pair) for pair in zip(await made.embed(["a", "b"]), ["a", "b"], strict=True)] == [True, True]
    assert vendor.requests[0].body == {
        "model": "text-embedding-3-small",
        "input": ["a", "b"],
        "encoding_format": "float",
    }
    assert vendor.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert made.name == "openai/text-embedding-3-small"
    smaller = make(model="m", dimension=8)
    assert same((await smaller.embed(["a"]))[0], "a", 8)
    assert vendor.requests[-1].body["dimensions"] == 8
    assert smaller.name == "openai/m@8"
    assert await made.embed([]) == []


async def test_requests_are_bounded_by_texts_and_by_characters(vendor, make):
    many = [f"text {number}" for number in range(2 * TEXTS_AT_ONCE + 1)]
    vectors = await make().embed(many)
    assert all(same(*pair) for pair in zip(vectors, many, strict=True))
    assert [len(request.texts) for request in vendor.requests] == [TEXTS_AT_ONCE, TEXTS_AT_ONCE, 1]
    vendor.requests.clear()
    long = [str(number) * LONGEST_TEXT for number in range(7)]
    await make().embed([*long, "short"])
    assert all(sum(map(len, request.texts)) <= CHARACTERS_AT_ONCE for request in vendor.requests)
    assert [len(request.texts) for request in vendor.requests] == [3, 3, 2]


async def test_texts_are_bounded_valid_and_never_blank(vendor, make):
    await make().embed(["x" * (LONGEST_TEXT + 1), "", " \n", "lone \udc80"])
    sent = vendor.requests[0].texts
    assert [len(sent[0]), *sent[1:]] == [LONGEST_TEXT, "(empty)", "(empty)", "lone ?"]


@pytest.mark.parametrize("status", [409, 429, 502])
async def test_what_may_pass_is_asked_again_with_growing_waits(vendor, make, waits, status):
    vendor.script = [Answer(status)] * 3
    assert same((await make().embed(["a"]))[0], "a")
    assert list(waits) == [0.5, 1.0, 2.0]
    assert len(vendor.requests) == 4


async def test_after_five_attempts_it_has_failed_for_now(vendor, make, waits):
    vendor.script = [Answer(500, error={"error": {"message": "The server had an error."}})] * 9
    reported = await failure(make().embed(["a"]))
    assert (reported.lasting, len(vendor.requests), len(waits)) == (False, ATTEMPTS, ATTEMPTS - 1)
    assert reported.message == "The embedding endpoint answered 500: The server had an error."


async def test_retry_after_is_obeyed_in_each_spelling_and_up_to_a_minute(vendor, make, waits):
    vendor.script = [
        Answer(429, {"retry-after": "7"}),
        Answer(429, {"retry-after-ms": "250"}),
        Answer(503, {"retry-after": formatdate(time.time() + 30)}),
        Answer(429, {"retry-after": "nan"}),
    ]
    await make().embed(["a"])
    assert waits[:2] == [7.0, 0.25]
    assert 20 < waits[2] <= 30
    assert waits[3] == 4.0, "what is not a number is not obeyed"
    vendor.script = [Answer(429, {"retry-after": "3600"})]
    asked = len(vendor.requests)
    assert not (await failure(make().embed(["a"]))).lasting
    assert len(vendor.requests) == asked + 1, "nobody waits an hour"


@pytest.mark.parametrize("broken", ["reset", "reset_in_body", "hang", "trickle"])
async def test_a_connection_that_breaks_is_made_again(vendor, make, waits, broken):
    vendor.script = [Answer(broken=broken)]
    assert same((await make(silence=1.0, whole=1.5).embed(["a"]))[0], "a")
    assert len(waits) == 1


async def test_a_dead_host_is_told_with_the_setting(make, waits):
    async with LoopbackEmbeddings() as gone:
        port = gone.port
    reported = await failure(make(f"http://127.0.0.1:{port}/v1").embed(["a"]))
    assert not reported.lasting
    assert "Check embedding.baseUrl" in reported.message
    assert len(waits) == ATTEMPTS - 1


@pytest.mark.parametrize(
    ("status", "error", "setting"),
    [
        (400, {"error": {"message": "bad dimensions"}}, "embedding.dimension"),
        (401, {"error": {"message": "no"}}, "embedding.apiKey"),
        (402, {"error": "pay"}, "account"),
        (403, "<html>", "embedding.apiKey"),
        (404, {"error": "model not found, try pulling it first"}, "embedding.model"),
        (422, {"detail": [{"msg": "field required"}]}, "embedding.model"),
        (301, "", "embedding.baseUrl"),
    ],
)
async def test_what_cannot_pass_is_not_asked_again(vendor, make, status, error, setting):
    vendor.script = [Answer(status, error=error)]
    reported = await failure(make().embed(["a"]))
    assert reported.lasting
    assert setting in reported.message
    assert len(vendor.requests) == 1


async def test_an_empty_account_is_not_asked_again_and_may_be_filled_later(vendor, make, waits):
    vendor.script = [Answer(429, error={"error": {"message": "You exceeded", "code": "insufficient_quota"}})]
    reported = await failure(make().embed(["a"]))
    assert (reported.lasting, len(waits)) == (False, 0)


async def test_a_refused_key_is_in_no_message_and_no_log(vendor, make, caplog):
    caplog.set_level(logging.DEBUG)
    vendor.key = "another"
    reported = await failure(make().embed(["a secret text"]))
    assert "Incorrect API key provided: [key]" in reported.message
    assert KEY not in caplog.text
    assert "a secret text" not in caplog.text


async def test_texts_that_the_model_does_not_take_are_cut_until_it_does(vendor, make):
    vendor.longest = 1000
    texts = ["a", "b" * 3000, "c"]
    vectors = await make().embed(texts)
    assert same(vectors[0], "a")
    assert same(vectors[1], "b" * 750)
    assert same(vectors[2], "c")
    vendor.longest = 10
    assert (await failure(make().embed(["d" * 3000]))).lasting, "cutting has an end"


def reversed_order(data):
    return data[::-1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:-1], "1 vectors for 2 texts"),
        (lambda data: [data[0], data[0]], "numbers its vectors wrongly"),
        (lambda data: [data[0] | {"embedding": "no base64!"}, data[1]], "is none"),
        (lambda data: [{}, data[1]], "no number"),
        (lambda data: [data[0] | {"embedding": [0.0] * 32}, data[1]], "zero"),
        (lambda data: [data[0] | {"embedding": [float("nan")] * 32}, data[1]], "no number"),
    ],
)
async def test_a_wrong_answer_is_asked_for_again_and_then_refused(vendor, make, waits, change, words):
    vendor.script = [Answer(change=change)]
    assert same((await make().embed(["a", "b"]))[1], "b")
    assert len(waits) == 1
    vendor.script = [Answer(change=change)] * ATTEMPTS
    assert words in (await failure(make().embed(["a", "b"]))).message


async def test_vectors_are_put_into_order_by_their_index(vendor, make):
    vendor.script = [Answer(change=reversed_order)]
    assert [same(*pair) for pair in zip(await make().embed(["a", "b"]), ["a", "b"], strict=True)] == [True, True]


async def test_base64_is_read_too_and_every_vector_has_length_one(vendor, make):
    vendor.encoding = "base64"
    assert same((await make().embed(["a"]))[0], "a")
    vendor.encoding = "asked"
    vendor.script = [Answer(change=lambda data: [data[0] | {"embedding": [3.0, 4.0] + [0.0] * 30}])]
    assert numbers((await make().embed(["a"]))[0])[:2] == pytest.approx((0.6, 0.8))


async def test_another_dimension_than_asked_for_or_than_before_lasts(vendor, make, waits):
    vendor.script = [Answer(change=lambda data: [data[0] | {"embedding": [1.0] * 16}])]
    reported = await failure(make(dimension=32).embed(["a"]))
    assert reported.lasting
    assert reported.message.startswith("embedding.dimension is 32, but the endpoint's vectors have 16 numbers.")
    made = make()
    await made.embed(["a"])
    vendor.dimension = 64
    reported = await failure(made.embed(["b"]))
    assert reported.lasting
    assert "64 numbers, and had 32 before" in reported.message
    assert not waits


@pytest.mark.parametrize("body", [b"<html>It works!</html>", b"[" * 100_000, b'"text"', b'{"data": 7}', b"{}"])
async def test_an_answer_that_is_no_list_of_embeddings_names_the_address(vendor, make, body):
    vendor.script = [Answer(body=body)] * ATTEMPTS
    assert "Check embedding.baseUrl" in (await failure(make().embed(["a"]))).message


async def test_a_huge_answer_is_not_read_to_its_end(vendor, make, monkeypatch):
    monkeypatch.setattr("codelaw.adapters.embedders.http.LARGEST_REPLY", 10_000)
    vendor.script = [Answer(body=b" " * 1_000_000)]
    assert "more than 10000 bytes" in (await failure(make().embed(["a"]))).message
    vendor.script = [Answer(status=400, body=b"x" * 1_000_000)]
    assert len((await failure(make().embed(["a"]))).message) < 500


@pytest.mark.parametrize(
    ("url", "key", "words"),
    [
        (None, None, "set embedding.apiKey"),
        ("localhost:11434/v1", None, "embedding.baseUrl is not an address"),
        ("ftp://host/v1", None, "embedding.baseUrl is not an address"),
        ("http://[::1", None, "embedding.baseUrl is not an address"),
        ("http://127.0.0.1:1/v1", "sk-\nkey", "characters that no key has"),
    ],
)
async def test_wrong_settings_are_told_without_a_connection(url, key, words):
    made = HttpEmbedder(url, key)
    reported = await failure(made.embed(["a"]))
    assert reported.lasting
    assert words in reported.message


async def test_a_cancelled_caller_leaves_the_embedder_usable(vendor, make):
    vendor.script = [Answer(wait=30)]
    made = make()
    asking = asyncio.create_task(made.embed(["a"]))
    while not vendor.requests:
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert same((await made.embed(["b"]))[0], "b")
    await made.close()
    assert "closed" in (await failure(made.embed(["c"]))).message


@pytest.mark.parametrize("before", [SHOWN - len(KEY), SHOWN - 5, SHOWN])
async def test_of_a_key_that_the_endpoint_repeats_not_even_a_part_is_told(vendor, make, before):
    vendor.script = [Answer(401, error={"error": {"message": "x" * before + KEY}})]
    assert KEY[:4] not in (await failure(make().embed(["a"]))).message


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALL_PROXY", "foo://u:hidden@127.0.0.1:1"), ("ALL_PROXY", "socks9:x"), ("SSL_CERT_FILE", "/nowhere/certs.pem")],
)
async def test_an_environment_that_cannot_be_used_is_a_failure_without_its_words(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    trusted.cache_clear()
    made = HttpEmbedder("https://127.0.0.1:1/v1", KEY)
    reported = await failure(made.embed(["a"]))
    await made.close()
    assert reported.lasting
    assert "hidden" not in reported.message


async def test_of_an_address_that_cannot_be_read_nothing_is_told():
    made = HttpEmbedder("http://user:hid/den@127.0.0.1/v1", KEY)
    assert "hid" not in (await failure(made.embed(["a"]))).message
