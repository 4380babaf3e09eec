"""What the client is asked for once it is there: to watch files, and for hover and completion (V-4, E-5).

The files are the law, the workspace's settings and its servers. Hover and completion are asked for the law and chat
files alone, where a client can be told so: else every document of every language would be asked about here as well,
to be answered with nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from codelaw.context.system.law import NAME
from codelaw.lsp.client import Client
from codelaw.lsp.server.abilities import TRIGGERS
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc
from codelaw.settings.places import WORKSPACE_FILE
from codelaw.settings.servers.written import FILES

CHAT_FILES = "*.chat.md"


async def offer(rpc: Rpc, client: Client, files: Sequence[str], *, again: bool = False) -> None:
    """Register both with the client, `again` where the names beside the law are others.

    Does nothing where `initialize` has declared them for all documents.
    """
    if not client.selective:
        return
    laws = [{"pattern": f"**/{pattern}"} for pattern in law_patterns(files)]
    chats = {"pattern": f"**/{CHAT_FILES}"}
    registrations: list[dict[str, Any]] = [
        {"id": "codelaw-hover", "method": types.TEXT_DOCUMENT_HOVER, "registerOptions": {"documentSelector": laws}},
        {
            "id": "codelaw-completion",
            "method": types.TEXT_DOCUMENT_COMPLETION,
            "registerOptions": {"documentSelector": [*laws, chats], "triggerCharacters": list(TRIGGERS)},
        },
    ]
    try:
        if again:
            gone = [{"id": one["id"], "method": one["method"]} for one in registrations]
            # The misspelt member is LSP's own.
            await rpc.request(types.CLIENT_UNREGISTER_CAPABILITY, {"unregisterations": gone})
        await rpc.request(types.CLIENT_REGISTER_CAPABILITY, {"registrations": registrations})
    except (ClientError, Disconnected) as error:
        log.warning("The client takes no hover and completion from us: %s", error)


log = logging.getLogger(__name__)

REGISTRATION = "codelaw-files"
SERVER_FILES = tuple(name for name, _ in FILES)


def law_patterns(files: Sequence[str]) -> list[str]:
    """Globs for the law and the names beside it, however they are spelt."""
    return [
        "".join(f"[{one.lower()}{one.upper()}]" if one.isascii() and one.isalpha() else _plain(one) for one in name)
        for name in dict.fromkeys((NAME, *files))
    ]


def _plain(character: str) -> str:
    """What means something in a glob, or has another case, stands for any character."""
    return character if character.isascii() and character not in "*?[]{}!," else "?"


class Watching:
    """The registration of watchers with the client."""

    def __init__(self, rpc: Rpc, client: Client) -> None:
        self._rpc = rpc
        self._client = client
        self._registered = False

    async def watch(self, folders: list[str], files: Sequence[str]) -> None:
        """Watch for the law, `files` and the settings in these folders, given by uri, instead of those before.

        Does nothing where the client cannot.
        """
        if not self._client.watching:
            return
        try:
            if self._registered:
                self._registered = False
                await self._rpc.request(
                    types.CLIENT_UNREGISTER_CAPABILITY,
                    # The misspelt member is LSP's own.
                    {"unregisterations": [{"id": REGISTRATION, "method": types.WORKSPACE_DID_CHANGE_WATCHED_FILES}]},
                )
            watchers = self._watchers(folders, files)
            if not watchers:
                return
            registration = {
                "id": REGISTRATION,
                "method": types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                "registerOptions": {"watchers": watchers},
            }
            await self._rpc.request(types.CLIENT_REGISTER_CAPABILITY, {"registrations": [registration]})
            self._registered = True
        except (ClientError, Disconnected) as error:
            log.warning("The client watches no files for us: %s", error)

    def _watchers(self, folders: list[str], files: Sequence[str]) -> list[dict[str, Any]]:
        patterns = [*law_patterns(files), WORKSPACE_FILE, *SERVER_FILES]
        if not self._client.relative_patterns:
            return [{"globPattern": f"**/{pattern}"} for pattern in patterns]
        return [{"globPattern": {"baseUri": folder, "pattern": pattern}} for folder in folders for pattern in patterns]


def is_servers_file(uri: str) -> bool:
    """Whether a uri names a file of a workspace's servers."""
    return uri.endswith(tuple("/" + name for name in SERVER_FILES))


def is_settings_file(uri: str) -> bool:
    """Whether a uri names a workspace's settings file."""
    return uri.endswith("/" + WORKSPACE_FILE)
