"""What the tools of servers are called by models and rules, and why one of them is not there (X-3)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from codelaw.domain.safety.unseen import title
from codelaw.domain.served import ServerState
from codelaw.tools.served.schemas import words

LONGEST_WHY = 400
"""Characters of what is known of a server's failure."""
PERHAPS_LATE = (
    "Its server {server} is ready; where it was not when this turn began, the tool can be called in the next turn."
)


def server_meant(tool: str, states: Sequence[ServerState]) -> ServerState | None:
    """The server of these whose tool has that name."""
    return next((one for one in states if tool.startswith(f"mcp__{one.name}__")), None)


_WHY = {
    "starting": "is still starting, so that {named} cannot be called in this turn, perhaps in the next.",
    "failed": "has failed, so that {named} cannot be called. {said}",
    "needs_auth": "waits for the user to log in to it, so that {named} cannot be called.",
    "needs_trust": "is not enabled: the user has not let it start, so that {named} cannot be called.",
    "off": "is not running, so that {named} cannot be called. {said}",
}


def why_missing(tool: str, server: ServerState) -> str | None:
    """Why there is no tool of this name, by how its server is doing; None where that is ready."""
    why = _WHY.get(server.state, "").format(named=title(tool, 100), said=words(server.message, LONGEST_WHY))
    return f"The server {server.name} {why}".rstrip() if why else None


LONGEST = 64
"""Characters of a tool's name that every vendor takes."""
_MARK = 6


def tool_name(server: str, tool: str) -> str:
    """`mcp__server__tool`, of letters, digits, `_` and `-` alone; the same for the same two at any time.

    A name that has to be changed or cut ends with a mark of its own, so that no two become one.
    """
    prefix = f"mcp__{server}__"
    room = LONGEST - len(prefix)
    plain = re.sub("[^a-zA-Z0-9_-]", "_", tool)
    if plain == tool and 0 < len(tool) <= room:
        return prefix + tool
    mark = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    return f"{prefix}{plain[: room - _MARK - 1]}_{mark}"
