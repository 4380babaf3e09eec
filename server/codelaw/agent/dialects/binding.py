"""Which kept items go back: those that the model's maker still takes (P-5).

A maker may bind thinking to the request that it answered: as soon as anything in front of it is sent otherwise, it is
refused, or lost. What stands in front is known by a digest, so nobody has to say that they have edited the past. An
item also names the one before it, so that what was left out once does not come back between others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from hashlib import sha256

from codelaw.domain.messages import KeptItems
from codelaw.domain.models import (
    ApiMessage,
    Block,
    CallBlock,
    ImageBlock,
    KeptBlock,
    ModelRequest,
    ResultBlock,
    TextBlock,
)


class Binding:
    """Leaves out what does not go back; remembers the digests of the messages of the last request by identity."""

    def __init__(self, maker: str = "", *, binds: bool = False) -> None:
        """`maker`: whose items are sent; `binds`: they count only behind the request that they were made for."""
        self.maker = maker
        self.binds = binds
        self.refused: frozenset[str] = frozenset()
        """Those that the maker did not take, by their first items."""
        self._known: dict[int, tuple[ApiMessage, AbstractSet[str], bytes]] = {}
        self._bare: dict[int, tuple[ApiMessage, frozenset[str], ApiMessage]] = {}

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
        ids = frozenset(kept.id for kept in going)
        bare: dict[int, tuple[ApiMessage, frozenset[str], ApiMessage]] = {}
        messages = tuple(self._left(message, ids, bare) for message in request.messages)
        self._bare = bare
        return replace(request, messages=messages, prefix=prefixes[-1], after=going[-1].id if going else "")

    def refuse(self, request: ModelRequest) -> None:
        """Send the items of a request no more: its maker has refused one of them, and does not say which to keep."""
        self.refused |= {kept.items[0].body for message in request.messages for kept in _kept(message.blocks)}

    def _prefixes(self, request: ModelRequest) -> list[str]:
        """The digest of what stands in front of each message, and of the whole."""
        tools = json.dumps([[tool.name, tool.description, tool.input_schema] for tool in request.tools], sort_keys=True)
        digest = _digest(str(request.searching), tools, *(block.text for block in request.system))
        found, known = [digest.hex()[:32]], dict[int, tuple[ApiMessage, AbstractSet[str], bytes]]()
        shown = frozenset(request.images)
        for message in request.messages:
            entry = self._known.get(id(message))
            if entry is None or entry[0] is not message or entry[1] != shown:
                entry = (message, shown, _digest(message.role, *self._texts(message.blocks, shown)))
            known[id(message)] = entry
            digest = sha256(digest + entry[2]).digest()
            found.append(digest.hex()[:32])
        self._known = known
        return found

    def _left(
        self,
        message: ApiMessage,
        ids: frozenset[str],
        bare: dict[int, tuple[ApiMessage, frozenset[str], ApiMessage]],
    ) -> ApiMessage:
        """The message without items that do not go back: the same object where that is so for all of its items."""
        out = frozenset(kept.id for kept in _kept(message.blocks)) - ids
        if not out:
            return message
        entry = self._bare.get(id(message))
        if entry is None or entry[0] is not message or entry[1] != out:
            blocks = [
                block
                for block in message.blocks
                if not isinstance(block, KeptBlock) or block.of.id not in out or self._stays(block)
            ]
            entry = (message, out, ApiMessage(message.role, tuple(blocks) or (TextBlock("…"),)))
        bare[id(message)] = entry
        return entry[2]

    def _stays(self, block: KeptBlock) -> bool:
        """Whether its maker wants it whatever stands in front."""
        return block.of.maker == self.maker and not block.item.bound

    def _texts(self, blocks: Iterable[Block], shown: AbstractSet[str]) -> Iterable[str]:
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
    messages: list[ApiMessage] = []
    for message in request.messages:
        left = [block for block in message.blocks if not isinstance(block, KeptBlock) or not block.item.bound]
        messages.append(ApiMessage(message.role, tuple(left) or (TextBlock("…"),)))
    return replace(request, messages=tuple(messages))


@dataclass(frozen=True, slots=True)
class _Row:
    """Kept items of which each names the one before it."""

    count: int
    last: KeptItems
    before: _Row | None


def _chained(groups: Sequence[tuple[int, KeptItems]], prefixes: Sequence[str]) -> list[KeptItems]:
    """Of those that stand behind what they were made for the longest row in which each names the one before it."""
    rows: dict[str, _Row] = {}
    longest: _Row | None = None
    for place, kept in groups:
        if kept.prefix == prefixes[place]:
            before = rows.get(kept.after)
            row = rows[kept.id] = _Row(1 if before is None else before.count + 1, kept, before)
            longest = row if longest is None or row.count >= longest.count else longest
    found: list[KeptItems] = []
    while longest is not None:
        found.append(longest.last)
        longest = longest.before
    return found[::-1]


def _kept(blocks: Iterable[Block]) -> list[KeptItems]:
    """The groups of kept items among blocks, each once."""
    return list({id(block.of): block.of for block in blocks if isinstance(block, KeptBlock)}.values())


def _digest(*texts: str) -> bytes:
    digest = sha256()
    for text in texts:
        spelt = text.encode(errors="surrogatepass")
        digest.update(len(spelt).to_bytes(8, "big") + spelt)
    return digest.digest()
