"""What all chats of a session share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.effects.interrupted import settle_interrupted
from codelaw.agent.inputs.learned import ShownLaws, TokenCalibration
from codelaw.domain.safety.redaction import Redaction

if TYPE_CHECKING:
    from codelaw.agent.hooks.running import Hooks
    from codelaw.agent.recall.embedding import Embedding
    from codelaw.agent.recall.remembering import ChatMemory
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.domain.events import ChatEvent
    from codelaw.ports.code import CodeIndex
    from codelaw.ports.editor import LanguageServices
    from codelaw.ports.journal import HeldImages
    from codelaw.ports.servers import KnownServers
    from codelaw.ports.store import ChatStore
    from codelaw.ports.workspace import Processes, Workspace


@dataclass(frozen=True, slots=True)
class ChatServices:
    """The store, the world, and the way to the client."""

    store: ChatStore
    workspace: Workspace
    processes: Processes
    send: Callable[[ChatEvent], None]
    services: LanguageServices | None = None
    memory: ChatMemory | None = None
    """The chat's own, as the settings were when its last turn began; None before."""
    redaction: Redaction = field(default_factory=Redaction)
    """What is taken out of all that is said, kept and told (S-5)."""
    recorder: Recorder | None = None
    """Keeps on record what is decided (S-8)."""
    embedding: Embedding | None = None
    """Indexes what was said when a turn has ended (B-5)."""
    hooks: Hooks | None = None
    """As the settings were when the chat's last turn began; None without any (X-7)."""
    held: HeldImages | None = None
    """Keeps files while commands run."""
    measures: TokenCalibration = field(default_factory=TokenCalibration)
    """What is learned of the models (W-4)."""
    laws: ShownLaws = field(default_factory=ShownLaws)
    """Which law chats were shown (L-4)."""
    servers: KnownServers | None = None
    """Those that people bring along (X-3)."""
    code: CodeIndex | None = None
    """The index of the workspace's code (X-5)."""

    async def settle_interrupted(self) -> None:
        """Take over what the commands of dead servers have changed (E-2)."""
        if self.held is not None:
            await settle_interrupted(self.held, self.store, self.workspace, self.redaction)
