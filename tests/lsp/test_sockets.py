"""TCP and WebSocket: tokens, origins, several clients (V-3)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from codelaw.lsp.server.serve import split_address
from codelaw.lsp.server.sockets import MAX_UNKNOWN, is_loopback
from tests.lsp.conftest import FAKE_SERVER
from tests.lsp.raw import PATIENCE, Process, RawClient, RpcError, spawn, tcp

LINE = re.compile(r"^codelaw: listening (tcp|ws) (\S+):(\d+)(?: token=(\S+))?$", re.MULTILINE)


COMMAND = list(FAKE_SERVER)


@pytest.fixture(scope="module", autouse=True)
def forked(fake_server: list[str]) -> Iterator[None]:
    """Have `listening` start its servers quickly."""
    COMMAND[:] = fake_server
    yield
    COMMAND[:] = FAKE_SERVER


@asynccontextmanager
async def listening(*arguments: str) -> AsyncIterator[tuple[Process, int, str]]:
    process = await spawn([*COMMAND, *arguments])
    try:
        async with asyncio.timeout(PATIENCE):
            while (found := LINE.search(process.stderr)) is None:
                await asyncio.sleep(0.01)
        yield process, int(found[3]), found[4] or ""
    finally:
        # Who is killed leaves the server that it had forked with our pipes for a moment.
        with suppress(ProcessLookupError):
            process.process.terminate()
        try:
            await process.wait()
        finally:
            await process.kill()


async def gone(client: RawClient) -> None:
    async with asyncio.timeout(PATIENCE):
        await client.ended.wait()


async def test_tcp_with_the_printed_token() -> None:
    async with listening("--tcp", "127.0.0.1:0") as (_, port, token), tcp("127.0.0.1", port) as client:
        assert len(token) >= 32
        assert (await client.error("codelaw/model/list", {})).code == -32002
        await client.initialize(options={"token": token, "turn": {"maxSteps": 5}})
        settings = await client.request("codelaw/settings/read", {})
        assert settings["settings"]["turn.maxSteps"]["value"] == 5
        assert settings["problems"] == []
        assert (await client.request("codelaw/chat/send", {"text": "hi"}))["answer"] == "you said hi"


@pytest.mark.parametrize("options", [None, {}, {"token": "wrong"}, {"token": 7}, "given", ["given"]])
async def test_tcp_without_the_token_is_refused_and_closed(options: Any) -> None:
    async with listening("--tcp", "127.0.0.1:0", "--token", "given") as (process, port, shown):
        assert shown == ""
        async with tcp("127.0.0.1", port) as client:
            with pytest.raises(RpcError) as refused:
                await client.initialize(options=options)
            assert refused.value.data["code"] == "auth_failed"
            await gone(client)
        async with tcp("127.0.0.1", port) as client:
            await client.initialize(options={"token": "given"})
            await client.request("codelaw/model/list", {})
        assert "given" not in process.stderr


@pytest.mark.parametrize(
    "noise",
    [
        b"Content-Length: 60000000\r\n\r\n" + b" " * 65536,
        b"Content-Length: " + b"1" * 65536,
        b"x: y\r\n" * 8192,
        b"x" * 65536,
        b'Content-Length: 46\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"x","params":{}}'[:70] * 900,
    ],
    ids=["body", "length", "headers", "no break", "messages"],
)
async def test_a_stranger_may_not_send_much(noise: bytes) -> None:
    async with listening("--tcp", "127.0.0.1:0") as (process, port, token):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = 0
        async with asyncio.timeout(PATIENCE):
            try:
                while True:
                    writer.write(noise)
                    await writer.drain()
                    sent += len(noise)
            except ConnectionError:
                pass  # we were cut off
        assert sent < MAX_UNKNOWN + (16 << 20)
        writer.close()
        async with tcp("127.0.0.1", port) as client:
            await client.initialize(options={"token": token})
            assert (await client.error("codelaw/chat/send", {"text": "x" * (10 << 20)})).data["code"] == "invalid_text"
        assert "Traceback" not in process.stderr


async def test_a_stranger_is_told_why_it_is_cut_off() -> None:
    async with listening("--tcp", "127.0.0.1:0") as (_, port, _token), tcp("127.0.0.1", port) as client:
        await client.send_bytes(b"Content-Length: 2000000\r\n\r\n" + b" " * (MAX_UNKNOWN + 1))
        error = await client.until(lambda message: "error" in message)
        assert error["error"]["code"] == -32600
        await gone(client)


async def test_two_clients_at_once_know_nothing_of_each_other() -> None:
    async with (
        listening("--tcp", "127.0.0.1:0") as (_, port, token),
        tcp("127.0.0.1", port) as one,
        tcp("127.0.0.1", port) as two,
    ):
        for client in (one, two):
            await client.initialize(options={"token": token})
        _, waiting = await one.start("codelaw/chat/send", {"text": "wait"})
        await one.event("tool_call")
        assert await two.request("codelaw/chat/list", {}) == {"chats": []}
        assert len((await one.request("codelaw/chat/list", {}))["chats"]) == 1
        assert two.events() == []
        await two.request("shutdown")
        await two.notify("exit")
        await gone(two)
        assert not waiting.done()
        assert len((await one.request("codelaw/chat/list", {}))["chats"]) == 1


async def test_a_client_that_leaves_in_mid_turn_leaves_the_server_well() -> None:
    async with listening("--tcp", "127.0.0.1:0") as (process, port, token):
        async with tcp("127.0.0.1", port) as client:
            await client.initialize(options={"token": token})
            await client.start("codelaw/chat/send", {"text": "wait"})
            await client.event("tool_call")
        async with tcp("127.0.0.1", port) as client:
            await client.initialize(options={"token": token})
            await client.request("codelaw/model/list", {})
        assert process.process.returncode is None
        process.process.terminate()
        assert await process.wait() == 143
        assert "Traceback" not in process.stderr


async def said(socket: Any, message: dict[str, Any]) -> dict[str, Any]:
    """The response to a request, past whatever else comes."""
    await socket.send(json.dumps({"jsonrpc": "2.0", **message}))
    async with asyncio.timeout(PATIENCE):
        while True:
            received = json.loads(await socket.recv())
            if received.get("id") == message["id"] and "method" not in received:
                return received


def introduction(**options: Any) -> dict[str, Any]:
    params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
    return {"id": 1, "method": "initialize", "params": params}


SEND = {"id": 2, "method": "codelaw/chat/send", "params": {"text": "hé"}}


@pytest.mark.parametrize("way", ["header", "query", "initialize"])
async def test_a_websocket_with_the_token(way: str) -> None:
    async with listening("--ws", "127.0.0.1:0") as (_, port, token):
        uri = f"ws://127.0.0.1:{port}/" + (f"?token={token}" if way == "query" else "")
        headers = {"Authorization": f"Bearer {token}"} if way == "header" else {}
        async with connect(uri, additional_headers=headers) as socket:
            introduced = await said(socket, introduction(**({"token": token} if way == "initialize" else {})))
            assert introduced["result"]["serverInfo"]["name"] == "codelaw"
            assert (await said(socket, SEND))["result"]["answer"] == "you said hé"
            await socket.send("not json")
            async with asyncio.timeout(PATIENCE):
                while "error" not in (received := json.loads(await socket.recv())):
                    pass
            assert received["error"]["code"] == -32700


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ("", {"Origin": "http://localhost"}, 403),
        ("", {"Origin": "null"}, 403),
        ("?token=wrong", {}, 401),
        ("", {"Authorization": "Bearer wrong"}, 401),
    ],
)
async def test_a_websocket_handshake_is_refused(query: str, headers: dict[str, str], status: int) -> None:
    async with listening("--ws", "127.0.0.1:0", "--token", "given") as (_, port, _token):
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{port}/{query}", additional_headers=headers)
        assert refused.value.response.status_code == status
        if "Origin" in headers:
            with pytest.raises(InvalidStatus):
                await connect(f"ws://127.0.0.1:{port}/?token=given", additional_headers=headers)


async def test_a_websocket_without_the_token_is_refused_at_initialize() -> None:
    async with listening("--ws", "127.0.0.1:0") as (_, port, _token), connect(f"ws://127.0.0.1:{port}") as socket:
        assert (await said(socket, SEND))["error"]["code"] == -32002
        assert (await said(socket, introduction(token="wrong")))["error"]["data"]["code"] == "auth_failed"
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(ConnectionClosed):
                await socket.recv()


async def test_ten_megabytes_pass_a_websocket() -> None:
    big = {"id": 2, "method": "codelaw/chat/send", "params": {"text": "x" * (10 << 20)}}
    async with (
        listening("--ws", "127.0.0.1:0", "--token", "given") as (_, port, _token),
        connect(f"ws://127.0.0.1:{port}/?token=given") as socket,
    ):
        await said(socket, introduction())
        assert (await said(socket, big))["error"]["data"]["code"] == "invalid_text"


async def test_a_port_in_use_is_told() -> None:
    async with listening("--tcp", "127.0.0.1:0") as (_, port, _token):
        second = await spawn([*COMMAND, "--tcp", f"127.0.0.1:{port}"])
        assert await second.wait() == 1
        assert f"cannot listen on 127.0.0.1:{port}" in second.stderr
        assert "Traceback" not in second.stderr


async def test_a_dead_parent_ends_a_listening_server() -> None:
    parent = await asyncio.create_subprocess_exec("sleep", "60")
    async with listening("--tcp", "127.0.0.1:0", f"--clientProcessId={parent.pid}") as (process, _port, _token):
        parent.kill()
        await parent.wait()
        assert await process.wait() == 1


@pytest.mark.parametrize(
    ("address", "parts"),
    [("127.0.0.1:0", ("127.0.0.1", 0)), ("[::1]:80", ("::1", 80)), (":7", ("127.0.0.1", 7)), ("a.b:1", ("a.b", 1))],
)
def test_addresses(address: str, parts: tuple[str, int]) -> None:
    assert split_address(address) == parts


@pytest.mark.parametrize("address", ["127.0.0.1", "host:", "host:x", "host:70000", "host:-1", ""])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        split_address(address)


def test_only_loopback_is_loopback() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "example.org")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


async def test_a_public_address_is_warned_of() -> None:
    async with listening("--tcp", "0.0.0.0:0") as (process, _port, _token):
        assert "warning: 0.0.0.0 can be reached from other machines" in process.stderr


async def test_a_large_message_over_websocket_needs_the_token_first() -> None:
    large = json.dumps({"jsonrpc": "2.0", "method": "x", "params": ["y" * (2 << 20)]})
    async with listening("--ws", "127.0.0.1:0") as (_, port, token):
        async with asyncio.timeout(PATIENCE), connect(f"ws://127.0.0.1:{port}/") as socket:
            await socket.send(large)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
        async with asyncio.timeout(PATIENCE), connect(f"ws://127.0.0.1:{port}/?token={token}") as socket:
            await socket.send(large)
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "codelaw/model/list", "params": {}}))
            assert json.loads(await socket.recv())["error"]["code"] == -32002


async def test_a_frame_that_comes_with_the_handshake_needs_the_token_too() -> None:
    """Its limit holds before anybody has looked at the token."""
    head = (
        "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    frame = b"\x81\xff" + (60 << 20).to_bytes(8, "big") + b"\0\0\0\0"
    async with listening("--ws", "127.0.0.1:0") as (process, port, _token):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = 0
        async with asyncio.timeout(PATIENCE):
            try:
                writer.write(head.encode() + frame)
                while sent < 60 << 20:
                    writer.write(b" " * 65536)
                    await writer.drain()
                    sent += 65536
            except ConnectionError:
                pass  # we were cut off
        assert sent < 30 << 20
        writer.close()
        assert "Traceback" not in process.stderr


async def test_many_small_frames_need_the_token_too() -> None:
    async with listening("--ws", "127.0.0.1:0") as (_, port, _token), connect(f"ws://127.0.0.1:{port}") as socket:
        small = json.dumps({"jsonrpc": "2.0", "method": "x", "params": ["y" * 1000]})

        async def flood() -> None:
            for _ in range(60_000):
                await socket.send(small)

        async with asyncio.timeout(PATIENCE):
            with pytest.raises(ConnectionClosed):
                await flood()


@pytest.mark.parametrize("head", [b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 40, b"GET /?token=" + b"a" * 5000])
async def test_a_long_handshake_is_cut_off(head: bytes) -> None:
    async with listening("--ws", "127.0.0.1:0", "--token", "given") as (_, port, _token):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        async with asyncio.timeout(PATIENCE):
            answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 4") or answer == b""
        writer.close()
        async with connect(f"ws://127.0.0.1:{port}/?token=given") as socket:
            await said(socket, introduction())


async def test_handshakes_that_are_never_ended_keep_nobody_out() -> None:
    async with listening("--ws", "127.0.0.1:0", "--token", "given") as (_, port, _token):
        slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
        async with connect(f"ws://127.0.0.1:{port}/?token=given") as socket:
            await said(socket, introduction())
        ended = 0
        for reader, _ in slow[:40]:
            async with asyncio.timeout(PATIENCE):
                try:
                    ended += await reader.read() == b""
                except ConnectionError:
                    ended += 1
        assert ended == 40
        for _, writer in slow:
            writer.close()


async def test_strangers_who_say_nothing_keep_nobody_out() -> None:
    async with listening("--tcp", "127.0.0.1:0") as (_, port, token):
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]
        async with tcp("127.0.0.1", port) as client:
            await client.initialize(options={"token": token})
            late = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]
            assert (await client.request("codelaw/model/list", {}))["models"]
            for _, writer in (*silent, *late):
                writer.close()
