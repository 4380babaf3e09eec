"""What one run of the engine works on, a turn's or a subagent's, and how it ends: values and what they lead to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.turn.laws import TurnLaws
from codelaw.domain.chats import TurnError, TurnStop
from codelaw.transcript.repair.closing import STOPPED

if TYPE_CHECKING:
    from codelaw.agent.compaction.compacting import Compacting
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.history import Past
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.agent.services import ChatServices
    from codelaw.agent.turn.approval import Gate
    from codelaw.agent.turn.pending import PendingMessages
    from codelaw.domain.chats import Chat
    from codelaw.domain.messages import Message
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.tools.base import ToolEnvironment


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, before it is written down."""

    stop: TurnStop
    answer: str = ""
    error: TurnError | None = None
    why: str = ""
    """In the transcript's last message, for a turn that did not finish."""
    calls: str = STOPPED
    """The result of calls that were left open."""


@dataclass(slots=True)
class TurnRun:
    """A record to write to, inputs as they are now, and what the run may use and change."""

    record: TurnRecord
    inputs: TurnInputs
    """With the law of this step, and what the vendor has taught."""
    typed: str
    """The user's words as typed (W-2)."""
    chat: Chat
    house: ChatServices
    gate: Gate
    pending: PendingMessages
    """Keep what the user says at an approval (M-7)."""
    past: Past
    compacting: Compacting
    environment: ToolEnvironment
    laws: TurnLaws = field(init=False)

    def __post_init__(self) -> None:
        denied = self.gate.denied("Read", "reads")
        self.laws = TurnLaws(self.inputs, self.record, self.chat, self.house, denied)

    @property
    def redaction(self) -> Redaction:
        """Takes keys out of what is said, kept and shown (S-5)."""
        return self.house.redaction


def last_words(record: TurnRecord, ending: Ending) -> list[Message]:
    """The messages that close the round: none for a finished turn, whose answer is already written (R-1a)."""
    return [] if ending.stop == "finished" else record.closing(ending.why, ending.calls)
