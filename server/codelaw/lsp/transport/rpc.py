"""JSON-RPC on top of pygls: nothing goes unanswered, nothing is guessed, nothing leaks (V-2).

pygls gives the language server's types and their converter. Decoding, dispatch, answers, cancelling and our own
requests are done here.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, cast

from lsprotocol import types
from pygls.protocol import LanguageServerProtocol

from codelaw.lsp.transport.errors import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    REQUEST_CANCELLED,
    ClientError,
    Disconnected,
    WireError,
    bad_params,
    internal_error,
)
from codelaw.lsp.transport.messages import BadMessage, Frame, Incoming, decode, next_frame
from codelaw.lsp.transport.structuring import field_paths

log = logging.getLogger(__name__)

MAX_RUNNING = 1000
"""Requests of one client that may be running at once (S-6)."""

UNTYPED = frozenset(
    {
        types.WORKSPACE_EXECUTE_COMMAND,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        types.INITIALIZED,
        types.SHUTDOWN,
        types.EXIT,
    }
)
"""Standard methods whose params are ours to read, or mean nothing however they are spelt."""

RequestId = int | str
State = Literal["new", "running", "shutdown", "closed"]
RequestHandler = Callable[[Any], Awaitable[Any]]
NotificationHandler = Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A result that is JSON already."""

    body: bytes


class Rpc(LanguageServerProtocol):
    """One client's conversation.

    A standard method's params reach its handler as lsprotocol's type, any other's as plain JSON values.
    """

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        self.state: State = "new"
        self.send: Callable[[bytes], None] = lambda _body: None
        """Takes whole messages, in order, without ever blocking."""
        self.requests: dict[str, RequestHandler] = {}
        self.notifications: dict[str, NotificationHandler] = {}
        self.on_initialize: Callable[[types.InitializeParams], types.InitializeResult] = _not_set_up
        self._running: dict[RequestId, asyncio.Task[None]] = {}
        self._waiting: dict[RequestId, asyncio.Future[Any]] = {}
        self._partial: dict[RequestId, Callable[[Any], None]] = {}
        """By token, who takes the parts of the answer to a request of ours."""
        self._next_id = 0

    # ------------------------------------------------------------------------------------------------ what comes in

    async def serve(self, reader: Incoming) -> None:
        """Take messages until the stream ends, or a stranger has sent too much. The introduction lifts that bound."""
        try:
            while (frame := await next_frame(reader)) is not None:
                self.receive(frame)
                if self.state != "new":
                    reader.most = None
                await asyncio.sleep(0)  # what has come already is taken without waiting: others have their turn
        except ConnectionError as error:
            log.info("A connection broke: %s", error)
            self.receive(BadMessage(WireError(INVALID_REQUEST, f"The connection is closed: {error}")))

    def receive(self, frame: Frame) -> None:
        """Take one frame. Never raises."""
        try:
            message = decode(frame) if isinstance(frame, bytes) else frame
            if isinstance(message, BadMessage):
                self._answer_error(message.request_id, message.error)
            else:
                self._dispatch(message)
        except Exception:
            log.exception("A message could not be handled")

    def _dispatch(self, message: dict[str, Any]) -> None:
        request_id = message.get("id")
        known_id = request_id if _is_id(request_id) else None
        method = message.get("method")
        if message.get("jsonrpc") != "2.0" or not (method is None or isinstance(method, str)):
            self._invalid(message, known_id, "jsonrpc must be 2.0 and method a string")
        elif method is None:
            if known_id is not None and ("result" in message or "error" in message):
                self._on_response(known_id, message)
            else:
                self._invalid(message, known_id, "neither a request nor a response")
        elif not isinstance(message.get("params"), (dict, list, type(None))):
            self._invalid(message, known_id, "params must be an object or an array")
        elif "id" not in message:
            self._on_notification(method, message)
        elif known_id is None:
            self._invalid(message, None, "id must be a number or a string")
        else:
            self._on_request(known_id, method, message)

    def _invalid(self, message: dict[str, Any], request_id: RequestId | None, why: str) -> None:
        if request_id is not None and ("result" in message or "error" in message) and "method" not in message:
            return  # a broken response must not be answered
        self._answer_error(request_id, WireError(INVALID_REQUEST, f"Invalid request: {why}"))

    # ------------------------------------------------------------------------------------------------- requests to us

    def _on_request(self, request_id: RequestId, method: str, message: dict[str, Any]) -> None:
        try:
            self._check(request_id, method)
            if method == types.INITIALIZE:
                self._answer(request_id, method, self.on_initialize(self._typed(method, message)))
                # At once, so that a client which sends on without waiting for the answer finds us initialized.
                self.state = "running"
                return
            handler = self.requests.get(method)
            if handler is None:
                raise WireError(METHOD_NOT_FOUND, f"Method not found: {method[:200]}")  # noqa: TRY301
            params = self._typed(method, message)
        except WireError as error:
            self._answer_error(request_id, error)
            return
        except Exception:
            log.exception("%s failed", method)
            self._answer_error(request_id, internal_error())
            return
        if method == types.SHUTDOWN:
            self.state = "shutdown"
        task = asyncio.get_running_loop().create_task(self._run(request_id, method, handler, params))
        self._running[request_id] = task
        task.add_done_callback(lambda ended: self._ended(request_id, ended))

    def _check(self, request_id: RequestId, method: str) -> None:
        """Refuse a request that cannot be served in this state."""
        if self.state in {"shutdown", "closed"}:
            raise WireError(INVALID_REQUEST, "The server is shut down")
        if method == types.INITIALIZE:
            if self.state != "new":
                raise WireError(INVALID_REQUEST, "The server is already initialized")
        elif self.state != "running":
            raise WireError(NOT_INITIALIZED, "The server is not initialized")
        elif request_id in self._running:
            raise WireError(INVALID_REQUEST, "A request with this id is still running")
        elif len(self._running) >= MAX_RUNNING:
            raise WireError(INTERNAL_ERROR, f"More than {MAX_RUNNING} requests are running")

    def _typed(self, method: str, message: dict[str, Any]) -> Any:
        kind = self.get_message_type(method)
        if kind is None or method in UNTYPED:
            return message.get("params")
        try:
            return self._converter.structure(message, kind).params
        except Exception as error:
            raise bad_params(field_paths(error)) from error

    async def _run(self, request_id: RequestId, method: str, handler: RequestHandler, params: Any) -> None:
        try:
            result = await handler(params)
        except Exception as error:
            if not isinstance(error, WireError):
                log.exception("%s failed", method)
            del self._running[request_id]
            self._answer_error(request_id, error if isinstance(error, WireError) else internal_error())
        else:
            del self._running[request_id]
            self._answer(request_id, method, result)

    def _ended(self, request_id: RequestId, task: asyncio.Task[None]) -> None:
        # A task cancelled before its first step never runs a line, so cancelled requests are answered from here.
        if task.cancelled():
            if self._running.get(request_id) is not task:
                return  # it has been answered
            del self._running[request_id]
            self._answer_error(request_id, WireError(REQUEST_CANCELLED, "The request was cancelled"))

    # -------------------------------------------------------------------------------------------- notifications to us

    def _on_notification(self, method: str, message: dict[str, Any]) -> None:
        if method == types.CANCEL_REQUEST:
            self._cancel(message.get("params"))
            return
        if method == types.PROGRESS:
            self._on_progress(message.get("params"))
            return
        handler = self.notifications.get(method)
        if handler is None or (self.state != "running" and method != types.EXIT):
            if not method.startswith("$/"):
                log.debug("Notification %s ignored while %s", method[:200], self.state)
            return
        try:
            handler(self._typed(method, message))
        except WireError as error:
            log.warning("Notification %s ignored: %s", method, error.message)
        except Exception:
            log.exception("Notification %s failed", method)

    def _cancel(self, params: Any) -> None:
        request_id = cast("dict[str, Any]", params).get("id") if isinstance(params, dict) else None
        task = self._running.get(request_id) if _is_id(request_id) else None
        if task is not None:
            # Behind the request's own first step: one that begins something is answered with what became of it.
            asyncio.get_running_loop().call_soon(task.cancel)

    # ----------------------------------------------------------------------------------------------------- our own

    async def request(self, method: str, params: Any, on_part: Callable[[Any], None] | None = None) -> Any:
        """Ask the client. Cancelling the task withdraws the question; waits without limit.

        `on_part` is told the parts of the answer that come ahead of it, and must not raise.

        Raises:
            ClientError: it answered with an error.
            Disconnected: the connection ended.
        """
        if self.state == "closed":
            raise Disconnected
        self._next_id += 1
        request_id = f"codelaw-{self._next_id}"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        if on_part is not None:
            self._partial[request_id] = on_part
            params = {**params, "partialResultToken": request_id}
        try:
            self._send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
            message = await future
        except asyncio.CancelledError:
            if self._waiting.pop(request_id, None) is not None:
                self.notify(types.CANCEL_REQUEST, {"id": request_id})
            raise
        finally:
            self._waiting.pop(request_id, None)
            self._partial.pop(request_id, None)
        if "error" in message:
            error = cast("dict[str, Any]", message["error"]) if isinstance(message["error"], dict) else {}
            code = error.get("code")
            code = code if isinstance(code, int) else INTERNAL_ERROR
            raise ClientError(code, str(error.get("message"))[:500], error.get("data"))
        return message.get("result")

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _on_progress(self, params: Any) -> None:
        given = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
        token = given.get("token")
        if _is_id(token) and (on_part := self._partial.get(token)) is not None:
            on_part(given.get("value"))

    def _on_response(self, request_id: RequestId, message: dict[str, Any]) -> None:
        future = self._waiting.pop(request_id, None)
        if future is not None and not future.done():
            future.set_result(message)

    # ------------------------------------------------------------------------------------------------- what goes out

    def _answer(self, request_id: RequestId, method: str, result: Any) -> None:
        try:
            if isinstance(result, Encoded):
                head = self._encode({"jsonrpc": "2.0", "id": request_id})
                body = b'%b,"result":%b}' % (head[:-1], result.body)
            else:
                body = self._encode({"jsonrpc": "2.0", "id": request_id, "result": result})
        except (TypeError, ValueError, RecursionError):
            log.exception("The result of %s cannot be sent", method)
            self._answer_error(request_id, internal_error())
        else:
            self._write(body)

    def _answer_error(self, request_id: RequestId | None, error: WireError) -> None:
        self._send({"jsonrpc": "2.0", "id": request_id, "error": error.body()})

    def _send(self, message: dict[str, Any]) -> None:
        self._write(self._encode(message))

    def _encode(self, message: dict[str, Any]) -> bytes:
        text = json.dumps(message, default=self._plain, allow_nan=False, separators=(",", ":"))
        return text.encode("ascii")

    def _plain(self, value: Any) -> Any:
        """What json cannot spell itself: lsprotocol's types."""
        if hasattr(value, "__attrs_attrs__"):
            return self._converter.unstructure(value)
        message = f"{type(value).__name__} cannot be sent"
        raise TypeError(message)

    def _write(self, body: bytes) -> None:
        if self.state != "closed":
            self.send(body)

    # -------------------------------------------------------------------------------------------------------- the end

    async def cancel_all(self, *, but: asyncio.Task[Any] | None = None) -> None:
        """Cancel every running request and wait until each is answered."""
        tasks = [task for task in self._running.values() if task is not but]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def close(self) -> None:
        """The connection is gone: nothing is sent any more, and whoever waits for the client learns it."""
        self.state = "closed"
        for future in list(self._waiting.values()):
            if not future.done():
                future.set_exception(Disconnected())
        self._waiting.clear()


def _not_set_up(_params: types.InitializeParams) -> types.InitializeResult:
    raise NotImplementedError


def _is_id(value: object) -> TypeGuard[RequestId]:
    return isinstance(value, (int, str)) and not isinstance(value, bool)
