"""The pictures of one chat: kept by the store under their digests, those used last at hand (M-6)."""

from __future__ import annotations

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codelaw.domain.media.images import picture_ref
from codelaw.domain.models import pictures_in

if TYPE_CHECKING:
    from codelaw.domain.media.images import Image, Picture
    from codelaw.domain.models import ModelRequest
    from codelaw.ports.store import ChatStore

AT_HAND = 40 * 1024 * 1024
"""Bytes that are kept in memory."""
SENT = 20 * 1024 * 1024
"""Bytes of pictures in one request, the newest first: vendors take 32 MB of text, and base64 adds a third."""
MOST_SENT = 20
"""Pictures in one request: vendors take smaller ones alone where there are more."""
AWAY = 10
"""Of the oldest that are left out together where there are more."""


@dataclass(slots=True)
class Pictures:
    """Gives requests their pictures."""

    chat_id: str
    store: ChatStore
    _known: OrderedDict[str, bytes] = field(default_factory=OrderedDict[str, bytes])

    async def taken(self, pictures: Sequence[Picture]) -> list[tuple[str, dict[str, Any]]]:
        """As rows for the store, each once."""
        self._keep({one.image.digest: one.content for one in pictures})
        return await asyncio.to_thread(_rows, pictures)

    async def keep(self, pictures: Sequence[Picture]) -> None:
        """Store them, each once."""
        await self.store.append(self.chat_id, (), await self.taken(pictures))

    async def sent_with(self, request: ModelRequest) -> Mapping[str, bytes]:
        """The bytes of a request's pictures, by digest; one that is lost, or has no room, is told of in words.

        Raises:
            Refusal: `store_unavailable`.
        """
        wanted = _newest(request)
        missing = [digest for digest in wanted if digest not in self._known]
        refs = {picture_ref(digest): digest for digest in missing}
        rows = await self.store.results(self.chat_id, refs) if refs else {}
        read = await asyncio.to_thread(lambda: {refs[ref]: _bytes(body) for ref, body in rows.items()})
        found = {digest: content for digest, content in read.items() if content}
        found |= {digest: self._known[digest] for digest in wanted if digest in self._known}
        self._keep(found)
        return {digest: found[digest] for digest in wanted if digest in found}

    def of_result(self, pictures: Sequence[Picture]) -> list[tuple[str, dict[str, Any]]]:
        """As `taken`, at once: nothing may come between a result and its being stored."""
        self._keep({one.image.digest: one.content for one in pictures})
        return _rows(pictures)

    def _keep(self, found: dict[str, bytes]) -> None:
        for digest, content in found.items():
            self._known[digest] = content
            self._known.move_to_end(digest)
        while self._known and sum(map(len, self._known.values())) > AT_HAND:
            self._known.popitem(last=False)


def _newest(request: ModelRequest) -> list[str]:
    """The digests that there is room for, in the order of the messages."""
    shown = [image for message in request.messages for block in message.blocks for image in pictures_in(block)]
    # Several at once, so that the beginning of the request stays what it was over the next pictures (L-6).
    over = -(-max(0, len(shown) - MOST_SENT) // AWAY) * AWAY
    room = SENT
    images: dict[str, Image] = {}
    for image in reversed(shown[over:]):
        if image.digest not in images:
            room -= image.size
            if room < 0:
                break
            images[image.digest] = image
    return list(reversed(images))


def _rows(pictures: Sequence[Picture]) -> list[tuple[str, dict[str, Any]]]:
    once = {picture_ref(one.image.digest): one.content for one in pictures}
    return [(ref, {"data": base64.b64encode(content).decode()}) for ref, content in once.items()]


def _bytes(body: dict[str, Any]) -> bytes:
    try:
        return base64.b64decode(str(body.get("data", "")), validate=True)
    except ValueError:
        return b""  # the disk has altered it
