"""What this floor needs of the engine: the session behind a connection, as `codelaw.app.session` gives it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from codelaw.domain.audit import AuditEntry
from codelaw.domain.brought import AgentList, Skill, UserCommand
from codelaw.domain.chats import Chat, EffortChoice, Mode, Notice, Strategy, TurnResult
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.edits import CheckpointReport, PendingCommit, RevertReport, ReviewedFile, TurnChange
from codelaw.domain.events import ChatEvent
from codelaw.domain.files import Folder
from codelaw.domain.laws import LawState, NamedPath
from codelaw.domain.memories import Category, Memory, MemoryScope, Recalled, Saved
from codelaw.domain.permissions import Grant
from codelaw.domain.reports import ArchiveReport, ChatRecord, ContextReport, LawReport, Looked, MentionItem, ModelInfo
from codelaw.domain.requests import EditorState, Enclosed
from codelaw.domain.served import ServerList
from codelaw.ports.approver import Approver
from codelaw.ports.cancelling import Scope
from codelaw.ports.code import FoundPlaces, IndexState, PlaceKind
from codelaw.ports.editor import Editor
from codelaw.ports.servers import Browser
from codelaw.ports.services import LanguageServices
from codelaw.ports.workspace import OpenDocuments
from codelaw.settings import EffectiveSettings


class RunningTurn(Protocol):
    """A turn that has begun."""

    @property
    def chat_id(self) -> str: ...

    @property
    def turn_id(self) -> str: ...

    def cancel(self) -> object: ...

    async def result(self) -> TurnResult:
        """Wait for the end; cancelling the waiter does not cancel the turn."""
        ...


class Session(Protocol):
    """Everything a client can ask for; `Refusal` says why something cannot be done."""

    async def create(
        self,
        *,
        title: str | None = None,
        mode: Mode | None = None,
        model: str | None = None,
        strategy: Strategy | None = None,
        effort: EffortChoice | None = None,
        kind: str | None = None,
    ) -> Chat: ...

    async def list(
        self, query: str | None, limit: int, cursor: str | None, *, here: bool = False
    ) -> tuple[list[Chat], str | None]: ...

    async def read(
        self,
        chat_id: str,
        *,
        since_seq: int | None,
        limit: int | None,
        before: str | None,
        turns: int | None = None,
        before_turn: str | None = None,
    ) -> ChatRecord: ...

    async def send(
        self,
        chat_id: str | None,
        text: str,
        *,
        mode: Mode | None = None,
        mode_once: Mode | None = None,
        model: str | None = None,
        strategy: Strategy | None = None,
        effort: EffortChoice | None = None,
        strategy_options: Mapping[str, float] | None = None,
        attachments: Sequence[Enclosed] = (),
        editor: EditorState | None = None,
        kind: str | None = None,
        scope: Scope | None = None,
    ) -> RunningTurn:
        """Begin a turn, which `scope` stops from now on; without a chat in a new one of `kind` (H-5).

        The chat keeps `mode`; `mode_once` is for this turn alone.
        """
        ...

    async def steer(
        self, chat_id: str, text: str, editor: EditorState | None = None, attachments: Sequence[Enclosed] = ()
    ) -> str: ...

    async def picture(self, chat_id: str, digest: str) -> tuple[str, bytes]:
        """What a picture of a chat is, and its bytes (M-6)."""
        ...

    async def unsteer(self, chat_id: str, steer_id: str) -> bool: ...

    async def stop_call(self, chat_id: str, call_id: str) -> bool: ...

    async def cancel(self, chat_id: str) -> bool:
        """Stop the running turn and compaction; False when there was neither."""
        ...

    async def update(
        self,
        chat_id: str,
        *,
        title: str | None = None,
        mode: Mode | None = None,
        model: str | None = None,
        strategy: Strategy | None = None,
        effort: EffortChoice | None = None,
    ) -> Chat: ...

    async def delete(self, chat_id: str) -> None: ...

    async def fork(self, chat_id: str, turn_id: str | None) -> Chat:
        """A new chat with everything of this one up to and including that turn; None: nothing of it (D-2)."""
        ...

    async def export(self, chat_id: str, form: Literal["markdown", "json"]) -> str:
        """The whole record of a chat as one document (D-2)."""
        ...

    async def revert(
        self, chat_id: str, turn_id: str, *, files: bool, messages: bool, uris: Collection[str] | None = None
    ) -> RevertReport:
        """Undo what a turn did; cancelling stops after the file at hand, and what was undone stays so (E-2)."""
        ...

    async def changes(self, chat_id: str) -> Sequence[TurnChange]:
        """What the turns of a chat did to files and nobody has undone, in the order in which it was done (E-1)."""
        ...

    async def reviewed(self, chat_id: str, uri: str, above: int = 0) -> ReviewedFile:
        """A file before and after what this chat did to it, as far as its changes have numbers above `above` (E-1).

        Raises:
            Refusal: `chat_not_found`; `nothing_to_undo` where it did nothing.
        """
        ...

    async def checkpoint(self, chat_id: str, turn_id: str) -> CheckpointReport:
        """What a restore of the files as they were before that turn would do (E-2)."""
        ...

    async def restore_files(self, chat_id: str, turn_id: str, overwrite: Collection[str]) -> CheckpointReport:
        """Put them back; what others did is lost in those of `overwrite` alone."""
        ...

    async def undo_restore(self, chat_id: str, turn_id: str) -> CheckpointReport:
        """Take that restore back."""
        ...

    async def before(self, chat_id: str, turn_id: str, path: str) -> str | None:
        """The text of a file, `path` as shown, before the turn changed it; None: there was no file (E-4).

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`; `nothing_to_undo` when the turn did not change it, or it is
                no text.
        """
        ...

    async def changed_files(self, chat_id: str, turn_id: str) -> Sequence[str]:
        """The files that a turn changed, as shown, in the order of their first change (E-4)."""
        ...

    async def inspect(
        self,
        chat_id: str | None,
        text: str | None,
        *,
        strategy: Strategy | None = None,
        strategy_options: Mapping[str, float] | None = None,
        exact: bool = False,
    ) -> ContextReport: ...

    async def compact(self, chat_id: str, scope: Scope | None = None) -> CompactionReport:
        """Compact now, or wait with those who wait already (K-7), until `scope` is cancelled."""
        ...

    async def cancel_compaction(self, chat_id: str) -> bool:
        """Stop the compaction, not the turn; whoever waits for it gets its report. False when none is in flight."""
        ...

    async def restore(self, chat_id: str, checkpoint_id: str | None) -> Chat:
        """Undo that checkpoint and the newer ones, without an id the newest (K-3)."""
        ...

    async def archive(self, chat_id: str) -> ArchiveReport: ...

    async def law(self) -> LawReport: ...

    async def laws(self) -> LawState:
        """Every folder's law as a document (E-5)."""
        ...

    async def named_paths(self, paths: Sequence[str], *, counted: bool = False) -> Sequence[NamedPath]:
        """What `@paths` lead to; with `counted` also their sizes."""
        ...

    async def looked_at(self, uri: str) -> Looked: ...

    async def mentions(self, prefix: str, limit: int, typed_in: Path | None = None) -> Sequence[MentionItem]: ...

    async def commands(self) -> Sequence[UserCommand]:
        """The commands that a message can call (X-7)."""
        ...

    async def servers(self) -> ServerList:
        """The servers that people bring along (X-3)."""
        ...

    async def start_servers(self) -> None:
        """Begin the servers that may run; nothing is waited for."""
        ...

    async def restart_server(self, name: str) -> None: ...

    async def log_out_of_server(self, name: str) -> bool: ...

    async def enable_server(self, name: str, *, enabled: bool, digest: str | None = None) -> ServerList: ...

    async def decline_server(self, name: str, *, digest: str) -> ServerList: ...

    async def skills(self) -> Sequence[Skill]:
        """The skills that there are, those included that do not count (X-2)."""
        ...

    async def agents(self) -> AgentList:
        """The kinds of subagents, those included that do not count (X-4)."""
        ...

    async def pending_commit(self, place: Path | None) -> PendingCommit:
        """What the next commit of the repository at `place` would hold; None: that of the first folder (E-3).

        Raises:
            Refusal: `not_trusted`, `folder_not_found`, `nothing_to_commit`.
        """
        ...

    async def search_code(
        self, query: str, *, path: str = ".", kind: PlaceKind = "any", limit: int = 10
    ) -> tuple[FoundPlaces, Sequence[str]]:
        """The best places in the workspace's code, and the uri of each (X-5)."""
        ...

    def index_state(self) -> IndexState: ...

    async def rebuild_index(self) -> IndexState: ...

    async def backfill(self, chat_id: str | None) -> int:
        """Embed everything that waits, of one chat or of all; gives how many passages and memories that were (B-5)."""
        ...

    async def rule_notices(self) -> Sequence[Notice]:
        """What is wrong with the permission rules of the settings (S-1)."""
        ...

    async def grants(self) -> Sequence[Grant]:
        """The standing permissions the user gave, for always and in the chats of this session (S-2)."""
        ...

    async def revoke(self, grant_id: str) -> None: ...

    async def audit(self, chat_id: str | None, limit: int) -> Sequence[AuditEntry]:
        """What was decided, of a chat or of all, newest first (S-8)."""
        ...

    def record_trust(self, folder: Path, *, trusted: bool, why: str = "") -> None:
        """Put on record that the user trusts a folder, or no longer does."""
        ...

    async def save_memory(
        self,
        text: str,
        *,
        category: Category | None = None,
        scope: MemoryScope | None = None,
        confidence: float | None = None,
        chat_id: str | None = None,
    ) -> Saved: ...

    async def memories(
        self,
        *,
        scope: MemoryScope | None = None,
        category: Category | None = None,
        limit: int = 100,
        cursor: str | None = None,
        chat_id: str | None = None,
    ) -> tuple[Sequence[Memory], str | None]:
        """What is remembered here, newest first; the second value continues the list (B-6)."""
        ...

    async def search_memories(
        self, query: str, *, category: Category | None = None, limit: int = 10, chat_id: str | None = None
    ) -> Sequence[Recalled]: ...

    async def update_memory(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        category: Category | None = None,
        scope: MemoryScope | None = None,
        confidence: float | None = None,
        chat_id: str | None = None,
    ) -> Memory: ...

    async def forget_memory(self, memory_id: str) -> None: ...

    def models(self) -> Sequence[ModelInfo]: ...

    async def warm(self) -> None:
        """Load what the first turn needs."""
        ...

    def set_folders(self, folders: Sequence[Folder]) -> None: ...

    def set_trusted(self, *, trusted: bool) -> None:
        """Whether the editor trusts the folder, for turns that begin from now on (S-7)."""
        ...

    def reconfigure(self, settings: EffectiveSettings) -> None: ...

    async def close(self) -> None: ...


class OpenSession(Protocol):
    """Opens the session of one connection."""

    async def __call__(
        self,
        *,
        settings: EffectiveSettings,
        folders: Sequence[Folder],
        documents: OpenDocuments,
        approver: Approver,
        emit: Callable[[ChatEvent], None],
        home: Path,
        editor: Editor | None = None,
        services: LanguageServices | None = None,
        tell: Callable[[Notice], None] | None = None,
        trusted: bool = True,
        browser: Browser | None = None,
        look_again: Callable[[], Awaitable[None]] | None = None,
    ) -> Session: ...
