"""What all fragments of mentions have in common: how long they are, and how foreign text stands in them (R-5)."""

from __future__ import annotations

from codelaw.context.escaping import escaped, one_name, quoted
from codelaw.context.observations.layout import block

LONGEST = 24_000
"""Characters of what one mention brings."""
NAMED = 200
"""Characters of a name that is shown."""


def foreign(text: str) -> str:
    """A text of several lines, each behind a space, so that none can be a label or close a tag of ours."""
    return quoted(block(escaped(text)))


def attribute(name: str) -> str:
    """A name as it may stand in an attribute of a tag of ours."""
    return one_name(name)[:NAMED].replace('"', "'")
