"""Which of the packages are missing that not every installation has, and how they are added."""

from __future__ import annotations

from codelaw.adapters.extras import EXTRAS, adding, missing
from codelaw.app.health.finding import Finding


def extras() -> list[Finding]:
    """A finding for each extra that is missing, wholly or in part. Imports what is there, which can take a second."""
    told = {name: lacking(name) for name in EXTRAS}
    return [Finding(name, "lacking", why) for name, why in told.items() if why is not None]


def lacking(name: str) -> str | None:
    """What is missing of an extra, what that changes, and the command that adds it; None where nothing is missing."""
    absent = missing(name)
    if not absent:
        return None
    return f"{', '.join(absent)} cannot be imported, so {EXTRAS[name].without}; add it with `{adding(name)}`"
