"""What git tells of a workspace's past: the messages of the last commits, and the files that each changed (X-5).

Read in the background when somebody searches, as the project asks git anything (`adapters/repository`). Without git, in
a folder that is not trusted, or where git is slow, there is no past, and a search goes on without it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence

from codelaw.adapters.repository import Repository
from codelaw.adapters.stores.readers import log_unheard
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Folder
from codelaw.ranking.code.frame import Frame
from codelaw.ranking.code.hints import CommitHistory, recorded

_log = logging.getLogger(__name__)

COMMITS = 2_000
"""Of each folder, at most."""
AGAIN = 30.0
"""Seconds after which a search looks whether there is a new commit."""
PATIENCE = 1.0
"""Seconds that a search waits for the first look."""

_Log = Sequence[tuple[str, Sequence[str]]]


class Commits:
    """The commits of the folders that were looked at last."""

    def __init__(self, environment: Mapping[str, str] | None) -> None:
        """`environment` is git's; without one it is never run."""
        self._environment = environment
        self.trusted = True
        """Git is not run in folders that nobody trusts (S-7)."""
        self._heads: dict[str, tuple[str, _Log]] = {}
        """The last commit by folder, and the log up to it, with paths as shown."""
        self._folders: tuple[Folder, ...] = ()
        self._looking: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self._made: tuple[object, object, CommitHistory] | None = None
        """A history, and what it was made of."""

    @property
    def count(self) -> int:
        return sum(len(log) for _, log in self._heads.values())

    def look(self, folders: Sequence[Folder]) -> None:
        """Begin to look for new commits, unless that was done a moment ago."""
        if tuple(folders) != self._folders:
            self._folders, self._not_before = tuple(folders), 0.0
        busy = self._looking is not None and not self._looking.done()
        if self._environment is None or not self.trusted or busy or time.monotonic() < self._not_before:
            return
        self._not_before = time.monotonic() + AGAIN
        self._looking = asyncio.create_task(self._look(self._folders, self._environment))
        self._looking.add_done_callback(log_unheard)

    async def ready(self) -> None:
        """Wait for the first look, for a while."""
        if not self._heads and self._looking is not None:
            await asyncio.wait({self._looking}, timeout=PATIENCE)

    def history(self, frame: Frame) -> CommitHistory | None:
        """What the commits say of the frame's files; None where there are none. May take half a second at first."""
        heads = self._heads
        if not heads or not self.trusted:
            return None
        if self._made is None or self._made[0] is not heads or self._made[1] is not frame.whole:
            changes = (commit for _, log in heads.values() for commit in log)
            self._made = heads, frame.whole, recorded(changes, frozenset(frame.whole.paths))
        return self._made[2]

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self, folders: Sequence[Folder], environment: Mapping[str, str]) -> None:
        roots = [folder.root for folder in folders]
        heads: dict[str, tuple[str, _Log]] = {}
        for folder in folders:
            repository = Repository(folder.root, roots, environment)
            key = str(folder.root)
            try:
                head = await repository.head() if await repository.open() else ""
                known = self._heads.get(key)
                if known is not None and known[0] == head:
                    heads[key] = known
                elif head:
                    above = f"{folder.name}/" if len(folders) > 1 else ""
                    log = await repository.logged(head, COMMITS)
                    heads[key] = head, [(message, [above + path for path in paths]) for message, paths in log]
            except ToolFailure as failure:
                _log.info("no history of %s: %s", folder.name, failure.message)
        if heads != self._heads:
            self._heads = heads
