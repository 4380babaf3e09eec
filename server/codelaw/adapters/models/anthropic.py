"""The Messages API through the vendor's SDK, which only this module imports, and only when it is needed (P-1, V-1)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast

from codelaw.adapters.certificates import trusted
from codelaw.adapters.loading import load
from codelaw.adapters.models.anthropic_body import BodyWriter
from codelaw.adapters.models.anthropic_failures import (
    SHOWN,
    ErrorEvent,
    error_event,
    kind_of_event,
    kind_of_status,
    measures,
    retry_after,
    told,
)
from codelaw.adapters.models.anthropic_stream import (
    EndlessReply,
    MalformedEvent,
    ReplyReader,
    bytes_for,
    room_for,
)
from codelaw.adapters.models.apart import Abandoned, apart
from codelaw.adapters.models.endpoints import LARGEST_ERROR, Misbehaved, guards
from codelaw.adapters.models.events import Events, TooLarge
from codelaw.adapters.models.filling import filled
from codelaw.adapters.models.unreachable import cause_of, place_of, secrets_of
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import Delta, FailureKind, Heard, ModelReply, ModelRequest, Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream

T = TypeVar("T")

VENDOR = "https://api.anthropic.com"

_log = logging.getLogger(__name__)
TOLD_OF_KEY = 12
"""Characters of a key, from its start, that no message holds; an endpoint may quote it cut."""
_SILENCE = 120.0
QUIET_SECONDS = 20.0
"""Without content, after which a reply ends that could end where it is (R-3, P-1)."""
_CONNECT = 30.0
_TAIL = 0.25
_MODELS = 1000
_NO_METHOD = frozenset({404, 405, 501})
_PATIENCE = 2
"""So many times the silence may an answer's head take, from the first byte of the request."""
LARGEST_EVENT = 8 << 20
"""Bytes of one event."""
LARGEST_ANSWER = 8 << 20
"""Bytes of an answer that is not a stream."""
_LARGE = 1 << 17
"""Bytes of an event that would keep the event loop busy for milliseconds."""
_DIGITS = 30
_NO_KEY = "no-key"


class AnthropicModel:
    """A `ChatModel` on any endpoint that speaks the Messages API.

    `api_key` None or empty is for endpoints that want none. `silence` is how many seconds without a byte count as a
    broken stream. Requests are never retried here: `agent/model_calls/recovery` does that, visibly.
    """

    def __init__(self, api_key: str | None = None, base_url: str | None = None, *, silence: float = _SILENCE) -> None:
        self._key = (api_key or "").strip()
        self._base_url = base_url or VENDOR
        self._secrets = [secret for secret in (self._key, *secrets_of(self._base_url)) if secret]
        self._silence = silence
        self._writer = BodyWriter()
        self._loading: asyncio.Task[AsyncAnthropic] | None = None

    async def warm(self) -> None:
        """Import the SDK in a thread and make the client; asks no model.

        Raises:
            ModelFailure: the base URL is none.
        """
        await self._client()

    async def close(self) -> None:
        """Close the connections."""
        loading, self._loading = self._loading, None
        if loading is None:
            return
        if not loading.done():
            loading.cancel()  # it has no connection yet, and the import may take longer than an end may (V-3)
        elif loading.exception() is None:
            await loading.result().close()

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """Answer once (see `ChatModel`). Cancelling the task closes the connection at once.

        Raises:
            ModelFailure: sorted by kind; its message never holds the key (S-5).
        """
        self._check_key()
        client = await self._client()
        reader = ReplyReader(on_delta, room_for(request.max_tokens))
        most = bytes_for(request.max_tokens)
        try:
            await apart(self._stream(client, self._writer.write(request), reader, most))
        except ModelFailure:
            raise
        except Exception as error:
            failure = _failure(error, reader, self._without_key, self._base_url, request.model)
            if failure is None:
                raise
            # A connection that dies after the stop reason has lost nothing, nor one that falls silent behind a call.
            reader.enough |= reader.could_end and isinstance(error, TimeoutError)
            if (reader.complete or reader.enough) and failure.kind == "network":
                return reader.reply()
        else:
            return reader.reply()
        # Raised outside the handler: the SDK's error may hold headers, and no log should follow a chain to them.
        raise failure

    async def count(self, request: ModelRequest) -> int | None:
        """The vendor's count of a request's input, which costs nothing; None where the endpoint has no such method.

        Raises:
            ModelFailure: as for `reply`.
        """
        self._check_key()
        client = await self._client()
        body = await asyncio.to_thread(BodyWriter().write_counted, request)
        return await self._answered(_count(client, body), request.model)

    async def fill(self, request: ModelRequest) -> Usage | None:
        """As `ChatModel` has it: by a request for no output."""
        self._check_key()
        return await self._answered(filled(await self._client(), request), request.model)

    async def offers(self, name: str) -> bool | None:
        """Whether the endpoint has the model `name`; None where it keeps no list of models. No model is asked.

        Raises:
            ModelFailure: as for `reply`.
        """
        self._check_key()
        client = await self._client()
        return await self._answered(_offers(client, name), name)

    async def _answered(self, question: Coroutine[Any, Any, T], model: str) -> T:
        try:
            return await apart(question)
        except Exception as error:
            failure = _failure(error, ReplyReader(lambda _: None), self._without_key, self._base_url, model)
            if failure is None:
                raise
        raise failure  # outside the handler, as in `reply`

    def _check_key(self) -> None:
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelFailure("auth", "The API key holds characters that no key has.")

    async def _client(self) -> AsyncAnthropic:
        if self._loading is None or (self._loading.done() and self._loading.exception() is not None):
            self._loading = asyncio.create_task(load(self._load))
        # Shielded: a cancelled turn must not take away what the others wait for.
        return await asyncio.shield(self._loading)

    def _load(self) -> AsyncAnthropic:
        import anyio  # noqa: PLC0415 - the SDK's own
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Timeout  # noqa: PLC0415 - most of a second, and 56 MB
        from httpx2 import InvalidURL  # noqa: PLC0415 - the SDK's transport

        # The SDK's event loop layer is imported at its first use, which would otherwise be the first request.
        anyio.run(anyio.sleep, 0)
        timeout = Timeout(self._silence, connect=min(_CONNECT, self._silence))
        try:
            # An explicit base URL, so that the SDK does not look into the environment: only `settings` does.
            bounded = DefaultAsyncHttpxClient(
                timeout=timeout,
                follow_redirects=False,
                event_hooks=guards(LARGEST_ANSWER, "model.baseUrl"),
                verify=trusted(),
            )
            return AsyncAnthropic(
                http_client=bounded,
                api_key=self._key or _NO_KEY,
                base_url=self._base_url,
                timeout=timeout,
                max_retries=0,
            )
        except InvalidURL as error:
            raise ModelFailure("invalid", f"The base URL is not valid: {error}") from None

    async def _stream(self, client: AsyncAnthropic, body: bytes, reader: ReplyReader, most: int) -> None:
        from anthropic import AsyncStream  # noqa: PLC0415 - loaded by now

        loop = asyncio.get_running_loop()
        # For all of it until the head has come: a head may drip, byte by byte.
        async with asyncio.timeout(_PATIENCE * self._silence) as limit:
            stream: AsyncStream[object] = await client.post(
                "/v1/messages", cast_to=object, content=body, stream=True, stream_cls=AsyncStream[object]
            )
            async with stream:
                limit.reschedule(loop.time() + self._silence)
                events = Events(LARGEST_EVENT)
                chunks = stream.response.aiter_raw()
                async for chunk in chunks:
                    most -= len(chunk)
                    if most < 0:
                        raise EndlessReply("a stream that does not end")
                    alive, taken = False, reader.events
                    for name, data in events.feed(chunk):
                        alive = True
                        if name == "error":
                            raise _said(data)
                        if data and name != "ping":
                            reader.take(await _parsed(data))
                    reader.flush()
                    if reader.events > taken:
                        reader.look()
                    # Only events are a sign of life: comments come from whatever stands in between.
                    if reader.events > taken or (alive and not reader.could_end):
                        limit.reschedule(loop.time() + (QUIET_SECONDS if reader.could_end else self._silence))
                    if reader.ended or (reader.enough and not reader.complete):
                        break
                    # A cancel, and the other requests, have their turn however fast this one sends.
                    await asyncio.sleep(0)
                reader.flush()
                limit.reschedule(None)
                if reader.ended:
                    await _finish(chunks)
        if not (reader.complete or reader.enough):
            raise _cut(reader, stream.response.headers.get("content-type", ""), place_of(self._base_url))

    def _without_key(self, message: str) -> str:
        """The message without the key or the base URL's password, and without a large part of one from its start."""
        for secret in self._secrets:
            for end in range(len(secret), min(len(secret), TOLD_OF_KEY) - 1, -1):
                message = message.replace(secret[:end], "[key]")
        return message


async def _count(client: AsyncAnthropic, body: bytes) -> int | None:
    import anthropic  # noqa: PLC0415 - loaded by now

    try:
        answer: object = await client.post("/v1/messages/count_tokens", cast_to=object, content=body)
    except anthropic.APIStatusError as error:
        if error.status_code in _NO_METHOD and "model" not in (error.api_message or "").lower():
            return None
        raise
    tokens = cast("dict[str, Any]", answer).get("input_tokens") if isinstance(answer, dict) else None
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
        raise MalformedEvent("The answer is not a count of tokens.")
    return tokens


async def _offers(client: AsyncAnthropic, name: str) -> bool | None:
    """Asked by name first, since a list may leave out the short names of models."""
    import anthropic  # noqa: PLC0415 - loaded by now

    without = (anthropic.NotFoundError, anthropic.BadRequestError, anthropic.UnprocessableEntityError)
    try:
        found: object = await client.models.retrieve(name)
    except without:
        try:
            page: object = await client.models.list(limit=_MODELS)
        except without:
            return None
        listed: list[Any] = getattr(page, "data", None) or []
        return any(getattr(model, "id", None) == name for model in listed) if listed else None
    if not isinstance(getattr(found, "id", None), str):
        raise MalformedEvent("The answer is not a description of a model.")
    return True


async def _parsed(data: bytes) -> object:
    """An event's JSON; a large one is read beside the event loop."""
    if len(data) > _LARGE:
        return await asyncio.to_thread(_read_json, data)
    return _read_json(data)


def _read_json(data: bytes) -> object:
    try:
        return _DECODER.decode(data.decode("utf-8"))
    except RecursionError:
        raise MalformedEvent("an event is nested too deeply") from None


def _whole_number(digits: str) -> int | float:
    # Python refuses to read very long ones; as they mean nothing, infinity will do.
    return int(digits) if len(digits) <= _DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_whole_number)
"""Made once: a reply may have hundreds of thousands of events."""


def _said(data: bytes) -> ErrorEvent:
    """What an error event inside a stream says."""
    try:
        body = _read_json(data)
    except ValueError:
        body = None
    return error_event(body, data)


async def _finish(chunks: AsyncIterator[bytes]) -> None:
    """Read the end of the body, which gives the connection back; a server that leaves it open is not waited for."""
    left = LARGEST_ERROR
    try:
        async with asyncio.timeout(_TAIL):
            async for chunk in chunks:
                left -= len(chunk)
                if left < 0:
                    return
                await asyncio.sleep(0)
    except Exception as error:  # noqa: BLE001 - the reply is whole; a connection lost now is only not used again
        _log.debug("the connection ended after the reply: %s", type(error).__name__)


def _cut(reader: ReplyReader, content_type: str, place: str) -> ModelFailure:
    if reader.events == 0 and "text/event-stream" not in content_type:
        shown = content_type or "no content type"
        return ModelFailure("malformed", f"{place} did not answer with an event stream ({shown}).", place=place)
    message = f"{place} ended the stream before the reply was complete."
    return ModelFailure("truncated", message, partial=reader.text, usage=reader.usage, place=place)


def _failure(
    error: Exception, reader: ReplyReader, hide: Callable[[str], str], url: str, model: str
) -> ModelFailure | None:
    """`error` as a failure of the call; None when it is a bug of ours."""
    import anthropic  # noqa: PLC0415 - loaded by now
    import httpx2  # noqa: PLC0415

    kind: FailureKind
    place = place_of(url)
    wait: float | None = None
    match error:
        # Keys are masked before the words are cut: a part of one would not be known again.
        case anthropic.APIStatusError():
            message = error.api_message or str(error.message)
            kind = kind_of_status(error.status_code, error.type or _error_type(error.body), message)
            wait = retry_after(error.response.headers)
            if kind == "spending" and error.status_code == 429 and wait is not None:
                kind = "rate_limit"  # some call the quota of a minute by the same words; that one says how long
            status = f"{error.status_code} " if error.status_code >= 400 else ""
            message = told(kind, place, model, hide(f"{status}{error.type or 'error'}: {message}")[:SHOWN])
        case ErrorEvent():
            kind = kind_of_event(error.type, error.message)
            message = told(kind, place, model, hide(f"{error.type or 'error'}: {error.message}")[:SHOWN])
        case Misbehaved() | anthropic.APIConnectionError(__cause__=Misbehaved()):
            kind, message = "invalid", str(error.__cause__ or error)
        case EndlessReply():
            kind, message = "invalid", f"{place} sends {error}: the connection was closed. Is max_tokens heeded there?"
        case anthropic.APITimeoutError() | httpx2.TimeoutException() | TimeoutError():
            kind, message = "network", f"{place} was silent for too long."
        case anthropic.APIConnectionError(__cause__=httpx2.UnsupportedProtocol() | httpx2.InvalidURL()):
            kind, message = "invalid", f"The base URL is not valid: {_cause(error)}"
        case anthropic.APIConnectionError():
            kind, message = "network", f"No connection to {place}: {cause_of(error)}"
        case Abandoned():
            kind, message = "network", f"The request to {place} was given up by the HTTP library."
        case httpx2.HTTPError() | httpx2.StreamError():
            kind, message = "network", f"The connection to {place} broke: {cause_of(error)}"
        case json.JSONDecodeError() | UnicodeDecodeError() | MalformedEvent() | TooLarge():
            kind, message = "malformed", f"The stream of {place} could not be read: {error}"[:300]
        case _:
            return None
    size, limit = measures(message) if kind == "overflow" else (None, None)
    return ModelFailure(
        kind,
        hide(message),
        partial=reader.text,
        retry_after=wait,
        usage=reader.usage,
        limit=limit,
        size=size,
        place=place,
    )


def _error_type(body: object) -> str | None:
    """The type of an error object that is not wrapped in `error`, as some gateways send it."""
    kind = cast("dict[str, Any]", body).get("type") if isinstance(body, dict) else None
    return kind if isinstance(kind, str) and kind != "error" else None


def _cause(error: Exception) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}"[:300] if str(cause) else type(cause).__name__
