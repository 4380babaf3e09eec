"""What the server says it can do, read off what the client can (V-4)."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from codelaw.lsp.client import Client
from codelaw.protocol.names import CLIENT_METHODS, COMMANDS, EDITOR_COMMANDS, EDITOR_TRUST, VERSION

TRIGGERS = ("@", "/")
"""Characters that begin a path, or a part of one, in the law and in chat files."""
STANDARD: tuple[str, ...] = (
    types.TEXT_DOCUMENT_HOVER,
    types.TEXT_DOCUMENT_COMPLETION,
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.TEXT_DOCUMENT_CODE_LENS,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
    types.TEXT_DOCUMENT_FOLDING_RANGE,
    types.WORKSPACE_TEXT_DOCUMENT_CONTENT,
)
"""The methods of LSP itself that `lsp/methods/handlers` has answers for."""


def abilities(client: Client, encoding: Any) -> types.ServerCapabilities:
    """The server's capabilities for this client."""
    contents = types.TextDocumentContentOptions(["codelaw-chat"]) if client.contents else None
    kinds: list[Any] = ["quickfix", "refactor"]
    return types.ServerCapabilities(
        position_encoding=encoding,
        text_document_sync=types.TextDocumentSyncOptions(
            open_close=True,
            change=types.TextDocumentSyncKind.Incremental,
            will_save=True,
            save=types.SaveOptions(include_text=False),
        ),
        # Where it can be said for which documents they are, that is said later, by `lsp/server/dynamic_registration`.
        hover_provider=None if client.selective else True,
        completion_provider=None if client.selective else types.CompletionOptions(list(TRIGGERS)),
        code_action_provider=types.CodeActionOptions(code_action_kinds=kinds) if client.actions else True,
        code_lens_provider=types.CodeLensOptions(resolve_provider=False),
        document_symbol_provider=True,
        folding_range_provider=True,
        execute_command_provider=types.ExecuteCommandOptions(commands=[*COMMANDS, *EDITOR_COMMANDS]),
        workspace=types.WorkspaceOptions(
            workspace_folders=types.WorkspaceFoldersServerCapabilities(supported=True, change_notifications=True),
            text_document_content=contents,
        ),
        experimental={
            "codelaw": {"version": VERSION, "methods": list(CLIENT_METHODS), "notifications": [EDITOR_TRUST]}
        },
    )
