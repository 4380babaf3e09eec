"""A turn: what its run works on, its task, and how it ends whatever has gone wrong in it (R-8, R-10)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.effects.undoing import of_turn
from codelaw.agent.turn.laws import TurnLaws
from codelaw.domain.chats import TurnError, TurnResult, TurnStop
from codelaw.domain.errors import Refusal
from codelaw.ports.cancelling import give_cancel
from codelaw.transcript.repair.repairs import STOPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.compaction.compacting import Compacting
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.history import Past
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.agent.services import ChatServices
    from codelaw.agent.turn.approval import Gate
    from codelaw.agent.turn.pending import PendingMessages
    from codelaw.domain.chats import Chat
    from codelaw.domain.files import UnseenChange
    from codelaw.domain.messages import Message
    from codelaw.domain.results import FileChange
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.store import ChatStore
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
    asked: set[UnseenChange] = field(default_factory=set["UnseenChange"])
    """What commands made of files that codelaw obeys, and the user was asked about in this turn (S-8)."""
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


FAILED = TurnError("internal_error", "codelaw failed inside; the log says why.", "Please report it.")

_log = logging.getLogger(__name__)


class TurnTask:
    """The handle of a running turn.

    `conduct` runs the turn and writes its end; only `work`, the part before the end is written, can be cancelled, so
    that a cancel never loses what was said.
    """

    def __init__(self, chat_id: str, turn_id: str) -> None:
        self.chat_id = chat_id
        self.turn_id = turn_id
        self.work: asyncio.Task[Ending] | None = None
        self.conduct: asyncio.Task[TurnResult] | None = None
        self._stopped = False

    def cancel(self) -> bool:
        """Stop the turn (R-8); whether its work had not ended yet. May be called again."""
        if self.work is None or self.work.done():
            return False
        # Our own mark and not `cancelling()`: timeouts, and libraries with cancel scopes, raise that count as well.
        if not self._stopped:
            self._stopped = True
            give_cancel(self.work)
        return True

    async def result(self) -> TurnResult:
        """How the turn ended. Cancelling the awaiter does not cancel the turn."""
        assert self.conduct is not None  # noqa: S101 - set before anyone gets this handle
        return await asyncio.shield(self.conduct)


async def never_begun() -> Ending:
    """Of a turn that was cancelled before there was anything to run."""
    return Ending("cancelled", why="cancelled by the user")


async def ending_of(work: asyncio.Task[Ending], turn_id: str) -> Ending:
    """How a turn's work has ended, an exception included."""
    try:
        return await work
    except asyncio.CancelledError:
        return await never_begun()
    except Refusal as refusal:
        error = TurnError(refusal.code, refusal.message, refusal.hint)
        return Ending("failed", error=error, why=error.message)
    except Exception:  # noqa: BLE001 - a bug ends the turn, not the chat
        _log.exception("turn %s failed", turn_id)
        return Ending("failed", error=FAILED, why=FAILED.message)


def result_of(opened: TurnRecord, ending: Ending, changes: Sequence[FileChange] | None = None) -> TurnResult:
    """What the client is told of a turn."""
    return TurnResult(
        chat_id=opened.chat_id,
        turn_id=opened.id,
        stop_reason=ending.stop,
        answer=ending.answer,
        steps=opened.step,
        usage=opened.spent,
        notices=tuple(opened.notices),
        changes=tuple(opened.changes if changes is None else changes),
        error=ending.error,
        cost_usd=opened.cost_usd,
        model=opened.model or None,
        cache_miss=opened.cache_miss,
    )


async def changed(opened: TurnRecord) -> Sequence[FileChange]:
    """What the turn did to files, as `codelaw/chat/changes` lists it, or else as its calls told it."""
    if not opened.touched:
        return ()
    try:
        kept = await opened.store.changes(opened.chat_id, opened.id)
        return await asyncio.to_thread(of_turn, kept)
    except Exception as error:  # noqa: BLE001 - the turn ends whatever the store does
        _log.warning("what turn %s changed cannot be read: %s", opened.id, error)
        return opened.changes


async def tidy(store: ChatStore, chat_id: str, turn_id: str) -> None:
    """Merge the deltas of an ended turn; one that fails leaves them as they are."""
    try:
        await store.merge_deltas(chat_id, turn_id)
    except Exception as error:  # noqa: BLE001 - the turn has ended well
        _log.warning("deltas of turn %s stay unmerged: %s", turn_id, error)
