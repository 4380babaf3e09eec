"""A server that is spoken to, by the package of the protocol's own project (X-3). The room's only door to it.

All of it belongs to the task that has opened the connection: scopes of the package's concurrency library are left by
the task that entered them, innermost first. Work for others runs in children of that task.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Any, cast

import anyio
import httpx2
import mcp_types as types
from mcp.client import Client
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import RootModel, ValidationError

from codelaw.adapters.mcp import reading
from codelaw.adapters.mcp.means import NeedsAuth, ServerFailure, ServerMeans
from codelaw.adapters.mcp.questions import Questions, ServerCall
from codelaw.adapters.mcp.transports import ServerLine, line
from codelaw.domain.errors import ToolFailure
from codelaw.domain.served import Offer, ServedResult, ServerAnswer, ServerSpec

MOST_SECONDS = 3600.0
"""Of one call, whatever progress it tells of."""
ROUNDS = 10
"""Of questions in one call."""
PAGES = 200
"""Of one list."""
FORGOTTEN = "Session terminated"
"""What the package says where a server on the web knows nothing of our session any more."""
LISTEN_SECONDS = (1.0, 5.0, 30.0, 120.0)
"""Between tries to hear of changes, where it is the client that listens."""

_log = logging.getLogger(__name__)


_Raw = RootModel[dict[str, Any]]
"""A result as the package has checked it: `reading` takes what it needs."""
_Page = tuple[list[Mapping[str, Any]], str | None]
"""Of a list, and the cursor of the next one."""


class ServerConnection:
    """A server that has answered. Every method is for children of the task that has opened it."""

    def __init__(self, name: str, client: Client, line: ServerLine, questions: Questions) -> None:
        self._name = name
        self._client = client
        self._line = line
        self._questions = questions

    @property
    def changed(self) -> anyio.Event:
        """Set when the server has said that a list has changed; made anew by `lists`."""
        return self._questions.changed

    async def ended(self) -> str:
        """Wait for the end of the connection; gives why."""
        await self._line.ended.wait()
        return self._line.why()

    async def lists(self) -> tuple[Offer, str]:
        """All that it serves, and what is to be said of it.

        Raises:
            ServerFailure: it does not tell its tools.
        """
        self._questions.changed = anyio.Event()
        can = self._client.server_capabilities
        name = self._name
        found, problem = await _pages(self._tools) if can.tools else ([], "")
        if problem and not found:
            raise ServerFailure(f"It does not tell its tools: {problem}")
        tools = reading.tools(name, found)
        prompts = await self._optional(types.ListPromptsRequest, "prompts") if can.prompts else []
        resources = await self._optional(types.ListResourcesRequest, "resources") if can.resources else []
        offer = Offer(
            tools.tools,
            reading.prompts(name, prompts),
            reading.resources(name, resources),
            reading.instructions(name, self._client.instructions),
        )
        left_out = f"{tools.left_out} tools are left out: there are too many, or they are too large, or malformed."
        behind = f"Its list of tools is cut: what stands behind the first {len(found)} is left out ({problem})."
        return offer, " ".join([left_out] * bool(tools.left_out) + [behind] * bool(problem))

    async def listen(self) -> None:
        """Hear of changes of lists for as long as the server tells of them, where it does not do so by itself."""
        can = self._client.server_capabilities
        tools = bool(can.tools and can.tools.list_changed)
        prompts = bool(can.prompts and can.prompts.list_changed)
        resources = bool(can.resources and can.resources.list_changed)
        modern = self._client.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not modern or not (tools or prompts or resources):
            return
        for wait in LISTEN_SECONDS:
            try:
                async with self._client.listen(
                    tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
                ) as events:
                    async for _ in events:
                        self._questions.changed.set()
            except (MCPError, SubscriptionLost, TimeoutError) as error:
                _log.debug("%s: it does not tell of changes: %s", self._name, error)
            await anyio.sleep(wait)
            self._questions.changed.set()  # what was not told meanwhile

    async def do(self, call: ServerCall, seconds: float) -> ServedResult:
        """Do it; it may take so long without a sign of progress.

        Raises:
            ToolFailure: it took too long, or the server refused it or answered what cannot be read.
        """
        call.begin(seconds)
        until = anyio.current_time() + MOST_SECONDS
        try:
            with self._questions.during(call), anyio.CancelScope(deadline=until), call.timer:
                answer = await (self._tool(call) if call.kind == "tool" else self._send(call))
                return _JOBS[call.kind][2](answer)
        except MCPError as error:
            ended = error.code == types.CONNECTION_CLOSED
            if error.code == types.INVALID_REQUEST and str(error) == FORGOTTEN:
                self._line.ended.set()
            said = f"refused: {_said(error)}"
            if ended:
                said = f"ended before it answered. {self._line.why()}".rstrip()
            raise ToolFailure("EXECUTION_ERROR", f"The server {self._name} {said}", uncertain=ended) from error
        except ValidationError as error:
            message = f"The server {self._name} answered what cannot be read: {_said(error)}"
            raise ToolFailure("EXECUTION_ERROR", message, uncertain=True) from error
        message = f"The server {self._name} did not answer within {seconds:.0f} s."
        raise ToolFailure("TIMEOUT", message, uncertain=True)

    async def _tool(self, call: ServerCall) -> dict[str, Any]:
        try:
            return await self._send(call)
        except MCPError as error:
            modern = self._client.protocol_version in MODERN_PROTOCOL_VERSIONS
            if error.code != types.HEADER_MISMATCH or not modern:
                raise
        await _pages(self._tools)  # the headers of a call follow from the schema that was listed last
        return await self._send(call)

    async def _send(self, call: ServerCall) -> dict[str, Any]:
        """Ask, and answer what the server wants to know in between (the protocol of 2026)."""
        answers: types.InputResponses | None = None
        state: str | None = None
        for _ in range(ROUNDS):
            given = {"uri": call.name} if call.kind == "resource" else {"name": call.name, "arguments": call.arguments}
            shape, params, _ = _JOBS[call.kind]
            request = shape(params=params(**given, input_responses=answers, request_state=state))
            sent = await self._client.session.send_request(request, _Raw, progress_callback=call.progress)
            answer = sent.root
            if answer.get("resultType") != "input_required":
                return answer
            required = types.InputRequiredResult.model_validate(answer, by_name=False)
            answers = await self._answers(call, required)
            state = required.request_state
        raise ToolFailure("EXECUTION_ERROR", f"The server {self._name} asked more than {ROUNDS} times.")

    async def _answers(self, call: ServerCall, required: types.InputRequiredResult) -> types.InputResponses | None:
        if not required.input_requests:
            await anyio.sleep(0.2)
            return None
        answers: types.InputResponses = {}
        for key, request in [*required.input_requests.items()][:ROUNDS]:
            if not isinstance(request, types.ElicitRequest):
                raise ToolFailure(
                    "EXECUTION_ERROR", f"The server {self._name} asked for {request.method}: not offered."
                )
            answers[key] = _result(
                await self._questions.ask(call, request.params.model_dump(mode="json", by_alias=True))
            )
        return answers

    async def _tools(self, params: types.PaginatedRequestParams) -> _Page:
        found = await self._client.session.list_tools(params=params)
        wanted = {"name", "description", "input_schema", "annotations"}
        return [tool.model_dump(by_alias=True, include=wanted) for tool in found.tools], found.next_cursor

    async def _optional(
        self, request: type[types.ListPromptsRequest | types.ListResourcesRequest], key: str
    ) -> list[Mapping[str, Any]]:
        """A list without which the server is of use all the same."""

        async def page(params: types.PaginatedRequestParams) -> _Page:
            found = (await self._client.session.send_request(request(params=params), _Raw)).root
            return reading.objects(found.get(key)), found.get("nextCursor")

        found, problem = await _pages(page)
        if problem:
            _log.info("%s: of its %s the first %d count: %s", self._name, key, len(found), problem)
        return found


async def _pages(
    page: Callable[[types.PaginatedRequestParams], Awaitable[_Page]],
) -> tuple[list[Mapping[str, Any]], str]:
    """A list, page by page, and why something is left out of it that would be looked at; nothing where it is whole."""
    found: list[Mapping[str, Any]] = []
    cursor: str | None = None
    room = reading.LIST_CHARACTERS
    for _ in range(PAGES):
        try:
            some, following = await page(types.PaginatedRequestParams(cursor=cursor))
        except (MCPError, ValidationError) as error:
            return found, _said(error)
        found += some
        room -= reading.size(some)
        if not following or following == cursor or len(found) > reading.TOOLS:
            break
        if room < 0:
            return found, "the list is too long"
        cursor = following
    return found, ""


@asynccontextmanager
async def connected(spec: ServerSpec, means: ServerMeans) -> AsyncGenerator[ServerConnection]:
    """Start or reach a server, and agree with it on the protocol; at the end it is ended.

    Raises:
        ServerFailure: it cannot be started or reached, or does not speak the protocol.
        NeedsAuth: the user has to log in first.
    """
    questions = Questions(spec.name)

    async def elicited(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:  # noqa: ARG001
        return _result(await questions.ask(questions.latest(), params.model_dump(mode="json", by_alias=True)))

    async def reported(message: IncomingMessage) -> None:
        if isinstance(message, _CHANGES):
            questions.changed.set()

    way: ServerLine | None = None
    reached = False
    try:
        async with line(spec, means) as way:
            client = Client(
                nullcontext(way.streams),
                cache=None,
                client_info=types.Implementation(name="codelaw", version=means.version),
                elicitation_callback=elicited,
                message_handler=reported,
            )
            async with client:
                reached = True
                yield ServerConnection(spec.name, client, way, questions)
    except Exception as error:
        said = "broke off" if reached else "does not speak the protocol"
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
        if isinstance(one, MCPError | ValidationError | RuntimeError | TimeoutError):
            return ServerFailure(why or f"It {said}: {_said(one)}")
    return error


_JOBS: dict[str, tuple[Any, Any, Callable[[Mapping[str, Any]], ServedResult]]] = {
    "tool": (types.CallToolRequest, types.CallToolRequestParams, reading.called),
    "prompt": (types.GetPromptRequest, types.GetPromptRequestParams, reading.prompt),
    "resource": (types.ReadResourceRequest, types.ReadResourceRequestParams, reading.resource),
}
"""How each is asked for, and what its answer becomes."""
_CHANGES = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)


def _result(answer: ServerAnswer) -> types.ElicitResult:
    content = dict(answer.content) if answer.action == "accept" and answer.content is not None else None
    return types.ElicitResult(action=answer.action, content=content)


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
