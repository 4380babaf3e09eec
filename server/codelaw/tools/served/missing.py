"""Why a tool of a server's is not there: what a model is told that calls it (X-3)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.domain.safety.unseen import title
from codelaw.domain.served import ServerState
from codelaw.tools.served.schemas import words

LONGEST = 400
"""Characters of what is known of a server's failure."""
PERHAPS_LATE = (
    "Its server {server} is ready; where it was not when this turn began, the tool can be called in the next turn."
)


def server_meant(tool: str, states: Sequence[ServerState]) -> ServerState | None:
    """The server of these whose tool has that name."""
    return next((one for one in states if tool.startswith(f"mcp__{one.name}__")), None)


def why_missing(tool: str, server: ServerState) -> str | None:
    """Why there is no tool of this name, by how its server is doing; None where that is ready."""
    named, said = title(tool, 100), words(server.message, LONGEST)
    match server.state:
        case "ready":
            return None
        case "starting":
            why = f"is still starting, so that {named} cannot be called in this turn, perhaps in the next."
        case "failed":
            why = f"has failed, so that {named} cannot be called. {said}"
        case "needs_auth":
            why = f"waits for the user to log in to it, so that {named} cannot be called."
        case "needs_trust":
            why = f"is not enabled: the user has not let it start, so that {named} cannot be called."
        case "off":
            why = f"is not running, so that {named} cannot be called. {said}"
    return f"The server {server.name} {why}".rstrip()
