"""A server that says for a moment that it starts or stops is asked again (D-3)."""

from __future__ import annotations

import asyncio
import struct
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest

from codelaw.adapters.stores.opening import PostgresStore
from codelaw.adapters.stores.postgres import connection as connection_module
from codelaw.domain.errors import Refusal
from tests.adapters.stores.postgresql.acting import cut
from tests.adapters.stores.suite import a_chat, said

TLS = 80877103
"""The number that asks for a secure connection."""


class Gate:
    """Stands before a PostgreSQL: while it is `starting` it answers as one that is; else it passes everything on."""

    def __init__(self, port: int) -> None:
        self.starting = False
        self.asked = asyncio.Event()
        """Somebody has been told so."""
        self.writers: list[asyncio.StreamWriter] = []
        self._port = port

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        with suppress(OSError, asyncio.IncompleteReadError):
            if not self.starting:
                await self._pass_on(reader, writer)
                return
            while True:
                (length,) = struct.unpack("!i", await reader.readexactly(4))
                if struct.unpack("!i", (await reader.readexactly(length - 4))[:4]) != (TLS,):
                    break
                writer.write(b"N")
            words = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
            writer.write(b"E" + struct.pack("!i", len(words) + 4) + words)
            await writer.drain()
            self.asked.set()
        writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self.writers.append(far_writer)
        await asyncio.gather(_copied(reader, far_writer), _copied(far_reader, writer))


async def _copied(source: asyncio.StreamReader, goal: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(1 << 16):
            goal.write(data)
            await goal.drain()
    goal.close()


@asynccontextmanager
async def gated(url: str):
    parts = urlsplit(url)
    gate = Gate(parts.port or 0)
    server = await asyncio.start_server(gate.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield gate, url.replace(f":{parts.port}/", f":{port}/")
    finally:
        server.close()
        for writer in gate.writers:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


@pytest.fixture(autouse=True)
def _tried(monkeypatch):
    monkeypatch.setattr(connection_module, "IDLE_SECONDS", 0.0)


async def test_it_is_asked_again_and_the_user_is_told_once(postgres_url, behind):
    notices = []
    async with gated(postgres_url) as (gate, url):
        store = await PostgresStore.open(url, notices.append)
        await store.create(a_chat())
        gate.starting = True
        cut(behind)
        writing = [asyncio.ensure_future(store.append("c1", [said(f"m{number}")])) for number in range(3)]
        reading = asyncio.ensure_future(store.chat("c1"))
        await gate.asked.wait()
        gate.starting = False
        await asyncio.gather(*writing)
        await reading
        assert [message.id for message in (await store.load("c1")).messages] == ["m0", "m1", "m2"]
        assert [(notice.level, notice.code) for notice in notices] == [("warning", "store_waits")]
        assert "starting or stopping" in notices[0].message
        await store.close()


async def test_one_that_goes_on_saying_so_is_given_up(monkeypatch, postgres_url):
    monkeypatch.setattr(connection_module, "STARTING_SECONDS", 0.3)
    async with gated(postgres_url) as (gate, url):
        gate.starting = True
        with pytest.raises(Refusal, match="starting or stopping"):
            await PostgresStore.open(url)


async def test_who_gives_up_or_closes_waits_for_nothing(monkeypatch, postgres_url, behind):
    monkeypatch.setattr(connection_module, "STARTING_SECONDS", 600.0)
    async with gated(postgres_url) as (gate, url):
        store = await PostgresStore.open(url)
        await store.create(a_chat())
        gate.starting = True
        cut(behind)
        writing = asyncio.ensure_future(store.append("c1", [said("m1")]))
        waiting = asyncio.ensure_future(store.append("c1", [said("m2")]))
        await gate.asked.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await store.close()
        with pytest.raises(Refusal):
            await waiting
