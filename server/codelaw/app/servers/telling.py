"""What a chat is told of how servers are doing (X-3)."""

from __future__ import annotations

from codelaw.domain.chats import Notice
from codelaw.domain.served import ServerState

STARTING = "mcp_starting"
_NOTICES = {"needs_trust": "is not started", "needs_auth": "wants you to log in", "failed": "cannot be used"}
"""What a chat is told of a server that is doing so."""


def notice(state: ServerState, *, once: bool) -> Notice | None:
    """What a chat is told once; None where there is nothing to be told. `once` as for `hint`."""
    if (said := _NOTICES.get(state.state)) is None:
        return None
    way = f" {hint(state.name, once=once)}" if state.state == "needs_trust" else ""
    return Notice("warning", f"mcp_{state.state}", f"The server {state.name} {said}. {state.message}{way}")


def hint(name: str, *, once: bool) -> str:
    """How the user lets a server start; `once`: the answer is good in this process alone, and so not in a terminal."""
    terminal = "" if once else f"`codelaw mcp enable {name}`, or "
    return f"If you want that: {terminal}the list of servers in the panel."


def is_awaited(state: ServerState) -> bool:
    """Whether it is starting, and its tools are not there: one that begins anew keeps them."""
    return state.state == "starting" and not state.tools


def late(state: ServerState) -> Notice:
    """That a turn goes without one that is starting."""
    message = f"The server {state.name} is still starting: this turn does without it, the next one looks again."
    return Notice("info", STARTING, message)
