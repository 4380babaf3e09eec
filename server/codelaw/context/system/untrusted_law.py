"""The law of a folder that the editor does not trust: data below the user, not L2 (S-7)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.context.escaping import one_name, quoted
from codelaw.context.system.law import NAME, LawText
from codelaw.domain.messages import Fragment
from codelaw.domain.safety.unseen import without_hidden
from codelaw.templates.render import render
from codelaw.transcript.summaries.harmless import harmless

SHOWN_CHARACTERS = 8_000
"""Of all laws together that a model is shown as data."""


def restricted(documents: Sequence[LawText]) -> Fragment:
    """What a turn in restricted mode is told beside its question, the laws quoted in it (R-5)."""
    room = SHOWN_CHARACTERS
    shown: list[dict[str, object]] = []
    laws = [document for document in documents if document.text.strip()]
    for document in laws:
        text = without_hidden(document.text).strip("\n")
        kept = text[:room]
        room -= len(kept)
        # Each line begins with a space, so that none can pass for a label or a line of ours.
        lines = (f" {line}" for line in quoted(harmless(kept)).split("\n"))
        shown.append(
            {
                "folder": one_name(document.folder),
                "name": f"a {NAME}" if document.is_code_law else f"the file {one_name(document.name)}",
                "text": "\n".join(lines),
                "cut": len(kept) < len(text),
                "shown": len(kept),
                "characters": len(text),
            }
        )
    return Fragment("restricted", render("restricted", documents=shown, labelled=len({law.folder for law in laws}) > 1))
