"""Which hosts commands may reach: the entries of `tools.bash.network`, read strictly (S-4).

A program may spell one address in many ways (`0x7f.1`, `2130706433`): of all of them one is taken, and everything else
that looks like an address is refused, so that nobody has to guess what a system's resolver makes of it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = bool | tuple[str, ...]
"""All of it, nothing, or the entries of a list."""

WEB_PORTS = (80, 443)
"""What an entry without a port stands for."""
MOST_HOSTS = 500
_LONGEST_NAME = 253
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MOST_SHOWN = 8
_PORT = re.compile(r"[1-9][0-9]{0,4}")


@dataclass(frozen=True, slots=True)
class HostRule:
    """One entry. `host` is a name in lower case, an address, or a name whose subdomains are meant."""

    host: str | Address
    ports: tuple[int, ...]
    subdomains: bool = False
    """`*.example.org`: what lies below the name, and not the name itself."""

    def allows(self, host: str | Address, port: int) -> bool:
        """`host` as `read_host` gives it."""
        if port not in self.ports:
            return False
        if self.subdomains:
            return isinstance(host, str) and host.endswith(f".{self.host}")
        return host == self.host

    def covers(self, other: HostRule) -> bool:
        """Whether all that `other` allows is allowed by this rule as well."""
        if not set(other.ports) <= set(self.ports):
            return False
        if other.subdomains and other.host == self.host:
            return self.subdomains
        return (not other.subdomains or self.subdomains) and self.allows(other.host, other.ports[0])

    @property
    def text(self) -> str:
        """The entry in its one spelling."""
        shown = f"[{self.host}]" if isinstance(self.host, ipaddress.IPv6Address) else str(self.host)
        shown = f"*.{shown}" if self.subdomains else shown
        return shown if self.ports == WEB_PORTS else f"{shown}:{self.ports[0]}"


def read_host(text: str) -> str | Address:
    """A host as a program asked for it, in the one spelling that is compared.

    Raises:
        ValueError: it is neither a name nor an address in the usual spelling; the message says why.
    """
    if text.startswith("[") or ":" in text:
        bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        if "%" in bare:
            raise ValueError("an address with a zone is not taken")
        try:
            return ipaddress.IPv6Address(bare)
        except ValueError:
            raise ValueError("that is not an IPv6 address") from None
    name = text.lower().removesuffix(".")
    labels = name.split(".")
    if not name or len(name) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("that is not the name of a host")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return ipaddress.IPv4Address(name)
        except ValueError:
            raise ValueError("an IPv4 address is written as four decimal numbers, like 192.0.2.1") from None
    return name


def read_rule(entry: str) -> HostRule:
    """An entry of `tools.bash.network`.

    Raises:
        ValueError: it is not one; the message says what is expected.
    """
    text = entry.strip()
    if text in ("*", "*.*"):
        raise ValueError(f"{entry!r} would be every host; to allow the whole network, set it to true")
    if "/" in text or "@" in text:
        raise ValueError(f"{entry!r}: name a host or host:port, without scheme, user or path")
    host, port = _parted(text)
    if port is not None and (not _PORT.fullmatch(port) or int(port) > 65_535):
        raise ValueError(f"{entry!r}: a port is a number from 1 to 65535")
    subdomains = host.startswith("*.")
    try:
        read = read_host(_ascii(host.removeprefix("*.")))
    except ValueError as error:
        raise ValueError(
            f"{entry!r}: {error}; expected are names (`example.org`), subdomains (`*.example.org`) or addresses,"
            " with a port or without"
        ) from None
    if subdomains and not isinstance(read, str):
        raise ValueError(f"{entry!r}: an address has no subdomains")
    if is_this_machine(read) and (port is None or subdomains):
        raise ValueError(f"{entry!r} is this machine itself: name the port too, like {host.removeprefix('*.')}:8080")
    return HostRule(read, WEB_PORTS if port is None else (int(port),), subdomains)


def read_rules(entries: Iterable[str]) -> tuple[HostRule, ...]:
    """The rules of entries that `read_rule` takes, each once.

    Raises:
        ValueError: one is not an entry.
    """
    return tuple(dict.fromkeys(read_rule(entry) for entry in entries))


def reach(network: Network) -> str:
    """What commands reach, as a part of a sentence."""
    if isinstance(network, bool):
        return "the network" if network else "no network"
    more = len(network) - _MOST_SHOWN
    return f"of the network only {', '.join(network[:_MOST_SHOWN])}" + (f" and {more} more" if more > 0 else "")


def is_this_machine(host: str | Address) -> bool:
    """Whether a host is this machine by its very name."""
    if isinstance(host, str):
        return host == "localhost" or host.endswith(".localhost")
    mapped = host.ipv4_mapped if isinstance(host, ipaddress.IPv6Address) else None
    return (mapped or host).is_loopback or (mapped or host).is_unspecified


def _parted(text: str) -> tuple[str, str | None]:
    """Host and port; an IPv6 address without brackets has no port."""
    if text.startswith("["):
        host, found, rest = text.partition("]")
        if rest.startswith(":"):
            return host + found, rest[1:]
        return text, None
    if text.count(":") == 1:
        host, _, port = text.partition(":")
        return host, port
    return text, None


def _ascii(host: str) -> str:
    """A name in the letters that the name service knows."""
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        raise ValueError("that is not the name of a host") from None
