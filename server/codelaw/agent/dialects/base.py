"""What the engine needs of a dialect, and which kept items go back: those that the model's maker still takes (P-5).

A maker may bind thinking to the request that it answered: as soon as anything in front of it is sent otherwise, it is
refused, or lost. What stands in front is known by a digest, so nobody has to say that they have edited the past. An
item also names the one before it, so that what was left out once does not come back between others.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from codelaw.agent.dialects.spelling import Speller
from codelaw.context.sections import View
from codelaw.domain.chats import Dialect as DialectName
from codelaw.domain.messages import Call, KeptItems, WebSearch
from codelaw.domain.models import (
    NO_IMAGES,
    ApiMessage,
    Block,
    CallBlock,
    ImageBlock,
    KeptBlock,
    ModelReply,
    ModelRequest,
    ResultBlock,
    TextBlock,
)
from codelaw.tools.toolbox import Toolbox


class Binding:
    """Leaves out what does not go back."""

    def __init__(self, maker: str = "", *, binds: bool = False) -> None:
        """`maker`: whose items are sent; `binds`: they count only behind the request that they were made for."""
        self.maker = maker
        self.binds = binds
        self.refused: frozenset[str] = frozenset()
        """Those that the maker did not take, by their first items."""

    def bound(self, request: ModelRequest) -> ModelRequest:
        """The request with those kept items alone that go back, and with the digest of all else."""
        prefixes = self._prefixes(request)
        groups = [
            (place, kept)
            for place, message in enumerate(request.messages)
            for kept in _kept(message.blocks)
            if kept.maker == self.maker and kept.items[0].body not in self.refused
            if any(item.bound for item in kept.items)
        ]
        going = _chained(groups, prefixes) if self.binds else [kept for _, kept in groups]
        ids = {kept.id for kept in going}
        messages = tuple(
            _without(message, [one for one in _sealed(message.blocks) if one.of.id not in ids and not self._stays(one)])
            for message in request.messages
        )
        return replace(request, messages=messages, prefix=prefixes[-1], after=going[-1].id if going else "")

    def refuse(self, request: ModelRequest) -> None:
        """Send the items of a request no more: its maker has refused one of them, and does not say which to keep."""
        self.refused |= {kept.items[0].body for message in request.messages for kept in _kept(message.blocks)}

    def _prefixes(self, request: ModelRequest) -> list[str]:
        """The digest of what stands in front of each message, and of the whole."""
        tools = json.dumps([[tool.name, tool.description, tool.input_schema] for tool in request.tools], sort_keys=True)
        digest = _digest(str(request.searching), tools, *(block.text for block in request.system))
        found = [digest.hex()[:32]]
        for message in request.messages:
            digest = sha256(digest + _digest(message.role, *self._texts(message.blocks, request.images))).digest()
            found.append(digest.hex()[:32])
        return found

    def _stays(self, block: KeptBlock) -> bool:
        """Whether its maker wants it whatever stands in front."""
        return block.of.maker == self.maker and not block.item.bound

    def _texts(self, blocks: Iterable[Block], shown: Container[str]) -> Iterable[str]:
        """What is sent of blocks: of a picture that is not `shown` the words instead."""
        for block in blocks:
            match block:
                case TextBlock():
                    yield block.text
                case CallBlock(call):
                    yield json.dumps([call.id, call.tool, call.arguments])
                case ResultBlock():
                    yield from (block.call_id, block.text, str(block.is_error))
                    yield from (one.digest if one.digest in shown else block.instead for one in block.images)
                case ImageBlock():
                    yield block.image.digest if block.image.digest in shown else block.instead
                case KeptBlock():
                    if self._stays(block):
                        yield block.item.body


def stripped(request: ModelRequest) -> ModelRequest:
    """The request without all that can be left out of it."""
    messages = (
        _without(message, [block for block in _sealed(message.blocks) if block.item.bound])
        for message in request.messages
    )
    return replace(request, messages=tuple(messages))


def _sealed(blocks: Iterable[Block]) -> list[KeptBlock]:
    return [block for block in blocks if isinstance(block, KeptBlock)]


def _without(message: ApiMessage, gone: Sequence[Block]) -> ApiMessage:
    """The message without these blocks; the same object where there are none."""
    if not gone:
        return message
    left = tuple(block for block in message.blocks if not any(block is one for one in gone))
    return ApiMessage(message.role, left or (TextBlock("…"),))


def _chained(groups: Sequence[tuple[int, KeptItems]], prefixes: Sequence[str]) -> Sequence[KeptItems]:
    """Of those that stand behind what they were made for the longest row in which each names the one before it."""
    rows: dict[str, tuple[KeptItems, ...]] = {}
    longest: tuple[KeptItems, ...] = ()
    for place, kept in groups:
        if kept.prefix == prefixes[place]:
            row = rows[kept.id] = (*rows.get(kept.after, ()), kept)
            longest = row if len(row) >= len(longest) else longest
    return longest


def _kept(blocks: Iterable[Block]) -> list[KeptItems]:
    """The groups of kept items among blocks, each once."""
    return list({id(block.of): block.of for block in _sealed(blocks)}.values())


def _digest(*texts: str) -> bytes:
    digest = sha256()
    for text in texts:
        spelt = text.encode(errors="surrogatepass")
        digest.update(len(spelt).to_bytes(8, "big") + spelt)
    return digest.digest()


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


class ReplyStream(ABC):
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
    def stream(self) -> ReplyStream:
        """A fresh reader of one reply's deltas."""

    @abstractmethod
    def cut(self, reply: ModelReply, step: str) -> ParsedReply | None:
        """What a reply cut off by the output limit says; None when its text should simply be continued (R-6)."""


def call_id(step: str, number: int) -> str:
    """The id of the n-th call of a step, from 0; unique in the chat when the step's name is."""
    return f"call_{step}_{number}"
