"""What a survey of the workspace means for an index: values in, values out (X-5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codelaw.adapters.code.kept import Row
from codelaw.domain.files import Survey


@dataclass(frozen=True, slots=True)
class Taken:
    """What is to be done."""

    owed: dict[str, float]
    """Files that are to be read, with the times that were seen; the newest first where there are many."""
    gone: list[str]
    """Files that are to be forgotten."""
    note: str
    """Why the index is incomplete, in a sentence."""


def taken(survey: Survey, rows: Mapping[str, Row], owed: Mapping[str, float], most: int, note: str) -> Taken:
    """What is to be done, where these rows are there and these files are owed from before.

    No more than `most` files are held; `note` is what was said of that before.
    """
    times = survey.changed
    if survey.whole:
        newest = sorted(times, key=times.__getitem__, reverse=True)
        over = len(newest) - most
        due = {path: times[path] for path in newest[:most] if _differs(rows.get(path), times[path])}
        lost = () if survey.stopped else [path for path in rows if path not in times]
        note = f"The workspace is larger than its index: {over} files are left out." if over > 0 else ""
        return Taken(due, list(lost), survey.stopped or note)
    left = {path: time for path, time in owed.items() if path not in survey.gone}
    gone = [path for path in survey.gone if path in rows]
    room = most - len(rows) + len(gone) - sum(path not in rows for path in left)
    for path, time in times.items():
        if path not in rows and path not in left:
            if room <= 0:
                continue
            room -= 1
        left[path] = time
    return Taken(left, gone, survey.stopped or note)


def _differs(row: Row | None, time: float) -> bool:
    return row is None or row.mtime != time or time < 0
