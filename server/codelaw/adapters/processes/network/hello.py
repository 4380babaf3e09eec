"""The first bytes of a TLS connection, read as far as the name that it asks for (S-4). Nothing is decrypted."""

from __future__ import annotations

MOST = 65_536
"""Bytes of a greeting; those of real clients have some hundred, with keys for after quantum computers two thousand."""
ALERT = bytes.fromhex("15030300020231")
"""TLS for: access denied."""
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _ENCRYPTED_HELLO = 22, 1, 0, 0xFE0D


class NotTls(ValueError):
    """The bytes are not a greeting of a TLS client, or one that hides the name; the message says which."""


def asked_name(sent: bytes) -> str | None:
    """The name that the client asks for, in lower case; empty when it names none, None while bytes are missing.

    Raises:
        NotTls: what was sent is something else.
    """
    hello = _handshake(sent)
    if hello is None:
        return None
    try:
        return _name(_Reader(hello))
    except IndexError:
        raise NotTls("a broken TLS greeting") from None


def _handshake(sent: bytes) -> bytes | None:
    """The message inside the records, once it is whole."""
    message = b""
    rest = sent
    while True:
        if not b"\x16\x03".startswith(rest[:2]):
            raise NotTls("no TLS")
        if len(rest) < 5:
            return None
        size = int.from_bytes(rest[3:5], "big")
        if not 0 < size <= 1 << 14:
            raise NotTls("a broken TLS greeting")
        message += rest[5 : 5 + size]
        if message[0:1] not in (b"", b"\x01"):
            raise NotTls("no TLS greeting")
        if len(message) >= 4:
            length = int.from_bytes(message[1:4], "big")
            if length > MOST:
                raise NotTls("a broken TLS greeting")
            if len(message) >= 4 + length:
                return message[4 : 4 + length]
        if len(sent) > 2 * MOST:
            raise NotTls("a TLS greeting without an end")
        if len(rest) < 5 + size:
            return None
        rest = rest[5 + size :]


def _name(hello: _Reader) -> str:
    hello.take(2 + 32)
    hello.block(1)
    hello.block(2)
    hello.block(1)
    if not hello.left:
        return ""
    extensions = _Reader(hello.block(2))
    name = ""
    seen: set[int] = set()
    while extensions.left:
        kind = extensions.number(2)
        content = extensions.block(2)
        if kind in seen:
            raise NotTls("a broken TLS greeting")
        seen.add(kind)
        if kind == _ENCRYPTED_HELLO:
            raise NotTls("a TLS greeting that hides the name it asks for")
        if kind == _SERVER_NAME:
            names = _Reader(_Reader(content).block(2))
            if names.number(1) != 0:
                raise NotTls("a broken TLS greeting")
            name = names.block(2).decode("ascii", "replace").lower()
            if names.left:
                raise NotTls("a TLS greeting with more than one name")
    return name


class _Reader:
    """Takes numbers and blocks off the front of bytes; IndexError when there are too few."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._content) - self._at

    def take(self, size: int) -> bytes:
        if size > self.left:
            raise IndexError
        self._at += size
        return self._content[self._at - size : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def block(self, size: int) -> bytes:
        """A block after its length, which has `size` bytes."""
        return self.take(self.number(size))
