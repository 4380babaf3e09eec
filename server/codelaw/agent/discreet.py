"""The line to the model, on which no known key goes out or comes in (S-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import Delta, ModelReply, ModelRequest, TextDelta, ThinkingDelta

if TYPE_CHECKING:
    from codelaw.domain.redaction import Redaction
    from codelaw.ports.model import ChatModel


@dataclass(frozen=True, slots=True)
class Discreet:
    """A model whose requests and replies are redacted; the deltas of a reply join to its text.

    A reply that breaks off, or is cut by the output limit, is gone on with from what was told. What was held back by
    then is not told: joined to the rest it could be a key.
    """

    model: ChatModel
    redaction: Redaction

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], bool | None]) -> ModelReply:
        """As the model's own `reply`."""
        text, thinking = self.redaction.stream(), self.redaction.stream()
        told: list[str] = []

        def tell(kind: type[TextDelta | ThinkingDelta], piece: str) -> bool | None:
            if not piece:
                return None
            if kind is TextDelta:
                told.append(piece)
            return on_delta(kind(piece))

        def feed(delta: Delta) -> bool | None:
            if isinstance(delta, ThinkingDelta):
                return tell(ThinkingDelta, thinking.feed(delta.text))
            tell(ThinkingDelta, thinking.end())  # its end comes before what follows it
            return tell(TextDelta, text.feed(delta.text))

        try:
            reply = await self.model.reply(self.redaction.value(request), feed)
        except ModelFailure as failure:
            failure.partial = self.redaction.text(failure.partial)
            tell(ThinkingDelta, thinking.end())
            raise
        except asyncio.CancelledError:
            tell(TextDelta, text.end())
            raise
        tell(ThinkingDelta, thinking.end())
        redacted = self.redaction.value(reply)
        if reply.stop_reason != "max_tokens":
            tell(TextDelta, text.end())
        elif told:
            redacted = replace(redacted, text="".join(told))
        return redacted

    async def warm(self) -> None:
        """As the model's own."""
        await self.model.warm()

    async def close(self) -> None:
        """As the model's own."""
        await self.model.close()
