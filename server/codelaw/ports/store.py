"""Where chats are kept (D-1, D-2), and what else lies in the same database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from codelaw.domain.chats import Chat, ChatHead, Notice, StoredChat, StoredTurn, Todo
from codelaw.domain.checkpoints import Aside, Checkpoint, Demotion, ThreadSummary
from codelaw.domain.edits import KeptChange
from codelaw.domain.events import ChatEvent, Event, Numbers
from codelaw.domain.messages import Message
from codelaw.domain.permissions import AuditEntry, Grant
from codelaw.domain.reports import ChatRecord
from codelaw.ports.memories import MemoryStore, MessageIndex


class ChatStore(Protocol):
    """Durable chats. Every method commits before it returns, and may be called from several tasks at once.

    Raises everywhere:
        Refusal: `store_unavailable` when the disk is full, the database locked or damaged; `chat_not_found`.
    """

    owner: str
    """The id of this server instance."""

    async def create(self, chat: Chat, folders: Collection[str] = ()) -> None:
        """Store a new chat, begun in these workspace folders (their addresses)."""
        ...

    async def update(self, chat: Chat) -> None:
        """Write title, mode, model and whether it was chosen, places, strategy and `updated_at`."""
        ...

    async def list(
        self, query: str | None, limit: int, cursor: str | None, folders: Collection[str] | None = None
    ) -> tuple[list[Chat], str | None]:
        """Newest first; `query` is looked for in titles and messages. The second value continues the list.

        With `folders` only chats that were begun in one of them.
        """
        ...

    async def chat(self, chat_id: str) -> Chat:
        """The chat as it is listed; cheap, so that another server's work can be noticed (D-4)."""
        ...

    async def load(self, chat_id: str) -> StoredChat:
        """Everything of a chat, its messages round by round in the order of the turns."""
        ...

    async def page(self, chat_id: str, turns: int | None, before: str | None) -> ChatRecord:
        """The newest `turns` turns before the turn `before`, with the events between them; None: all, to the end.

        It takes as long as the page is large, however long the chat.

        Raises:
            Refusal: `turn_not_found`: there is no turn `before`.
        """
        ...

    async def delete(self, chat_id: str) -> None: ...

    async def begin_turn(
        self, turn: StoredTurn, user: Message, results: Sequence[tuple[str, dict[str, Any]]] = ()
    ) -> int:
        """Open a turn with its user message, and what it refers to; gives the number of turns that came before it.

        Raises:
            Refusal: `chat_busy` when a turn of a living server runs in this chat.
        """
        ...

    async def append(
        self,
        chat_id: str,
        messages: Sequence[Message],
        results: Sequence[tuple[str, dict[str, Any]]] = (),
        asides: Sequence[Aside] = (),
    ) -> None:
        """Add messages, full results by ref, and what the view shows behind messages, in one transaction.

        An aside of a name that its message has already is not added.

        Raises:
            Refusal: `turn_not_found` when their turn has ended.
        """
        ...

    async def end_turn(self, turn: StoredTurn, messages: Sequence[Message] = ()) -> None:
        """Write a turn's end and its owner, together with its last messages.

        Raises:
            Refusal: `turn_not_found` when there is no such turn, or it has ended already.
        """
        ...

    async def take_over(self, turn: StoredTurn) -> bool:
        """Become the owner of a turn that has ended, whose owner died; False: another server was faster."""
        ...

    async def reshape(
        self,
        chat_id: str,
        generation: int,
        checkpoint: Checkpoint | None,
        demotions: Sequence[Demotion] = (),
        settled: str = "",
    ) -> int:
        """Add a checkpoint and demotions in one transaction; gives the chat's new generation (K-3, C-6).

        `settled`, when given, is kept as the chat's. A demotion made before is not made twice.

        Raises:
            Refusal: `chat_busy`: the chat's generation is not `generation` any more; nothing was written.
        """
        ...

    async def restore(self, chat_id: str, generation: int, checkpoint_ids: Sequence[str], settled: str) -> int:
        """Undo these checkpoints. Gives the chat's new generation.

        Raises:
            Refusal: `chat_busy` as for `reshape`; `nothing_to_undo` when one of them is unknown or undone already.
        """
        ...

    async def save_thread_summary(self, chat_id: str, generation: int, summary: ThreadSummary) -> None:
        """Keep the rolling summary in the place of the one before (B-3). It goes when a turn of it is withdrawn.

        Raises:
            Refusal: `chat_busy` as for `reshape`.
        """
        ...

    async def fork(self, chat_id: str, turn_id: str | None, fork: Chat) -> None:
        """Store `fork` with everything of a chat up to and including that turn; None: nothing of it (D-2).

        Raises:
            Refusal: `turn_not_found`; `chat_busy`: that turn has not ended.
        """
        ...

    async def begun(self, limit: int) -> Sequence[tuple[str, float]]:
        """The chats of the newest turns of all chats, and when these began."""
        ...

    async def withdraw_turn(self, chat_id: str, generation: int, turn_id: str, settled: str) -> int:
        """Take a turn out of the view, not out of the record (E-2). Gives the chat's new generation.

        Raises:
            Refusal: `chat_busy` as for `reshape`; `nothing_to_undo` when it was withdrawn before.
        """
        ...

    async def plan_change(self, chat_id: str, change: KeptChange) -> int:
        """Keep what is about to be done to a file, or was done; gives its number, whatever `change.number` is."""
        ...

    async def settle_change(self, chat_id: str, number: int, after: str | None) -> None:
        """A planned change was made."""
        ...

    async def withdraw_change(self, chat_id: str, number: int) -> None:
        """A planned change was not made."""
        ...

    async def changes(
        self,
        chat_id: str,
        turn_id: str | None = None,
        *,
        since: bool = False,
        of_file: tuple[str, int] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> Sequence[KeptChange]:
        """What a turn did to files, oldest first, with `since` also all turns behind it.

        Or what was done to one file and not undone, by its uri, behind a number; or those with some hundred numbers,
        as far as they are there. One that is damaged has the encoding `DAMAGED`.

        Raises:
            Refusal: `turn_not_found`.
        """
        ...

    async def changes_of_chat(self, chat_id: str) -> Sequence[KeptChange]:
        """What was done to files in a chat and not undone, oldest first; the texts are left out: "" stands for one."""
        ...

    async def mark_changes(self, chat_id: str, numbers: Sequence[int], state: Literal["done", "undone"]) -> None:
        """They were undone; or what was undone is there again."""
        ...

    async def begin_revert(self, chat_id: str) -> None:
        """Keep turns and reverts of all servers away from a chat until `end_revert`, or this server's death.

        Raises:
            Refusal: `chat_busy`.
        """
        ...

    async def end_revert(self, chat_id: str) -> None: ...

    async def is_alive(self, owner: str) -> bool:
        """Whether that server instance still lives."""
        ...

    async def results(self, chat_id: str, refs: Collection[str]) -> dict[str, dict[str, Any]]:
        """Full results by their refs, all in one read; those that are missing or damaged are left out (C-4, C-6)."""
        ...

    async def append_events(
        self, chat_id: str, turn_id: str, events: Sequence[tuple[float, Event]], after: Numbers | None = None
    ) -> list[int]:
        """Store events with their times; gives their `seq`: they rise by one, and go on from the chat's last.

        With `after` they go on from what the server has given out, where it was the last that stored one; else they
        begin beyond what any other server may have given out and not stored.
        """
        ...

    async def reserve_numbers(self, chat_id: str) -> int:
        """Leave out the numbers that another server may have given to events and not stored; gives the last of them."""
        ...

    async def last_number(self, chat_id: str) -> int:
        """The last `seq` of a chat that was stored or left out; 0 where there is none."""
        ...

    async def events(self, chat_id: str, since: int) -> list[ChatEvent]: ...

    async def head(self, chat_id: str) -> ChatHead:
        """What is known of a chat without its messages; as `load` it refuses an unknown one."""
        ...

    async def last_compaction(self, chat_id: str) -> ChatEvent | None:
        """The newest `CompactionEvent` of a chat, if it has one."""
        ...

    async def merge_deltas(self, chat_id: str, turn_id: str) -> None:
        """Merge the runs of deltas of an ended turn under their last `seq`."""
        ...

    async def save_todos(self, chat_id: str, todos: Sequence[Todo]) -> None: ...

    async def mark_noticed(self, chat_id: str, code: str) -> None: ...

    async def grants(self) -> list[Grant]:
        """The permissions given for always, by whomever and in whichever folder."""
        ...

    async def add_grant(self, grant: Grant) -> None: ...

    async def revoke_grant(self, grant_id: str, person: str) -> bool:
        """Take back a grant of this person, or one of nobody; False when there is none."""
        ...

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        """Keep on record what was decided (S-8); bounded, the oldest goes first. It goes with its chat."""
        ...

    async def audit(self, chat_id: str | None, limit: int) -> Sequence[AuditEntry]:
        """What is on record, of a chat or of all, newest first.

        Raises:
            Refusal: `chat_not_found`.
        """
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Stores:
    """What one database keeps. Closing the chats closes all of it."""

    chats: ChatStore
    memories: MemoryStore
    index: MessageIndex
    notices: tuple[Notice, ...] = ()
    """What the user should know of how it was opened, such as what came of a damaged file."""
    shared: bool = False
    """Whether others than this user keep their chats in it."""
