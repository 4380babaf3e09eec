"""The keys that codelaw knows: those of the settings, and those that the environment names as such (S-5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from codelaw.domain.chats import Notice
from codelaw.domain.safety.redaction import shape_of

if TYPE_CHECKING:
    from codelaw.settings.model import Settings

_SECRET = re.compile(
    r"API_?KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE_KEY|_KEY$|^KEY$|COOKIE|^PGPASS", re.IGNORECASE
)
_ABOUT = re.compile(
    r"_(?:FILE|PATH|DIR|ID|URL|URI|HOST|PORT|NAME|TYPE|USER|SOCK|TTL|LIMIT|COUNT|SIZE|EXPIR\w*|HELPER|SCOPES?)$",
    re.IGNORECASE,
)
"""Variables that say something about a secret, and hold none."""
_SENTENCE = re.compile(r"[A-Za-z]+(?:[-_. /]+[A-Za-z]+)*")
"""Words and numbers that anybody may have in mind."""

HELD_BACK = Notice(
    "warning",
    "key_redacted",
    "Your message held a key that codelaw knows. It was taken out: the model and the stored chat have a mark instead.",
)
"""What the user is told."""


def known_keys(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """The keys, each with the label that its mark has."""
    found: dict[str, str] = {}
    for name, value in environment.items():
        if shape_of(value) is not None or (_SECRET.search(name) and not _ABOUT.search(name) and not _said(value)):
            found[value] = name
        if (password := _password(value)) is not None and not _said(password):
            found[password] = f"password in {name}"
    configured = {
        "model key": settings.model.api_key,
        "model token": settings.model.auth_token,
        "embedding key": settings.embedding.api_key,
        "store password": _password(settings.store.url or ""),
        "model password": _password(settings.model.base_url or ""),
        "embedding password": _password(settings.embedding.base_url or ""),
    }
    found |= _of_servers(settings.mcp.servers)
    return found | {value: label for label, value in configured.items() if value}


def _of_servers(servers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The keys that stand in what servers are started with or asked by (X-3)."""
    found: dict[str, str] = {}
    for name, server in servers.items():
        for key in ("env", "headers"):
            table: Any = server.get(key)
            for variable, value in cast("Mapping[str, Any]", table).items() if isinstance(table, Mapping) else ():
                secret = _SECRET.search(variable.replace("-", "_")) or variable.casefold() == "authorization"
                # What stands behind a scheme such as Bearer is the key.
                word = value.rpartition(" ")[2] if isinstance(value, str) else ""
                if secret and word and not _ABOUT.search(variable) and not _said(word) and "${" not in word:
                    found[word] = f"{variable} of the server {name}"
    return found


def _said(value: str) -> bool:
    return _SENTENCE.fullmatch(value) is not None


def _password(address: str) -> str | None:
    """The password of an address."""
    if "://" not in address or "@" not in address:
        return None
    try:
        password = urlsplit(address).password
    except ValueError:
        return None
    return unquote(password) if password else None
