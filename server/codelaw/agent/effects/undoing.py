"""What undoing the changes of one file makes of it; decides, and touches nothing (E-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codelaw.tools.changing.matching import same_lines
from codelaw.tools.changing.merging import Clash, merged


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
