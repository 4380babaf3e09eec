"""The vendor's Messages API on loopback: real HTTP, real server-sent events, scripted answers.

In process:      async with LoopbackVendor([VendorReply(text="hello")]) as vendor: ... vendor.url, vendor.requests
As a program:    python -m tests.loopback.server [--port 0] [--script FILE]    (prints the port)
                 POST /control/script {"replies": [...], "fallback": {...} | null, "window": N, "reset": true,
                                       "always_full": false, "form": "tokens", "summaries": ["good"]}
                 GET  /control/requests
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from tests.loopback.cache import PromptCache
from tests.loopback.checks import CHARACTERS, LARGEST_BODY, cost, count, malformed, uncounted
from tests.loopback.claude import Account, Judged
from tests.loopback.http import LoopbackServer, Received, reset, send
from tests.loopback.script import VendorReply, events, received, whole
from tests.loopback.summaries import Summariser, wants_summary

Scripted = VendorReply | Callable[["Captured"], VendorReply | None]
Brain = Callable[[dict[str, Any]], VendorReply | None]
"""From the body of a request to its answer; None lets the script or the fallback answer."""
Form = Literal["tokens", "no_numbers", "413", "output"]
"""How an endpoint says that a prompt does not fit."""


@dataclass(slots=True)
class Captured(Received):
    """A request, and what became of it."""

    answer_first_byte: float | None = None
    answer_last_byte: float | None = None
    status: int | None = None
    closed_early: bool = False
    """The client went away before the answer was whole."""
    usage: dict[str, int] = field(default_factory=dict)
    lasting: dict[str, int] = field(default_factory=dict)
    """Of the tokens written to the cache, how many for how long, as the vendor names it."""
    refused: str | None = None
    """Why the strict reading refused the body; an overflow is not meant."""
    transformed: Sequence[Mapping[str, str]] = ()
    """The thinking that was dropped, as the answer says."""
    answer: list[dict[str, Any]] | None = None
    """The blocks of a streamed answer that was sent whole."""
    diagnosis: Mapping[str, Any] | None = None
    """What the answer says of the cache, where it was asked."""
    lost: list[str] = field(default_factory=list[str])
    """Messages whose thinking could have come back and did not."""
    overflowed: bool = False
    """The prompt was longer than the endpoint takes."""
    tokens: int = 0
    """Of the prompt, as the vendor counts."""
    summary: bool = False
    """A summary was asked for."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def cost(self) -> float:
        """Billed input cost units."""
        return cost(self.usage)

    @property
    def billed(self) -> dict[str, Any]:
        """The usage as the answer reports it."""
        return {**self.usage, **({"cache_creation": self.lasting} if self.lasting else {})}

    def shown(self) -> dict[str, Any]:
        return asdict(self) | {"body": self.body.decode(errors="replace")}


class LoopbackVendor(LoopbackServer):
    """The server. A callable in the script gets the request and may pass (None); it is never used up.

    Who answers: for a summary, a scripted reply whose `when_contains` is met, else the summariser; for all else the
    script in its order, then the brain, then the fallback.
    """

    def __init__(
        self,
        script: Sequence[Scripted] = (),
        *,
        fallback: VendorReply | None = None,
        brain: Brain | None = None,
        window: int = 200_000,
        key: str | None = None,
        characters: float = CHARACTERS,
        account: Account | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock` gives the seconds by which the prompt cache forgets."""
        super().__init__()
        self.script: Sequence[Scripted] = script
        self.fallback = fallback
        self.brain = brain
        self.summariser: Summariser | None = Summariser()
        self.window = window
        """Tokens of the longest prompt that is taken, whatever a profile says."""
        self.always_full = False
        """Nothing fits."""
        self.form: Form = "tokens"
        self.key = key
        self.models: Sequence[str] | None = None
        """What `GET /v1/models` lists; None: there is no such list."""
        self.described: dict[str, dict[str, Any]] = {}
        """What it says of them besides their names."""
        self.counts = True
        """Whether it counts tokens when asked to."""
        self.characters = characters
        self.account = account
        """Whose models think and are strict about it; None: an endpoint that knows nothing of this."""
        self.requests: list[Captured] = []
        self._given: dict[int, int] = {}
        self.clock = clock
        self._cache = PromptCache(characters, clock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def messages(self) -> list[Captured]:
        """The requests to `/v1/messages`."""
        return [request for request in self.requests if request.path.split("?")[0] == "/v1/messages"]

    @property
    def counted(self) -> list[Captured]:
        """The questions how many tokens a request has."""
        return [request for request in self.requests if request.path.split("?")[0] == "/v1/messages/count_tokens"]

    @property
    def summaries(self) -> list[Captured]:
        """The requests for a summary."""
        return [request for request in self.messages if request.summary]

    @property
    def steps(self) -> list[Captured]:
        """The requests of turns."""
        return [request for request in self.messages if not request.summary]

    @property
    def refused(self) -> list[str]:
        """What the strict reading refused."""
        return [request.refused for request in self.messages if request.refused is not None]

    def reset(self, script: Sequence[Scripted] = ()) -> None:
        """Forget everything and begin another script."""
        self.script = script
        self.requests = []
        self._given = {}
        self._cache = PromptCache(self.characters, self.clock)

    def play(self, *replies: Scripted) -> None:
        """Another script; what was asked before, and the prompt cache, are kept."""
        self.script = replies
        self._given = {}

    async def answer(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False ends the connection."""
        return await self._answer(Captured(*astuple(request)), reader, writer)

    async def _answer(self, request: Captured, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        path = request.path.split("?")[0]
        if path.startswith("/control/"):
            return await self._control(path, request, writer)
        self.requests.append(request)
        if self._unauthorised(request):
            return await _error(request, writer, 401, "authentication_error", "invalid x-api-key")
        if self.models is not None and request.method == "GET" and path.startswith("/v1/models"):
            return await self._models(path, request, writer, self.models)
        if request.method == "GET":
            return await _error(request, writer, 404, "not_found_error", f"Not found: {path}")
        try:
            body = json.loads(request.body)
        except ValueError:
            return await _error(request, writer, 400, "invalid_request_error", "The body is not valid JSON")
        if path == "/v1/messages/count_tokens" and self.counts:
            request.refused = uncounted(body)
            if request.refused is not None:
                return await _error(request, writer, 400, "invalid_request_error", request.refused)
            return await _json(request, writer, 200, {"input_tokens": count(body, self.characters)})
        if path != "/v1/messages" or request.method != "POST":
            return await _error(request, writer, 404, "not_found_error", f"Not found: {path}")
        if len(request.body) > LARGEST_BODY:
            message = f"Request size exceeds the maximum of {LARGEST_BODY} bytes"
            return await _error(request, writer, 413, "request_too_large", message)
        judged = Judged() if self.account is None else self.account.judge(body, request.headers)
        request.refused = judged.refusal or malformed(body)
        if request.refused is not None:
            return await _error(request, writer, 400, "invalid_request_error", request.refused)
        request.transformed = judged.transformed
        request.lost = [] if self.account is None else self.account.lost(body)
        request.summary = wants_summary(body)
        request.tokens = count(body, self.characters)
        asked = request.tokens + (body["max_tokens"] if self.form == "output" else 0)
        request.overflowed = self.always_full or asked > self.window
        if request.overflowed:
            return await _error(request, writer, *self._too_long(request.tokens, body["max_tokens"]))
        started = self.clock()
        reply = VendorReply(stop_reason="max_tokens") if body["max_tokens"] == 0 else self._next(request, body)
        if reply is None:
            return await _error(request, writer, 500, "api_error", "the script has no reply for this request")
        if reply.wait and await _client_leaves(reader, writer, reply.wait):
            request.closed_early = True
            return False
        if reply.broken == "reset_before":
            return await reset(writer)
        if reply.broken == "hang":
            await _client_gone(reader, writer)
            request.closed_early = True
            return False
        if reply.status >= 400:
            headers = dict(reply.headers or {})
            return await _error(request, writer, reply.status, reply.error_type, reply.error_message, headers)
        output = (len(reply.text) + len(reply.thinking) + len(json.dumps([dict(call) for call in reply.calls]))) // 4
        output = 0 if body["max_tokens"] == 0 else output
        zero = {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0}
        billed = self._cache.usage(body, output, judged.dropped, started)
        missed = billed["input_tokens"] + billed["cache_creation_input_tokens"]
        request.lasting = billed.pop("cache_creation") if reply.usage is None else {}
        request.usage = billed if reply.usage is None else zero | dict(reply.usage)
        number = len(self.messages)
        request.diagnosis = self._cache.diagnosis(body, f"msg_{number:04}", missed)
        if not body.get("stream"):
            answer = whole(reply, body, request.billed, number, account=self.account)
            return await _json(request, writer, 200, answer)
        return await _Stream(request, reply, reader, writer, self.account).run(body, number)

    def _too_long(self, tokens: int, output: int) -> tuple[int, str, str]:
        match self.form:
            case "tokens":
                return 400, "invalid_request_error", f"prompt is too long: {tokens} tokens > {self.window} maximum"
            case "no_numbers":
                return 400, "invalid_request_error", "This model's maximum context length was exceeded."
            case "output":
                sizes = f"{tokens} + {output} > {self.window}"
                message = f"input length and `max_tokens` exceed context limit: {sizes}, decrease input length"
                return 400, "invalid_request_error", message
            case "413":
                return 413, "request_too_large", "Request exceeds the maximum size"

    def _next(self, request: Captured, body: dict[str, Any]) -> VendorReply | None:
        reported = request.summary and self.summariser is not None
        reply = self._scripted(request, marked_only=reported)
        if reply is None and reported and self.summariser is not None:
            reply = self.summariser(body)
        if reply is None and self.brain is not None:
            reply = self.brain(body)
        return reply if reply is not None else self.fallback

    def _scripted(self, request: Captured, *, marked_only: bool) -> VendorReply | None:
        for place, scripted in enumerate(self.script):
            if marked_only and (not isinstance(scripted, VendorReply) or scripted.when_contains is None):
                continue
            if not isinstance(scripted, VendorReply):
                reply = scripted(request)
                if reply is not None:
                    return reply
                continue
            if scripted.times and self._given.get(place, 0) >= scripted.times:
                continue
            if scripted.when_contains is not None and scripted.when_contains not in request.body.decode():
                continue
            self._given[place] = self._given.get(place, 0) + 1
            return scripted
        return None

    async def _models(self, path: str, request: Captured, writer: asyncio.StreamWriter, models: Sequence[str]) -> bool:
        name = unquote(path.removeprefix("/v1/models").lstrip("/"))
        if name and name not in models:
            return await _error(request, writer, 404, "not_found_error", f"model: {name}")
        shown = [{"type": "model", "id": one, "display_name": one} | self.described.get(one, {}) for one in models]
        page = {"data": shown, "has_more": False, "first_id": None, "last_id": None}
        return await _json(request, writer, 200, next((one for one in shown if one["id"] == name), page))

    def _unauthorised(self, request: Captured) -> bool:
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        return given != self.key if self.key is not None else not given

    async def _control(self, path: str, request: Captured, writer: asyncio.StreamWriter) -> bool:
        if path == "/control/requests":
            return await _json(request, writer, 200, [captured.shown() for captured in self.requests])
        try:
            self.configure(json.loads(request.body or b"{}"))
        except (ValueError, TypeError, KeyError) as error:
            return await _json(request, writer, 400, {"error": str(error)})
        return await _json(request, writer, 200, {"ok": True})

    def configure(self, body: dict[str, Any]) -> None:
        """What `/control/script` does: a new script, or more replies for the present one (`reset` false)."""
        replies = [VendorReply.of(entry) for entry in body.get("replies", ())]
        if body.get("reset", True):
            self.reset(replies)
        else:
            self.script = [*self.script, *replies]
        if "fallback" in body:
            self.fallback = None if body["fallback"] is None else VendorReply.of(body["fallback"])
        self.window = body.get("window", self.window)
        self.key = body.get("key", self.key)
        self.always_full = body.get("always_full", self.always_full)
        self.form = body.get("form", self.form)
        if "summaries" in body:
            self.summariser = Summariser(*body["summaries"])


@dataclass(slots=True)
class _Stream:
    """One streamed answer."""

    request: Captured
    reply: VendorReply
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    account: Account | None = None

    async def run(self, body: dict[str, Any], number: int) -> bool:
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n"
        head += "".join(f"{name}: {text}\r\n" for name, text in (self.reply.headers or {}).items())
        self.writer.write(f"{head}request-id: req_{number:04}\r\n\r\n".encode())
        self.request.status = 200
        self.request.answer_first_byte = time.monotonic()
        reported = {
            "account": self.account, "transformed": self.request.transformed, "diagnosis": self.request.diagnosis,
        }  # fmt: skip
        rows = list(events(self.reply, body, self.request.billed, number, **reported))
        deltas = [place for place, (_, data) in enumerate(rows) if "delta" in data and data["type"] != "message_delta"]
        middle = deltas[len(deltas) // 2] if deltas else len(rows) - 2
        middle = len(rows) - 2 if self.reply.behind else middle
        for place, (name, data) in enumerate(rows):
            if place == middle and self.reply.broken is not None and await self._break():
                return False
            if self.reply.delay:
                await asyncio.sleep(self.reply.delay)
            if _is_gone(self.reader, self.writer):
                self.request.closed_early = True
                return False
            self._chunk(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
            if self.reply.delay:
                await self.writer.drain()
        self._chunk(b"")
        await self.writer.drain()
        self.request.answer_last_byte = time.monotonic()
        self.request.answer = received(rows)
        return True

    async def _break(self) -> bool:
        """Break as told; False when the stream goes on afterwards."""
        await self.writer.drain()
        match self.reply.broken:
            case "silence":
                self.request.closed_early = await _client_leaves(self.reader, self.writer, self.reply.silence)
                return self.request.closed_early
            case "reset":
                return not await reset(self.writer)
            case "error_event":
                error = {"type": self.reply.error_type, "message": self.reply.error_message}
                self._chunk(f"event: error\ndata: {json.dumps({'type': 'error', 'error': error})}\n\n".encode())
            case "bad_line":
                self._chunk(b'event: content_block_delta\ndata: {"type": "content_block_delta", oops\n\n')
            case _:
                pass
        self._chunk(b"")
        await self.writer.drain()
        return True

    def _chunk(self, data: bytes) -> None:
        self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))


async def _json(
    request: Captured, writer: asyncio.StreamWriter, status: int, value: Any, headers: dict[str, str] | None = None
) -> bool:
    request.status = status
    request.answer_first_byte = time.monotonic()
    await send(writer, status, value, headers)
    request.answer_last_byte = time.monotonic()
    return True


async def _error(  # noqa: PLR0917
    request: Captured, writer: asyncio.StreamWriter, status: int, kind: str, message: str, headers: dict | None = None
) -> bool:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_error"}
    return await _json(request, writer, status, body, headers)


def _is_gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    return reader.at_eof() or reader.exception() is not None or writer.transport.is_closing()


async def _client_gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while not _is_gone(reader, writer):
        await asyncio.sleep(0.005)


async def _client_leaves(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> bool:
    """Wait; whether the client goes away meanwhile."""
    gone = asyncio.create_task(_client_gone(reader, writer))
    done, _ = await asyncio.wait({gone}, timeout=seconds)
    gone.cancel()
    return bool(done)


async def _serve(port: int, script: dict[str, Any] | None) -> None:
    vendor = LoopbackVendor()
    if script is not None:
        vendor.configure(script)
    await vendor.start(port)
    print(vendor.port, flush=True)
    await asyncio.Event().wait()


def main() -> int:
    parser = argparse.ArgumentParser(description="A Messages API on loopback, for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        script = None if options.script is None else json.loads(options.script.read_text(encoding="utf-8"))
        asyncio.run(_serve(options.port, script))
    return 0


if __name__ == "__main__":
    sys.exit(main())
