"""Models that the editor lends: asked through it, with its user's consent, as far as its window of them goes (P-7).

Such a model has no system prompt, stop reason, usage, thinking or cache: what stands in L1 is the first message of the
user, and tokens are our estimate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from codelaw.adapters.models.failures import is_overflow
from codelaw.adapters.models.replies import room_for
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
from codelaw.ports.lending import Lender, NotLent, Offer, Part
from codelaw.ports.model import ChatModel

PREFIX = "editor/"
"""In front of the id of each, where models are named."""
CONSENT_SECONDS = 600.0
"""Until the first part: the editor may be asking its user whether it may lend the model."""
SILENCE_SECONDS = 120.0
QUIET_SECONDS = 20.0
"""Without a part, after which a reply ends that could end where it is (R-3)."""
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


def profile_of(offer: Offer) -> ModelProfile:
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
    silence: float = SILENCE_SECONDS
    """Seconds without a part after which a reply counts as broken."""

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """As `ChatModel` has it. Nobody says what was billed: the usage is empty."""
        model = request.model.removeprefix(PREFIX)
        loop, reading = asyncio.get_running_loop(), _Reading(on_delta, room_for(request.max_tokens))

        def heard(part: Part) -> None:
            reading.take(part)
            # One way out of the wait, which withdraws the question.
            limit.reschedule(loop.time() + reading.patience(self.silence))

        try:
            async with asyncio.timeout(CONSENT_SECONDS) as limit:
                stop = await self.lender.ask(model, tuple(spelled(request)), request.tools, heard)
        except TimeoutError:
            if reading.room >= 0 and (reading.enough or reading.could_end):
                return reading.reply("closed")
            kind: FailureKind = "malformed" if reading.room < 0 else "truncated"
            raise _failure(kind, model, "", reading.text) from None
        except NotLent as error:
            raise _failure(_kind(error), model, error.message, reading.text) from None
        called = bool(reading.calls or reading.broken)
        return reading.reply("tool_use" if called and stop == "end_turn" else stop)


@dataclass(slots=True)
class _Reading:
    """A reply as it arrives."""

    on_delta: Callable[[Delta], Heard]
    room: int
    """Characters that it may still have."""
    pieces: list[str] = field(default_factory=list[str])
    calls: list[Call] = field(default_factory=list[Call])
    broken: list[BrokenCall] = field(default_factory=list[BrokenCall])
    begun: bool = False
    enough: bool = False
    could_end: bool = False
    """Nothing need follow."""

    def patience(self, silence: float) -> float:
        """Seconds within which another part must come."""
        if self.enough or self.room < 0:
            return 0.0
        return min(silence, QUIET_SECONDS) if self.could_end else silence

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def take(self, part: Part) -> None:
        if self.enough:
            return
        if not self.begun:
            self.begun = True
            self.on_delta(Begun(Usage()))
        match part:
            case TextDelta(text):
                self.room -= len(text)
                self.pieces.append(text)
                answer = self.on_delta(part)
                self.enough, self.could_end = answer is True, answer == "whole" or bool(self.calls)
            case Call():
                self.room -= len(str(part.arguments))
                self.calls.append(part)
                self.could_end = True
                self.on_delta(TextDelta(""))
            case BrokenCall():
                self.room -= len(part.arguments_text)
                self.broken.append(part)
                self.on_delta(TextDelta(""))

    def reply(self, stop: StopReason) -> ModelReply:
        return ModelReply(self.text, stop, Usage(), tuple(self.calls), tuple(self.broken))


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
