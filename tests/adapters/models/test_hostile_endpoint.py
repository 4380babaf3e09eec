"""An endpoint that wants to fill, stall or misuse us: whatever it sends, a turn ends with a clear error (P-1, S-5, S-6)."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from codelaw.adapters.models.endpoints import LARGEST_ERROR, LARGEST_EVENT
from codelaw.adapters.models.messages.model import MessagesModel
from codelaw.adapters.models.replies import MOST_CALLS, MOST_TOKENS, bytes_for, room_for
from codelaw.adapters.models.sdk import LARGEST_ANSWER
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import ApiMessage, Begun, ModelReply, ModelRequest, TextBlock, Usage
from tests.loopback.http import LoopbackServer, Received

KEY = "sk-test-51f0c3"
REQUEST = ModelRequest("claude-sonnet-5-5", (), (ApiMessage("user", (TextBlock("?"),)),), 512)
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
IN_FLIGHT = 16 << 20
"""Bytes that may be on their way in buffers of the machine."""

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Endpoint(LoopbackServer):
    """Answers every request by writing what it likes; counts what it could get rid of."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self._answer = answer
        self.heads: list[dict[str, str]] = []
        self.sent = 0
        self.closed = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        self.heads.append(request.headers)
        try:
            await self._answer(writer)
        finally:
            self.closed.set()
        return False

    async def write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(data)
        await writer.drain()
        self.sent += len(data)


def endpoint(*pieces: bytes, forever: bytes = b"", every: float = 0.0) -> Endpoint:
    """Sends `pieces`, then `forever` without end."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            await made.write(writer, piece)
        while forever:
            await made.write(writer, forever)
            if every:
                await asyncio.sleep(every)

    made = Endpoint(answer)
    return made


def event(name: str, **body: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name} | body)}\n\n".encode()


def raw(name: str, data: str | bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data.encode() if isinstance(data, str) else data)


def delta(**what: Any) -> bytes:
    return event("content_block_delta", index=0, delta=what)


def text(words: str) -> bytes:
    return delta(type="text_delta", text=words)


START = event("message_start", message={"usage": {"input_tokens": 7, "output_tokens": 1}})
END = event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 3}) + event("message_stop")


async def ask(
    server: Endpoint, request: ModelRequest = REQUEST, silence: float = 20, heard: list[Any] | None = None
) -> ModelReply:
    model = MessagesModel(KEY, server.url, silence=silence)
    try:
        return await model.reply(request, (heard if heard is not None else []).append)
    finally:
        await model.close()


async def failure(server: Endpoint, silence: float = 20) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        await ask(server, silence=silence)
    assert KEY not in caught.value.message
    return caught.value


@pytest.fixture
def memory() -> Iterator[Callable[[], int]]:
    """The most bytes that Python held since the test began."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    import anthropic  # noqa: F401 - its memory is not the test's


# --------------------------------------------------------------------------------------------------------- compression


@pytest.fixture(scope="module")
def packed() -> bytes:
    return gzip.compress(b"\0" * (64 << 20), 1)


@pytest.mark.parametrize(
    ("kind", "head"),
    [("gzip", b"HTTP/1.1 400 No\r\ncontent-type: application/json\r\n"), ("gzip", STREAM), ("br, zstd", STREAM)],
)
async def test_compressed_answers_are_neither_asked_for_nor_unpacked(
    kind: str, head: bytes, packed: bytes, memory: Callable[[], int]
) -> None:
    body = packed if kind == "gzip" else b"\x1b\x03" * 100
    async with endpoint(head + b"content-encoding: %b\r\n\r\n" % kind.encode(), body) as server:
        reported = await failure(server)
        assert reported.kind == "invalid"
        assert "compressed" in reported.message
        assert server.heads[0]["accept-encoding"] == "identity"
        assert len(server.heads) == 1
    assert memory() < 20 << 20


async def test_of_an_error_only_so_much_is_read(memory: Callable[[], int]) -> None:
    async with endpoint(b"HTTP/1.1 429 No\r\n\r\n", forever=b"x" * 65536) as server:
        reported = await failure(server)
        await server.closed.wait()
        assert len(reported.message) < 1200
        assert server.sent < LARGEST_ERROR + IN_FLIGHT
    assert memory() < 20 << 20


@pytest.mark.parametrize("status", [b"200 OK", b"404 No"])
async def test_a_list_of_models_has_an_end(status: bytes, memory: Callable[[], int]) -> None:
    head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\n\r\n" % status
    async with endpoint(head, forever=b'{"data":[' * 10000) as server:
        model = MessagesModel(KEY, server.url)
        if status == b"404 No":
            assert await model.offers("x") is None
        else:
            with pytest.raises(ModelFailure, match=str(LARGEST_ANSWER)):
                await model.offers("x")
        await model.close()
        assert server.sent < 2 * LARGEST_ANSWER + IN_FLIGHT
    assert memory() < 6 * LARGEST_ANSWER


# ----------------------------------------------------------------------------------------------------------- endless


@pytest.mark.parametrize(
    "endless",
    [
        delta(type="thinking_delta", thinking="x" * 500) * 100,
        text("y" * 500) * 100,
        text("z") * 500,
        event("content_block_start", index=0, content_block={"type": "tool_use", "id": "a", "name": "LS"})
        + delta(type="input_json_delta", partial_json="[" * 500) * 100,
        event("content_block_start", index=0, content_block={"type": "tool_use", "id": "a", "name": "LS"}) * 100,
        event("strange") * 500,
        raw("ping", "{}") * 2000,
    ],
    ids=["thinking", "text", "letters", "call", "calls", "unknown", "pings"],
)
async def test_a_reply_without_end_is_given_up(
    endless: bytes, memory: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bytes_for(REQUEST.max_tokens) < 64 << 20
    most = 1 << 17
    monkeypatch.setattr("codelaw.adapters.models.wire.bytes_for", lambda _: most)
    ticks = 0

    async def others() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async with endpoint(STREAM + b"\r\n", START, forever=endless) as server:
        task = asyncio.create_task(others())
        reported = await failure(server)
        task.cancel()
        await server.closed.wait()
        assert reported.kind == "invalid"  # which is not asked again
        assert "connection was closed" in reported.message
        assert server.sent < most + IN_FLIGHT
        assert len(reported.partial) <= room_for(REQUEST.max_tokens)
        # Other requests had a turn for every piece that came.
        assert ticks > 2
    assert memory() < 20 << 20


@pytest.mark.parametrize(
    "endless",
    [b":" + b"x" * 65000, b"data: " + b"x" * 65000, b"data: x\n" * 8000, b"event: x\n:\n" * 8000],
    ids=["comment", "line", "lines", "event"],
)
async def test_an_event_without_end_is_given_up(
    endless: bytes, memory: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 1 << 20
    monkeypatch.setattr("codelaw.adapters.models.endpoints.LARGEST_EVENT", most)
    async with endpoint(STREAM + b"\r\n", START, forever=endless) as server:
        reported = await failure(server)
        await server.closed.wait()
        assert reported.kind == "malformed"
        assert str(most) in reported.message
        assert server.sent < most + IN_FLIGHT
    assert memory() < 20 * most


@pytest.mark.parametrize("noise", [b": still here\n\n", b"\r\n"])
async def test_comments_are_no_sign_of_life(noise: bytes) -> None:
    async with endpoint(STREAM + b"\r\n", START, forever=noise, every=0.02) as server:
        reported = await failure(server, silence=0.5)
        assert (reported.kind, "silent" in reported.message) == ("network", True)
        await server.closed.wait()


async def test_pings_are_a_sign_of_life() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b"\r\n" + START)
        for _ in range(7):
            writer.write(b"event: ping\ndata: {}\n\n")
            await asyncio.sleep(0.2)
        writer.write(text("alive") + END)

    async with Endpoint(answer) as server:
        assert (await ask(server, silence=1.2)).text == "alive"


async def test_a_head_without_end_is_given_up() -> None:
    async with endpoint(b"HTTP/1.1 200 OK\r\nx: ", forever=b"y", every=0.02) as server:
        assert (await failure(server, silence=0.2)).kind == "network"
        await server.closed.wait()


# ----------------------------------------------------------------------------------------------------------- redirects


@pytest.mark.parametrize(("status", "same"), [(301, True), (307, False)])
async def test_the_key_is_taken_nowhere_else(status: int, *, same: bool) -> None:
    async with endpoint(STREAM + b"\r\n", START, text("stolen"), END) as thief:
        target = "/elsewhere" if same else f"http://user:secretword@127.0.0.1:{thief.port}/v1?token=secretword"
        head = f"HTTP/1.1 {status} Moved\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n".encode()
        async with endpoint(head) as server:
            reported = await failure(server)
            assert reported.kind == "invalid"
            assert f"127.0.0.1:{server.port if same else thief.port}" in reported.message
            assert "secretword" not in reported.message
            assert "model.baseUrl" in reported.message
            model = MessagesModel(KEY, server.url)
            with pytest.raises(ModelFailure, match="not followed"):
                await model.offers("x")
            await model.close()
            assert len(server.heads) == 2
        assert thief.heads == []


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 300 Many\r\nlocation: http://[::bad\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switch\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 40,
        b"",
    ],
)
async def test_what_is_no_answer_is_an_error(answer: bytes) -> None:
    async with endpoint(answer) as server:
        assert (await failure(server, silence=2)).message


# -------------------------------------------------------------------------------------------------------------- usage


@pytest.mark.parametrize(
    "number",
    ["9" * 9000, "-5", "1.5", "NaN", '"12"', "true", "[]", str(MOST_TOKENS + 1)],
    ids=lambda number: number[:8],
)
async def test_a_usage_that_cannot_be_is_not_believed(number: str) -> None:
    usage = f'{{"input_tokens": {number}, "cache_read_input_tokens": 5, "output_tokens": {number}}}'
    start = raw("message_start", f'{{"type": "message_start", "message": {{"usage": {usage}}}}}')
    async with endpoint(STREAM + b"\r\n", start, text("ok"), END) as server:
        reply = await ask(server)
    assert reply.text == "ok"
    assert reply.usage == Usage(0, 5, 0, 3)
    assert reply.doubted


# -------------------------------------------------------------------------------------------------------------- shapes


def call(index: object, name: object = "LS", call_id: object = "toolu_1") -> bytes:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return event("content_block_start", index=index, content_block=block)


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        ([raw("content_block_delta", '{"type": "content_block_delta", "x": ' + DEEP + "}")], "malformed"),
        ([raw("content_block_delta", b'{"type": "content_block_delta", "delta": "\xff\xfe"}')], "malformed"),
        ([raw("content_block_delta", "{" + '"a":' * 50 + "1")], "malformed"),
        ([text("x" * (LARGEST_EVENT + 1))], "malformed"),
        ([text("x" * (LARGEST_EVENT // 2))], "invalid"),
        ([raw("content_block_delta", '{"type": "strange", "x": [' + "[]," * 1_100_000 + "[]]}")], "malformed"),
        ([call(0, name="N" * (1 << 20))], "malformed"),
        ([call("0")], "malformed"),
        ([call(index) for index in range(MOST_CALLS + 1)], "invalid"),
        ([raw("error", DEEP)], "server"),
        ([raw("error", '{"error": {"type": 5, "message": ["x"]}}')], "server"),
        ([raw("error", '{"error": {"type": "overloaded_error", "message": "%s"}}' % ("x" * 100_000))], "overload"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_shape_that_cannot_be_ends_with_an_error(pieces: list[bytes], kind: str) -> None:
    async with endpoint(STREAM + b"\r\n", START, text("so far "), *pieces, END) as server:
        reported = await failure(server)
    assert (reported.kind, reported.partial) == (kind, "so far ")
    assert 0 < len(reported.message) <= 1000


async def test_odd_shapes_that_mean_something_are_read() -> None:
    pieces = [
        event("content_block_delta", index=4, delta={"type": "input_json_delta", "partial_json": "lost"}),
        call(-1, name="LS", call_id="a"),
        call(7, name="Read", call_id="b"),
        event("content_block_delta", index=7, delta={"type": "input_json_delta", "partial_json": '{"path": "x", '}),
        event("content_block_delta", index=-1, delta={"type": "input_json_delta", "partial_json": DEEP}),
        event("content_block_delta", index=7, delta={"type": "input_json_delta", "partial_json": '"path": "y"}'}),
        raw(
            "content_block_delta",
            '{"type": "x", "type": "content_block_delta", '
            '"delta": {"type": "text_delta", "text": "\\ud83d\\ud83d \\u0000"}}',
        ),
        event("content_block_stop", index=99),
        b"data: nameless\n\n",
        b"id: 1\nretry: x\nevent: later\r\ndata: {}\r\r\n\n",
    ]  # fmt: skip
    async with endpoint(STREAM + b"\r\n", START, *pieces, END) as server:
        reply = await ask(server)
    assert reply.text == "\ud83d\ud83d \0"
    assert [(one.tool, one.arguments) for one in reply.calls] == [("Read", {"path": "y"})]
    assert [one.tool for one in reply.broken_calls] == ["LS"]


async def test_a_long_reply_in_small_pieces_is_told_in_larger_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codelaw.adapters.models.replies.GATHERED_FROM", 2_000)
    heard: list[Any] = []
    async with endpoint(STREAM + b"\r\n", START, text("ab") * 6_000, END) as server:
        reply = await ask(server, heard=heard)
    assert isinstance(heard[0], Begun)
    assert reply.text == "ab" * 6_000 == "".join(piece.text for piece in heard[1:])
    # Each is looked at together with the whole: as many as letters would be quadratic work.
    assert len(heard) < 1_200


# -------------------------------------------------------------------------------------------------------------- events


@pytest.mark.parametrize(("breaks", "size"), [(b"\n", 1000), (b"\r", 1), (b"\r\n", 1), (b"\r\n", 7)])
async def test_events_are_cut_the_same_wherever_the_bytes_are(breaks: bytes, size: int) -> None:
    stream = START + b": hi\n" + text("a") + b"event: ping\n\ndata: unnamed\n\n: b\n\n" + text("b") + END
    stream = stream.replace(b"\n", breaks)

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b"transfer-encoding: chunked\r\n\r\n")
        for at in range(0, len(stream), size):
            piece = stream[at : at + size]
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        writer.write(b"0\r\n\r\n")

    async with Endpoint(answer) as server:
        reply = await ask(server)
    assert (reply.text, reply.stop_reason) == ("ab", "end_turn")


@pytest.fixture
async def embedding() -> AsyncIterator[Any]:
    from codelaw.adapters.embedders.http import HttpEmbedder

    made: list[HttpEmbedder] = []

    def make(url: str) -> HttpEmbedder:
        made.append(HttpEmbedder(url, KEY, silence=5, whole=10))
        return made[-1]

    yield make
    for one in made:
        await one.close()


async def test_an_embedder_follows_and_unpacks_nothing(
    embedding: Any, packed: bytes, memory: Callable[[], int]
) -> None:
    from codelaw.domain.errors import EmbeddingFailure

    async with endpoint(b"HTTP/1.1 200 OK\r\n\r\n{}") as thief:
        moved = f"HTTP/1.1 307 X\r\nlocation: http://a:secretword@127.0.0.1:{thief.port}/\r\ncontent-length: 0\r\n\r\n"
        async with endpoint(moved.encode()) as server:
            with pytest.raises(EmbeddingFailure) as reported:
                await embedding(server.url).embed(["a"])
            assert f"127.0.0.1:{thief.port}" in str(reported.value)
            assert "embedding.baseUrl" in str(reported.value)
            assert "secretword" not in str(reported.value)
        assert thief.heads == []
    for status in (b"200 OK", b"500 No"):
        head = b"HTTP/1.1 %b\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % (status, len(packed))
        async with endpoint(head + packed) as server:
            with pytest.raises(EmbeddingFailure, match="compressed"):
                await embedding(server.url).embed(["a"])
            assert len(server.heads) == 1
    assert memory() < 20 << 20
