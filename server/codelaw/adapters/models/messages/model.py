"""The Messages API, of the vendor or of whoever speaks it (P-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.adapters.models.catalog import profile
from codelaw.adapters.models.messages.stream import MessageReader
from codelaw.adapters.models.replies import room_for
from codelaw.adapters.models.wire import SILENCE, WireModel
from codelaw.domain.models import Delta, Heard, ModelReply, ModelRequest, Platform, Usage
from codelaw.domain.presets import Header

if TYPE_CHECKING:
    from codelaw.adapters.models.messages.sdk import MessagesEndpoint

VENDOR = "https://api.anthropic.com"
_PAUSES = 10
"""So many times a reply is gone on with that the vendor has paused."""


class MessagesModel(WireModel["MessagesEndpoint", MessageReader]):
    """A `ChatModel` on any endpoint that speaks the Messages API.

    `api_key` None or empty is for endpoints that want none, and for a `platform` that finds its own. With `fallbacks`
    the vendor has another of its models answer what one of them refuses. `header` is where the key stands.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        platform: Platform | None = None,
        fallbacks: bool = False,
        header: Header = "bearer",
        silence: float = SILENCE,
    ) -> None:
        super().__init__(api_key, base_url or (None if platform else VENDOR), silence)
        self._platform: Platform | None = platform
        self._header: Header = header
        # Two platforms do not know them.
        self._fallbacks = fallbacks and platform not in {"bedrock", "vertex"}

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """As `WireModel` has it; whether there is another model to ask is known for the vendor's own."""
        known = await asyncio.to_thread(profile, request.model) if self._fallbacks else None
        if known is not None and known.provider == "anthropic":
            request = replace(request, fallbacks=True)
        return await super().reply(request, on_delta)

    async def count(self, request: ModelRequest) -> int | None:
        """The vendor's count of a request's input, which costs nothing; None where the endpoint has no such method.

        Raises:
            ModelFailure: as for `reply`.
        """
        connection = await self._connected()
        return await connection.run(connection.count(request), request.model)

    async def fill(self, request: ModelRequest) -> Usage | None:
        """As `ChatModel` has it: by a request for no output."""
        connection = await self._connected()
        return await connection.run(connection.fill(request), request.model)

    def _load(self) -> MessagesEndpoint:
        from codelaw.adapters.models.messages import sdk  # noqa: PLC0415 - most of a second, and 56 MB

        return sdk.MessagesEndpoint(
            sdk.made(self._key, self._base_url, self._platform, self._silence, header=self._header), self._secrets
        )

    def _reader(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> MessageReader:
        return MessageReader(on_delta, room_for(request.max_tokens), progress=request.display == "updates")

    async def _read_all(self, connection: MessagesEndpoint, request: ModelRequest, reader: MessageReader) -> None:
        """Read a reply, and on for as long as the vendor only pauses."""
        for _ in range(_PAUSES):
            await super()._read_all(connection, request, reader)
            if not reader.paused:
                return
            request = replace(request, messages=(*request.messages, reader.resume()))
