"""A server that is spoken to, by the package of the protocol's own project (X-3). The room's only door to it.

The task that has opened the connection closes it: scopes of the package's concurrency library are left by the task that
entered them, innermost first. Calls are tasks of their own.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, cast

import anyio
import httpx2
import mcp_types as types
from mcp.client import Client, ClientRequestContext, IncomingMessage, InputRequiredRoundsExceededError
from mcp.client.auth import OAuthFlowError
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from codelaw.adapters.mcp import reading
from codelaw.adapters.mcp.means import NeedsAuth, ServerFailure, ServerMeans
from codelaw.adapters.mcp.questions import ServerCall, question
from codelaw.adapters.mcp.transports import ServerLine, line
from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ErrorCode
from codelaw.domain.served import Offer, ServedResult, ServerAnswer, ServerSpec
from codelaw.tools.served.limits import TOOLS

MOST_SECONDS = 3600.0
"""Of one call, whatever progress it tells of."""
PAGES = 200
"""Of one list."""
FORGOTTEN = "Session terminated"
"""What the package says where a server on the web knows nothing of our session any more."""
LISTEN_SECONDS = (1.0, 5.0, 30.0, 120.0)
"""Between tries to hear of changes, where it is the client that listens."""

_log = logging.getLogger(__name__)
_call: ContextVar[ServerCall | None] = ContextVar("call", default=None)
"""For which something is asked, as far as the package hands it on."""


class ServerConnection:
    """A server that has answered, for as long as `client` is entered."""

    def __init__(self, name: str, version: str, line: ServerLine) -> None:
        self.changed = anyio.Event()
        """Set when the server has said that a list has changed; made anew by `lists`."""
        self.client = Client(
            nullcontext(line.streams),
            cache=None,
            client_info=types.Implementation(name="codelaw", version=version),
            elicitation_callback=self._asked,
            message_handler=self._heard,
        )
        self._name = name
        self._line = line
        self._calls: list[ServerCall] = []

    async def ended(self) -> str:
        """Wait for the end of the connection; gives why."""
        await self._line.ended.wait()
        return self._line.why()

    async def lists(self) -> tuple[Offer, str]:
        """All that it serves, and what is to be said of it.

        Raises:
            ServerFailure: it does not tell its tools.
        """
        self.changed = anyio.Event()
        client, can, name = self.client, self.client.server_capabilities, self._name
        found, problem = await _pages(client.list_tools, "tools") if can.tools else ([], "")
        if problem and not found:
            raise ServerFailure(f"It does not tell its tools: {problem}")
        tools, dropped = reading.tools(name, found)
        prompts = await self._optional(client.list_prompts, "prompts") if can.prompts else []
        resources = await self._optional(client.list_resources, "resources") if can.resources else []
        offer = Offer(
            tools,
            reading.prompts(name, prompts),
            reading.resources(name, resources),
            reading.instructions(name, client.instructions),
        )
        left_out = f"{dropped} tools are left out: there are too many, or they are too large, or malformed."
        behind = f"Its list of tools is cut: what stands behind the first {len(found)} is left out ({problem})."
        return offer, " ".join([left_out] * bool(dropped) + [behind] * bool(problem))

    async def _optional(self, page: Callable[..., Awaitable[Any]], key: str) -> list[Any]:
        """A list without which the server is of use all the same."""
        found, problem = await _pages(page, key)
        if problem:
            _log.info("%s: of its %s the first %d count: %s", self._name, key, len(found), problem)
        return found

    async def listen(self) -> None:
        """Hear of changes of lists for as long as the server tells of them, where it does not do so by itself."""
        can = self.client.server_capabilities
        tools = bool(can.tools and can.tools.list_changed)
        prompts = bool(can.prompts and can.prompts.list_changed)
        resources = bool(can.resources and can.resources.list_changed)
        modern = self.client.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not modern or not (tools or prompts or resources):
            return
        for wait in LISTEN_SECONDS:
            try:
                async with self.client.listen(
                    tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
                ) as events:
                    async for _ in events:
                        self.changed.set()
            except (MCPError, SubscriptionLost, TimeoutError) as error:
                _log.debug("%s: it does not tell of changes: %s", self._name, error)
            await anyio.sleep(wait)
            self.changed.set()  # what was not told meanwhile

    async def do(self, call: ServerCall) -> ServedResult:
        """Do it.

        Raises:
            ToolFailure: it took too long, or the server refused it or answered what cannot be read.
        """
        _call.set(call)
        self._calls.append(call)
        call.wind()
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + MOST_SECONDS), call.timer:
                return await self._answered(call)
        except MCPError as error:
            if error.code == types.INVALID_REQUEST and str(error) == FORGOTTEN:
                self._line.ended.set()
            ended = error.code == types.CONNECTION_CLOSED
            said = f"ended before it answered. {self._line.why()}" if ended else f"refused: {_said(error)}"
            raise self._failed(said, uncertain=ended) from error
        except InputRequiredRoundsExceededError as error:
            raise self._failed(f"asked more than {error.max_rounds} times.", uncertain=False) from error
        except ValidationError as error:
            raise self._failed(f"answered what cannot be read: {_said(error)}") from error
        finally:
            self._calls.remove(call)
        raise self._failed(f"did not answer within {call.seconds:.0f} s.", "TIMEOUT")

    def _failed(self, said: str, code: ErrorCode = "EXECUTION_ERROR", *, uncertain: bool = True) -> ToolFailure:
        return ToolFailure(code, f"The server {self._name} {said}".rstrip(), uncertain=uncertain)

    async def _answered(self, call: ServerCall) -> ServedResult:
        match call.kind:
            case "tool":
                given = call.arguments
                return reading.called(await self.client.call_tool(call.name, given, progress_callback=call.progress))
            case "prompt":
                return reading.prompt(await self.client.get_prompt(call.name, call.arguments))
            case "resource":
                return reading.resource(await self.client.read_resource(call.name))

    async def _asked(self, context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:  # noqa: ARG002
        """A question that names no call belongs to the youngest of those that somebody can be asked for."""
        call, asked = _call.get(), question(self._name, params)
        if call not in self._calls:
            call = next((one for one in reversed(self._calls) if one.asking is not None), None)
        answer = ServerAnswer("decline") if call is None or asked is None else await call.ask(asked)
        content = dict(answer.content) if answer.action == "accept" and answer.content is not None else None
        return types.ElicitResult(action=answer.action, content=content)

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, _CHANGES):
            self.changed.set()


async def _pages(page: Callable[..., Awaitable[Any]], key: str) -> tuple[list[Any], str]:
    """A list, page by page, and why something is left out of it that would be looked at; nothing where it is whole."""
    found: list[Any] = []
    cursor: str | None = None
    room = reading.LIST_CHARACTERS
    for _ in range(PAGES):
        try:
            some = await page(cursor=cursor)
        except (MCPError, ValidationError) as error:
            return found, _said(error)
        found += getattr(some, key)
        room -= len(some.model_dump_json())
        if not some.next_cursor or some.next_cursor == cursor or len(found) > TOOLS:
            break
        if room < 0:
            return found, "the list is too long"
        cursor = some.next_cursor
    return found, ""


@asynccontextmanager
async def connected(spec: ServerSpec, means: ServerMeans) -> AsyncGenerator[ServerConnection]:
    """Start or reach a server, and agree with it on the protocol; at the end it is ended.

    Raises:
        ServerFailure: it cannot be started or reached, or does not speak the protocol.
        NeedsAuth: the user has to log in first.
    """
    way: ServerLine | None = None
    said = "does not speak the protocol"
    try:
        async with line(spec, means) as way:
            connection = ServerConnection(spec.name, means.version, way)
            async with connection.client:
                said = "broke off"
                yield connection
    except Exception as error:
        failure = _failure(error, "" if way is None else way.why(), said)
        if failure is error:
            raise
        raise failure from error


def _failure(error: Exception, why: str, said: str) -> Exception:
    """What has become of a connection, out of all that went wrong with it at once."""
    found = [*_leaves(error)]
    for one in found:
        if isinstance(one, ServerFailure | NeedsAuth):
            return one
    for one in found:
        if isinstance(one, httpx2.HTTPError | OSError):
            return ServerFailure(f"It cannot be reached: {_said(one)}")
    for one in found:
        if isinstance(one, MCPError | OAuthFlowError | ValidationError | RuntimeError | TimeoutError):
            return ServerFailure(why or f"It {said}: {_said(one)}")
    return error


_CHANGES = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)


def _said(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_input=False)[:1]
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)
    return reading.problem(str(error) or type(error).__name__)


def _leaves(error: BaseException) -> Generator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(one)
    else:
        yield error
