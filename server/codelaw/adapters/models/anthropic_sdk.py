"""The vendor's SDK: its client for each platform, its raw events and its errors; loaded late (P-1, V-1)."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import anthropic
import anyio
import httpx2
from anthropic import AsyncStream, DefaultAsyncHttpxClient, Timeout
from anthropic.lib.bedrock import AsyncAnthropicBedrockMantle
from anthropic.lib.vertex import AsyncAnthropicVertex

from codelaw.adapters.loading import trusted
from codelaw.adapters.models.anthropic_blocks import EndlessReply, MalformedEvent
from codelaw.adapters.models.anthropic_body import BodyWriter, beta_headers, unknown_fields
from codelaw.adapters.models.anthropic_failures import (
    SHOWN,
    ErrorEvent,
    RateLimits,
    error_type,
    kind_of_status,
    measures,
    reported,
)
from codelaw.adapters.models.anthropic_stream import ReplyReader
from codelaw.adapters.models.catalog import path_of
from codelaw.adapters.models.endpoints import Misbehaved, TooLarge, cause_of, dig, guards, place_of, retry_after
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import FailureKind, ModelRequest, Platform, Usage
from codelaw.ports.cancelling import give_cancel

Client = anthropic.AsyncAnthropic | AsyncAnthropicBedrockMantle | AsyncAnthropicVertex
T = TypeVar("T")

SHORTEST_PART = 12
"""Characters of a key, from its start, that no message holds; an endpoint may quote it cut."""
LARGEST_ANSWER = 8 << 20
"""Bytes of an answer that is not a stream."""
_NO_KEY = "no-key"
_CONNECT = 30.0
_MODELS = 1000
_NO_METHOD = frozenset({404, 405, 501})
LEFT_SECONDS = 0.5
"""After which work that does not end after a cancel is not waited for."""


_log = logging.getLogger(__name__)


class RawEvents(AsyncStream[tuple[str, str]]):
    """The events of a reply as they come, by name and data, pings among them."""

    async def __stream__(self) -> AsyncIterator[tuple[str, str]]:
        """Cut by the decoder of the client's platform."""
        async for one in self._iter_events():
            if one.event:
                yield one.event, one.data


def made(key: str, base_url: str | None, platform: Platform | None, silence: float) -> Client:
    """The SDK's client for an endpoint or a platform, which looks for what is not given where the SDK does.

    Raises:
        ModelFailure: the base URL is none, or the platform lacks something.
    """
    # The SDK's event loop layer is imported at its first use, which would otherwise be the first request.
    anyio.run(anyio.sleep, 0)
    timeout = Timeout(silence, connect=min(_CONNECT, silence))
    try:
        bounded = DefaultAsyncHttpxClient(
            timeout=timeout,
            follow_redirects=False,
            event_hooks=guards(LARGEST_ANSWER, "model.baseUrl"),
            verify=trusted(),
        )
        common: dict[str, Any] = {"base_url": base_url, "http_client": bounded, "timeout": timeout, "max_retries": 0}
        match platform:
            case None:
                return anthropic.AsyncAnthropic(api_key=key or _NO_KEY, **common)
            case "bedrock":
                return AsyncAnthropicBedrockMantle(api_key=key or None, **common)
            case "vertex":
                return AsyncAnthropicVertex(access_token=key or None, **common)
            case "foundry":
                return anthropic.AsyncAnthropicFoundry(api_key=key or None, **common)
            case "aws":
                return anthropic.AsyncAnthropicAWS(api_key=key or None, **common)
    except httpx2.InvalidURL as error:
        raise ModelFailure("invalid", f"The base URL is not valid: {error}") from None
    except (anthropic.AnthropicError, ValueError) as error:
        raise ModelFailure("auth", f"The platform {platform} cannot be asked: {error}") from None


class Endpoint:
    """What is asked of an endpoint through the SDK's `client`."""

    def __init__(self, client: Client, secrets: Sequence[str]) -> None:
        self._client = client
        self._secrets = secrets
        self.limits = RateLimits()
        self._writer = BodyWriter()
        self._unknown: frozenset[str] = frozenset()
        """Fields that the endpoint has refused to take from any request."""
        # It writes the request's address from the body.
        self._mapped = isinstance(client, AsyncAnthropicVertex)
        self._lists = hasattr(client, "models")

    @property
    def place(self) -> str:
        """Host and port that are asked."""
        return place_of(str(self._client.base_url))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def stream(self, request: ModelRequest) -> RawEvents:
        """Ask; fields that are new to the endpoint, which it says of one after the other, are left out from then on.

        Raises:
            ModelFailure: the rate limit is used up for a while, and the request was not sent.
        """
        if seconds := self.limits.wait(time.time()):
            message = f"{self.place} takes the next request in {seconds:.0f} s: its rate limit is used up"
            raise ModelFailure("rate_limit", message, retry_after=seconds, place=self.place)
        while True:
            try:
                stream = await self._client.post(
                    "/v1/messages",
                    cast_to=object,
                    options={"headers": beta_headers(request, self._unknown)},
                    stream=True,
                    stream_cls=RawEvents,
                    **self._body(self._writer.write(request, self._unknown)),
                )
            except anthropic.BadRequestError as error:
                unknown = unknown_fields(request, error.api_message or str(error.message)) - self._unknown
                if not unknown:
                    raise
                self._unknown |= unknown
                _log.info("%s does not know %s", self.place, ", ".join(sorted(unknown)))
            else:
                self.limits.take(stream.response.headers, time.time())
                return stream

    async def count(self, request: ModelRequest) -> int | None:
        """The input tokens of a request; None where the endpoint does not count."""
        body = await anyio.to_thread.run_sync(BodyWriter().write_counted, request)
        try:
            answer: object = await self._client.post("/v1/messages/count_tokens", cast_to=object, **self._body(body))
        except anthropic.APIStatusError as error:
            if error.status_code in _NO_METHOD and "model" not in (error.api_message or "").lower():
                return None
            raise
        tokens = dig(answer, "input_tokens")
        if type(tokens) is not int or tokens < 0:
            raise MalformedEvent("The answer is not a count of tokens.")
        return tokens

    async def fill(self, request: ModelRequest) -> Usage:
        """What a request for no output is billed, which only fills the cache (L-6): it is marked and read as another.

        Raises:
            MalformedEvent: the answer is no message.
        """
        asked = replace(request, max_tokens=0)
        body = await anyio.to_thread.run_sync(BodyWriter().write, asked, self._unknown)
        headers = beta_headers(asked, self._unknown)
        answer: object = await self._client.post(
            "/v1/messages", cast_to=object, options={"headers": headers}, **self._body(body)
        )
        reader = ReplyReader(lambda _: None)
        reader.take({"type": "message_start", "message": answer})
        return reader.usage

    async def offers(self, name: str) -> bool | None:
        """Whether the endpoint has a model; asked by name first, since a list may leave out the short names."""
        unknown = (anthropic.NotFoundError, anthropic.BadRequestError, anthropic.UnprocessableEntityError)
        if not self._lists:
            return None
        try:
            found = await self.description(name)
        except unknown:
            try:
                page: object = await self._client.get(f"/v1/models?limit={_MODELS}", cast_to=object)
            except unknown:
                return None
            listed = dig(page, "data")
            rows = cast("list[object]", listed) if isinstance(listed, list) else []
            return any(dig(row, "id") == name for row in rows) if rows else None
        if not isinstance(dig(found, "id"), str):
            raise MalformedEvent("The answer is not a description of a model.")
        return True

    async def description(self, name: str) -> object:
        """What the endpoint says of a model; None where its client asks for none."""
        return await self._client.get(path_of(name), cast_to=object) if self._lists else None

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
            failure = self._failure_of(error, reader or ReplyReader(lambda _: None), model)
            if failure is None:
                raise
        # Raised outside the handler: the SDK's error may hold headers, and no log should follow a chain to them.
        raise failure

    def _body(self, spelt: bytes) -> dict[str, Any]:
        """A body as the client takes it: spelt, which spares it walking through each message at every step."""
        return {"body": json.loads(spelt)} if self._mapped else {"content": spelt}

    def _failure_of(self, error: Exception, reader: ReplyReader, model: str) -> ModelFailure | None:
        """`error` as a failure of the call; None when it is a bug of ours."""
        kind: FailureKind
        wait: float | None = None
        match error:
            case anthropic.APIStatusError() | ErrorEvent():
                message = error.api_message or str(error)
                kind = kind_of_status(error.status_code, error.type or error_type(error.body), message)
                wait = None if isinstance(error, ErrorEvent) else retry_after(error.response.headers)
                if kind == "spending" and error.status_code == 429 and wait is not None:
                    kind = "rate_limit"  # some call the quota of a minute by the same words; that one says how long
                # Keys are masked before the words are cut: a part of one would not be known again.
                words = self._without_secrets(f"{error.status_code} {error.type or 'error'}: {message}")[:SHOWN]
                message = reported(kind, self.place, model, words.removeprefix("200 "))
            case Misbehaved() | anthropic.APIConnectionError(__cause__=Misbehaved()):
                kind, message = "invalid", str(error.__cause__ or error)
            case EndlessReply():
                kind, message = (
                    "invalid",
                    f"{self.place} sends {error}: the connection was closed; is max_tokens heeded?",
                )
            case anthropic.APITimeoutError() | httpx2.TimeoutException() | TimeoutError():
                kind, message = "network", f"{self.place} was silent for too long."
            case anthropic.APIConnectionError(__cause__=httpx2.UnsupportedProtocol() | httpx2.InvalidURL()):
                kind, message = "invalid", f"The base URL is not valid: {cause_of(error.__cause__ or error)}"
            case anthropic.APIConnectionError():
                kind, message = "network", f"No connection to {self.place}: {cause_of(error)}"
            case httpx2.HTTPError() | httpx2.StreamError():
                kind, message = "network", f"The connection to {self.place} broke: {cause_of(error)}"
            case json.JSONDecodeError() | UnicodeDecodeError() | MalformedEvent() | TooLarge() | RecursionError():
                kind, message = "malformed", f"The stream of {self.place} could not be read: {error}"[:300]
            case anthropic.AnthropicError():
                kind, message = "auth", f"{self.place} cannot be asked: {error}"[:SHOWN]
            case _:
                return None
        size, limit = measures(message) if kind == "overflow" else (None, None)
        return ModelFailure(
            kind,
            self._without_secrets(message),
            partial=reader.text,
            retry_after=wait,
            usage=reader.usage,
            limit=limit,
            size=size,
            place=self.place,
        )

    def _without_secrets(self, message: str) -> str:
        """The message without the key or the base URL's password, and without a large part of one from its start."""
        for secret in self._secrets:
            for end in range(len(secret), min(len(secret), SHORTEST_PART) - 1, -1):
                message = message.replace(secret[:end], "[key]")
        return message


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
