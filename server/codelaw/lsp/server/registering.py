"""What the client is told that we can do, and asked for once it is there: to watch files, hover, completion (V-4, E-5).

The files are the law, the workspace's settings and its servers. Hover and completion are asked for the law and chat
files alone, where a client can be told so: else every document of every language would be asked about here as well,
to be answered with nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from codelaw.context.system.law import NAME
from codelaw.lsp.client import TRIGGERS, Client
from codelaw.lsp.transport.errors import ClientError
from codelaw.lsp.transport.rpc import Rpc
from codelaw.settings.places import WORKSPACE_FILE
from codelaw.settings.servers.written import FILES

log = logging.getLogger(__name__)

CHAT_FILES = "*.chat.md"
SERVER_FILES = tuple(name for name, _ in FILES)


class Registrations:
    """What one client was asked for, by method. What it cannot do it is not asked for."""

    def __init__(self, rpc: Rpc, client: Client) -> None:
        self._rpc = rpc
        self._client = client
        self._made: set[str] = set()
        self._turn = asyncio.Lock()
        """One change at a time: what is registered is known only when the client has answered."""

    async def offer(self, files: Sequence[str]) -> None:
        """Hover and completion, for the law, `files` and chat files."""
        if self._client.selective:
            laws = [{"pattern": f"**/{pattern}"} for pattern in law_patterns(files)]
            every = [*laws, {"pattern": f"**/{CHAT_FILES}"}]
            completion = {"documentSelector": every, "triggerCharacters": list(TRIGGERS)}
            await self._register(
                {types.TEXT_DOCUMENT_HOVER: {"documentSelector": laws}, types.TEXT_DOCUMENT_COMPLETION: completion}
            )

    async def watch(self, folders: list[str], files: Sequence[str]) -> None:
        """Watchers for the law, `files` and the settings in these folders, given by uri."""
        if self._client.watching:
            patterns = [*law_patterns(files), WORKSPACE_FILE, *SERVER_FILES]
            watchers: list[dict[str, Any]] = [{"globPattern": f"**/{pattern}"} for pattern in patterns]
            if self._client.relative_patterns:
                globs = [{"baseUri": folder, "pattern": pattern} for folder in folders for pattern in patterns]
                watchers = [{"globPattern": glob} for glob in globs]
            options = {"watchers": watchers} if watchers else None
            await self._register({types.WORKSPACE_DID_CHANGE_WATCHED_FILES: options})

    async def _register(self, wanted: dict[str, dict[str, Any] | None]) -> None:
        """Ask for these methods with their options, instead of what was asked for before."""
        registrations = [
            {"id": f"codelaw {method}", "method": method, "registerOptions": options}
            for method, options in wanted.items()
            if options is not None
        ]
        async with self._turn:
            gone = [{"id": f"codelaw {method}", "method": method} for method in wanted if method in self._made]
            self._made -= wanted.keys()
            try:
                if gone:
                    # The misspelt member is LSP's own.
                    await self._rpc.request(types.CLIENT_UNREGISTER_CAPABILITY, {"unregisterations": gone})
                if registrations:
                    await self._rpc.request(types.CLIENT_REGISTER_CAPABILITY, {"registrations": registrations})
                    self._made |= wanted.keys()
            except ClientError as error:
                log.warning("The client takes no %s from us: %s", ", ".join(wanted), error)


def law_patterns(files: Sequence[str]) -> list[str]:
    """Globs for the law and the names beside it, however they are spelt."""
    return [
        "".join(f"[{one.lower()}{one.upper()}]" if one.isascii() and one.isalpha() else _plain(one) for one in name)
        for name in dict.fromkeys((NAME, *files))
    ]


def _plain(character: str) -> str:
    """What means something in a glob, or has another case, stands for any character."""
    return character if character.isascii() and character not in "*?[]{}!," else "?"


def is_servers_file(uri: str) -> bool:
    """Whether a uri names a file of a workspace's servers."""
    return uri.endswith(tuple("/" + name for name in SERVER_FILES))


def is_settings_file(uri: str) -> bool:
    """Whether a uri names a workspace's settings file."""
    return uri.endswith("/" + WORKSPACE_FILE)
