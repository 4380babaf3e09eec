"""The certificates that our HTTP clients trust, read once: they are most of what making a client costs."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def trusted() -> ssl.SSLContext:
    """Those of this machine, or of SSL_CERT_FILE or SSL_CERT_DIR; reads the disk.

    Raises:
        OSError: they cannot be read; the next call tries again.
    """
    from httpx2 import create_ssl_context  # noqa: PLC0415 - a tenth of a second, which clients load when they are needed

    return create_ssl_context()
