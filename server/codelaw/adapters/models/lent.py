"""Models that the editor lends: asked through it, with its user's consent, as far as its window of them goes (P-7).

Such a model has no system prompt, stop reason, usage, thinking or cache: what stands in L1 is the first message of the
user, and tokens are our estimate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from codelaw.adapters.models.failures import is_overflow
from codelaw.adapters.models.replies import EndlessReply, ReplyReader, room_for
from codelaw.adapters.models.wire import QUIET_SECONDS, SILENCE
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import Call
from codelaw.domain.models import (
    ApiMessage,
    Begun,
    Block,
    BrokenCall,
    CallBlock,
    Delta,
    FailureKind,
    Heard,
    ImageBlock,
    ModelProfile,
    ModelReply,
    ModelRequest,
    ResultBlock,
    StopReason,
    TextBlock,
    TextDelta,
    Usage,
)
from codelaw.ports.lending import Lender, LentOffer, NotLent, Part
from codelaw.ports.model import ChatModel

PREFIX = "editor/"
"""In front of the id of each, where models are named."""
CONSENT_SECONDS = 600.0
"""Until the first part: the editor may be asking its user whether it may lend the model."""
_MOST_OUTPUT = 32_000

_KINDS: dict[str, FailureKind] = {"NoPermissions": "consent", "Blocked": "spending", "NotFound": "unknown_model"}
_TOLD: dict[FailureKind, str] = {
    "consent": "The editor does not let codelaw use {model}",
    "spending": "The editor lends {model} no more for now: its quota is used up, or it refuses the request",
    "unknown_model": "The editor does not lend {model}",
    "overflow": "{model} takes less than was sent",
    "network": "The editor that lends {model} is gone",
    "server": "{model}, which the editor lends, failed",
    "malformed": "{model} sends without end",
    "truncated": "{model} fell silent",
}


def profile_of(offer: LentOffer) -> ModelProfile:
    """What is known of a model that is lent. Its window counts input alone, and is less than what it really has."""
    return ModelProfile(
        PREFIX + offer.id,
        "editor",
        context_window=offer.max_input,
        max_output=min(_MOST_OUTPUT, offer.max_input),
        caching=False,
        stop_sequences=False,
    )


@dataclass(frozen=True, slots=True)
class LentModel(ChatModel):
    """A `ChatModel` that the editor lends."""

    lender: Lender
    silence: float = SILENCE
    """Seconds without a part after which a reply counts as broken."""

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """As `ChatModel` has it. Nobody says what was billed: the usage is empty."""
        model = request.model.removeprefix(PREFIX)
        loop, reader = asyncio.get_running_loop(), LentReader(on_delta, room_for(request.max_tokens))

        def heard(part: Part) -> None:
            try:
                reader.take(part)
            except EndlessReply:
                reader.endless = True
            # One way out of the wait, which withdraws the question.
            patience = min(self.silence, QUIET_SECONDS) if reader.could_end else self.silence
            limit.reschedule(loop.time() + (0 if reader.enough or reader.endless else patience))

        try:
            async with asyncio.timeout(CONSENT_SECONDS) as limit:
                reader.ends(await self.lender.ask(model, tuple(spelled(request)), request.tools, heard))
        except TimeoutError:
            reader.flush()
            if reader.endless or not (reader.enough or reader.could_end):
                kind: FailureKind = "malformed" if reader.endless else "truncated"
                raise _failure(kind, model, "", reader.text) from None
        except NotLent as error:
            raise _failure(_kind(error), model, error.message, reader.text) from None
        return reader.reply()


class LentReader(ReplyReader):
    """Takes the parts of a lent model's reply."""

    def __init__(self, on_delta: Callable[[Delta], Heard], room: int) -> None:
        """As of any reply."""
        super().__init__(on_delta, room)
        self._calls: list[Call] = []
        self._broken: list[BrokenCall] = []
        self.endless = False
        """There was no room for all of it."""

    @property
    def could_end(self) -> bool:
        return self._whole or bool(self._calls)

    def take(self, event: object) -> None:
        if self.enough or self.endless:
            return
        if not self.events:
            self._on_delta(Begun(Usage()))
        self.events += 1
        match event:
            case TextDelta(text):
                self._say(text)
            case Call():
                self._take_room(len(str(event.arguments)))
                self._calls.append(event)
                self._on_delta(TextDelta(""))
            case BrokenCall():
                self._take_room(len(event.arguments_text))
                self._broken.append(event)
                self._on_delta(TextDelta(""))
            case _:
                pass

    def ends(self, stop: StopReason) -> None:
        """The editor has said why it ended."""
        self.flush()
        self._stop = "tool_use" if stop == "end_turn" and (self._calls or self._broken) else stop

    def reply(self) -> ModelReply:
        stop = cast("StopReason", self._stop or "closed")
        return ModelReply(self.text, stop, calls=tuple(self._calls), broken_calls=tuple(self._broken))


def spelled(request: ModelRequest) -> Iterator[ApiMessage]:
    """The messages of a request as a lent model takes them: L1 first, and nothing but texts, calls and results."""
    system = "\n\n".join(block.text for block in request.system if block.text)
    if system:
        yield ApiMessage("user", (TextBlock(system),))
    for message in request.messages:
        blocks = tuple(plain for block in message.blocks if (plain := _plain(block)) is not None)
        if blocks:
            yield ApiMessage("assistant" if message.role == "assistant" else "user", blocks)


def _plain(block: Block) -> Block | None:
    match block:
        case TextBlock(text):
            return block if text else None
        case ImageBlock(_, instead):
            return TextBlock(instead)
        case CallBlock() | ResultBlock():
            return block
        case _:  # what another vendor wants back with its replies
            return None


def _kind(error: NotLent) -> FailureKind:
    if error.gone:
        return "network"
    if error.code in _KINDS:
        return _KINDS[error.code]
    if "model_not_supported" in error.message:
        return "unknown_model"
    return "overflow" if is_overflow(error.message) else "server"


def _failure(kind: FailureKind, model: str, words: str, partial: str) -> ModelFailure:
    told = _TOLD[kind].format(model=model)
    return ModelFailure(kind, f"{told} ({words})." if words else f"{told}.", partial=partial)
