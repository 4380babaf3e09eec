"""What the user of a client sees of us besides events: messages, questions, documents, pages, progress."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from lsprotocol import types

from codelaw.domain.events import CompactionEvent, NoticeEvent, SteerEvent, TurnEnded, TurnStarted
from codelaw.domain.safety.unseen import visible_line
from codelaw.lsp.transport.errors import ClientError
from codelaw.protocol import contexts as wire
from codelaw.protocol.outcomes import FAILED, outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codelaw.agent.turn.running import TurnTask
    from codelaw.domain.chats import Level, Notice, TurnResult
    from codelaw.domain.checkpoints import CompactionReport
    from codelaw.domain.events import ChatEvent
    from codelaw.lsp.cancelling import Spawner
    from codelaw.lsp.client import Client
    from codelaw.lsp.client_calls.progress import ProgressBars
    from codelaw.lsp.transport.rpc import Rpc

log = logging.getLogger(__name__)

SHOWN_PROBLEMS = 5
KEPT_FILES = 200
"""Of a folder of files that were shown; what is older is removed."""
MESSAGE_CHARACTERS = 2000
"""Of a document shown in a message box."""
LEVELS = {"info": types.MessageType.Info, "warning": types.MessageType.Warning, "error": types.MessageType.Error}


async def put(file: Path, text: str, *, keep: int | None = None) -> None:
    """Write a file of ours, whole or not at all; of its folder at most `keep` files are kept, the newest."""
    await asyncio.to_thread(_put, file, text, keep)


def _put(file: Path, text: str, keep: int | None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    written = file.with_name(f".{uuid4().hex}")
    written.write_text(text, "utf-8", newline="")
    written.replace(file)
    if keep is None:
        return
    files = [path for path in file.parent.iterdir() if not path.name.startswith(".")]
    for old in sorted(files, key=os.path.getmtime, reverse=True)[keep:]:
        old.unlink(missing_ok=True)


class ClientUI:
    """What the user of one client sees; files for that are written into `home`.

    A client with events shows by itself what they say: it gets the progress bars alone.
    """

    def __init__(self, rpc: Rpc, client: Client, home: Path, spawn: Spawner, progress: ProgressBars) -> None:
        self._rpc = rpc
        self._client = client
        self._home = home
        self._spawn = spawn
        self.progress = progress
        self._compaction_shown: CompactionReport | None = None
        self._begun_alone: set[str] = set()
        """Turns that began by themselves."""
        self._problems: set[str] = set()

    def message(self, level: Level, text: str) -> None:
        """A message box."""
        self._rpc.notify(types.WINDOW_SHOW_MESSAGE, {"type": int(LEVELS[level]), "message": text})

    def log(self, level: Level, text: str) -> None:
        """A line in the editor's log of this server, for what need not interrupt anybody."""
        self._rpc.notify(types.WINDOW_LOG_MESSAGE, {"type": int(LEVELS[level]), "message": f"codelaw: {text}"})

    async def pressed(self, text: str, titles: Iterable[str]) -> str | None:
        """Which button of a message box was pressed; None: none was.

        Raises:
            ClientError: the client shows no boxes.
        """
        buttons = [{"title": title} for title in titles]
        params = {"type": int(types.MessageType.Warning), "message": text, "actions": buttons}
        answer: Any = await self._rpc.request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        title = cast("dict[str, Any]", answer).get("title") if isinstance(answer, dict) else None
        return title if {"title": title} in buttons else None

    async def open(self, url: str) -> None:
        """Open a page, or say which it is; nothing else that a client would open by an address (X-3)."""
        if not url.startswith(("https://", "http://")):
            log.warning("%s is not a page, and was not opened", visible_line(url[:200]))
        elif not await self.shown(url, external=True):
            self.message("info", f"Open this page to go on: {visible_line(url)}")

    async def shown(self, uri: str, **how: Any) -> bool:
        """Have the client show a document or a page; False when it does not."""
        if not self._client.documents:
            return False
        try:
            answer: Any = await self._rpc.request(types.WINDOW_SHOW_DOCUMENT, {"uri": uri, **how})
        except ClientError as error:
            log.warning("A document was not shown: %s", error)
            return False
        return isinstance(answer, dict) and cast("dict[str, Any]", answer).get("success") is True

    async def show(
        self,
        file: Path,
        text: str,
        *,
        message: str | None = None,
        focus: bool = False,
        line: int | None = None,
        keep: int | None = None,
    ) -> str:
        """Write a file and show it; a client that shows none is sent `message`, or the text, and where the file is.

        `line`, zero-based, is where the cursor goes. Gives the file's uri.
        """
        short, uri = _short(message or text), file.as_uri()
        place = {"line": line, "character": 0}
        selection = {} if line is None else {"selection": {"start": place, "end": place}}
        try:
            await put(file, text, keep=keep)
        except OSError as error:
            log.warning("A document could not be written: %s", error)
            self.message("warning", short)
        else:
            if not await self.shown(uri, takeFocus=focus, **selection):
                self.message("info", f"{short}\n\n{file}")
        return uri

    async def answer(self, result: TurnResult) -> None:
        """A turn's answer, as a document or as a message."""
        text = result.answer or (result.error.message if result.error else f"The turn ended: {result.stop_reason}")
        level: Level = "error" if result.stop_reason in {"failed", "refused"} else "info"
        await self.document("answers", result.turn_id, text, level)

    async def document(self, folder: str, name: str, text: str, level: Level = "info") -> None:
        """A text as a document, or as a message where the client shows none."""
        file = self._home / folder / f"{re.sub(r'[^A-Za-z0-9_-]', '-', name)}.md"
        if self._client.documents:
            try:
                await put(file, text if text.endswith("\n") else f"{text}\n", keep=KEPT_FILES)
            except OSError as error:
                log.warning("A document could not be written: %s", error)
            else:
                if await self.shown(file.as_uri(), takeFocus=False):
                    return
        self.message(level, _short(text))

    def notice(self, notice: Notice) -> None:
        """What the user should know and no chat is about."""
        self.message(notice.level, f"codelaw: {notice.message}")

    def problems(self, found: list[Notice]) -> None:
        """What is wrong with the settings, as far as it was not shown before."""
        fresh = [one for one in found if one.message not in self._problems and one.code != "setting_refused"]
        # Of those that are refused the question about the folder's trust has the names.
        self._problems = {notice.message for notice in found}
        fresh.sort(key=lambda notice: notice.level != "error")
        for notice in fresh[:SHOWN_PROBLEMS]:
            self.message(notice.level, f"codelaw settings: {notice.message}")
        if len(fresh) > SHOWN_PROBLEMS:
            self.message("warning", f"codelaw settings: {len(fresh) - SHOWN_PROBLEMS} more problems")

    def follow(self, turn: TurnTask) -> None:
        """Watch over a turn that nobody waits for; a client without events is shown its answer."""
        self._spawn(self._show(turn))

    def compaction(self, report: CompactionReport) -> None:
        """Tell a client without events how a compaction went, once, however many wait for it."""
        if not self._client.events and report is not self._compaction_shown:
            self._compaction_shown = report
            level: Level = "warning" if report.reason in FAILED else "info"
            self.message(level, outcome(wire.CompactionReportPayload.of(report).wire()))

    def on_event(self, event: ChatEvent) -> None:
        """An event of any chat."""
        if self._client.progress:
            self.progress.follow(event)
        if not self._client.events:
            self._show_event(event)

    def _show_event(self, event: ChatEvent) -> None:
        match event.event:
            case CompactionEvent(report=report) if event.turn_id:
                if report is not None and report.message:  # within a turn only what must be said (K-6)
                    self.compaction(report)
            case NoticeEvent(code="law_changed") as notice:
                self.log(notice.level, notice.message)
            case SteerEvent(state="returned") as steer:
                self.message("warning", f"Not sent, because the turn ended before: {steer.text}")
            case TurnStarted(steered=True):
                self._begun_alone.add(event.turn_id)
            case TurnEnded(result=result) if event.turn_id in self._begun_alone:  # nobody waits for it
                self._begun_alone.discard(event.turn_id)
                self._spawn(self.answer(result))
            case _:
                pass

    def record(self, folder: str, name: str, text: str) -> None:
        """Show a client without events a list that a command has answered with."""
        if not self._client.events:
            self._spawn(self.document(folder, name, text))

    async def _show(self, turn: TurnTask) -> None:
        result = await turn.result()
        if not self._client.events:
            await self.answer(result)


def _short(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARACTERS else text[:MESSAGE_CHARACTERS] + "…"
