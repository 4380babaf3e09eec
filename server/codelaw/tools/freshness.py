"""Which files this chat has read, and whether they are still what it read (F-2, F-3, F-5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileText, Located, Stamp
from codelaw.ports.workspace import Workspace
from codelaw.transcript.chat_file.chat_file import named_chat_file

GONE = "gone"
"""The digest of a file that is not there any more."""


@dataclass(slots=True)
class ReadFile:
    """What is remembered of one file."""

    located: Located
    digest: str
    """SHA-256 of the text the model knows."""
    reported: str
    """The digest last told of; differs from `digest` once a change of the user's was reported."""
    stamp: Stamp | None
    """The cheap mark under which `reported` was seen."""
    hooked: str = ""
    """The digest of what a hook has made of it at the end of a turn, when the model could not be told."""


class Ledger:
    """The files read or written in one chat; memory only, so a restart asks for a new Read."""

    def __init__(self) -> None:
        self._entries: dict[str, ReadFile] = {}

    def entries(self) -> Sequence[ReadFile]:
        """What is remembered, in the order of first reading."""
        return tuple(self._entries.values())

    def note_read(self, located: Located, current: FileText) -> None:
        """The model has seen this text, or written it, so that it never looks external (F-2)."""
        stamp = Stamp(current.mtime, current.size, current.version)
        self._entries[_key(located)] = ReadFile(located, current.digest, current.digest, stamp)

    def changed_since_read(self, located: Located, current: FileText) -> bool:
        """Whether a file read before has other content now; touching it is not a change."""
        entry = self._entries.get(_key(located))
        return entry is not None and entry.digest not in (current.digest, *current.formed_from)

    def heard(self, other: Ledger, paths: Collection[str]) -> None:
        """A subagent, whose ledger is `other`, has changed these files, as shown: no change of the user's (X-4).

        What the model knows of them stays, so that an edit still conflicts.
        """
        for key, theirs in other._entries.items():
            entry = self._entries.get(key)
            if entry is not None and entry.located.shown in paths:
                entry.reported, entry.stamp = theirs.reported, theirs.stamp

    def require_read(self, located: Located, current: FileText) -> None:
        """Refuse to change what the model has not seen as it is now (F-3).

        Raises:
            ToolFailure: CONFLICT.
        """
        if _key(located) not in self._entries:
            raise ToolFailure("CONFLICT", f"{located.shown} was not read in this chat: read it first, then change it.")
        if self.changed_since_read(located, current):
            raise ToolFailure(
                "CONFLICT", f"{located.shown} has changed since it was read: read it again, then change it."
            )

    def has_read(self, located: Located) -> bool:
        """Whether the model has been shown the file."""
        return _key(located) in self._entries

    def note_hook(self, located: Located, before: str | None, after: str | None, *, shown: bool) -> bool:
        """A hook has changed a file from the one text to the other, by their digests; None stands for no file.

        `shown`: the model is shown all of what is different. Gives whether it knows the file as it is now: it knew the
        text before, and sees what became of it, or it has not read the file at all. Nobody else is said to have made
        the change (F-5).
        """
        entry = self._entries.get(_key(located))
        if entry is None:
            return True
        if shown and entry.digest == before and after is not None:
            entry.digest = after
        entry.reported = after or GONE
        return entry.digest == entry.reported

    def note_hook_at_end(self, located: Located, after: str | None) -> None:
        """A hook has changed a file when the answer stood; `external_changes` will tell."""
        entry = self._entries.get(_key(located))
        if entry is not None:
            entry.hooked = after or GONE

    def by_hook(self, shown: str) -> bool:
        """Whether the change of a file that was told last is a hook's."""
        return any(entry.hooked == entry.reported for entry in self.entries() if entry.located.shown == shown)

    async def external_changes(self, workspace: Workspace) -> list[str]:
        """The files, as shown, that somebody else changed or removed; each change is told once (F-5).

        Only files whose stamp moved are read. The entry keeps what the model knows, so an edit still conflicts.
        """
        # What is written into a chat file is the chat itself.
        entries = [entry for entry in self.entries() if not named_chat_file(entry.located.shown)]
        changed: list[str] = []
        for entry, stamp in zip(entries, await workspace.stamps([entry.located for entry in entries]), strict=True):
            if stamp == entry.stamp:
                continue
            current = await _current(workspace, entry.located)
            digest = current.digest if current is not None else GONE
            entry.stamp = stamp
            if current is not None and entry.reported in current.formed_from:
                # The editor's formatter, when it saved: no edit of the user's, nor news for an edit to conflict with.
                entry.digest = digest if entry.digest in current.formed_from else entry.digest
                entry.reported = digest
            if digest != entry.reported:
                entry.reported = digest
                if digest != entry.digest:
                    changed.append(entry.located.shown)
        return changed


async def _current(workspace: Workspace, located: Located) -> FileText | None:
    try:
        return await workspace.read(located)
    except ToolFailure:
        return None


def _key(located: Located) -> str:
    return str(located.path)
