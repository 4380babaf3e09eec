"""Who hears of a compaction and pays for it: the turn that needs it, else the chat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.domain.chats import Notice
from codelaw.domain.events import CompactionEvent, NoticeEvent

if TYPE_CHECKING:
    from codelaw.agent.model_calls.recovery import Retry
    from codelaw.agent.recording.open_turn import OpenTurn
    from codelaw.agent.recording.outbox import Outbox
    from codelaw.domain.models import Usage


@dataclass(frozen=True, slots=True)
class Audience:
    """One compaction's."""

    outbox: Outbox
    turn: OpenTurn | None
    """None for a compaction that a person has asked for."""

    def hears(self, event: CompactionEvent) -> None:
        """The compaction has come to another phase."""
        if self.turn is not None:
            self.turn.emit(event)
        else:
            self.outbox.tell(event)

    def warned(self, code: str, message: str) -> None:
        """Something went wrong that stops nothing."""
        self._notice(Notice("warning", code, message))

    def waits(self, retry: Retry) -> None:
        """The summary is asked for again."""
        message = f"The summary is asked for again in {retry.seconds:.0f} s ({retry.attempt}): {retry.reason}."
        self._notice(Notice("info", "summary_retry", message))

    def pays(self, usage: Usage) -> None:
        """What was billed."""
        if self.turn is not None:
            self.turn.spend(usage)

    def _notice(self, notice: Notice) -> None:
        if self.turn is not None:
            self.turn.notice(notice)
        else:
            self.outbox.tell(NoticeEvent(notice.level, notice.code, notice.message))
