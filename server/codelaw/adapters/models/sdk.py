"""What the vendors' SDKs share, which one generator writes: clients, raw events and errors; loaded late (P-1, V-1)."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, TypeVar

import anyio
import httpx2

from codelaw.adapters.loading import trusted
from codelaw.adapters.models.endpoints import (
    Misbehaved,
    TooLarge,
    cause_of,
    dig,
    guards,
    place_of,
    retry_after,
    too_rich,
)
from codelaw.adapters.models.failures import (
    SHOWN,
    ErrorEvent,
    RateLimits,
    asked_to_wait,
    error_in,
    error_type,
    kind_of_status,
    measures,
    reported,
)
from codelaw.adapters.models.replies import EndlessReply, MalformedEvent, ReplyReader
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import FailureKind, ModelRequest
from codelaw.ports.cancelling import give_cancel

T = TypeVar("T")

SHORTEST_PART = 12
"""Characters of a key, from its start, that no message holds; an endpoint may quote it cut."""
LARGEST_ANSWER = 8 << 20
"""Bytes of an answer that is not a stream."""
NO_KEY = "no-key"
"""What a client is given that wants a key, for an endpoint that wants none."""
_CONNECT = 30.0
LEFT_SECONDS = 0.5
"""After which work that does not end after a cancel is not waited for."""

_log = logging.getLogger(__name__)


class SdkClient(Protocol):
    """What is used of an SDK's client here."""

    @property
    def base_url(self) -> httpx2.URL: ...

    async def close(self) -> None: ...

    async def get(self, path: str, *, cast_to: type[httpx2.Response]) -> httpx2.Response: ...

    async def post(self, path: str, *, cast_to: type[httpx2.Response], body: object) -> httpx2.Response: ...


class EventStream(Protocol):
    """The events of a reply as they come, by name and data, pings among them."""

    response: httpx2.Response

    def __aiter__(self) -> AsyncIterator[tuple[str, str]]: ...

    async def __aenter__(self) -> Any: ...

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, exc_tb: TracebackType | None
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class SdkErrors:
    """How an SDK calls what may go wrong."""

    status: type[Exception]
    timeout: type[Exception]
    connection: type[Exception]
    any: type[Exception]


def common(client: type[httpx2.AsyncClient], base_url: str | None, silence: float) -> dict[str, Any]:
    """What every client is made with, around an HTTP `client` of its SDK's that heeds our bounds.

    Raises:
        ModelFailure: the base URL is none.
    """
    # The SDK's event loop layer is imported at its first use, which would otherwise be the first request.
    anyio.run(anyio.sleep, 0)
    timeout = httpx2.Timeout(silence, connect=min(_CONNECT, silence))
    try:
        httpx2.URL(base_url or "")
    except httpx2.InvalidURL as error:
        raise ModelFailure("invalid", f"The base URL is not valid: {error}") from None
    bounded = client(
        timeout=timeout,
        follow_redirects=False,
        event_hooks=guards(LARGEST_ANSWER, "model.baseUrl"),
        verify=trusted(),
    )
    return {"base_url": base_url, "http_client": bounded, "timeout": timeout, "max_retries": 0}


class Endpoint(ABC):
    """What is asked of an endpoint through the SDK's `client`."""

    def __init__(self, client: SdkClient, secrets: Sequence[str], errors: SdkErrors) -> None:
        self._at = client
        self._secrets = secrets
        self._errors = errors
        self.limits = RateLimits()

    @property
    def place(self) -> str:
        """Host and port that are asked."""
        return place_of(str(self._at.base_url))

    async def close(self) -> None:
        """Close the connections."""
        await self._at.close()

    @abstractmethod
    async def stream(self, request: ModelRequest) -> EventStream:
        """Ask.

        Raises:
            ModelFailure: the rate limit is used up for a while, and the request was not sent.
        """

    @abstractmethod
    async def offers(self, name: str) -> bool | None:
        """Whether there is a model; None where no list of models is kept. No model is asked."""

    @abstractmethod
    async def description(self, name: str) -> object:
        """What is said of a model; None where nothing can be."""

    async def ask(self, path: str, body: object = None) -> object:
        """What is answered in JSON at a path or an address, on a body or on none."""
        if body is None:
            answer = await self._at.get(path, cast_to=httpx2.Response)
        else:
            answer = await self._at.post(path, cast_to=httpx2.Response, body=body)
        return await asyncio.to_thread(_plain, answer.content)

    def _check_limits(self) -> None:
        if seconds := self.limits.wait(time.time()):
            message = f"{self.place} takes the next request in {seconds:.0f} s: its rate limit is used up"
            raise ModelFailure("rate_limit", message, retry_after=seconds, place=self.place)

    async def run(self, work: Coroutine[Any, Any, T], model: str, reader: ReplyReader | None = None) -> T:
        """What `work` gives; what goes wrong with it as a `ModelFailure`, with what the `reader` has by then.

        Raises:
            ModelFailure: sorted by kind; its message holds no secret.
        """
        try:
            return await apart(work)
        except ModelFailure:
            raise
        except Exception as error:
            failure = self._failure_of(error, reader, model)
            if failure is None:
                raise
        # Raised outside the handler: the SDK's error may hold headers, and no log should follow a chain to them.
        raise failure

    def _failure_of(self, error: Exception, reader: ReplyReader | None, model: str) -> ModelFailure | None:
        """`error` as a failure of the call; None when it is a bug of ours."""
        kind: FailureKind
        wait: float | None = None
        sdk = self._errors
        fault: Any = error
        match fault:
            case ErrorEvent() | sdk.status():
                kind, message, wait = self._refusal(error, model)
            case Misbehaved() | sdk.connection(__cause__=Misbehaved()):
                kind, message = "invalid", str(error.__cause__ or error)
            case EndlessReply():
                kind, message = (
                    "invalid",
                    f"{self.place} sends {error}: the connection was closed; is max_tokens heeded?",
                )
            case sdk.timeout() | httpx2.TimeoutException() | TimeoutError():
                kind, message = "network", f"{self.place} was silent for too long."
            case sdk.connection(__cause__=httpx2.UnsupportedProtocol() | httpx2.InvalidURL()):
                kind, message = "invalid", f"The base URL is not valid: {cause_of(error.__cause__ or error)}"
            case sdk.connection():
                kind, message = "network", f"No connection to {self.place}: {cause_of(error)}"
            case httpx2.HTTPError() | httpx2.StreamError():
                kind, message = "network", f"The connection to {self.place} broke: {cause_of(error)}"
            case json.JSONDecodeError() | UnicodeDecodeError() | MalformedEvent() | TooLarge() | RecursionError():
                kind, message = "malformed", f"The stream of {self.place} could not be read: {error}"[:300]
            case sdk.any():
                kind, message = "auth", f"{self.place} cannot be asked: {error}"[:SHOWN]
            case _:
                return None
        size, limit = measures(message) if kind == "overflow" else (None, None)
        failure = ModelFailure(
            kind, self._without_secrets(message), retry_after=wait, limit=limit, size=size, place=self.place
        )
        if reader is not None:
            failure.partial, failure.usage = reader.text, reader.usage
        return failure

    def _refusal(self, error: Any, model: str) -> tuple[FailureKind, str, float | None]:
        """What an error of status or an `ErrorEvent` comes to, and the seconds to wait that it asks for."""
        status, named, said = error.status_code, error_type(error.body), said_by(error)
        kind = kind_of_status(status, named, said)
        wait = None if isinstance(error, ErrorEvent) else retry_after(error.response.headers)
        wait = asked_to_wait(said) if wait is None else wait
        if kind == "spending" and status == 429 and wait is not None:
            kind = "rate_limit"  # some call the quota of a minute by the same words; that one says how long
        # Keys are masked before the words are cut: a part of one would not be known again.
        words = self._without_secrets(f"{status} {named or 'error'}: {said}")[:SHOWN]
        return kind, reported(kind, self.place, model, words.removeprefix("200 ")), wait

    def _without_secrets(self, message: str) -> str:
        """The message without the key or the base URL's password, and without a large part of one from its start."""
        for secret in self._secrets:
            for end in range(len(secret), min(len(secret), SHORTEST_PART) - 1, -1):
                message = message.replace(secret[:end], "[key]")
        return message


def _plain(content: bytes) -> object:
    if too_rich(content):
        raise TooLarge("an answer holds more values than any real one")
    return json.loads(content)


def said_by(error: Any) -> str:
    """The endpoint's own words in an error of status or an `ErrorEvent`."""
    within = error_in(error.body)
    words = (within, dig(within, "message"), dig(within, "detail"))
    told = json.dumps(within, ensure_ascii=False) if isinstance(within, dict) and within else str(error)
    return next((one for one in words if isinstance(one, str) and one), told)


async def apart(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives. A cancel of the caller ends it, however often that takes.

    The HTTP library cancels the task that it runs in to end its own scopes, as when it connects. In the caller's task
    that would be taken for a cancel of the user's, or take one for its own (R-8).

    Raises:
        NetworkError: the library has cancelled it and not taken that back.
    """
    task = asyncio.create_task(work, name="a request to the model")
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        give_cancel(task)
        task.add_done_callback(_heard)
        await asyncio.wait([task], timeout=LEFT_SECONDS)
        raise
    if task.cancelled():
        raise httpx2.NetworkError("the HTTP library gave the request up")
    return task.result()


def _heard(task: asyncio.Task[Any]) -> None:
    """Nobody waits for what it has come to."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.debug("a cancelled request had failed: %s", type(error).__name__)
