"""The ways to a server, as the package wants them: a program's streams, or HTTP."""

from __future__ import annotations

import asyncio
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCResponse, jsonrpc_message_adapter
from pydantic_core import from_json

from codelaw.adapters.mcp.bounds import LINE_BYTES, Admission, mended
from codelaw.adapters.mcp.http import client_for
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


class ServerLine(ABC):
    """A way to a server: the package's `Transport`, and what we want to know of it."""

    def __init__(self) -> None:
        self._within = self.open()

    @abstractmethod
    def open(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """Its two streams for as long as it is open."""

    @abstractmethod
    async def ended(self) -> None:
        """Wait until nothing more can come."""

    @abstractmethod
    def why(self) -> str:
        """Why nothing more comes, or nothing."""

    @abstractmethod
    def lose(self) -> None:
        """The other side has said that it knows nothing of us any more."""

    async def __aenter__(self) -> tuple[Any, Any]:
        return await self._within.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._within.__aexit__(kind, error, trace)


def line(spec: ServerSpec, means: ServerMeans) -> ServerLine:
    """The way to the server of a specification."""
    if isinstance(spec.way, Program):
        return ProgramLine(spec.name, spec.way, means)
    return WebLine(spec.way, means)


class ProgramLine(ServerLine):
    """To a program, over its standard streams."""

    def __init__(self, name: str, program: Program, means: ServerMeans) -> None:
        self._program = program
        self._means = means
        self._running = RunningProgram(name, means.leftovers)
        super().__init__()

    async def ended(self) -> None:
        """See `ServerLine`."""
        await self._running.ended.wait()

    def why(self) -> str:
        """See `ServerLine`."""
        return self._running.why()

    def lose(self) -> None:
        """A program knows us for as long as it runs."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[tuple[Any, Any]]:
        """Start the program, and end it at last."""
        running, admission = self._running, Admission()
        come, heard = anyio.create_memory_object_stream[Message](0)
        said, go = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            with anyio.CancelScope(shield=True):
                await asyncio.to_thread(check, self._program)
                await running.start(self._program, self._means.environment, self._means.cwd)
            async with anyio.create_task_group() as group:
                group.start_soon(_read, running, admission, come)
                group.start_soon(_write, running, admission, go, come)
                try:
                    yield heard, said
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
                running.refuse()
            elif (message := _message(found)) is not None and admission.lets_in(message):
                try:
                    await come.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return
        running.ended.set()


def _message(found: bytes) -> JSONRPCMessage | None:
    try:
        raw = _value(found)
        # A result is taken as it is: trying which kind of message it might be copies it each time.
        match raw:
            case {"jsonrpc": "2.0", "id": int() | str() as named, "result": dict()} if "method" not in raw:
                return JSONRPCResponse.model_construct(jsonrpc="2.0", id=named, result=raw["result"])
            case _:
                return jsonrpc_message_adapter.validate_python(raw, by_name=False)
    except ValueError:
        _log.debug("a server wrote what is not a message: %r", found[:200])
        # Where it says to which request it belongs, nobody is to wait for another answer.
        if (named := _ID.search(found[:_HEAD])) is None or b'"method"' in found[:_HEAD]:
            return None
        problem = ErrorData(code=PARSE_ERROR, message="What it sent cannot be read.")
        return JSONRPCError(jsonrpc="2.0", id=int(named[1]), error=problem)


def _value(found: bytes) -> Any:
    try:
        return from_json(found)
    except ValueError:
        return from_json(mended(found))


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


class WebLine(ServerLine):
    """To a server on the web, by streamable HTTP."""

    def __init__(self, address: Address, means: ServerMeans) -> None:
        self._address = address
        self._means = means
        self._lost = anyio.Event()
        super().__init__()

    async def ended(self) -> None:
        """See `ServerLine`."""
        await self._lost.wait()

    def why(self) -> str:
        """See `ServerLine`."""
        return "It has forgotten the session." if self._lost.is_set() else ""

    def lose(self) -> None:
        """See `ServerLine`."""
        self._lost.set()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[tuple[Any, Any]]:
        """Log in where that is needed, and speak HTTP."""
        async with login(self._address, self._means) as auth, await client_for(self._address, auth) as client:
            way = streamable_http_client(self._address.url, http_client=client, max_sse_event_size=LINE_BYTES)
            async with way as (heard, said):
                admission = Admission()
                yield _Incoming(heard, admission), _Outgoing(said, admission)


class _Incoming(ObjectReceiveStream[Message]):
    """What comes, as far as it is admitted."""

    def __init__(self, stream: Any, admission: Admission) -> None:
        self._stream = stream
        self._admission = admission

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Message:
        while True:
            item: Message = await self._stream.receive()
            if isinstance(item, Exception):
                return item
            await self._admission.pace(0)
            if self._admission.lets_in(item.message):
                return item

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Outgoing(ObjectSendStream[SessionMessage]):
    """What goes, counted."""

    def __init__(self, stream: Any, admission: Admission) -> None:
        self._stream = stream
        self._admission = admission

    async def send(self, item: SessionMessage) -> None:
        await self._stream.send(item)
        self._admission.sent(item.message)

    async def aclose(self) -> None:
        await self._stream.aclose()
