"""What is kept of changed files: sealed and opened, undone, and shown to people. Touches nothing (E-1, E-2).

A mark would be written into the file by an undo. So a key is kept as a seal, which says which key it was; what is
sealed can be opened by whoever knows the key (S-5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codelaw.domain.edits import DAMAGED, UNKNOWN_TEXTS, KeptChange, ReviewedFile, TurnChange, by_turns
from codelaw.domain.results import FileChange
from codelaw.domain.safety.redaction import Redaction
from codelaw.tools.changing.diffs import Clash, difference, merged
from codelaw.tools.changing.matching import same_lines

MOST_MOVED = 100
"""Files that one turn made, or removed, up to which it is looked at whether some were renamed."""


def sealed(change: KeptChange, redaction: Redaction) -> KeptChange:
    """The change as it is kept."""
    return replace(change, before=sealed_text(change.before, redaction), after=sealed_text(change.after, redaction))


def sealed_text(text: str | None, redaction: Redaction) -> str | None:
    """A file's text as it is kept; None: there is no file."""
    return None if text is None else redaction.sealed(text)


def opened(change: KeptChange, redaction: Redaction) -> KeptChange:
    """The change as it was made; one whose key is not known any more is `DAMAGED`."""
    before, after = (None if text is None else redaction.opened(text) for text in (change.before, change.after))
    if (before is None) != (change.before is None) or (after is None) != (change.after is None):
        return replace(change, encoding=DAMAGED)
    return replace(change, before=before, after=after)


class CannotUndo(Exception):
    """The file is to be left alone; the text says why, after its name."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change of a file; None stands for no file."""

    before: str | None
    after: str | None
    sure: bool = True
    """It is known that the change was made."""


def undone(steps: Sequence[Step], current: str | None, *, lines: bool = True) -> str | None:
    """`current` without `steps`, which are given oldest first, and with all that was done to it besides.

    Without `lines` it is not text: it is undone only where nothing else was done to it.

    Raises:
        CannotUndo: what was done since touches the steps.
    """
    for step in reversed(_row(steps, current)):
        current = _without(step, current, lines=lines)
    return current


def _row(steps: Sequence[Step], current: str | None) -> list[Step]:
    """The steps that were made; those with nothing in between are one."""
    found: list[Step] = []
    for place, step in enumerate(steps):
        then = steps[place + 1].before if place + 1 < len(steps) else current
        if not step.sure and _same(then, step.before):
            continue
        if found and found[-1].after == step.before:
            found[-1] = Step(found[-1].before, step.after)
        else:
            found.append(step)
    return found


def _without(step: Step, current: str | None, *, lines: bool) -> str | None:
    before, after = step.before, step.after
    if before == after:
        return current
    if current == after:
        return before
    if _same(current, before):
        return current
    if after is None:
        raise CannotUndo("was made anew since the turn removed it")
    if current is None:
        raise CannotUndo("was removed since")
    if before is None:
        raise CannotUndo("was changed since the turn created it")
    if not lines:
        raise CannotUndo("is not text, and was changed since")
    try:
        return merged(after, before, current)
    except Clash as clash:
        raise CannotUndo(f"was changed since at the same place, near line {clash.line}") from None


def _same(one: str | None, other: str | None) -> bool:
    return one == other or (one is not None and other is not None and same_lines(one, other))


def of_turns(changes: Sequence[KeptChange]) -> list[TurnChange]:
    """What each turn did to each file, in the order of the last change; what it made and removed again is nothing."""
    groups: dict[tuple[str, str], list[KeptChange]] = {}
    for change in changes:
        groups.setdefault((change.turn_id, change.uri), []).append(change)
    found: list[TurnChange] = []
    for group in groups.values():
        first, last = group[0], group[-1]
        if first.before is None and last.after is None:
            continue
        found.append(
            TurnChange(
                turn_id=last.turn_id,
                uri=last.uri,
                path=last.path,
                kind="created" if first.before is None else "deleted" if last.after is None else "modified",
                number=last.number,
                is_text=all(change.encoding not in UNKNOWN_TEXTS for change in group),
            )
        )
    return sorted(found, key=lambda change: change.number)


def of_turn(kept: Sequence[KeptChange]) -> list[FileChange]:
    """The same of one turn, with the lines of each file (R-10): 0 where its texts cannot be shown."""
    changes = [change for change in by_turns(kept) if change.state in {"done", "unknown"}]
    texts: dict[str, list[KeptChange]] = {}
    for change in changes:
        texts.setdefault(change.uri, []).append(change)
    found: list[FileChange] = []
    for change in of_turns(changes):
        before, after = texts[change.uri][0].before or "", texts[change.uri][-1].after or ""
        lines = difference(before, after, change.path) if change.is_text else None
        added, removed = (0, 0) if lines is None else (lines.added, lines.removed)
        found.append(FileChange(change.path, change.uri, change.kind, added, removed))
    return found


def moves(changes: Sequence[TurnChange]) -> list[int]:
    """The numbers of the changes whose texts say whether files were renamed; at most `MOST_MOVED` of a kind."""
    numbers: list[int] = []
    for turn_id in {change.turn_id for change in changes}:
        kinds = {
            kind: [change.number for change in changes if change.turn_id == turn_id and change.kind == kind]
            for kind in ("created", "deleted")
        }
        if all(0 < len(found) <= MOST_MOVED for found in kinds.values()):
            numbers += kinds["created"] + kinds["deleted"]
    return sorted(numbers)[: 2 * MOST_MOVED]


def renamed(changes: Sequence[TurnChange], kept: Mapping[int, KeptChange]) -> list[TurnChange]:
    """`changes` with what was renamed; a file that was removed counts once, and an empty one tells nothing."""
    gone: dict[tuple[str, str, str], str] = {}
    for change in changes:
        text = kept[change.number].before if change.kind == "deleted" and change.number in kept else None
        if text:
            gone.setdefault((change.turn_id, kept[change.number].encoding, text), change.path)
    found: list[TurnChange] = []
    for change in changes:
        made = kept.get(change.number) if change.kind == "created" else None
        source = None
        if made is not None and made.after:
            source = gone.pop((change.turn_id, made.encoding, made.after), None)
        found.append(change if source is None else replace(change, renamed_from=source))
    return found


def reviewed(changes: Sequence[KeptChange], redaction: Redaction) -> ReviewedFile:
    """One file before `changes`, of which there is at least one, and after them.

    What others did to the file in between is in both texts, where it can be told apart.
    """
    first, last = changes[0], changes[-1]
    if any(change.encoding in UNKNOWN_TEXTS for change in changes):
        return ReviewedFile(last.path, None, None, last.number, is_text=False)
    try:
        before = undone([Step(change.before, change.after, change.state == "done") for change in changes], last.after)
    except CannotUndo:
        before = first.before
    shown = [_legible(text, redaction) for text in (before, last.after)]
    return ReviewedFile(
        path=last.path,
        before=shown[0],
        after=shown[1],
        number=last.number,
        redacted=shown != [before, last.after],
    )


def _legible(text: str | None, redaction: Redaction) -> str | None:
    """Without keys, and without halves of characters, which no wire takes."""
    return None if text is None else redaction.text(text).encode("utf-8", "replace").decode()
