"""The client's part of the settings, and reading all of them again when something changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from lsprotocol import types

from codelaw.domain.files import Folder
from codelaw.lsp.client import Client
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc
from codelaw.settings import (
    WORKSPACE_FILE,
    EffectiveSettings,
    home,
    load_settings,
    process_environment,
    trusted_folders,
    user_file,
)

log = logging.getLogger(__name__)

SECTION = "codelaw"
MAX_DEPTH = 8


class Configuration:
    """Where a connection's settings come from."""

    def __init__(self, rpc: Rpc, client: Client, options: Mapping[str, Any], overrides: Mapping[str, Any]) -> None:
        self._rpc = rpc
        self._client = client
        self._options = options
        self._overrides = overrides
        self._pulled: Mapping[str, Any] = {}

    async def pull(self) -> None:
        """Ask the client for its section; what it does not answer stays as it was."""
        if not self._client.configuration:
            return
        try:
            answer = await self._rpc.request(types.WORKSPACE_CONFIGURATION, {"items": [{"section": SECTION}]})
        except (ClientError, Disconnected) as error:
            log.warning("The client's configuration could not be read: %s", error)
            return
        values = cast("list[Any]", answer) if isinstance(answer, list) else []
        section = values[0] if values else None
        self._pulled = cast("Mapping[str, Any]", section) if isinstance(section, dict) else {}

    def pushed(self, settings: Any) -> None:
        """What `workspace/didChangeConfiguration` carried, for clients that are not asked."""
        if self._client.configuration or not isinstance(settings, dict):
            return
        section = cast("dict[str, Any]", settings).get(SECTION)
        if isinstance(section, dict):
            self._pulled = cast("Mapping[str, Any]", section)

    async def load(self, folders: Sequence[Folder], *, trusted: bool = True) -> EffectiveSettings:
        """Read every layer; of a folder that the editor does not trust, only what it denies (S-7)."""
        environ = process_environment()
        client = _over(self._options, self._pulled)

        def read() -> EffectiveSettings:
            known = trusted_folders(home(environ))
            return load_settings(
                environ=environ,
                user_file=user_file(environ),
                workspace_files=[folder.root / WORKSPACE_FILE for folder in folders],
                trusted={folder / WORKSPACE_FILE: digest for folder, digest in known.items()},
                client=client,
                cli=self._overrides,
                restricted=not trusted,
            )

        return await asyncio.to_thread(read)


def _over(below: Mapping[str, Any], above: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Nested values of `above` laid over `below`; null does not cover."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and depth < MAX_DEPTH:
            merged[key] = _over(cast("dict[str, Any]", old), cast("dict[str, Any]", value), depth + 1)
        elif value is not None:
            merged[key] = value
    return merged
