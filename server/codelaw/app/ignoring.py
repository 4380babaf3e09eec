"""Ignore files that do not count as a whole: said once in a session, as what they hide is shown (S-6)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from codelaw.adapters.workspace.ignore import oversized
from codelaw.domain.chats import Notice
from codelaw.domain.files import Folder


class IgnoreNotices:
    """What was said already in a session."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    async def new(self, folders: Sequence[Folder]) -> list[Notice]:
        """Notices about the ignore files at the top of the folders that were not given yet."""
        found = [await asyncio.to_thread(oversized, folder.root) for folder in folders]
        fresh = [text for text in dict.fromkeys(found) if text is not None and text not in self._said]
        self._said.update(fresh)
        return [Notice("warning", "ignore_file_too_large", text) for text in fresh]
