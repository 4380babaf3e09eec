"""Stop all that runs in a chat (R-8)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.turn.running import RunningTurn


def halt(agent: AgentChat) -> asyncio.Task[None] | None:
    """Stop the turn and the compaction that run, and a turn that is about to follow; None: there is none.

    What begins later is left alone. The task ends when all of it has ended, and is not to be cancelled.
    """
    turn = agent.running
    if turn is None and not agent.following.in_flight and not agent.compacting.in_flight:
        return None
    if turn is not None:
        turn.cancel()
    # Seen now: it may have begun by the time that the task runs.
    before = agent.following.after if agent.following.in_flight else None
    return asyncio.create_task(_halted(agent, turn, before), name=f"stop of chat {agent.chat.id}")


async def _halted(agent: AgentChat, turn: RunningTurn | None, before: str | None) -> None:
    """`before` is the turn that the one about to begin follows."""
    await agent.compacting.cancel()
    if turn is None and before is not None:
        turn = await agent.following.next(before)
    while turn is not None:
        turn.cancel()
        await turn.result()
        turn = await agent.following.next(turn.turn_id)
