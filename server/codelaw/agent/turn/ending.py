"""The end of a turn, which comes whatever has gone wrong in it: no failure leaves a chat busy (R-10)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from codelaw.agent.effects.reviewing import of_turn
from codelaw.agent.turn.turn import Ending
from codelaw.domain.chats import TurnError, TurnResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.recording.open_turn import OpenTurn
    from codelaw.domain.results import FileChange
    from codelaw.ports.store import ChatStore

FAILED = TurnError("internal_error", "codelaw failed inside; the log says why.", "Please report it.")

_log = logging.getLogger(__name__)


async def never_begun() -> Ending:
    """Of a turn that was cancelled before there was anything to run."""
    return Ending("cancelled", why="cancelled by the user")


async def ending_of(work: asyncio.Task[Ending], turn_id: str) -> Ending:
    """How a turn's work has ended, an exception included."""
    try:
        return await work
    except asyncio.CancelledError:
        return await never_begun()
    except Exception:  # noqa: BLE001 - a bug ends the turn, not the chat
        _log.exception("turn %s failed", turn_id)
        return Ending("failed", error=FAILED, why=FAILED.message)


def result_of(
    chat_id: str, opened: OpenTurn, ending: Ending, changes: Sequence[FileChange] | None = None
) -> TurnResult:
    """What the client is told of a turn."""
    return TurnResult(
        chat_id=chat_id,
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


async def changed(opened: OpenTurn) -> Sequence[FileChange]:
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
