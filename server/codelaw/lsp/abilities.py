"""What the server says it can do, read off what the client can (V-4)."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from codelaw.lsp.client import Client
from codelaw.protocol.names import CLIENT_METHODS, COMMANDS, VERSION

STANDARD: tuple[str, ...] = ()
"""The methods of LSP itself that `lsp/standard` answers."""


def abilities(client: Client, encoding: Any) -> types.ServerCapabilities:
    """The server's capabilities for this client."""
    del client
    return types.ServerCapabilities(
        position_encoding=encoding,
        text_document_sync=types.TextDocumentSyncOptions(
            open_close=True,
            change=types.TextDocumentSyncKind.Incremental,
            save=types.SaveOptions(include_text=False),
        ),
        execute_command_provider=types.ExecuteCommandOptions(commands=list(COMMANDS)),
        workspace=types.WorkspaceOptions(
            workspace_folders=types.WorkspaceFoldersServerCapabilities(supported=True, change_notifications=True)
        ),
        experimental={"codelaw": {"version": VERSION, "methods": list(CLIENT_METHODS)}},
    )
