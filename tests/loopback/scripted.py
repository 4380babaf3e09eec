"""What the strict vendors of other wires have in common: they play a script, and break as they are told."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import unquote

from tests.loopback.http import LoopbackServer, Received, reset, send
from tests.loopback.script import VendorReply

Refusal = tuple[int, str, str | None]
"""Status, message, code."""
BAD = b'data: {"type": "oops\n\n'


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer byte for byte."""

    body: bytes
    content_type: str = "text/event-stream"
    status: int = 200


@dataclass(slots=True)
class Asked(Received):
    """A request, with what came of it."""

    status: int = 0
    refused: str | None = None
    removed: list[str] = field(default_factory=list[str])
    """The ids of what the vendor has left out."""
    closed_early: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def said(self) -> list[dict[str, Any]]:
        """What the assistant has said, in a body of Chat Completions."""
        return [message for message in self.json["messages"] if message["role"] == "assistant"]


R = TypeVar("R", bound=VendorReply | Raw)


class ScriptedVendor(LoopbackServer, ABC, Generic[R]):
    """Answers `path`. A reply is given `times` times, and only to a request with what it wants in it."""

    path: str

    def __init__(self, *replies: R) -> None:
        super().__init__()
        self.requests: list[Asked] = []
        self.play(*replies)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def messages(self) -> list[Asked]:
        """The requests for replies."""
        return [asked for asked in self.requests if asked.method == "POST"]

    @property
    def answered(self) -> list[Asked]:
        return [asked for asked in self.messages if asked.status == 200]

    @property
    def refused(self) -> list[str]:
        """What the strict reading refused."""
        return [asked.refused for asked in self.requests if asked.refused is not None]

    def reset(self, script: Sequence[R] = ()) -> None:
        """Forget everything and begin another script."""
        self.requests = []
        self.play(*script)

    def play(self, *replies: R) -> None:
        """Another script; what was asked before is kept."""
        self.script = list(replies)
        self._given = 0

    @abstractmethod
    def judge(self, asked: Asked) -> Refusal | None:
        """What the strict reading refuses."""

    @abstractmethod
    def rows(self, asked: Asked, reply: VendorReply) -> list[bytes]:
        """The events of the stream."""

    @abstractmethod
    def error(self, refusal: Refusal) -> Any:
        """The body of an error."""

    @abstractmethod
    def error_row(self, reply: VendorReply) -> bytes:
        """An error in the stream."""

    @abstractmethod
    def is_text(self, row: bytes) -> bool:
        """Whether an event is a part of the text, in the middle of which a stream breaks."""

    async def answer(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        asked = Asked(*astuple(request))
        self.requests.append(asked)
        if request.path.startswith("/v1/models/"):
            name = unquote(request.path.removeprefix("/v1/models/"))
            if "nobody" in name:
                missing = (404, f"The model `{name}` does not exist", "model_not_found")
                return await self._refuse(asked, writer, missing)
            return await send(writer, 200, {"id": name, "object": "model"})
        if (request.method, request.path) != ("POST", self.path):
            return await self._refuse(asked, writer, (404, f"Invalid URL ({request.method} {request.path})", None))
        if (refused := self.judge(asked)) is not None:
            asked.refused = refused[1]
            return await self._refuse(asked, writer, refused)
        reply = self._next(request.body.decode())
        if reply is None:
            return await self._refuse(asked, writer, (500, "the script has no reply for this request", None))
        if isinstance(reply, Raw):
            asked.status = reply.status
            head = f"HTTP/1.1 {reply.status} X\r\ncontent-length: {len(reply.body)}\r\n"
            kind = f"content-type: {reply.content_type}\r\n" if reply.content_type else ""
            writer.write(f"{head}{kind}\r\n".encode() + reply.body)
            await writer.drain()
            return True
        if reply.wait or reply.broken == "hang":
            asked.closed_early = await _left(reader, 600 if reply.broken == "hang" else reply.wait)
            if asked.closed_early:
                return False
        if reply.broken == "reset_before":
            return await reset(writer)
        if reply.status >= 400:
            refusal = (reply.status, reply.error_message, reply.error_type)
            return await self._refuse(asked, writer, refusal, dict(reply.headers or {}))
        return await self._stream(asked, reply, reader, writer)

    def _next(self, words: str) -> R | None:
        for reply in self.script:
            if isinstance(reply, Raw):
                self.script.remove(reply)
                return reply
            if (reply.when_contains or "") not in words:
                continue
            self._given += 1
            if reply.times and self._given >= reply.times:
                self.script.remove(reply)
                self._given = 0
            return reply
        return None

    async def _refuse(
        self, asked: Asked, writer: asyncio.StreamWriter, refusal: Refusal, headers: dict[str, str] | None = None
    ) -> bool:
        asked.status = refusal[0]
        return await send(writer, refusal[0], self.error(refusal), headers)

    async def _stream(
        self, asked: Asked, reply: VendorReply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        asked.status = 200
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n")
        for name, value in (reply.headers or {}).items():
            writer.write(f"{name}: {value}\r\n".encode())
        writer.write(b"\r\n")
        rows = self.rows(asked, reply)
        middle = next((place for place, row in enumerate(rows) if place > 1 and self.is_text(row)), 1)
        middle = len(rows) - 1 if reply.behind else middle
        for place, row in enumerate(rows):
            if place == middle and reply.broken is not None:
                await writer.drain()
                if reply.broken == "reset":
                    return await reset(writer)
                if reply.broken == "silence":
                    asked.closed_early = await _left(reader, reply.silence)
                    if asked.closed_early:
                        return False
                else:
                    last = {"error_event": self.error_row(reply), "bad_line": BAD}.get(reply.broken)
                    if last is not None:
                        _chunk(writer, last)
                    break
            if reply.delay:
                await asyncio.sleep(reply.delay)
            _chunk(writer, row)
            if reply.delay:
                await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


def _chunk(writer: asyncio.StreamWriter, piece: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))


async def _left(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Whether the client leaves within so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            return not await reader.read(1)
    except (TimeoutError, ConnectionError) as error:
        return isinstance(error, ConnectionError)
