"""Changes of texts: what is put into an open document, and what a turn has done to the files (F-4, E-2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

BINARY = "binary"
"""The encoding of bytes that are not text: one character up to U+00FF for each byte; such a file is undone whole."""
DAMAGED = "damaged"
"""The encoding of a change that cannot be read from the store any more."""
LOST = "lost"
"""The encoding of a change by a command of which nothing was kept: it cannot be undone, and both texts are empty."""
FOLDER = "folder"
"""The encoding of a folder that a command made or removed; it goes with the undo of what lay in it."""
UNKNOWN_TEXTS = frozenset({BINARY, DAMAGED, LOST})
"""The encodings of changes whose texts cannot be shown."""


@dataclass(frozen=True, slots=True)
class Splice:
    """Text put in the place of a part of another."""

    start: int
    """In code points of the old text."""
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class DocumentEdit:
    """A change of an open document, made from exactly the version that was reasoned about (F-4)."""

    uri: str
    version: int
    before: str
    """The document's text at that version, line breaks as the editor has them."""
    splices: tuple[Splice, ...]
    """In order, not touching each other."""
    label: str
    """What the undo stack calls it."""
    review: bool = False
    """The user is shown each part and may refuse it, where the client can do that (E-1)."""

    @property
    def after(self) -> str:
        """The text with every part in place."""
        return spliced(self.before, self.splices)


@dataclass(frozen=True, slots=True)
class KeptChange:
    """What one call did to one file, kept so that it can be undone (E-2)."""

    number: int
    """Unique in the store, rising."""
    turn_id: str
    call_id: str
    path: str
    """As shown to the model."""
    uri: str
    before: str | None
    """The text before; None: there was no file."""
    after: str | None
    """The text after; None: the file was removed."""
    encoding: str = "utf-8"
    """`utf-8`: bytes that are not stand as lone surrogates (U+DC80 to U+DCFF); else `BINARY`, `DAMAGED`,
    `LOST` or `FOLDER`."""
    bom: bool = False
    """Not part of the texts, unless they are `BINARY`."""
    mode: int | None = None
    """Permission bits of the file before."""
    state: Literal["planned", "done", "undone", "unknown"] = "planned"
    """`planned` until it is known that the change was made: a process may die in between. `unknown`: somebody changed
    the file after a server had died whose command might have changed it."""


@dataclass(frozen=True, slots=True)
class TurnChange:
    """What a turn did to one file all in all, without the texts (E-1)."""

    turn_id: str
    uri: str
    path: str
    """As shown."""
    kind: Literal["created", "modified", "deleted"]
    number: int
    """Of the turn's last change of the file; unique in the store, rising."""
    is_text: bool = True
    """False: its content cannot be shown."""
    renamed_from: str | None = None
    """The path, as shown, of a file that the turn removed and that had just this content."""


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """A file as it was before some changes of a chat, and as the last of them left it (E-1)."""

    path: str
    """As shown."""
    before: str | None
    """None: there was no file."""
    after: str | None
    """None: there is none."""
    number: int
    """Of the last of those changes."""
    is_text: bool = True
    """False: the texts are None, because there are none, or because they cannot be read."""
    redacted: bool = False
    """Keys were taken out of the texts, so that they are not what stands in the file (S-5)."""


@dataclass(frozen=True, slots=True)
class RevertConflict:
    """A file that was left alone, because undoing would have touched what others did to it since (E-2)."""

    path: str
    """As shown."""
    uri: str
    reason: str
    """A sentence for people."""


@dataclass(frozen=True, slots=True)
class RevertReport:
    """What came of undoing a turn (E-2)."""

    reverted: tuple[str, ...] = ()
    """URIs of the files that are as if the turn had not changed them."""
    conflicts: tuple[RevertConflict, ...] = ()


RESTORED = "restore:"
"""How the call id of a change begins that a restore has made; the numbers of those that it took back follow."""


def by_turns(changes: Sequence[KeptChange]) -> list[KeptChange]:
    """What turns did to files themselves, without what restores have made of it."""
    return [change for change in changes if change.encoding != FOLDER and not change.call_id.startswith(RESTORED)]


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """A file that is another than before a turn, and what a restore would do (E-2)."""

    path: str
    """As shown."""
    uri: str
    does: Literal["create", "modify", "delete"]
    changed: bool = False
    """Somebody else has changed it since; that stays, unless it would be `lost`."""
    lost: str | None = None
    """A sentence: what others have done since goes with it, so that it is restored only where that is asked for."""
    stuck: str | None = None
    """A sentence why it cannot be restored."""


@dataclass(frozen=True, slots=True)
class CheckpointReport:
    """The files of a checkpoint as they were found, and what came of a restore (E-2)."""

    files: tuple[CheckpointFile, ...] = ()
    restored: tuple[str, ...] = ()
    """URIs of the files that are as they were before the turn, or after an undo as they were before the restore."""
    conflicts: tuple[RevertConflict, ...] = ()
    undoable: bool = False
    """A restore of this turn can be undone."""


def spliced(text: str, splices: tuple[Splice, ...]) -> str:
    """`text` with parts of it replaced; the splices are in order and do not touch."""
    pieces: list[str] = []
    place = 0
    for splice in splices:
        pieces += [text[place : splice.start], splice.text]
        place = splice.end
    return "".join([*pieces, text[place:]])


@dataclass(frozen=True, slots=True)
class PendingCommit:
    """What is staged, or all that is changed where nothing is (E-3)."""

    text: str
    """The names of the files and their diff, bounded: of a large one every file has a part."""
    staged: bool
    files: int
    """Those in `text`, by name at least."""
    withheld: int = 0
    """Files that a rule keeps from the model."""
    outside: int = 0
    """Files outside of the workspace, which nobody may read."""
    subjects: tuple[str, ...] = ()
    """The first lines of the newest commits, newest first."""


_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class _Changed:
    """A run of removed and added lines in a diff; `heading` that of its hunk, where it is the first there."""

    heading: list[str]
    sides: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))

    def shown(self, most: int) -> list[str]:
        """At most so many lines of each side, and how many are left out; a single one stands alone."""
        out = [*self.heading]
        for side in self.sides:
            over = len(side) - most
            reported = [f"… {over} lines left out …"] if over > 1 else side[most:]
            out += [*side[:most], *(reported if most > 1 else ())]
        return out


def fragments(diff: str, lines: int, characters: int) -> tuple[str, bool]:
    """A unified diff in so many lines and characters, and whether something is missing (C-2).

    Of one that is longer each change keeps the beginning of what was removed and of what was added, all of them about
    as much; where there is no room for every change, the last ones are left out. A text that is no diff keeps its
    beginning. Long lines lose their ends where the characters are not enough.
    """
    every = diff.split("\n")
    kept = every if len(every) <= lines else _fragments(every, lines)
    width = max(map(len, kept), default=0)
    while width > 1 and sum(min(len(line), width) + 1 for line in kept) > characters + 1:
        width = min(width - 1, width * 9 // 10)
    text = "\n".join(line if len(line) <= width else f"{line[: width - 1]}…" for line in kept)[:characters]
    return text, text != diff


def _fragments(every: Sequence[str], lines: int) -> list[str]:
    start = next((place for place, line in enumerate(every) if _HUNK.match(line)), None)
    if start is None:
        return list(every[:lines])
    changes = _changes(every[start:])
    room, kept = lines - start, len(changes)
    if sum(len(change.shown(1)) for change in changes) > room:
        room, kept, used = room - 1, 0, 0  # a line says how many changes are left out
        while (used := used + len(changes[kept].shown(1))) <= room:
            kept += 1
    shown = changes[:kept]
    most = next((n for n in range(room, 1, -1) if sum(len(change.shown(n)) for change in shown) <= room), 1)
    out = [*every[:start], *(line for change in shown for line in change.shown(most))]
    if kept < len(changes):
        out.append(f"… {len(changes) - kept} changes left out …")
    return out[:lines]


def _changes(body: Sequence[str]) -> list[_Changed]:
    """The changes of a diff's hunks, without the lines around them."""
    changes: list[_Changed] = []
    heading: list[str] = []
    side, runs = 0, False
    for line in body:
        if _HUNK.match(line):
            heading, runs = [line], False
        elif line.startswith(("-", "+")):
            was, side = side, int(line[0] == "+")
            if not runs or side < was:
                changes.append(_Changed(heading))
                heading, runs = [], True
            changes[-1].sides[side].append(line)
        elif line.startswith("\\") and runs:
            changes[-1].sides[side].append(line)
        else:
            runs = False
    return changes
