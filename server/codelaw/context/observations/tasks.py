"""Task as text: how a subagent ended, and its report (X-4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codelaw.context.observations.layout import Told, amount, block, items, listed, number, text

_CHANGED = 20
"""Files that are named."""


def reported(data: Mapping[str, Any]) -> Told | None:
    """The report below how the subagent ended and what it took; None where there is none."""
    said = data.get("report")
    if not isinstance(said, str):
        return None
    changed, steps, tokens = items(data, "changed"), number(data, "steps"), number(data, "tokens")
    facts = (
        text(data, "ended"),
        "" if steps is None else amount(steps, "steps"),
        "" if tokens is None else amount(tokens, "tokens"),
        "cut" if data.get("truncated") is True else "",
    )
    notes = (f"It has changed {listed(changed, _CHANGED)}: read them again before you edit them.",) if changed else ()
    finished = r"The subagent has finished\."
    return Told(text(data, "kind"), facts, (block(said),) if said else (), notes, finished)
