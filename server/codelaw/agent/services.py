"""What all chats of a session share, and what it learns while it works (W-4, E-5)."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from codelaw.agent.effects.interrupted import settle_interrupted
from codelaw.context.calibration import Calibration, mixture
from codelaw.context.system.law_check import describe_change
from codelaw.context.tokens import SMALLEST_WINDOW
from codelaw.domain.chats import Notice
from codelaw.domain.laws import LawUse
from codelaw.domain.safety.redaction import Redaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codelaw.agent.hooks.running import Hooks
    from codelaw.agent.recall.embedding import Embedding
    from codelaw.agent.recall.remembering import ChatMemory
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.context.sections import View
    from codelaw.context.system.law import LawText
    from codelaw.domain.chats import Chat
    from codelaw.domain.events import ChatEvent
    from codelaw.ports.code import CodeIndex
    from codelaw.ports.editor import LanguageServices
    from codelaw.ports.journal import HeldImages
    from codelaw.ports.servers import KnownServers
    from codelaw.ports.store import ChatStore
    from codelaw.ports.workspace import Processes, Workspace

KEPT = 64
"""Chats, and texts of laws, that are remembered (S-6)."""

V = TypeVar("V")


class TokenCalibration:
    """Those of one session, shared by its chats."""

    def __init__(self) -> None:
        self.known = Calibration()
        """What the models' reports say of our estimates."""
        self._windows: dict[str, int] = {}
        self.plain: set[str] = set()
        """Models of which an endpoint has refused system messages between the others (L-6)."""

    def learn(self, model: str, view: View, reported: int) -> Calibration:
        """Take in the tokens of input that a model has reported for a view; gives what is known then."""
        if reported > 0 and not self.known.foreseen(model, view.tokens, reported):
            self.known = self.known.observed(model, mixture(view.sections), reported)
        return self.known

    def shrink(self, model: str, tokens: int) -> None:
        """Take in how many tokens the vendor really takes; numbers that cannot be are passed over."""
        if tokens >= SMALLEST_WINDOW:
            self._windows[model] = tokens

    def window(self, model: str, reported: int) -> int:
        """Tokens of a model's window, where `reported` are those of its profile."""
        return min(reported, self._windows.get(model, reported))


class ShownLaws:
    """The memory of one session: after a restart nothing is known of before."""

    def __init__(self) -> None:
        self._by_chat: OrderedDict[str, Sequence[LawText]] = OrderedDict()
        self._uses: OrderedDict[str, LawUse] = OrderedDict()

    def shown(self, chat: Chat, documents: Sequence[LawText]) -> Notice | None:
        """A step of `chat` was given these; the notice when they are others than at its step before."""
        for document in documents:
            self.used(chat, document)
        before = self._by_chat.get(chat.id)
        _keep(self._by_chat, chat.id, documents)
        reported = "" if before is None else describe_change(before, documents)
        return Notice("info", "law_changed", reported) if reported else None

    def used(self, chat: Chat, document: LawText) -> None:
        """A turn of `chat` was shown this text."""
        _keep(self._uses, document.digest, LawUse(time.time(), chat.id, chat.title))

    def last_use(self, digest: str) -> LawUse | None:
        """The last turn that was shown the text with that digest."""
        return self._uses.get(digest)


def _keep(memory: OrderedDict[str, V], key: str, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > KEPT:
        memory.popitem(last=False)


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
