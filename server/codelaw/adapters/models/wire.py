"""What every wire over HTTP has in common: a client made late, and replies read under a watch, within bounds (P-1)."""

from __future__ import annotations

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from codelaw.adapters.loading import load
from codelaw.adapters.models.catalog import described
from codelaw.adapters.models.endpoints import AT_ONCE, EVENT_STREAM, LARGEST_ERROR, TooLarge, secrets_of, too_rich
from codelaw.adapters.models.failures import ErrorEvent
from codelaw.adapters.models.listing import near
from codelaw.adapters.models.replies import EndlessReply, ReplyReader, bytes_for
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import Delta, Heard, ModelProfile, ModelReply, ModelRequest
from codelaw.domain.presets import Preset
from codelaw.ports.model import ChatModel

if TYPE_CHECKING:
    from codelaw.adapters.models.sdk import Endpoint

QUIET_SECONDS = 20.0
"""Without content, after which a reply ends that could end where it is (R-3, P-1)."""
SILENCE = 120.0
_PATIENCE = 2
"""So many times the silence may an answer's head take, from the first byte of the request."""
_TAIL = 0.25
_FRAME = 16
"""Bytes of an event beside its data, at least."""
_DIGITS = 30

E = TypeVar("E", bound="Endpoint")
R = TypeVar("R", bound=ReplyReader)
_log = logging.getLogger(__name__)


class WireModel(ChatModel, ABC, Generic[E, R]):
    """A `ChatModel` on an endpoint at `base_url`; `key` is empty for endpoints that want none.

    `silence` is how many seconds without an event count as a broken stream. Requests are never repeated here, but for
    those that an endpoint refuses for a field that is new to it: `agent/model_calls/recovery` repeats them, visibly.
    """

    def __init__(self, key: str | None, base_url: str | None, silence: float) -> None:
        self._key = (key or "").strip()
        # Always given, so that the SDK does not look into the environment: only `settings` does.
        self._base_url = base_url
        self._secrets = [secret for secret in (self._key, *secrets_of(base_url or "")) if secret]
        self._silence = silence
        self._loading: asyncio.Task[E] | None = None
        self.preset: Preset | None = None
        """Whose endpoint it is, where that is known."""

    @abstractmethod
    def _load(self) -> E:
        """Import the SDK, and make its client."""

    @abstractmethod
    def _reader(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> R: ...

    async def warm(self) -> None:
        """Import the SDK in a thread and make the client; asks no model.

        Raises:
            ModelFailure: the base URL is none.
        """
        await self._connected()

    async def close(self) -> None:
        """Close the connections."""
        loading, self._loading = self._loading, None
        if loading is None:
            return
        if not loading.done():
            loading.cancel()  # it has no connection yet, and the import may take longer than an end may (V-3)
        elif loading.exception() is None:
            await loading.result().close()

    async def offers(self, name: str) -> bool | None:
        """Whether the endpoint has the model `name`; None where it keeps no list of models. No model is asked.

        Raises:
            ModelFailure: as for `reply`.
        """
        connection = await self._connected()
        return await connection.run(connection.offers(name), name)

    async def ask(self, path: str, body: object = None) -> object:
        """What the endpoint answers in JSON at a path or an address; no model is asked. Fails as `offers`."""
        connection = await self._connected()
        return await connection.run(connection.ask(path, body), "")

    async def profile(self, name: str, known: ModelProfile | None) -> ModelProfile | None:
        """What the endpoint says of a model over what is `known`; None where it says nothing. Fails as `offers`."""
        connection = await self._connected()
        return described(await connection.run(connection.description(name), name), name, known)

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """Answer once (see `ChatModel`). Cancelling the task closes the connection at once.

        Raises:
            ModelFailure: sorted by kind; its message never holds the key (S-5).
        """
        connection = await self._connected()
        reader = self._reader(request, on_delta)
        try:
            await connection.run(self._read_all(connection, request, reader), request.model, reader)
        except ModelFailure as failure:
            # A connection that dies after the stop reason has lost nothing.
            if failure.kind != "network" or not (reader.complete or reader.enough):
                failure.hint = await self._hint(failure, request.model)
                raise
        if reader.filled and not reader.enough:
            message = f"The reply of {connection.place} filled the window of {request.model}."
            raise ModelFailure("overflow", message, partial=reader.text, usage=reader.usage, place=connection.place)
        usage = reader.usage
        connection.limits.used = usage.input_tokens + usage.cache_write_tokens
        return reader.reply()

    async def _hint(self, failure: ModelFailure, name: str) -> str:
        """What can be done about a failure that only this endpoint can mend; empty where the kind says enough."""
        if self.preset is None or failure.kind not in {"auth", "unknown_model"}:
            return ""
        if failure.kind == "auth":
            return self.preset.key_hint
        return await near(self, self.preset, self._base_url or self.preset.base_url, name)

    async def _connected(self) -> E:
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelFailure("auth", "The API key holds characters that no key has.")
        if self._loading is None or (self._loading.done() and self._loading.exception() is not None):
            self._loading = asyncio.create_task(load(self._load))
        # Shielded: a cancelled turn must not take away what the others wait for.
        return await asyncio.shield(self._loading)

    async def _read_all(self, connection: E, request: ModelRequest, reader: R) -> None:
        """Read a reply to its end; nothing need follow where it could end when it falls silent."""
        try:
            await self._read(connection, request, reader)
        except TimeoutError:
            reader.flush()
            reader.enough |= reader.could_end
            raise

    async def _read(self, connection: E, request: ModelRequest, reader: R) -> None:
        loop = asyncio.get_running_loop()
        most = bytes_for(request.max_tokens)
        # For all of it until the head has come: a head may drip, byte by byte.
        async with asyncio.timeout(_PATIENCE * self._silence) as limit, await connection.stream(request) as stream:
            limit.reschedule(loop.time() + self._silence)
            events = aiter(stream)
            async for name, data in events:
                most -= len(data) + _FRAME
                if most < 0:
                    raise EndlessReply("a stream that does not end")
                taken = reader.events
                if name == "error":
                    raise ErrorEvent.read(data)
                if data and name != "ping":
                    small = len(data) <= AT_ONCE
                    reader.take(_DECODER.decode(data) if small else await asyncio.to_thread(_large, data))
                # Only events are a sign of life: comments come from whatever stands in between.
                if reader.events > taken or not reader.could_end:
                    limit.reschedule(loop.time() + (QUIET_SECONDS if reader.could_end else self._silence))
                if reader.ended or (reader.enough and not reader.complete):
                    break
            reader.flush()
            limit.reschedule(None)
            if reader.ended:
                await _finish(events)
            if not (reader.complete or reader.enough):
                raise _cut(reader, stream.response.headers.get("content-type", ""), connection.place)


def _whole_number(digits: str) -> int | float:
    # Python refuses to read very long ones; as they mean nothing, infinity will do.
    return int(digits) if len(digits) <= _DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_whole_number)
"""Made once: a reply may have hundreds of thousands of events."""


def _large(data: str) -> object:
    if too_rich(data.encode()):
        raise TooLarge("an event holds more values than any real one")
    return _DECODER.decode(data)


async def _finish(events: AsyncIterator[tuple[str, str]]) -> None:
    """Read the end of the body, which gives the connection back; a server that leaves it open is not waited for."""
    left = LARGEST_ERROR
    try:
        async with asyncio.timeout(_TAIL):
            async for _, data in events:
                left -= len(data) + _FRAME
                if left < 0:
                    return
    except Exception as error:  # noqa: BLE001 - the reply is whole; a connection lost now is only not used again
        _log.debug("the connection ended after the reply: %s", type(error).__name__)


def _cut(reader: ReplyReader, content_type: str, place: str) -> ModelFailure:
    if reader.events == 0 and EVENT_STREAM not in content_type:
        shown = content_type or "no content type"
        return ModelFailure("malformed", f"{place} did not answer with an event stream ({shown}).", place=place)
    message = f"{place} ended the stream before the reply was complete."
    return ModelFailure("truncated", message, partial=reader.text, usage=reader.usage, place=place)
