"""What a model reads of a tool that it has found: its manual, bounded, since somebody else has written it (X-11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.tools.manual import remarks

if TYPE_CHECKING:
    from codelaw.tools.base import AnyTool

DESCRIPTION = 1_500
"""Characters of a description."""
SIGNATURE = 1_500
REMARK = 200
"""Characters of what is said of one argument."""
REMARKS = 1_500
"""The same of all arguments."""


def manual_of(tool: AnyTool) -> str:
    """Name and arguments, description, what is said of single arguments, each cut where it is too long."""
    lines = [f"{tool.name}[{{{cut(tool.signature(), SIGNATURE)}}}]", cut(tool.description.strip(), DESCRIPTION)]
    room = REMARKS
    for argument, words in remarks(tool.schema()):
        line = f"  {argument}: {cut(' '.join(words[: 2 * REMARK].split()), REMARK)}"
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return "\n".join(filter(None, lines))


def cut(text: str, most: int) -> str:
    """The beginning of a text, with a mark where it goes on."""
    return text if len(text) <= most else f"{text[: most - 2]} …"
