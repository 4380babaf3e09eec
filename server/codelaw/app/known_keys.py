"""The keys that codelaw knows: those of the settings, and those that the environment names as such (S-5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from codelaw.domain.chats import Notice
from codelaw.domain.presets import PRESETS
from codelaw.domain.safety.redaction import said, secret_in, shape_of, tells_a_secret

if TYPE_CHECKING:
    from codelaw.settings.model import Settings

_OURS = re.compile(
    r"CODELAW_\w+|(?:CLAUDE|COHERE)_(?:API_KEY|AUTH_TOKEN)|"
    + "|".join(variable for preset in PRESETS.values() for variable in preset.keys)
)
"""Variables in which models' keys stand, and codelaw's own settings."""

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
        if shape_of(value) is not None or (tells_a_secret(name) and not said(value)):
            found[value] = name
        if (password := _password(value)) is not None and not said(password):
            found[password] = f"password in {name}"
    return found | _configured(settings)


def withheld_variables(settings: Settings, environment: Mapping[str, str]) -> frozenset[str]:
    """The variables with keys that codelaw itself uses: no server that a workspace names is given one (X-3)."""
    ours = _configured(settings)
    return frozenset(name for name, value in environment.items() if _OURS.fullmatch(name) or value in ours)


def _configured(settings: Settings) -> dict[str, str]:
    """The keys that stand in settings."""
    configured = {
        "model key": settings.model.api_key,
        "model token": settings.model.auth_token,
        "embedding key": settings.embedding.api_key,
        "store password": _password(settings.store.url or ""),
        "model password": _password(settings.model.base_url or ""),
        "embedding password": _password(settings.embedding.base_url or ""),
    }
    for name, access in settings.model.providers.items():
        configured[f"key of {name}"] = access.api_key
        configured[f"password of {name}"] = _password(access.base_url or "")
    return _of_servers(settings.mcp.servers) | {value: label for label, value in configured.items() if value}


def _of_servers(servers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The keys that stand in what servers are started with or asked by (X-3)."""
    found: dict[str, str] = {}
    for name, server in servers.items():
        for key in ("env", "headers"):
            table: Any = server.get(key)
            for variable, value in cast("Mapping[str, Any]", table).items() if isinstance(table, Mapping) else ():
                if isinstance(value, str) and (word := secret_in(variable, value)):
                    found[word] = f"{variable} of the server {name}"
    return found


def _password(address: str) -> str | None:
    """The password of an address."""
    if "://" not in address or "@" not in address:
        return None
    try:
        password = urlsplit(address).password
    except ValueError:
        return None
    return unquote(password) if password else None
