"""The client's part of the settings, and reading all of them again when something changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lsprotocol import types

from codelaw.domain.files import Folder
from codelaw.lsp.client import Client
from codelaw.lsp.folders import Folders
from codelaw.lsp.transport.errors import ClientError
from codelaw.lsp.transport.rpc import Rpc
from codelaw.settings.effective import EffectiveSettings, load_settings
from codelaw.settings.places import WORKSPACE_FILE, home, process_environment, user_file
from codelaw.settings.trust import FILE as TRUSTED
from codelaw.settings.trust import trusted_folders

log = logging.getLogger(__name__)

SECTION = "codelaw"
MAX_DEPTH = 8
PULL_SECONDS = 3.0
"""How long the first settings wait for the client's; later ones are laid over when they come."""
Stamp = tuple[int, ...] | int | None


class Configuration:
    """Where a connection's settings come from, and what they are now."""

    effective: EffectiveSettings
    """As they were read last; there when `open` has ended."""
    on_change: Callable[[EffectiveSettings], Awaitable[None]]
    """Puts in force what was read again; it gets the settings before."""

    def __init__(self, rpc: Rpc, client: Client, folders: Folders, options: Any) -> None:
        self._rpc = rpc
        self._client = client
        self._folders = folders
        self._options = _given(options)
        self.trusted = client.trusted
        """The editor trusts the folder (S-7)."""
        self._pulled: Any = {}
        self._files: Sequence[Path] = ()
        self._stamps: list[Stamp] = []
        self._reloading = asyncio.Lock()

    @property
    def law_files(self) -> Sequence[str]:
        """The names that count beside CODE_LAW.md (X-10)."""
        return self.effective.value.law.files

    async def open(self) -> tuple[Sequence[Folder], asyncio.Future[None] | None]:
        """Read the settings for the first time, and the folders; the client's part that is late is given as well."""
        pull = asyncio.ensure_future(self.pull())
        done, _ = await asyncio.wait([pull], timeout=PULL_SECONDS)
        folders = await self.resolve()
        self.effective = await self._load(folders, None)
        return folders, None if done else pull

    async def resolve(self) -> Sequence[Folder]:
        """The workspace folders, when no reload is under way."""
        async with self._reloading:
            return await asyncio.to_thread(self._folders.resolve)

    async def reload(self, *, pull: bool = False) -> None:
        """Read the settings again and put them in force."""
        if pull:
            await self.pull()  # which may take for ever
        async with self._reloading:
            folders, before = await asyncio.to_thread(self._folders.resolve), self.effective
            self.effective = await self._load(folders, before)
            await self.on_change(before)

    async def look_again(self) -> None:
        """Read the settings again where a file of them has changed: not every client watches them."""
        async with self._reloading:
            pass  # what the client has said of them before is put in force first
        if await asyncio.to_thread(_stamps, self._files) != self._stamps:
            await self.reload()

    async def pull(self) -> None:
        """Ask the client for its section; what it does not answer stays as it was."""
        if not self._client.configuration:
            return
        try:
            answer = await self._rpc.request(types.WORKSPACE_CONFIGURATION, {"items": [{"section": SECTION}]})
        except ClientError as error:
            log.warning("The client's configuration could not be read: %s", error)
            return
        self._pulled = _given(cast("list[Any]", answer)[0] if isinstance(answer, list) and answer else answer)

    def pushed(self, settings: Any) -> None:
        """What `workspace/didChangeConfiguration` carried, for clients that are not asked."""
        if self._client.configuration or not isinstance(settings, dict):
            return
        section = cast("dict[str, Any]", settings).get(SECTION)
        if section is not None:
            self._pulled = _given(section)

    async def _load(self, folders: Sequence[Folder], before: EffectiveSettings | None) -> EffectiveSettings:
        """Read every layer; of a folder that the editor does not trust, only what it denies (S-7).

        A source that has a fault now counts as it did when it was last read here (S-1).
        """
        environ = process_environment()
        odd = next((one for one in (self._options, self._pulled) if not isinstance(one, Mapping)), None)
        client = _over(self._options, self._pulled) if odd is None else odd
        self._files = [
            user_file(environ),
            home(environ) / TRUSTED,
            *(folder.root / WORKSPACE_FILE for folder in folders),
        ]

        def read() -> EffectiveSettings:
            self._stamps = _stamps(self._files)
            known = trusted_folders(home(environ))
            return load_settings(
                environ=environ,
                user_file=user_file(environ),
                workspace_files=[folder.root / WORKSPACE_FILE for folder in folders],
                trusted={folder / WORKSPACE_FILE: digest for folder, digest in known.items()},
                client=client,
                restricted=not self.trusted,
                before=before,
                ignoring=self._client.ignores_settings,
            )

        return await asyncio.to_thread(read)


def _stamps(files: Sequence[Path]) -> list[Stamp]:
    """What tells that none of them has changed; None for one that is not there. Touches the disk."""
    found: list[Stamp] = []
    for file in files:
        try:
            facts = file.stat()
        except OSError as error:
            found.append(error.errno)
        else:
            found.append((facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino, facts.st_mode))
    return found


def _given(settings: Any) -> Any:
    """What the client sent; nothing, and the empty table of Lua, are no settings."""
    return {} if settings is None or settings == [] else settings


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
