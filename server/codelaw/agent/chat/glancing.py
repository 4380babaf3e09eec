"""What can be said of a chat without loading it: a page of a long one must not cost all of it (D-1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.agent.chat import crash_recovery as crash

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.domain.checkpoints import Checkpoint


@dataclass(slots=True)
class Glance:
    """A look at one chat."""

    agent: AgentChat
    checkpoints: tuple[Checkpoint, ...] = ()
    """Those of the newest look."""
    _looked: bool = False
    """For a compaction that a dead server left open."""
    _newest: str = ""
    """The turn behind which was looked for what a dead server had taken and not told."""

    async def look(self) -> None:
        """As the chat's `refresh`, which loads only where a server that died has left a turn to be closed."""
        agent = self.agent
        if agent.idle and not agent.loaded:
            head = await agent.house.store.head(agent.chat.id)
            if not head.crashed and agent.idle and not agent.loaded:
                agent.chat, self.checkpoints = head.chat, head.checkpoints
                agent.losses.tell(head.losses)
                await self.close_compaction()
                if head.last is not None and head.last.id != self._newest:
                    self._newest = head.last.id
                    await agent.following.look_back(head.last)
                return
        await agent.refresh()
        self.checkpoints = agent.past.transcript.checkpoints

    async def close_compaction(self) -> None:
        """Tell the end of a compaction whose server died (K-6); looked for once."""
        agent = self.agent
        left = None if self._looked else await crash.compaction_left_open(agent.house.store, agent.chat.id)
        self._looked = True
        if left is not None:
            agent.outbox.post(*left)
            await agent.outbox.drain()
