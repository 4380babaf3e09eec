"""The line to the model, on which no known key goes out or comes in (S-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import Begun, Delta, Heard, ModelReply, ModelRequest, TextDelta, ThinkingDelta, Usage
from codelaw.domain.safety.redaction import Redaction
from codelaw.ports.model import ChatModel


@dataclass(slots=True, unsafe_hash=True)
class RedactingModel:
    """A model whose requests and replies are redacted; the deltas of a reply join to its text.

    A reply that breaks off, or is cut by the output limit, is gone on with from what was told. What was held back by
    then is not told: joined to the rest it could be a key.
    """

    model: ChatModel
    redaction: Redaction
    prefix: str = ""
    """In front of names of models that the model's own wire does not know (P-4)."""
    _known: tuple[int, dict[int, tuple[Any, Any]]] = field(default=(-1, {}), init=False, repr=False, compare=False)
    """The edition of what is secret, and by identity what the request before held, with what was left of it.

    A step adds little to a long request. Set in one moment: threads may meet here.
    """

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """As the model's own `reply`."""
        text, thinking = self.redaction.stream(), self.redaction.stream()
        reported: list[str] = []
        progress = False

        def report(kind: type[TextDelta | ThinkingDelta], piece: str) -> Heard:
            if not piece:
                return None
            if kind is TextDelta:
                reported.append(piece)
            return on_delta(TextDelta(piece) if kind is TextDelta else ThinkingDelta(piece, progress))

        def feed(delta: Delta) -> Heard:
            nonlocal progress
            if isinstance(delta, Begun) or not delta.text:
                return on_delta(delta)
            if isinstance(delta, ThinkingDelta):
                progress = delta.progress
                return report(ThinkingDelta, thinking.feed(delta.text))
            report(ThinkingDelta, thinking.end())  # its end comes before what follows it
            return report(TextDelta, text.feed(delta.text))

        try:
            clean = await asyncio.to_thread(self._clean, request)
            reply = await self.model.reply(clean, feed)
        except ModelFailure as failure:
            failure.partial = self.redaction.text(failure.partial)
            report(ThinkingDelta, thinking.end())
            raise
        except asyncio.CancelledError:
            report(TextDelta, text.end())
            raise
        report(ThinkingDelta, thinking.end())
        redacted = self.redaction.value(reply)
        if redacted is not reply and redacted.items:
            # What is altered, or stands behind something that is, the vendor would not take back.
            same = zip(reply.items, redacted.items, strict=True)
            kept = tuple(was for was, now in same if was == now and not was.text and not was.calls)
            redacted = replace(redacted, items=kept)
        if reply.stop_reason != "max_tokens":
            report(TextDelta, text.end())
        elif reported:
            redacted = replace(redacted, text="".join(reported))
        return redacted

    async def count(self, request: ModelRequest) -> int | None:
        """As the model's own `count`."""
        return await self.model.count(await asyncio.to_thread(self._clean, request))

    async def fill(self, request: ModelRequest) -> Usage | None:
        """As the model's own `fill`."""
        return await self.model.fill(await asyncio.to_thread(self._clean, request))

    async def warm(self) -> None:
        """As the model's own."""
        await self.model.warm()

    async def close(self) -> None:
        """As the model's own."""
        await self.model.close()

    def _clean(self, request: ModelRequest) -> ModelRequest:
        """The request without known values; what is known already is not looked through again."""
        edition = self.redaction.edition
        known = self._known[1] if self._known[0] == edition else {}
        current: dict[int, tuple[Any, Any]] = {}
        for one in (*request.messages, request.tools):
            # Each entry holds its object, so that no other one can have its id while the entry is kept.
            entry = known.get(id(one))
            current[id(one)] = entry if entry is not None and entry[0] is one else (one, self.redaction.value(one))
        self._known = edition, current
        name = request.model.removeprefix(self.prefix)
        rest = self.redaction.value(replace(request, model=name, messages=(), tools=(), images={}))
        messages, tools = (current[id(one)][1] for one in request.messages), current[id(request.tools)][1]
        return replace(rest, messages=tuple(messages), tools=tools, images=request.images)
