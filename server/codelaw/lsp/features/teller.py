"""One turn told in one chat file, while a person may be typing in it (E-3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from codelaw.lsp.features.rewriting import rewrite
from codelaw.lsp.features.texts import normal
from codelaw.lsp.transport.errors import Disconnected
from codelaw.transcript.chat_file.chat_file import ChatFile, parse
from codelaw.transcript.chat_file.rendering import status, told
from codelaw.transcript.chat_file.syncing import Telling, Weave, Woven, adopted, begun, landed, restored, weave
from codelaw.transcript.chat_file.timeline import Story

if TYPE_CHECKING:
    from codelaw.domain.events import ChatEvent
    from codelaw.lsp.server.connection import Connection

log = logging.getLogger(__name__)

FIRST_SECONDS = 0.3
"""Between two edits at the beginning of a turn."""
MOST_SECONDS = 2.0
GAP_SECONDS = 0.1
"""After a command was answered: Emacs 28 overlooks a request that reaches it in one piece with an answer."""
GROWTH = 1.05
"""From edit to edit, so that a long turn does not fill the undo stack."""
STREAM_TRIES = 6
"""Refused edits in a row, after which the rest waits for the end of the turn."""
LAST_TRIES = 12
"""Refused edits in a row, after which the answer is shown elsewhere."""
REFUSED_SECONDS = 0.25


class Teller:
    """Writes what happens in a turn into its chat file. `run` ends when all of it stands there, or cannot."""

    def __init__(self, connection: Connection, uri: str, chat_id: str, story: Story, *, asked: str | None) -> None:
        """`asked` is the question that was just sent from the file; without one its block may be there or not."""
        self.uri = uri
        self.chat_id = chat_id
        self.story = story
        self.told = False
        """Everything stands in the file."""
        self.on_end: Callable[[], None] = lambda: None
        self._connection = connection
        self._asked = asked or ""
        self._begins = asked is not None
        self._adopts = asked is None
        self._woven = Woven()
        self._news = asyncio.Event()
        self._ended = asyncio.Event()
        self._refused = 0
        self._news.set()
        if story.result is not None:
            self._ended.set()

    @property
    def running(self) -> bool:
        """Whether the turn has not ended."""
        return self.story.result is None

    def take(self, event: ChatEvent) -> None:
        """Something happened in the turn."""
        if self.story.take(event):
            self._news.set()
            if self.story.result is not None:
                self._ended.set()
                self.on_end()

    def reopened(self) -> None:
        """The document is there again, perhaps with an older text."""
        self._adopts, self._refused = True, 0
        self._news.set()

    async def run(self) -> bool:
        """Tell the turn to its end; False when the file does not take it."""
        pause = FIRST_SECONDS
        if self._begins:
            await asyncio.sleep(GAP_SECONDS)
        try:
            while not self.told:
                await self._news.wait()
                self._news.clear()
                if self._connection.documents.get(self.uri) is None:
                    continue  # closed: what is missing is put in when it is opened again
                if self._refused >= STREAM_TRIES and self.running:
                    continue
                if await self._put():
                    self._refused = 0
                elif self._connection.documents.get(self.uri) is not None:
                    self._refused += 1
                    if self._refused >= LAST_TRIES:
                        return False
                    self._news.set()
                    await asyncio.sleep(min(MOST_SECONDS, REFUSED_SECONDS * 2**self._refused))
                    continue
                await self._pause(pause)
                pause = min(MOST_SECONDS, pause * GROWTH)
        except Disconnected:
            log.debug("The client is gone; %s is told when its chat file is opened again", self.story.turn_id)
        return True

    async def _pause(self, seconds: float) -> None:
        """Gather what comes next; the end of the turn is told at once."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()

    async def _put(self) -> bool:
        """Bring the file up to date by one edit; True when that is not needed, or was done."""
        buffer = self._connection.documents.get(self.uri)
        if buffer is None:
            return False
        file = parse(normal(buffer.text))
        telling = Telling(self.story.turn_id, told(self.story), self.running, status(self.story))
        change = self._change(file, telling)
        if change is not None and change.splices:
            woven = change.woven
            if not await rewrite(self._connection, buffer, change.splices, lambda text: landed(text, telling, woven)):
                return False
        if change is not None:
            self._woven, self._begins, self._adopts = change.woven, False, False
        self.told = not telling.running
        return True

    def _change(self, file: ChatFile, telling: Telling) -> Weave | None:
        """The next change; None while the person has the block deleted."""
        there = file.block(telling.turn_id) is not None
        if self._begins and not there:
            return begun(file, self.chat_id, telling, self._asked)
        if self._begins or self._adopts or self._refused:
            # It may have been made after all, or by an earlier server.
            found = adopted(file, telling)
            if self._begins or self._adopts or (found.shown and not found.settled):
                self._woven = found
        change = weave(file, telling, self._woven)
        if change is None and (self._adopts or not telling.running):
            return restored(file, telling)
        return change
