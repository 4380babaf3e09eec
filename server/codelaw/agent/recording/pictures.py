"""The pictures of a chat: kept by the store under their digests (M-6)."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

from codelaw.domain.media.images import picture_ref
from codelaw.domain.models import pictures_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codelaw.domain.media.images import Image, Picture
    from codelaw.domain.models import ModelRequest
    from codelaw.ports.store import ChatStore

SENT = 20 * 1024 * 1024
"""Bytes of pictures in one request, the newest first: vendors take 32 MB of text, and base64 adds a third."""
MOST_SENT = 20
"""Pictures in one request: vendors take smaller ones alone where there are more."""
AWAY = 10
"""Of the oldest that are left out together where there are more."""


async def sent_with(store: ChatStore, chat_id: str, request: ModelRequest) -> Mapping[str, bytes]:
    """The bytes of a request's pictures, by digest; one that is lost, or has no room, is told of in words.

    Raises:
        Refusal: `store_unavailable`.
    """
    refs = {picture_ref(digest): digest for digest in _newest(request)}
    rows = await store.results(chat_id, refs) if refs else {}
    found = await asyncio.to_thread(lambda: {refs[ref]: _bytes(body) for ref, body in rows.items()})
    return {digest: content for digest, content in found.items() if content}


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


def rows_of(pictures: Sequence[Picture]) -> list[tuple[str, dict[str, Any]]]:
    """Pictures as the store keeps them, each once."""
    once = {picture_ref(one.image.digest): one.content for one in pictures}
    return [(ref, {"data": base64.b64encode(content).decode()}) for ref, content in once.items()]


def _bytes(body: dict[str, Any]) -> bytes:
    try:
        return base64.b64decode(str(body.get("data", "")), validate=True)
    except ValueError:
        return b""  # the disk has altered it
