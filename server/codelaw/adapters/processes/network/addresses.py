"""Which addresses a listed name may lead to, names looked up, and connections to what was looked at (S-4).

Whoever owns a name decides where it leads. So it never leads to this machine, to its neighbours on the wire or to a
cloud's own services. What is connected to is the very address that was judged.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future

from codelaw.domain.safety.hosts import Address, is_this_machine

Resolve = Callable[[str], Awaitable[Sequence[Address]]]
"""The addresses of a name, the preferred one first; raises OSError."""
Dial = Callable[[Address, int], Awaitable[socket.socket]]
"""A socket that is connected and does not block; raises OSError."""

RESOLVE_SECONDS = 10.0
DIAL_SECONDS = 10.0
MOST_ADDRESSES = 4
"""Of one name are tried."""
_MOST_LOOKUPS = 8
"""At once: each one holds a thread, for as long as the name server keeps silent."""
_CLOUD = frozenset(map(ipaddress.ip_address, ("168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254")))
"""Services of clouds for their machines, which give keys away, beside those that are link-local."""
_THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")
_TRANSLATED = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")))
"""IPv6 addresses that end in an IPv4 address, and lead there."""
_TRANSLATED_LOCALLY = ipaddress.ip_network("64:ff9b:1::/48")


class Shut(OSError):
    """An address turned out to be one that no name may lead to."""


def shut(address: Address) -> str | None:
    """Why no name may lead to an address, as the end of a sentence; None when it may."""
    six = isinstance(address, ipaddress.IPv6Address)
    for inner in meant(address) if six else ():
        if (why := shut(inner)) is not None:
            return why
    unused = six and (address.is_site_local or address in _TRANSLATED_LOCALLY)
    reasons = {
        "an address of this machine's own network that is never used": unused,
        "this machine itself": address.is_loopback or address.is_unspecified or address in _THIS_NETWORK,
        "a link-local address": address.is_link_local,
        "a cloud's own service": address in _CLOUD,
        "a multicast address": address.is_multicast,
        "a reserved address": not six and address.is_reserved,
    }
    return next((why for why, holds in reasons.items() if holds), None)


def usable(host: str | Address, found: Sequence[Address]) -> tuple[list[Address], str]:
    """Of the addresses that were found for a listed host those that may be connected to, and why the others may not."""
    if not isinstance(host, str):
        return [host], ""
    if is_this_machine(host):
        return [one for one in found if one.is_loopback], ""
    judged = [(one, shut(one)) for one in found]
    refused = next((f"{host} leads to {one}, {why}" for one, why in judged if why is not None), "")
    return [one for one, why in judged if why is None][:MOST_ADDRESSES], refused


def meant(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for."""
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _TRANSLATED) and not (address.is_loopback or address.is_unspecified):
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [one for one in found if one is not None]


class SystemResolver:
    """Asks the system. In threads of its own: a name server that keeps silent must not stop anything else."""

    def __init__(self) -> None:
        self._room = threading.BoundedSemaphore(_MOST_LOOKUPS)

    async def __call__(self, name: str) -> Sequence[Address]:
        """See `Resolve`."""
        if not self._room.acquire(blocking=False):
            raise OSError("too many names are being looked up")
        answer: Future[list[Address]] = Future()
        answer.set_running_or_notify_cancel()  # who gives up does not stop the thread

        def look() -> None:
            try:
                answer.set_result(_look_up(name))
            except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
                answer.set_exception(OSError(str(error)))
            finally:
                self._room.release()

        threading.Thread(target=look, name="codelaw-name", daemon=True).start()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), RESOLVE_SECONDS)
        except TimeoutError:
            raise OSError(f"the name service has not answered within {RESOLVE_SECONDS:.0f} s") from None


def _look_up(name: str) -> list[Address]:
    answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    found = (str(answer[4][0]).partition("%")[0] for answer in answers)
    return list(dict.fromkeys(map(ipaddress.ip_address, found)))


async def dial(address: Address, port: int) -> socket.socket:
    """See `Dial`."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)  # noqa: FBT003
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with asyncio.timeout(DIAL_SECONDS):
            await asyncio.get_running_loop().sock_connect(made, (str(address), port))
    except TimeoutError:
        made.close()
        raise OSError(f"no answer within {DIAL_SECONDS:.0f} s") from None
    except BaseException:
        made.close()
        raise
    # An address of this machine's that is no loopback one shows by this alone.
    if made.getsockname()[0] == made.getpeername()[0] and not address.is_loopback:
        made.close()
        raise Shut(f"{address} is this machine itself")
    return made
