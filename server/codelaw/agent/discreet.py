"""The line to the model, on which no known key goes out or comes in (S-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import Delta, ModelReply, ModelRequest, TextDelta, ThinkingDelta

if TYPE_CHECKING:
    from codelaw.domain.redaction import Redaction
    from codelaw.ports.model import ChatModel

T = TypeVar("T")


@dataclass(slots=True)
class _Clean:
    """What the request before held, by identity, with what was left of it: a step adds little to a long request."""

    edition: int = -1
    kept: dict[int, tuple[object, object]] = field(default_factory=dict[int, tuple[object, object]])

    def request(self, request: ModelRequest, redaction: Redaction) -> ModelRequest:
        """The request without known values; what is known already is not looked through again."""
        known = self.kept if self.edition == redaction.edition else {}
        # Each entry holds its object, so that no other one can have its id while the entry is kept.
        current: dict[int, tuple[object, object]] = {}

        def clean(value: T) -> T:
            entry = known.get(id(value))
            if entry is None or entry[0] is not value:
                entry = (value, redaction.value(value))
            current[id(value)] = entry
            return entry[1]  # pyright: ignore[reportReturnType] - of the type of what it was made of

        messages, tools = tuple(map(clean, request.messages)), clean(request.tools)
        self.edition, self.kept = redaction.edition, current
        rest = redaction.value(replace(request, messages=(), tools=()))
        return replace(rest, messages=messages, tools=tools)


@dataclass(frozen=True, slots=True)
class Discreet:
    """A model whose requests and replies are redacted; the deltas of a reply join to its text.

    A reply that breaks off, or is cut by the output limit, is gone on with from what was told. What was held back by
    then is not told: joined to the rest it could be a key.
    """

    model: ChatModel
    redaction: Redaction
    _clean: _Clean = field(default_factory=_Clean, init=False, repr=False, compare=False)

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
            if not delta.text:
                return on_delta(delta)
            if isinstance(delta, ThinkingDelta):
                return tell(ThinkingDelta, thinking.feed(delta.text))
            tell(ThinkingDelta, thinking.end())  # its end comes before what follows it
            return tell(TextDelta, text.feed(delta.text))

        try:
            reply = await self.model.reply(self._clean.request(request, self.redaction), feed)
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
