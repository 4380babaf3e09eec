"""Bodies of requests spelled by hand: a message once, and its bytes kept while the next request holds it (L-6)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring  # pyright: ignore[reportUnknownVariableType]

from codelaw.domain.models import ApiMessage, ModelRequest, pictures_in

quote: Callable[[str], str] = encode_basestring
Images = Mapping[str, bytes]


class SpeltMessages:
    """Spells messages; remembers those of the previous request by identity."""

    def __init__(self, spell: Callable[[ApiMessage, Images], str]) -> None:
        self._spell = spell
        self._messages: dict[int, tuple[ApiMessage, bytes, frozenset[str]]] = {}
        """By id each message, how it was spelt, and the pictures that were sent in it."""

    def of(self, request: ModelRequest) -> list[bytes]:
        """Each message of a request."""
        known, messages, images = self._messages, request.messages, request.images
        current: dict[int, tuple[ApiMessage, bytes, frozenset[str]]] = {}
        sent = frozenset(images)
        for message in messages:
            key = id(message)
            entry = known.get(key)
            if entry is None or entry[0] is not message or entry[2] != (sent & _seen(message) if sent else frozenset()):
                spelt = as_bytes(self._spell(message, images))
                entry = (message, spelt, sent & _seen(message) if sent else frozenset[str]())
            current[key] = entry
        # The entries hold their messages, so no id can be taken over by another object while it is a key here.
        self._messages = current
        return [current[id(message)][1] for message in messages]


def _seen(message: ApiMessage) -> frozenset[str]:
    return frozenset(image.digest for block in message.blocks for image in pictures_in(block))


def base64_of(content: bytes) -> str:
    """A picture as JSON can hold it."""
    return base64.b64encode(content).decode()


def dump(value: object) -> str:
    """JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def as_bytes(text: str) -> bytes:
    """A body's text; a lone surrogate is not Unicode text, and the vendor would refuse the whole body for it."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace")
