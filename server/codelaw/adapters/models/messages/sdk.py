"""The vendor's SDK: its client for each platform, and what is asked through it; loaded late (P-1, V-1)."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any, cast

import anthropic
import anyio
import httpx2
from anthropic import AsyncStream, DefaultAsyncHttpxClient
from anthropic.lib.bedrock import AsyncAnthropicBedrockMantle
from anthropic.lib.vertex import AsyncAnthropicVertex

from codelaw.adapters.models.catalog import path_of
from codelaw.adapters.models.endpoints import dig
from codelaw.adapters.models.messages.body import BodyWriter, beta_headers, unknown_fields
from codelaw.adapters.models.messages.stream import MessageReader
from codelaw.adapters.models.replies import MalformedEvent
from codelaw.adapters.models.sdk import NO_KEY, Endpoint, SdkErrors, common, said_by
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import ModelRequest, Platform, Usage
from codelaw.domain.presets import Header

Client = anthropic.AsyncAnthropic | AsyncAnthropicBedrockMantle | AsyncAnthropicVertex

_MODELS = 1000
_NO_METHOD = frozenset({404, 405, 501})
_ERRORS = SdkErrors(
    anthropic.APIStatusError, anthropic.APITimeoutError, anthropic.APIConnectionError, anthropic.AnthropicError
)

_log = logging.getLogger(__name__)


class RawEvents(AsyncStream[tuple[str, str]]):
    """The events of a reply as they come, by name and data, pings among them."""

    async def __stream__(self) -> AsyncIterator[tuple[str, str]]:
        """Cut by the decoder of the client's platform."""
        async for one in self._iter_events():
            if one.event:
                yield one.event, one.data


def made(
    key: str, base_url: str | None, platform: Platform | None, silence: float, *, header: Header = "bearer"
) -> Client:
    """The SDK's client for an endpoint or a platform, which looks for what is not given where the SDK does.

    Raises:
        ModelFailure: the base URL is none, or the platform lacks something.
    """
    given = common(DefaultAsyncHttpxClient, base_url, silence)
    try:
        match platform:
            case None:
                # The SDK itself sends a key as a bearer.
                headers = {"x-api-key": key} if key and header == "x-api-key" else {}
                return anthropic.AsyncAnthropic(api_key=key or NO_KEY, default_headers=headers, **given)
            case "bedrock":
                return AsyncAnthropicBedrockMantle(api_key=key or None, **given)
            case "vertex":
                return AsyncAnthropicVertex(access_token=key or None, **given)
            case "foundry":
                return anthropic.AsyncAnthropicFoundry(api_key=key or None, **given)
            case "aws":
                return anthropic.AsyncAnthropicAWS(api_key=key or None, **given)
    except (anthropic.AnthropicError, httpx2.InvalidURL, ValueError) as error:
        raise ModelFailure("auth", f"The platform {platform} cannot be asked: {error}") from None


class MessagesEndpoint(Endpoint):
    """An endpoint of the Messages API."""

    def __init__(self, client: Client, secrets: Sequence[str]) -> None:
        super().__init__(client, secrets, _ERRORS)
        self._client = client
        self._writer = BodyWriter()
        self._unknown: frozenset[str] = frozenset()
        """Fields that the endpoint has refused to take from any request."""
        # It writes the request's address from the body.
        self._mapped = isinstance(client, AsyncAnthropicVertex)
        self._lists = hasattr(client, "models")

    async def stream(self, request: ModelRequest) -> RawEvents:
        """Ask; fields that are new to the endpoint, which it says of one after the other, are left out from then on.

        Raises:
            ModelFailure: the rate limit is used up for a while, and the request was not sent.
        """
        self._check_limits()
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
                unknown = unknown_fields(request, said_by(error)) - self._unknown
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
        reader = MessageReader(lambda _: None)
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

    def _body(self, spelt: bytes) -> dict[str, Any]:
        """A body as the client takes it: spelt, which spares it walking through each message at every step."""
        return {"body": json.loads(spelt)} if self._mapped else {"content": spelt}
