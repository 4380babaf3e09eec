"""What the user of a client sees of turns and compactions besides their events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.domain.events import CompactionEvent, NoticeEvent, SteerEvent, TurnEnded, TurnStarted
from codelaw.lsp.client_calls.window import ClientWindow
from codelaw.protocol import contexts as wire
from codelaw.protocol.outcomes import FAILED, outcome

if TYPE_CHECKING:
    from pathlib import Path

    from codelaw.agent.turn.running import TurnTask
    from codelaw.domain.chats import Level, Notice
    from codelaw.domain.checkpoints import CompactionReport
    from codelaw.domain.events import ChatEvent
    from codelaw.lsp.cancelling import Spawner
    from codelaw.lsp.client import Client
    from codelaw.lsp.client_calls.progress import ProgressBars
    from codelaw.lsp.transport.rpc import Rpc

SHOWN_PROBLEMS = 5


class ClientUI(ClientWindow):
    """ProgressBars bars and messages. A client with events shows by itself what they say: it gets the bars alone."""

    def __init__(self, rpc: Rpc, client: Client, home: Path, spawn: Spawner, progress: ProgressBars) -> None:
        super().__init__(rpc, client, home)
        self._spawn = spawn
        self._progress = progress
        self._compaction_shown: CompactionReport | None = None
        self._begun_alone: set[str] = set()
        """Turns that began by themselves."""
        self._problems: set[str] = set()

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
            self.message(level, outcome(wire.CompactionReport.of(report).wire()))

    def progress_cancelled(self, token: object) -> None:
        """The user pressed cancel on a progress bar."""
        self._progress.cancelled(token)

    def on_event(self, event: ChatEvent) -> None:
        """An event of any chat."""
        if self._client.progress:
            self._progress.follow(event)
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
