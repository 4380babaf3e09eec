"""Responses and Chat Completions, of OpenAI or of whoever speaks them (P-4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from codelaw.adapters.models.openai import completions_body, responses_body
from codelaw.adapters.models.openai.completions_stream import CompletionsReader
from codelaw.adapters.models.openai.responses_stream import ResponsesReader
from codelaw.adapters.models.replies import ReplyReader, room_for
from codelaw.adapters.models.wire import SILENCE, WireModel
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import Delta, Heard, ModelReply, ModelRequest

if TYPE_CHECKING:
    from codelaw.adapters.models.openai.sdk import OpenAIEndpoint

VENDOR = "https://api.openai.com/v1"
OpenAIWire = Literal["responses", "completions"]
_NO_PATH = re.compile(r"\((?:404|405) ")
"""How a failure begins the words of an endpoint that has nothing there; a missing model is another kind."""


class OpenAIModel(WireModel["OpenAIEndpoint", ReplyReader]):
    """A `ChatModel` on any endpoint that speaks one of the wires of OpenAI; `base_url` holds the version.

    Its package is an extra, which has to be there.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        wire: OpenAIWire = "responses",
        silence: float = SILENCE,
    ) -> None:
        super().__init__(api_key, base_url or VENDOR, silence)
        self._wire: OpenAIWire = wire

    def _load(self) -> OpenAIEndpoint:
        from codelaw.adapters.models.openai import sdk  # noqa: PLC0415 - an extra, and most of a second

        place = (self._key, self._base_url, self._silence)
        if self._wire == "responses":
            write, learned = responses_body.ResponsesWriter().write, responses_body.learned
            return sdk.OpenAIEndpoint(place, self._secrets, "/responses", write, learned)
        write, learned = completions_body.CompletionsWriter().write, completions_body.learned
        return sdk.OpenAIEndpoint(place, self._secrets, "/chat/completions", write, learned)

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """As any wire; whoever does not know Responses is asked by Chat Completions from then on."""
        wire = self._wire  # another turn may change it meanwhile
        try:
            return await super().reply(request, on_delta)
        except ModelFailure as failure:
            unspoken = failure.kind == "invalid" and _NO_PATH.search(failure.message)
            if wire == "completions" or self._base_url == VENDOR or not unspoken:
                raise
        if self._wire == wire:
            self._wire = "completions"
            await self.close()
        return await super().reply(request, on_delta)

    def _reader(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ReplyReader:
        made = ResponsesReader if self._wire == "responses" else CompletionsReader
        return made(on_delta, room_for(request.max_tokens))
