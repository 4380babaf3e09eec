"""PERSONA: the manner that the user has chosen for the model, as a module of L1 (L-2)."""

from __future__ import annotations

import re

from codelaw.templates.render import render
from codelaw.transcript.summaries.harmless import harmless

LONGEST = 8_000
"""Characters of a persona: some two thousand tokens in every request."""

# What nobody sees, and a model reads all the same. What joins letters in scripts and pictures stays.
_UNSEEN = re.compile("[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\uffa0]")
_UNSEEN_TAGS = re.compile("[\U000e0000-\U000e0fff]")
_OWN_TAG = re.compile(r"<(?=\s*/?\s*persona)", re.IGNORECASE)


def persona_module(text: str | None) -> str:
    """The module; empty where there is no persona.

    The text keeps its lines. It can end no block of ours and speak for no role, and holds nothing that a person does
    not see; it is a value of the template, so that a placeholder in it stays what it is.
    """
    if not text or not text.strip():
        return ""
    seen = _UNSEEN_TAGS.sub("", _UNSEEN.sub("", text))
    return render("persona", persona=_OWN_TAG.sub("&lt;", harmless(seen)).strip())
