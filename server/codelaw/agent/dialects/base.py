"""What the engine needs of a dialect."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from codelaw.agent.dialects.binding import Binding
from codelaw.agent.dialects.spelling import Speller
from codelaw.context.sections import View
from codelaw.domain.chats import Dialect as DialectName
from codelaw.domain.messages import Call, KeptItems, WebSearch
from codelaw.domain.models import NO_IMAGES, ApiMessage, ModelReply, ModelRequest
from codelaw.tools.toolbox import Toolbox

Channel = Literal["thought", "answer"]


@dataclass(frozen=True, slots=True)
class InvalidCall:
    """A call that was meant but cannot be read; it is answered with `problem` and never run (R-3, R-6)."""

    call: Call
    problem: str


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply says. Exactly one of `answer`, `calls` and `unreadable` is given, or none for an empty reply."""

    kept: str
    """The model's text as written, up to the end of the first complete action (R-3)."""
    thought: str = ""
    answer: str | None = None
    calls: tuple[Call | InvalidCall, ...] = ()
    unreadable: InvalidCall | None = None
    native: bool = False
    """The calls stand beside the text, not in it."""
    items: KeptItems | None = None
    """What goes back to the vendor beside it (P-5)."""
    searches: tuple[WebSearch, ...] = ()
    """What the vendor has searched for on the way."""

    @property
    def empty(self) -> bool:
        """Nothing at all was said."""
        return self.answer is None and not self.calls and self.unreadable is None


class Stream(ABC):
    """Tells thought and answer apart while the text is still arriving.

    The joined `answer` pieces equal the answer that `Dialect.read` gives for the whole text.
    """

    enough = False
    """A complete call that can be run has arrived, and more text behind it, which nobody will read (R-3)."""

    @property
    def whole(self) -> bool:
        """A complete call that can be run has arrived, whether or not more follows (R-3)."""
        return False

    @abstractmethod
    def feed(self, text: str) -> Iterator[tuple[Channel, str]]:
        """More text; gives what can be shown now."""

    @abstractmethod
    def finish(self, reading: ParsedReply) -> Iterator[tuple[Channel, str]]:
        """The rest, once the reply has been read."""


class Dialect(Speller):
    """A way to spell calls, results and answers."""

    name: DialectName
    reasoning = False
    """Whether the model is asked to write down its reasoning (R-3)."""
    binding: Binding | None = None
    """Which kept items go back; None in a dialect that returns none (P-5)."""

    @abstractmethod
    def description(self, toolbox: Toolbox) -> str:
        """What the TOOLS module says of the tools."""

    def schemas(self, toolbox: Toolbox) -> str:  # noqa: ARG002 - for those that send them
        """What the request says of the tools outside the system prompt, as JSON; empty when nothing."""
        return ""

    def request(
        self,
        view: View,
        *,
        model: str,
        max_tokens: int,
        toolbox: Toolbox,
        after: tuple[ApiMessage, ...] = (),
        lasting: int = 0,
        images: Mapping[str, bytes] = NO_IMAGES,
    ) -> ModelRequest:
        """The view as a request; `after` is appended, unstored, to resume a broken reply.

        The first `lasting` of its breakpoints are kept for an hour, none behind the finished rounds (L-6).
        `images` are sent, by digest.
        """
        self.declare(toolbox)
        system, messages = self.spell(view, after, lasting)
        return self.with_tools(ModelRequest(model, system, messages, max_tokens, images=images), toolbox)

    def with_tools(self, request: ModelRequest, toolbox: Toolbox) -> ModelRequest:  # noqa: ARG002 - as above
        """A spelt request with what the vendor is told of tools."""
        return request

    @abstractmethod
    def read(self, reply: ModelReply, step: str) -> ParsedReply:
        """What a whole reply says; the calls of a `step` get its name and their number as ids."""

    @abstractmethod
    def whole(self, reply: ModelReply) -> bool | None:
        """Whether a reply that a stop sequence ended is whole (R-3); None when its text does not tell."""

    @abstractmethod
    def stream(self) -> Stream:
        """A fresh reader of one reply's deltas."""

    @abstractmethod
    def cut(self, reply: ModelReply, step: str) -> ParsedReply | None:
        """What a reply cut off by the output limit says; None when its text should simply be continued (R-6)."""


def call_id(step: str, number: int) -> str:
    """The id of the n-th call of a step, from 0; unique in the chat when the step's name is."""
    return f"call_{step}_{number}"
