"""One GET after another, each to an address that was judged before it was connected to (T-8, S-4, S-6)."""

from __future__ import annotations

import asyncio
import codecs
import http.client
import io
import ipaddress
import re
import ssl
import zlib
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urljoin, urlsplit

from codelaw.adapters.processes.network.addresses import Dial, Resolve, SystemResolver, dial, meant, shut
from codelaw.domain.errors import ToolFailure
from codelaw.domain.safety.hosts import Address, HostRule, Network, is_this_machine, read_host, read_rules
from codelaw.ports.abilities import Fetched

MOST_BYTES = 2_000_000
"""Of an answer, its headers included."""
MOST_REDIRECTS = 5
SECONDS = 20.0
"""For all of it."""
CHARSETS = re.compile(
    r"ascii|big5(hkscs)?|cp(125[0-8]|866|874|932)|euc_(jp|kr)|gb(18030|2312|k)|iso2022_jp|iso8859-([1-9]|1[0-6])"
    r"|koi8-[ru]|mac-(cyrillic|roman)|shift_jis|tis-620|utf-8(-sig)?|utf-16(-[bl]e)?"
)
"""In which pages are written, as Python names them. It knows others that are none of the web's, and one of them takes
time in the square of a text."""
_CHARSET = re.compile(r"\bcharset\s{0,9}=\s{0,9}\"?([\w.:-]{1,40})", re.ASCII | re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_MOVED = {301, 302, 303, 307, 308}
_PIECE = 1 << 16
_AGENT = "codelaw"
_SAFE = "/:?&=%+,;@!$'()*~-._"


@dataclass(frozen=True, slots=True)
class _Place:
    url: str
    scheme: str
    host: str | Address
    port: int
    target: str
    """Path and query."""

    @property
    def header(self) -> str:
        shown = f"[{self.host}]" if isinstance(self.host, ipaddress.IPv6Address) else str(self.host)
        return shown if self.port == _PORTS[self.scheme] else f"{shown}:{self.port}"


class WebFetcher:
    """Fetches under `network`, as commands do: all of it, or the hosts of a list."""

    def __init__(self, network: Network, *, resolve: Resolve | None = None, connect: Dial = dial) -> None:
        self._all = network is True
        self._rules: tuple[HostRule, ...] = () if isinstance(network, bool) else read_rules(network)
        self._resolve = resolve or SystemResolver()
        self._connect = connect

    async def fetch(self, url: str) -> Fetched:
        """See `Web.fetch`."""
        try:
            async with asyncio.timeout(SECONDS):
                return await self._followed(_place(url))
        except TimeoutError:
            raise ToolFailure("TIMEOUT", f"{url} has not answered in full within {SECONDS:.0f} s.") from None

    async def _followed(self, place: _Place) -> Fetched:
        named = place
        for _ in range(MOST_REDIRECTS + 1):
            # Only the very server that the user has named may be one of this machine.
            local = (place.host, place.port) == (named.host, named.port)
            status, headers, body, cut = await self._answer(place, local=local)
            moved = headers.get("location")
            if status not in _MOVED or not moved:
                kind, _, more = headers.get("content-type", "").partition(";")
                found = _CHARSET.search(more)
                charset = found[1] if found else "utf-8"
                body, longer = await asyncio.to_thread(_unpacked, place.url, body, headers.get("content-encoding", ""))
                return Fetched(
                    place.url,
                    status,
                    kind.strip().lower(),
                    _decoded(body, charset),
                    cut or longer,
                )
            place = _place(urljoin(place.url, moved))
        raise ToolFailure("EXECUTION_ERROR", f"{named.url} leads from one address to the next without an end.")

    async def _answer(self, place: _Place, *, local: bool) -> tuple[int, http.client.HTTPMessage, bytes, bool]:
        try:
            sock = await self._connect(await self._address(place, local=local), place.port)
            secure = await asyncio.to_thread(ssl.create_default_context) if place.scheme == "https" else None
            reader, writer = await asyncio.open_connection(
                sock=sock, ssl=secure, server_hostname=str(place.host) if secure else None
            )
            try:
                writer.write(_request(place))
                await writer.drain()
                data, cut = await _bounded(reader)
            finally:
                writer.transport.abort()
        except OSError as error:
            raise ToolFailure("EXECUTION_ERROR", f"{place.url} cannot be reached: {error}.") from error
        return await asyncio.to_thread(_read, place.url, data, cut=cut)

    async def _address(self, place: _Place, *, local: bool) -> Address:
        """The address to connect to.

        Raises:
            ToolFailure: ACCESS_DENIED.
            OSError: the name leads nowhere.
        """
        host = place.host
        if not self._all and not any(rule.allows(host, place.port) for rule in self._rules):
            raise ToolFailure("ACCESS_DENIED", f"tools.bash.network does not let {place.header} be reached.")
        mine = is_this_machine(host)
        if mine and not local:
            raise ToolFailure("ACCESS_DENIED", f"{place.header} is this machine itself, which the user has not named.")
        found = [host] if not isinstance(host, str) else await self._resolve(host)
        if mine:
            usable, why = [one for one in found if one.is_loopback], "no address of this machine"
        else:
            judged = [(one, _private(one)) for one in found]
            usable = [one for one, problem in judged if problem is None]
            why = next((f"{one}, {problem}" for one, problem in judged if problem is not None), "no address")
        if not usable:
            raise ToolFailure("ACCESS_DENIED", f"{place.header} leads to {why}; such addresses are not fetched.")
        return usable[0]


def _private(address: Address) -> str | None:
    """Why an address is none of the public web's; None when it is one."""
    inner = meant(address) if isinstance(address, ipaddress.IPv6Address) else ()
    private = not all(one.is_global for one in (address, *inner))
    return shut(address) or ("a private address" if private else None)


def _place(url: str) -> _Place:
    """An address as it is asked for.

    Raises:
        ToolFailure: INVALID_PARAM.
    """
    try:
        parts = urlsplit(url)
        name = parts.hostname or ""
        host = read_host(name if name.isascii() else name.encode("idna").decode("ascii"))
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise ToolFailure("INVALID_PARAM", f"{url[:200]!r} cannot be fetched: {error}.") from error
    if parts.scheme not in _PORTS:
        raise ToolFailure("INVALID_PARAM", f"{url[:200]!r} cannot be fetched: only http and https are.")
    if parts.username is not None or parts.password is not None:
        raise ToolFailure("INVALID_PARAM", "An address with a user or a password in it is not fetched.")
    target = quote(parts.path or "/", safe=_SAFE)
    query = f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
    return _Place(url, parts.scheme, host, port, f"{target}{query}")


def _request(place: _Place) -> bytes:
    lines = (
        f"GET {place.target} HTTP/1.1",
        f"Host: {place.header}",
        f"User-Agent: {_AGENT}",
        "Accept: text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1",
        "Accept-Encoding: identity",
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


async def _bounded(reader: asyncio.StreamReader) -> tuple[bytes, bool]:
    """What comes until the other side ends it, and whether there was more than is read."""
    data = bytearray()
    while piece := await reader.read(_PIECE):
        data += piece
        if len(data) > MOST_BYTES:
            return bytes(data[:MOST_BYTES]), True
    return bytes(data), False


class _HttpAnswer:
    """Bytes as `http.client` wants to read them."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: object, **__: object) -> io.BytesIO:
        return io.BytesIO(self._data)


def _read(url: str, data: bytes, *, cut: bool) -> tuple[int, http.client.HTTPMessage, bytes, bool]:
    """Status, headers, the body, and whether all of it is there."""
    response = http.client.HTTPResponse(cast("Any", _HttpAnswer(data)))
    try:
        response.begin()
        try:
            body = response.read()
        except http.client.IncompleteRead as short:
            body, cut = short.partial, True
    except (http.client.HTTPException, ValueError) as error:
        raise ToolFailure(
            "EXECUTION_ERROR", f"{url} did not answer as the web does: {type(error).__name__}."
        ) from error
    finally:
        response.close()
    return response.status, response.headers, body, cut


def _unpacked(url: str, body: bytes, packing: str) -> tuple[bytes, bool]:
    """A body as it was before it was packed, which nobody had asked for, and whether there is more than is read.

    Raises:
        ToolFailure: EXECUTION_ERROR.
    """
    kind = packing.strip().lower()
    if kind in {"", "identity"}:
        return body, False
    if kind not in {"gzip", "x-gzip", "deflate"}:
        raise ToolFailure("EXECUTION_ERROR", f"{url} answered what cannot be unpacked: it is {kind[:40]!r}.")
    # 47: the head says whether it is gzip or zlib.
    unpacking = zlib.decompressobj(wbits=47)
    try:
        whole = unpacking.decompress(body, MOST_BYTES)
    except zlib.error as error:
        raise ToolFailure("EXECUTION_ERROR", f"{url} answered what cannot be unpacked: {error}.") from error
    return whole, not unpacking.eof


def _decoded(body: bytes, charset: str) -> str:
    try:
        named = codecs.lookup(charset).name
        return body.decode(named if CHARSETS.fullmatch(named) else "utf-8", "replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")
