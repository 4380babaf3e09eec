"""The table of requests from client to server, joined from the rows that stand with their types."""

from __future__ import annotations

from codelaw.protocol import (
    brought,
    changes,
    chats,
    contexts,
    events,
    memories,
    models,
    permissions,
    searching,
    servers,
    workspaces,
)
from codelaw.protocol.names import CLIENT_METHODS

_ROWS = {
    name: method
    for part in (
        chats,
        changes,
        events,
        contexts,
        memories,
        workspaces,
        permissions,
        models,
        brought,
        servers,
        searching,
    )
    for name, method in part.METHODS.items()
}

METHODS = {name: _ROWS[name] for name in CLIENT_METHODS}
