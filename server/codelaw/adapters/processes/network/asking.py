"""What a program asks of a proxy: the head of one request, and the name in the greeting of TLS, read strictly (S-4).

Whatever two programs could understand in two ways is refused: a head that the proxy reads as one host and a server
behind it as another would be a way round the list. Nothing is decrypted.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace

from codelaw.domain.safety.hosts import Address, read_host

MOST_HEAD = 32_768
"""Bytes of a head."""
_MOST_FIELDS = 100
_REQUEST = re.compile(rb"([A-Z-]{1,20}) ([\x21-\x7e]+) HTTP/1\.([01])")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[\x21-\x7e\x80-\xff][ \t\x21-\x7e\x80-\xff]*)?)")
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.%]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_OF_ONE_HOP = frozenset(
    (b"connection", b"proxy-connection", b"keep-alive", b"proxy-authorization", b"te", b"trailer", b"upgrade")
)


MOST_GREETING = 65_536
"""Bytes of a greeting; those of real clients have some hundred, with keys for after quantum computers two thousand."""
ALERT = bytes.fromhex("15030300020231")
"""TLS for: access denied."""
_LONGEST_RECORD = 1 << 14
_SERVER_NAME, _HIDDEN_NAME = b"\0\0", b"\xfe\x0d"
"""The extension that names the host, and the one that encrypts the name."""


class BadRequest(ValueError):
    """What was asked cannot be read in one way only; the message says why, as a part of a sentence."""


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """One request."""

    method: str
    host: str | Address
    port: int
    tunnel: bool
    """By CONNECT: all that follows is passed on as it is."""
    head: bytes = b""
    """What the server behind is sent; empty for a tunnel."""
    body: int = 0
    """Bytes that follow."""

    @property
    def place(self) -> str:
        """`host:port`, with brackets around an IPv6 address."""
        shown = f"[{self.host}]" if not isinstance(self.host, str) and self.host.version == 6 else self.host
        return f"{shown}:{self.port}"


def read_head(head: bytes) -> ProxyRequest:
    """The head of a request, with the empty line that ends it.

    Raises:
        BadRequest: it is not one that is taken.
    """
    _require(head.endswith(b"\r\n\r\n"), "its head has no end")
    first, *lines = head[:-4].split(b"\r\n")
    request = _REQUEST.fullmatch(first)
    if request is None:
        raise BadRequest("its first line is not a request of HTTP/1.1")
    _require(len(lines) <= _MOST_FIELDS, "it has too many header fields")
    fields: list[tuple[bytes, bytes, bytes]] = []
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise BadRequest("a header field cannot be read")
        fields.append((field[1].lower(), field[2].rstrip(b" \t"), line))
    method, target = request[1].decode(), request[2].decode()
    if method == "CONNECT":
        host, port = _authority(target, None)
        _agree(fields, host, port, needed=False, tunnel=True)
        _require(not _body(fields), "CONNECT has no body")
        return ProxyRequest(method, host, port, tunnel=True)
    scheme, found, rest = target.partition("://")
    _require(found, "it names no host: it must be CONNECT host:port, or name a whole address (http://host/…)")
    _require(scheme.lower() == "http", "for anything but http it must be CONNECT")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host, port = _authority(authority, 80)
    _agree(fields, host, port, needed=request[3] == b"1", tunnel=False)
    path = rest[len(authority) :]
    _require("#" not in path, "its address has a fragment")
    path = path if path.startswith("/") else f"/{path}"
    asked = ProxyRequest(method, host, port, tunnel=False, body=_body(fields))
    return replace(asked, head=_passed_on(method, path, asked.place.removesuffix(":80"), fields))


def _require(holds: object, why: str) -> None:
    if not holds:
        raise BadRequest(why)


def _authority(text: str, usual: int | None) -> tuple[str | Address, int]:
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        raise BadRequest("its host cannot be read" + ("; user and password are not taken" if "@" in text else ""))
    port = int(found[2]) if found[2] else usual
    if port is None or not 0 < port < 65_536:
        raise BadRequest("its port is missing or no port")
    try:
        return read_host(found[1]), port
    except ValueError as error:
        raise BadRequest(str(error)) from None


def _agree(
    fields: list[tuple[bytes, bytes, bytes]], host: str | Address, port: int, *, needed: bool, tunnel: bool
) -> None:
    """The field `Host` must name the same place as the request."""
    named = [value for name, value, _ in fields if name == b"host"]
    _require(len(named) <= 1, "it has more than one field Host")
    _require(named or not needed, "it has no field Host")
    for field in named:
        # Some programs leave the port away before a tunnel.
        said = _authority(field.decode("latin-1"), port if tunnel else 80)
        _require(said == (host, port), "its field Host names another host")


def _body(fields: list[tuple[bytes, bytes, bytes]]) -> int:
    chunked = any(name == b"transfer-encoding" for name, _, _ in fields)
    _require(not chunked, "a body without Content-Length is not taken")
    lengths = [value for name, value, _ in fields if name == b"content-length"] or [b"0"]
    _require(len(lengths) == 1 and _LENGTH.fullmatch(lengths[0]), "its Content-Length cannot be read")
    return int(lengths[0])


def _passed_on(method: str, path: str, named: str, fields: list[tuple[bytes, bytes, bytes]]) -> bytes:
    """The head for the server behind: one request, after which it ends the connection."""
    listed = b",".join(value for name, value, _ in fields if name == b"connection").lower().split(b",")
    left_out = {*_OF_ONE_HOP, b"host", *(word.strip() for word in listed)} - {b"content-length"}
    lines = [f"{method} {path} HTTP/1.1".encode(), f"Host: {named}".encode(), b"Connection: close"]
    return b"\r\n".join([*lines, *(line for name, _, line in fields if name not in left_out), b"", b""])


class NotTls(ValueError):
    """The bytes are not a greeting of a TLS client, or one that hides the name; the message says which."""


def asked_name(sent: bytes) -> str | None:
    """The name that a TLS client asks for, in lower case; empty when it names none, None while bytes are missing.

    Raises:
        NotTls: what was sent is something else, or could be read in two ways.
    """
    message, rest = b"", sent
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4]):
        head, rest = rest[:5], rest[5:]
        size = int.from_bytes(head[3:5])
        greets = b"\x16\x03".startswith(head[:2]) and message[:1] in (b"", b"\1") and len(sent) <= MOST_GREETING
        _certain(greets and (len(head) < 5 or 0 < size <= _LONGEST_RECORD) and message[1:2] <= b"\0")
        if len(head) < 5 or len(rest) < size:
            return None
        message, rest = message + rest[:size], rest[size:]
    return _named(io.BytesIO(message[4 : 4 + int.from_bytes(message[1:4])]))


def _named(hello: io.BytesIO) -> str:
    _taken(hello, 34)
    for size in (1, 2, 1):
        _block(hello, size)
    listed = hello.read()
    extensions = io.BytesIO(listed[2:])
    found: dict[bytes, bytes] = {}
    while kind := extensions.read(2):
        _certain(kind not in found)
        found[kind] = _block(extensions, 2)
    if _HIDDEN_NAME in found:
        raise NotTls("a TLS greeting that hides the name it asks for")
    names = found.get(_SERVER_NAME)
    name = b"" if names is None else names[5:]
    one = (len(name) + 3).to_bytes(2) + b"\0" + len(name).to_bytes(2) + name
    _certain(names in (None, one) and name.isascii())
    _certain(not listed or int.from_bytes(listed[:2]) == len(listed) - 2)
    return name.decode().lower()


def _block(data: io.BytesIO, size: int) -> bytes:
    """What follows its length, which has `size` bytes."""
    return _taken(data, int.from_bytes(_taken(data, size)))


def _taken(data: io.BytesIO, size: int) -> bytes:
    taken = data.read(size)
    _certain(len(taken) == size)
    return taken


def _certain(holds: object) -> None:
    if not holds:
        raise NotTls("no TLS greeting that can be read")
