"""Why an endpoint cannot be reached, in words that name it (P-1)."""

from __future__ import annotations

import base64
import errno
import socket
import ssl
from urllib.parse import unquote, urlsplit

SHORTEST_PASSWORD = 4
"""Characters of one that is looked for in messages."""
SHORTEST_VALUE = 8
"""Characters of a query's value that is looked for."""
_ERRORS = {
    errno.ECONNREFUSED: "nothing listens there; is the server running?",
    errno.EHOSTUNREACH: "there is no way to it; is the network up?",
    errno.ENETUNREACH: "there is no way to it; is the network up?",
    errno.ECONNRESET: "it closed the connection",
    errno.EPIPE: "it closed the connection",
}


def place_of(url: str) -> str:
    """Host and port of a URL, without what may be secret in it (S-5)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        return "an address that cannot be read"
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"


def secrets_of(url: str) -> tuple[str, ...]:
    """What a URL holds of secrets: the values of its query, and its password.

    Each as it is written and as it is meant; the password also as a request carries it.
    """
    try:
        parts = urlsplit(url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        written = [pair.partition("=")[2] for pair in parts.query.split("&")]
    except ValueError:
        return ()
    found = [one for value in written if len(value) >= SHORTEST_VALUE for one in (value, unquote(value))]
    if password:
        found.append(base64.b64encode(f"{user}:{password}".encode()).decode())
    # A very short one stands in many words.
    if len(password) >= SHORTEST_PASSWORD:
        found += [password, parts.password or ""]
    return tuple(dict.fromkeys(found))


def cause_of(error: BaseException) -> str:
    """The first known cause in a chain of errors; else the words of the last error that has any."""
    words = type(error).__name__
    at: BaseException | None = error
    seen: list[BaseException] = []
    while at is not None and at not in seen:
        seen.append(at)
        known = _known(at)
        if known is not None:
            return known
        words = f"{type(at).__name__}: {at}"[:300] if str(at) else words
        at = at.__cause__ or at.__context__
    return words


def _known(error: BaseException) -> str | None:
    match error:
        case socket.gaierror():
            return "the name is not known here; is it spelt right, and is the network up?"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted here ({error.verify_message}); a proxy may need SSL_CERT_FILE"
        case ssl.SSLError():
            return f"it does not speak TLS ({error.reason or error}); is it http instead of https?"
        case TimeoutError():
            return "it did not answer in time; is there a proxy or a firewall?"
        case OSError() if error.errno in _ERRORS:
            return _ERRORS[error.errno]
        case _:
            return None
