"""The ways to a server, as the package wants them: a program's streams, or HTTP."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from pydantic_core import from_json

from codelaw.adapters.mcp.bounds import LINE_BYTES, Admission, client_for, mended
from codelaw.adapters.mcp.login import login
from codelaw.adapters.mcp.means import ServerFailure, ServerMeans
from codelaw.adapters.mcp.pins import check
from codelaw.adapters.mcp.program import RunningProgram
from codelaw.adapters.models.endpoints import too_rich
from codelaw.domain.served import Address, Program, ServerSpec

Message = SessionMessage | Exception
_ID = re.compile(rb'^\s*\{(?:"jsonrpc":\s*"2\.0",\s*)?"id":\s*(\d{1,15})\b')
_HEAD = 200
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A server that was started or can be reached: the package's two streams, and what we want to know of it."""

    streams: tuple[Any, Any]
    ended: asyncio.Event
    """Set when nothing more can come; also by who hears that the other side knows nothing of us any more."""
    why: Callable[[], str]
    """Why nothing more comes, or nothing."""


def line(spec: ServerSpec, means: ServerMeans) -> AbstractAsyncContextManager[ServerLine]:
    """The way to the server of a specification, open for as long as it is entered.

    Raises:
        ServerFailure: a program cannot be started.
    """
    return _program(spec.name, spec.way, means) if isinstance(spec.way, Program) else _web(spec.way, means)


@asynccontextmanager
async def _program(name: str, program: Program, means: ServerMeans) -> AsyncGenerator[ServerLine]:
    running, admission = RunningProgram(name, means), Admission()
    come, heard = anyio.create_memory_object_stream[Message](0)
    said, go = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        with anyio.CancelScope(shield=True):
            await asyncio.to_thread(check, program)
            await running.start(program)
        async with anyio.create_task_group() as group:
            group.start_soon(_read, running, admission, come)
            group.start_soon(_write, running, admission, go, come)
            try:
                yield ServerLine((heard, said), running.ended, running.why)
            finally:
                group.cancel_scope.cancel()
    except (OSError, ValueError) as error:
        raise ServerFailure(f"It cannot be started: {error}") from error
    finally:
        for stream in (come, heard, said, go):
            stream.close()
        with anyio.CancelScope(shield=True):
            await running.end()


async def _read(running: RunningProgram, admission: Admission, come: ObjectSendStream[Message]) -> None:
    async with come:
        while (found := await running.line()) is not None:
            await admission.pace(len(found))
            if too_rich(found):
                running.too_much = True
                break
            if (message := _message(found)) is not None and admission.lets_in(message):
                try:
                    await come.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return
        running.ended.set()


def _message(found: bytes) -> JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_python(from_json(mended(found)), by_name=False)
    except ValueError:
        _log.debug("a server wrote what is not a message: %r", found[:_HEAD])
        # Where it says to which request it belongs, nobody is to wait for another answer.
        if (named := _ID.search(found[:_HEAD])) is None or b'"method"' in found[:_HEAD]:
            return None
        problem = ErrorData(code=PARSE_ERROR, message="What it sent cannot be read.")
        return JSONRPCError(jsonrpc="2.0", id=int(named[1]), error=problem)


async def _write(
    running: RunningProgram,
    admission: Admission,
    go: ObjectReceiveStream[SessionMessage],
    come: ObjectSendStream[Message],
) -> None:
    try:
        async for item in go:
            await running.send(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
            admission.sent(item.message)
    except OSError:
        # Nobody reads our requests any more: whoever waits for an answer is to hear of it.
        await come.aclose()
        running.ended.set()


@asynccontextmanager
async def _web(address: Address, means: ServerMeans) -> AsyncGenerator[ServerLine]:
    lost = asyncio.Event()
    async with login(address, means) as auth, await client_for(address, auth) as client:
        way = streamable_http_client(address.url, http_client=client, max_sse_event_size=LINE_BYTES)
        async with way as (heard, said):
            admission = Admission()
            streams = _Admitted(heard, admission), _Admitted(said, admission)
            yield ServerLine(streams, lost, lambda: "It has forgotten the session." * lost.is_set())


@dataclass(slots=True)
class _Admitted(ObjectReceiveStream[Message], ObjectSendStream[SessionMessage]):
    """What comes, as far as it is admitted, or what goes."""

    stream: Any
    admission: Admission

    @property
    def last_context(self) -> Any:
        """Of whoever asked what is answered."""
        return self.stream.last_context

    async def receive(self) -> Message:
        while True:
            item: Message = await self.stream.receive()
            if isinstance(item, Exception):
                return item
            await self.admission.pace(0)
            if self.admission.lets_in(item.message):
                return item

    async def send(self, item: SessionMessage) -> None:
        await self.stream.send(item)
        self.admission.sent(item.message)

    async def aclose(self) -> None:
        await self.stream.aclose()
