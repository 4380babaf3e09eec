"""Servers on the web that mean harm or break off: answers end, and what is over begins anew (S-6, R-8)."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator

import pytest

from codelaw.adapters.mcp.servers import McpServers
from codelaw.domain.errors import ToolFailure
from codelaw.domain.served import Address, ServerSpec
from tests.adapters.mcp.conftest import NOBODY, Told, no_calls

PART = b"x" * 65_536


class Web:
    """A server for one kind of harm, done at a call."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.begun = 0
        self.called, self.cancelled = asyncio.Event(), asyncio.Event()
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/mcp"

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b"{}"
                await self._answer(head, json.loads(body), writer)
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _answer(self, head: bytes, asked: dict, writer: asyncio.StreamWriter) -> None:
        method = asked.get("method")
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "w", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "tool", "inputSchema": {"type": "object"}}]},
        }
        if head.startswith(b"GET") or method is None:
            self._send(writer, 405, b"")
        elif method == "notifications/cancelled":
            self.cancelled.set()
            self._send(writer, 202, b"")
        elif "id" not in asked:
            self._send(writer, 202, b"")
        elif method in results:
            self.begun += method == "initialize"
            self._send(writer, 200, self._result(asked, results[method]), "Mcp-Session-Id: s\r\n")
        elif method == "tools/call":
            await self._harm(asked, writer)
        else:
            self._send(writer, 404, b"")

    async def _harm(self, asked: dict, writer: asyncio.StreamWriter) -> None:
        done = self._result(asked, {"content": [{"type": "text", "text": "done"}]})
        match self.kind:
            case "endless body" | "endless event":
                kind = "text/event-stream" if self.kind == "endless event" else "application/json"
                writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n\r\ndata: ".encode())
                while True:
                    writer.write(PART)
                    await writer.drain()
            case "packed":
                self._send(writer, 200, gzip.compress(b" " * 50_000_000), "content-encoding: gzip\r\n")
            case "rich":
                self._send(writer, 200, b'{"jsonrpc":"2.0","id":1,"result":{"a":[' + b"[]," * 2_000_000 + b"[]]}}")
            case "rich event":
                rich = self._result(asked, {"content": [], "structuredContent": {"a": ["R"]}})
                head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: message\r\ndata: "
                writer.write(head + rich.replace(b'"R"', b"[]," * 2_000_000 + b"[]") + b"\r\n\r\n")
            case "halves":
                body = self._result(asked, {"content": [{"type": "text", "text": "half X"}]})
                self._send(writer, 200, body.replace(b"X", rb"\ud83d"))
            case "half events":
                body = self._result(asked, {"content": [{"type": "text", "text": "half X"}]}).replace(b"X", rb"\ud83d")
                head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
                writer.write(head.encode() + b": \r\nevent: message\r\ndata: " + body[:-9])
                await writer.drain()
                writer.write(body[-9:] + b"\r\n\r\n")
            case "garbage":
                self._send(writer, 200, b"<html>Welcome to the hotel</html>")
            case "fails":
                self._send(writer, 500, b"")
            case "elsewhere":
                self._send(writer, 307, b"", "location: http://127.0.0.1:1/secrets\r\n")
            case "forgets" if self.begun == 1:
                self._send(writer, 404, b"")
            case "breaks off" if self.begun == 1:
                writer.close()
            case "hangs":
                self.called.set()
            case _:
                self._send(writer, 200, done)

    def _result(self, asked: dict, result: dict) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()

    def _send(self, writer: asyncio.StreamWriter, status: int, body: bytes, more: str = "") -> None:
        head = (
            f"HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n{more}\r\n"
        )
        writer.write(head.encode() + body)


@pytest.fixture
async def web(request: pytest.FixtureRequest, servers: McpServers, reported: Told) -> AsyncIterator[Web]:
    made = Web(request.param)
    servers.begin([ServerSpec("web", Address(await made.start()), "test")])
    await reported.until("web", "ready")
    yield made
    await servers.close()
    await made.stop()


async def use(servers: McpServers) -> str:
    async with asyncio.timeout(150):
        return (await servers.call("web", "tool", {}, NOBODY)).text


@pytest.mark.parametrize(
    ("web", "said"),
    [
        ("endless body", "more in one answer than can be read"),
        ("endless event", "."),
        ("packed", "packs its answers"),
        ("rich", "more in one answer than can be read"),
        ("rich event", "."),
        ("garbage", "."),
        ("fails", "."),
        ("elsewhere", "not followed"),
    ],
    indirect=["web"],
)
async def test_an_answer_that_cannot_be_read_costs_one_call(web: Web, said: str, servers: McpServers) -> None:
    with pytest.raises(ToolFailure, match=said):
        await use(servers)
    web.kind = "none"
    assert await use(servers) == "done"
    await no_calls()


@pytest.mark.parametrize("web", ["halves", "half events"], indirect=True)
async def test_a_text_that_was_cut_in_a_character_is_read(web: Web, servers: McpServers) -> None:
    assert await use(servers) == "half \ufffd"
    assert web.begun == 1


@pytest.mark.parametrize("web", ["hangs"], indirect=True)
async def test_a_call_that_hangs_is_cancelled(web: Web, servers: McpServers) -> None:
    call = asyncio.create_task(use(servers))
    async with asyncio.timeout(150):
        await web.called.wait()
    call.cancel()
    await asyncio.wait([call])
    async with asyncio.timeout(150):
        await web.cancelled.wait()
    await no_calls()


@pytest.mark.parametrize("web", ["forgets", "breaks off"], indirect=True)
async def test_a_session_that_is_over_begins_anew(web: Web, servers: McpServers, reported: Told) -> None:
    seen = len(reported.states)
    with pytest.raises(ToolFailure):
        await use(servers)
    await reported.until("web", "ready", after=seen)
    assert await use(servers) == "done"
    assert web.begun == 2


async def test_nobody_there(servers: McpServers, reported: Told) -> None:
    servers.begin([ServerSpec("web", Address("http://127.0.0.1:1/mcp"), "test")])
    assert "cannot be reached" in (await reported.until("web", "failed")).message
