"""The vendor's SDK: its client for each platform, its raw events and its errors; loaded late (P-1, V-1)."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import anthropic
import anyio
import httpx2
from anthropic import AsyncStream, DefaultAsyncHttpxClient, Timeout
from anthropic.lib.bedrock import AsyncAnthropicBedrockMantle
from anthropic.lib.vertex import AsyncAnthropicVertex

from codelaw.adapters.certificates import trusted
from codelaw.adapters.models.anthropic_blocks import EndlessReply, MalformedEvent
from codelaw.adapters.models.anthropic_body import BodyWriter, beta_headers, unknown_fields
from codelaw.adapters.models.anthropic_failures import (
    SHOWN,
    ErrorEvent,
    RateLimits,
    kind_of_event,
    kind_of_status,
    measures,
    retry_after,
    told,
)
from codelaw.adapters.models.anthropic_stream import ReplyReader
from codelaw.adapters.models.apart import Abandoned
from codelaw.adapters.models.described import path_of
from codelaw.adapters.models.endpoints import Misbehaved, TooLarge, guards
from codelaw.adapters.models.unreachable import cause_of, place_of
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import FailureKind, ModelRequest, Platform

Client = anthropic.AsyncAnthropic | AsyncAnthropicBedrockMantle | AsyncAnthropicVertex
LARGEST_ANSWER = 8 << 20
"""Bytes of an answer that is not a stream."""
_NO_KEY = "no-key"
_CONNECT = 30.0
_MODELS = 1000
_NO_METHOD = frozenset({404, 405, 501})

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


class Connection:
    """What is asked of an endpoint through the SDK's `client`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.limits = RateLimits()
        self._writer = BodyWriter()
        self._unknown: frozenset[str] = frozenset()
        """Fields that the endpoint has refused to take from any request."""
        # It writes the request's address from the body.
        self._mapped = isinstance(client, AsyncAnthropicVertex)

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
        tokens = cast("dict[str, Any]", answer).get("input_tokens") if isinstance(answer, dict) else None
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
            raise MalformedEvent("The answer is not a count of tokens.")
        return tokens

    async def offers(self, name: str) -> bool | None:
        """Whether the endpoint has a model; asked by name first, since a list may leave out the short names."""
        without = (anthropic.NotFoundError, anthropic.BadRequestError, anthropic.UnprocessableEntityError)
        models: Any = getattr(self._client, "models", None)
        if models is None:
            return None
        try:
            found: object = await models.retrieve(name)
        except without:
            try:
                page: object = await models.list(limit=_MODELS)
            except without:
                return None
            listed: list[Any] = getattr(page, "data", None) or []
            return any(getattr(model, "id", None) == name for model in listed) if listed else None
        if not isinstance(getattr(found, "id", None), str):
            raise MalformedEvent("The answer is not a description of a model.")
        return True

    async def description(self, name: str) -> object:
        """What the endpoint says of a model; None where its client asks for none."""
        if getattr(self._client, "models", None) is None:
            return None
        return await self._client.get(path_of(name), cast_to=object)

    def _body(self, spelt: bytes) -> dict[str, Any]:
        """A body as the client takes it: spelt, which spares it walking through each message at every step."""
        return {"body": json.loads(spelt)} if self._mapped else {"content": spelt}


def failure_of(
    error: Exception, reader: ReplyReader, hide: Callable[[str], str], place: str, model: str
) -> ModelFailure | None:
    """`error` as a failure of the call; None when it is a bug of ours."""
    kind: FailureKind
    wait: float | None = None
    match error:
        # Keys are masked before the words are cut: a part of one would not be known again.
        case anthropic.APIStatusError():
            message = error.api_message or str(error.message)
            kind = kind_of_status(error.status_code, error.type or _error_type(error.body), message)
            wait = retry_after(error.response.headers)
            if kind == "spending" and error.status_code == 429 and wait is not None:
                kind = "rate_limit"  # some call the quota of a minute by the same words; that one says how long
            words = f"{error.status_code} {error.type or 'error'}: {message}"
            message = told(kind, place, model, hide(words)[:SHOWN])
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
            kind, message = "invalid", f"The base URL is not valid: {cause_of(error.__cause__ or error)}"
        case anthropic.APIConnectionError():
            kind, message = "network", f"No connection to {place}: {cause_of(error)}"
        case Abandoned():
            kind, message = "network", f"The request to {place} was given up by the HTTP library."
        case httpx2.HTTPError() | httpx2.StreamError():
            kind, message = "network", f"The connection to {place} broke: {cause_of(error)}"
        case json.JSONDecodeError() | UnicodeDecodeError() | MalformedEvent() | TooLarge() | RecursionError():
            kind, message = "malformed", f"The stream of {place} could not be read: {error}"[:300]
        case anthropic.AnthropicError():
            kind, message = "auth", f"{place} cannot be asked: {error}"[:SHOWN]
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
