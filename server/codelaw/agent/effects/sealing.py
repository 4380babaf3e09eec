"""Texts of files, kept so that they can be undone, without the keys that stand in them (E-2, S-5).

A mark would be written into the file by an undo. So a key is kept as a seal, which says which key it was; what is
sealed can be opened by whoever knows the key.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.domain.edits import DAMAGED, KeptChange

if TYPE_CHECKING:
    from codelaw.domain.safety.redaction import Redaction


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
