"""One step's question to the model: streamed, resumed when it breaks, continued when it is cut (P-1, R-3, R-6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from codelaw.agent.dialects.base import Reading
from codelaw.agent.recovery import Recovery
from codelaw.domain.errors import ModelFailure
from codelaw.domain.events import AnswerDelta, RetryEvent, ThoughtDelta
from codelaw.domain.models import ApiMessage, Delta, ModelReply, ModelRequest, TextBlock, ThinkingDelta
from codelaw.templates.render import render

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import Dialect, Stream
    from codelaw.agent.open_turn import OpenTurn
    from codelaw.ports.model import ChatModel

CONTINUATIONS = 3
"""How often a reply cut by the output limit is continued."""
_LABEL = "Thought:"
_RESTART = 24
"""Characters of a continuation compared with the beginning, to notice a model that starts over."""
_TELLING = 8
"""Characters that a beginning must have to be told from a continuation that only looks like it."""


@dataclass(slots=True)
class Asked:
    """A reply and what it says; `cut` when it is still incomplete after all continuations."""

    reply: ModelReply
    reading: Reading
    cut: bool = False


class Joint:
    """Joins a continuation to what was `kept` of the reply before it."""

    def __init__(self, kept: str) -> None:
        self._kept = kept
        self._head: str | None = "" if kept else None
        """The beginning of the continuation, while it is not yet clear whether it starts over."""
        self.text = kept

    def feed(self, text: str) -> str:
        """More of the continuation; gives what can be read on from."""
        if self._head is None:
            self.text += text
            return text
        self._head += text
        return self.end() if len(self._head.lstrip()) >= _RESTART else ""

    def end(self) -> str:
        """Decide now; gives what was held back."""
        if self._head is None:
            return ""
        head, self._head = self._head, None
        begun, again = self._kept.lstrip()[:_RESTART], head.lstrip()
        over = (len(begun) >= _TELLING and again.startswith(begun)) or (
            again.startswith(_LABEL) and begun.startswith(_LABEL)
        )
        self.text = head if over else self._kept + head
        return self.text


@dataclass(slots=True)
class Asker:
    """Asks the model for one step of `turn`; `spell` makes the request, with messages to append."""

    turn: OpenTurn
    model: ChatModel
    dialect: Dialect
    spell: Callable[[tuple[ApiMessage, ...]], ModelRequest]
    recovery: Callable[[Callable[[int, float, str], None]], Recovery] = Recovery
    _stream: Stream = field(init=False)

    async def ask(self) -> Asked:
        """The reply. An empty one is asked again once, with a hint.

        Raises:
            ModelFailure: no whole reply could be had.
        """
        asked = await self._whole("", ())
        if asked.reading.empty and asked.reply.stop_reason != "refusal":
            hint = ApiMessage("user", (TextBlock(render("empty_reply", dialect=self.dialect.name)),))
            asked = await self._whole("", (hint,))
        return asked

    async def _whole(self, kept: str, after: tuple[ApiMessage, ...]) -> Asked:
        for number in count(1):
            reply = await self._recovered(kept, after)
            if reply.stop_reason != "max_tokens":
                return self._read(reply, self.dialect.read(reply, self._new_id))
            cut = self.dialect.cut(reply, self._new_id)
            if cut is not None:
                return self._read(reply, cut)
            if number > CONTINUATIONS:
                return replace(self._read(reply, self.dialect.read(reply, self._new_id)), cut=True)
            kept, after = reply.text, _continuation(reply.text, "go_on")
            self._retry(number + 1, 0.0, "the reply was cut off by the output limit and is continued")
        raise AssertionError

    def _read(self, reply: ModelReply, reading: Reading) -> Asked:
        for channel, text in self._stream.finish(reading):
            self._show(channel, text)
        return Asked(reply, reading)

    async def _recovered(self, kept: str, after: tuple[ApiMessage, ...]) -> ModelReply:
        recovery = self.recovery(self._retry)

        async def attempt(broken: str) -> ModelReply:
            if broken:
                return await self._attempt(broken, _continuation(broken, "resume"))
            return await self._attempt(kept, after)

        try:
            reply = await recovery.ask(attempt)
        finally:
            self.turn.usage += recovery.spent
        self.turn.usage += reply.usage
        return reply

    async def _attempt(self, kept: str, after: tuple[ApiMessage, ...]) -> ModelReply:
        """One request. `kept` was withdrawn from the screen: it is shown again, unless the model starts over."""
        kept = kept.rstrip()  # as the model was shown it
        joint = Joint(kept)
        self._stream = self.dialect.stream()
        self.turn.partial, self.turn.partial_answer = kept, ""

        def on_delta(delta: Delta) -> None:
            if isinstance(delta, ThinkingDelta):
                self.turn.emit(ThoughtDelta(delta.text, self.turn.step))
                return
            self._feed(joint.feed(delta.text), joint.text)

        try:
            reply = await self.model.reply(self.spell(after), on_delta)
        except ModelFailure as failure:
            self._feed(joint.end(), joint.text)
            failure.partial = joint.text
            raise
        self._feed(joint.end(), joint.text)
        return replace(reply, text=joint.text)

    def _feed(self, piece: str, whole: str) -> None:
        self.turn.partial = whole
        if piece:
            for channel, text in self._stream.feed(piece):
                self._show(channel, text)

    def _show(self, channel: str, text: str) -> None:
        if channel == "answer":
            self.turn.partial_answer += text
            self.turn.emit(AnswerDelta(text, self.turn.step))
        else:
            self.turn.emit(ThoughtDelta(text, self.turn.step))

    def _retry(self, attempt: int, seconds: float, reason: str) -> None:
        self.turn.partial_answer = ""  # withdrawn by the event, until it is shown again
        self.turn.emit(RetryEvent(attempt, seconds, reason, self.turn.step))

    def _new_id(self, number: int) -> str:
        return f"call_{self.turn.id}_{self.turn.step}_{number}"


def _continuation(kept: str, template: str) -> tuple[ApiMessage, ...]:
    return (
        ApiMessage("assistant", (TextBlock(kept.rstrip() or "…"),)),
        ApiMessage("user", (TextBlock(render(template)),)),
    )
