"""Who hears of a compaction and pays for it: the turn that needs it, else the chat; and the calls for summaries."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.dialects.binding import stripped
from codelaw.agent.model_calls.recovery import Recovery, Retry
from codelaw.domain.chats import Notice
from codelaw.domain.errors import ModelFailure
from codelaw.domain.events import CompactionEvent, NoticeEvent
from codelaw.domain.models import Usage

if TYPE_CHECKING:
    from codelaw.agent.recording.open_turn import OpenTurn
    from codelaw.agent.recording.outbox import Outbox
    from codelaw.domain.models import Delta, ModelReply, ModelRequest
    from codelaw.ports.model import ChatModel

_log = logging.getLogger(__name__)


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
        """What was billed for one request."""
        if self.turn is not None:
            self.turn.spend(usage)

    def _notice(self, notice: Notice) -> None:
        if self.turn is not None:
            self.turn.notice(notice)
        else:
            self.outbox.tell(NoticeEvent(notice.level, notice.code, notice.message))


@dataclass(slots=True)
class SummaryCalls:
    """Calls for texts that are shown when they are whole."""

    model: ChatModel
    audience: Audience | None = None
    """Who is told of waits; None: the log."""
    spent: Usage = field(default_factory=Usage)
    """What was billed, failed attempts included."""

    async def reply(self, request: ModelRequest) -> ModelReply:
        """The whole reply; a broken one is asked for again from its beginning, since it is short.

        Raises:
            ModelFailure: none could be had.
        """
        recovery = Recovery()

        def unheard(delta: Delta) -> None:
            pass

        while True:
            try:
                reply = await self.model.reply(request, unheard)
            except ModelFailure as failure:
                self._spend(failure.usage)
                if failure.kind == "items" and (bare := stripped(request)) != request:
                    request = bare
                    continue
                retry = recovery.after(failure)
            else:
                self._spend(reply.usage)
                return reply
            if self.audience is not None:
                self.audience.waits(retry)
            else:
                _log.info("a summary is asked for again: %s", retry)
            await asyncio.sleep(retry.seconds)

    def _spend(self, usage: Usage) -> None:
        self.spent += usage
        if self.audience is not None:
            self.audience.pays(usage)
