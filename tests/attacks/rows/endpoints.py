"""An endpoint that wants to fill, stall or mislead whoever asks it (P-1, S-5, S-6)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

from codelaw.adapters.models.messages.model import MessagesModel
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import ApiMessage, ModelRequest, TextBlock
from tests.attacks.deeds import row
from tests.attacks.row import Action, Attack, NotRun
from tests.attacks.world import SECRET, World

REQUEST = ModelRequest("claude-sonnet-5-5", (), (ApiMessage("user", (TextBlock("?"),)),), 512)
ROOM = 200 << 20
"""Bytes of memory that an answer may cost, with everything that the client's package loads by itself."""
SENT = 160 << 20
"""Bytes after which an endpoint is still heard: too many."""
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def endpoint(answer: Answer, heard: list[bytes]) -> AsyncIterator[str]:
    """Answers each request by what `answer` writes; `heard` gets the heads."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            heard.append(await reader.readuntil(b"\r\n\r\n"))
            await answer(writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def event(kind: str, **more: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def start() -> bytes:
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "x", "stop_reason": None}
    return event("message_start", message={**message, "usage": {"input_tokens": 1, "output_tokens": 1}})


OPENED = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
    "tool_use": {"type": "tool_use", "id": "t", "name": "Read", "input": {}},
}
GROWN = {
    "text": {"type": "text_delta", "text": "x" * 60_000},
    "thinking": {"type": "thinking_delta", "thinking": "x" * 60_000},
    "tool_use": {"type": "input_json_delta", "partial_json": "1" * 60_000},
}


def whole(**usage: object) -> bytes:
    return (
        STREAM
        + start()
        + event("content_block_start", index=0, content_block=OPENED["text"])
        + event("content_block_delta", index=0, delta={"type": "text_delta", "text": "hello"})
        + event("content_block_stop", index=0)
        + event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1, **usage})
        .replace(b'"@', b"")
        .replace(b'@"', b"")
        + event("message_stop")
    )


async def pour(writer: asyncio.StreamWriter, parts: Iterator[bytes]) -> None:
    """Writes until nobody listens any more."""
    sent = 0
    for part in parts:
        writer.write(part)
        await writer.drain()
        sent += len(part)
        if sent > SENT:
            raise EndlessError


class EndlessError(Exception):
    """All of it was taken."""


def forever(part: bytes, first: bytes = b"") -> Iterator[bytes]:
    yield first
    while True:
        yield part


def growing(kind: str) -> Iterator[bytes]:
    first = STREAM + start() + event("content_block_start", index=0, content_block=OPENED[kind])
    return forever(event("content_block_delta", index=0, delta=GROWN[kind]), first)


def bomb() -> bytes:
    made = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(made.compress(b" " * (1 << 20)) for _ in range(600)) + made.flush()


def many() -> Iterator[bytes]:
    yield STREAM + start()
    for number in range(10_000_000):
        yield event(
            "content_block_start", index=number, content_block=OPENED["tool_use"] | {"id": f"t{number}"}
        ) + event("content_block_stop", index=number)


async def ask(url: str, seconds: float = 150) -> str:
    """What comes of one request: `answer` and it, or the kind of failure with its words."""
    model = MessagesModel(SECRET + "-key", url)
    try:
        async with asyncio.timeout(seconds):
            reply = await model.reply(REQUEST, lambda _: None)
    except ModelFailure as failure:
        return f"{failure.kind} {failure}"
    finally:
        await model.close()
    return f"answer {str(reply)[-4000:]}"


async def _warm() -> None:
    """What the vendor's package takes by itself is no cost of an answer."""
    model = MessagesModel("k", "http://127.0.0.1:9")
    await model.warm()
    await model.close()


def hostile(answer: Answer, *, may_answer: bool = False) -> Action:
    """One request to an endpoint: it ends in time, in bounded memory, says no key and keeps no half-truth."""

    async def act(_: World) -> list[str]:
        endless: list[bool] = []

        async def once(writer: asyncio.StreamWriter) -> None:
            try:
                await answer(writer)
            except EndlessError:
                endless.append(True)

        heard: list[bytes] = []
        await _warm()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        async with endpoint(once, heard) as url:
            try:
                said = await ask(url)
            except TimeoutError:
                return ["it does not end"]
        if not heard:
            raise NotRun("nobody asked")
        found = [f"{SENT >> 20} MiB were taken"] if endless else []
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
        if grown > ROOM:
            found.append(f"it cost {grown >> 20} MiB")
        if SECRET in said:
            found.append(f"the key was said: {said[:200]}")
        if said.startswith("answer") and not may_answer:
            found.append(f"it was believed: {said[:300]}")
        return found

    return act


def sends(data: bytes) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        with contextlib.suppress(ConnectionError):
            await writer.drain()

    return answer


def pours(make: Callable[[], Iterator[bytes]]) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        await pour(writer, make())

    return answer


def error(body: bytes, status: str = "500 X", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "content-type: application/json", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


async def _redirected(_: World) -> list[str]:
    """A redirect to another host takes neither the key nor the request with it."""
    found: list[str] = []
    for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
        elsewhere: list[bytes] = []
        heard: list[bytes] = []
        async with endpoint(sends(whole()), elsewhere) as other:
            place = other.replace("127.0.0.1", "localhost") + "/v1/messages"
            async with endpoint(sends(error(b"", status, f"location: {place}")), heard) as url:
                await ask(url)
        if not heard:
            raise NotRun("nobody asked")
        if elsewhere:
            found.append(f"{status} was followed")
    return found


async def _blocked(_: World) -> list[str]:
    """While comments and tiny events pour in, others have their turn."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    other = asyncio.ensure_future(tick())
    heard: list[bytes] = []
    parts = 0

    async def answer(writer: asyncio.StreamWriter) -> None:
        nonlocal parts
        writer.write(STREAM + start())
        for _ in range(400):
            writer.write(b": x\n\n" * 10_000)
            await writer.drain()
            parts += 1

    async with endpoint(answer, heard) as url:
        with contextlib.suppress(TimeoutError):
            await ask(url, 30)
    other.cancel()
    if not heard:
        raise NotRun("nobody asked")
    return [] if ticks >= parts else [f"others came {ticks} times in {parts} parts"]


KEY = f'{{"error": {{"type": "x", "message": "bad key {SECRET}-key"}}}}'.encode()
HOSTILE: dict[str, tuple[Action, str]] = {
    "an error that unpacks to 600 MB": (hostile(pours(lambda: iter([error(bomb(), "500 X", "content-encoding: gzip")]))), "gzip of spaces as the body of an error"),
    "an answer that unpacks to 600 MB": (hostile(pours(lambda: iter([error(bomb(), "200 OK", "content-encoding: gzip")]))), "gzip of spaces as the body of an answer"),
    "an endless error": (hostile(pours(lambda: forever(b"x" * 65536, b"HTTP/1.1 500 X\r\n\r\n"))), "an error without an end"),
    "an endless header": (hostile(pours(lambda: forever(b"x" * 65536, b"HTTP/1.1 200 OK\r\nx-y: "))), "a header without an end"),
    "endless headers": (hostile(pours(lambda: forever(b"x-y: z\r\n" * 5000, b"HTTP/1.1 200 OK\r\n"))), "headers without an end"),
    "endless text": (hostile(pours(lambda: growing("text"))), "text without an end"),
    "endless thinking": (hostile(pours(lambda: growing("thinking"))), "thinking without an end"),
    "endless arguments": (hostile(pours(lambda: growing("tool_use"))), "arguments of a call without an end"),
    "endless calls": (hostile(pours(many)), "calls without an end"),
    "endless comments": (hostile(pours(lambda: forever(b": x\n" * 15_000, STREAM + start()))), "comments without an end"),
    "an endless line": (hostile(pours(lambda: forever(b"x" * 65536, STREAM + b"data: "))), "a line without an end"),
    "an endless event": (hostile(pours(lambda: forever(b"data: x\n" * 8000, STREAM))), "an event without an end"),
    "endless pings": (hostile(pours(lambda: forever(event("ping") * 2000, STREAM + start()))), "pings without an end"),
    "others are kept waiting": (_blocked, "comments that keep other requests waiting"),
    "a number with 4 000 digits": (hostile(sends(whole(output_tokens="@" + "9" * 4000 + "@")), may_answer=True), "a usage with 4 000 digits"),
    "a number with 5 000 000 digits": (hostile(sends(whole(output_tokens="@" + "9" * 5_000_000 + "@")), may_answer=True), "a usage with 5 000 000 digits"),
    "deep JSON": (hostile(sends(STREAM + b"event: message_start\ndata: " + b"[" * 200_000 + b"\n\n")), "an event of 200 000 brackets"),
    "deep JSON in an error": (hostile(sends(error(b"[" * 200_000))), "an error of 200 000 brackets"),
    "no JSON": (hostile(sends(STREAM + b"event: message_start\ndata: {\n\n")), "an event that is not JSON"),
    "NaN": (hostile(sends(STREAM + b'event: message_start\ndata: {"type": "message_start", "message": NaN}\n\n')), "an event with NaN"),
    "no end": (hostile(sends(STREAM + start() + event("content_block_start", index=0, content_block=OPENED["text"]))), "a stream without a stop"),
    "no start": (hostile(sends(STREAM + event("message_stop"))), "a stream without a start"),
    "the key in an error": (hostile(sends(error(KEY, "401 X"))), "an error that quotes the key"),
    "the key in an error, cut": (hostile(sends(error(KEY.replace(b"-key", b"-k"), "400 X"))), "an error that quotes a part of the key"),
    "the key in a status": (hostile(sends(f"HTTP/1.1 500 {SECRET}-key\r\ncontent-length: 0\r\n\r\n".encode())), "a status that quotes the key"),
    "another type": (hostile(sends(error(b"<html>", "200 OK"))), "a page where a stream was asked for"),
    "nothing": (hostile(sends(b"")), "an end at once"),
    "no protocol": (hostile(sends(os.urandom(4096))), "noise"),
    "a redirect": (_redirected, "redirects to another host"),
}  # fmt: skip
USAGES = {
    "negative usage": {"output_tokens": -(10**9)},
    "a usage of true": {"output_tokens": True},
    "a usage that is text": {"output_tokens": "7" * 100},
    "a huge usage": {"output_tokens": 10**18},
    "an infinite usage": {"output_tokens": 1e308},
}


def counted(**usage: object) -> Action:
    """Numbers that cannot be are not believed: nothing negative and nothing beyond all windows is told on."""

    async def act(_: World) -> list[str]:
        heard: list[bytes] = []
        async with endpoint(sends(whole(**usage)), heard) as url:
            model = MessagesModel("k", url)
            try:
                async with asyncio.timeout(150):
                    reply = await model.reply(REQUEST, lambda _: None)
            except ModelFailure:
                return []
            finally:
                await model.close()
        count: object = reply.usage.output_tokens
        return [] if type(count) is int and 0 <= count <= 10**9 else [f"{count!r} was believed"]

    return act


ENDPOINTS: tuple[Attack, ...] = (
    *(row(f"an endpoint: {name}", "exhaust", act, says, "endpoint", seconds=60) for name, (act, says) in HOSTILE.items()),
    *(row(f"an endpoint: {name}", "server", counted(**usage), f"says {usage}", "endpoint", seconds=60) for name, usage in USAGES.items()),
)  # fmt: skip
