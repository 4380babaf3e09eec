"""Whether the tools that people bring along stand in the prompt or are found (X-11). Pure, decided once for a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelaw.context.tokens import estimate
from codelaw.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import Dialect
    from codelaw.tools.base import AnyTool
    from codelaw.tools.finding.find_tools import Described

AGAIN = 0.75
"""The part of their share that the manuals must fit into to be described again, once they were found."""


def arranged(
    toolbox: Toolbox, dialect: Dialect, room: int, *, found_before: bool = False, skills: Sequence[Described] = ()
) -> Toolbox:
    """The toolbox as its turn has it.

    Between `AGAIN` and the whole of its share nothing changes: a server that gains or loses a tool there moves no tool
    into the prompt or out of it, which would cost the cache of all that follows (L-6).

    Args:
        toolbox: All tools of the mode.
        dialect: How they would be described.
        room: Tokens that the manuals of all brought tools together may take.
        found_before: The chat's last turn had them to be found.
        skills: Names and descriptions of the skills that the index leaves out (X-2).
    """
    deferring = exceeds(toolbox.brought, dialect, int(room * AGAIN) if found_before else room)
    made = toolbox.searched(skills, deferring=deferring)
    return made.calling() if dialect.name == "native" else made


def exceeds(tools: Sequence[AnyTool], dialect: Dialect, room: int) -> bool:
    """Whether the tools take more tokens than `room`, as the dialect spells them; looks at no more of them than that.

    The estimate is not corrected by what is learned of a model, so that it stays the same (W-4).
    """
    taken = 0
    for tool in tools:
        alone = Toolbox((), [tool])
        taken += estimate(dialect.description(alone)) + estimate(dialect.schemas(alone))
        if taken > room:
            return True
    return False
