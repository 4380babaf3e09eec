"""One turn written into one chat file as it goes on (E-3)."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from codelaw.domain.edits import DocumentEdit, Splice
from codelaw.domain.errors import ToolFailure
from codelaw.lsp.documents.positions import line_starts
from codelaw.transcript.chat_file.chat_file import normal, parse
from codelaw.transcript.chat_file.patches import TurnText, opened, updated
from codelaw.transcript.chat_file.story import Story, block_body, status

if TYPE_CHECKING:
    from codelaw.domain.events import ChatEvent
    from codelaw.domain.files import Buffer
    from codelaw.lsp.context import Context

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
QUIET_SECONDS = 0.4
"""A client that pins no version is written to when nobody has typed for so long."""


class StreamWriter:
    """Writes a turn into its chat file. Where somebody types into its block, the rest comes when the turn has ended."""

    def __init__(self, context: Context, uri: str, chat_id: str, story: Story, *, asked: str | None) -> None:
        """`asked` is the question that was just sent from the file; without one its block may be there or not."""
        self.uri = uri
        self.chat_id = chat_id
        self.story = story
        self.whole = False
        """Everything stands in the file."""
        self.on_end: Callable[[], None] = lambda: None
        self._documents = context.documents
        self._editor = context.editor
        self._asked = asked
        self._written: TurnText | None = None
        self._refused = 0
        self._news = asyncio.Event()
        self._ended = asyncio.Event()
        self._news.set()
        if not self.running:
            self._ended.set()

    @property
    def running(self) -> bool:
        """Whether the turn has not ended."""
        return self.story.result is None

    def take(self, event: ChatEvent) -> None:
        """Something happened in the turn."""
        if self.story.take(event):
            self._news.set()
            if not self.running:
                self._ended.set()
                self.on_end()

    def reopened(self) -> None:
        """The document is there again, perhaps with an older text."""
        self._written, self._refused = None, 0
        self._news.set()

    async def run(self) -> bool:
        """Write until all of the turn stands there; False when the file does not take it."""
        pause = FIRST_SECONDS
        if self._asked is not None:
            await asyncio.sleep(GAP_SECONDS)
        while not self.whole:
            await self._news.wait()
            self._news.clear()
            buffer = self._documents.get(self.uri)
            if buffer is None or (self.running and self._refused >= STREAM_TRIES):
                continue  # what is missing is put in when it is opened again, or when the turn has ended
            if await self._put(buffer):
                self._refused = 0
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._ended.wait()
                pause = min(MOST_SECONDS, pause * GROWTH)
            elif self._documents.get(self.uri) is not None:
                self._written = None  # it may have been made after all
                self._refused += 1
                if self._refused >= LAST_TRIES:
                    return False
                self._news.set()
                await asyncio.sleep(min(MOST_SECONDS, REFUSED_SECONDS * 2**self._refused))
        return True

    async def _put(self, buffer: Buffer) -> bool:
        """Bring the file up to date by one edit; True when that was done, or need not be."""
        file = parse(normal(buffer.text))
        turn = TurnText(self.story.turn_id, block_body(self.story), self.running, status(self.story))
        if self._asked is not None and file.block(turn.turn_id) is None:
            splices = opened(file, self.chat_id, turn, self._asked)
        else:
            splices = updated(file, turn, self._written)
        if splices is None:
            return True
        if splices:
            if not self._editor.edits and not await self._quiet(buffer):
                return False
            try:
                await self._editor.apply(document_edit(buffer, splices))
            except ToolFailure as failure:
                log.info("A chat file was not changed: %s", failure.message)
                return False
        self._asked, self._written, self.whole = None, turn, not turn.running
        return True

    async def _quiet(self, buffer: Buffer) -> bool:
        """Whether nobody types for a moment."""
        with self._documents.following(buffer.uri) as follow, suppress(TimeoutError):
            async with asyncio.timeout(QUIET_SECONDS):
                await follow.more()
                return False
        return True


def document_edit(buffer: Buffer, splices: Sequence[Splice]) -> DocumentEdit:
    """Changes of the buffer's normal text as an edit of the document, whose lines may end in any way.

    It has no label: some editors announce every edit that has one.
    """
    starts, own = line_starts(normal(buffer.text)), line_starts(buffer.text)
    ending = "\r\n" if "\r\n" in buffer.text else "\n"

    def place(offset: int) -> int:
        line = bisect_right(starts, offset) - 1
        return own[line] + offset - starts[line]

    made = [Splice(place(one.start), place(one.end), one.text.replace("\n", ending)) for one in splices]
    return DocumentEdit(buffer.uri, buffer.version, buffer.text, tuple(made), "")
