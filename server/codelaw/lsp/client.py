"""What the client can do, as it said at `initialize`, and what the server says to that (V-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from lsprotocol import types

from codelaw.lsp.transport.structuring import converter
from codelaw.protocol.names import CLIENT_METHODS, COMMANDS, EDITOR_COMMANDS, EDITOR_TRUST, VERSION

SERVICES = ("diagnostics", "definition", "references", "rename", "quickFix", "symbols", "outline", "terminal")


@dataclass(frozen=True, slots=True)
class Client:
    """Features of the connected client."""

    name: str = "unknown"
    events: bool = False
    """It takes `codelaw/chat/event`."""
    approvals: bool = False
    """It answers `codelaw/approval/request`."""
    progress: bool = False
    """It shows `window/workDoneProgress`."""
    documents: bool = False
    """It answers `window/showDocument`."""
    configuration: bool = False
    """It answers `workspace/configuration`."""
    watching: bool = False
    """It can be asked to watch files."""
    relative_patterns: bool = False
    edits: bool = False
    """It takes `workspace/applyEdit` with versioned `documentChanges`."""
    annotations: bool = False
    """It knows change annotations, so that a user can confirm each part of an edit."""
    saves: bool = False
    """It answers `codelaw/editor/save`."""
    proposals: bool = False
    """It shows by itself what an edit of a selection proposes, and asks `codelaw.editor.proposal` for it (E-3)."""
    lends: bool = False
    """It answers `codelaw/editor/models` and `codelaw/editor/model` (P-7)."""
    lends_tools: bool = False
    """It answers `codelaw/editor/tools` and `codelaw/editor/tool` (P-7)."""
    services: frozenset[str] = frozenset()
    """What it answers of `codelaw/editor/…`, of `SERVICES`."""
    applies: bool = False
    """It takes `workspace/applyEdit`, if only without versions."""
    actions: bool = False
    """It takes code actions with a kind, not commands alone."""
    outlines: bool = False
    """It takes document symbols inside each other."""
    contents: bool = False
    """It asks for `workspace/textDocumentContent`."""
    related: bool = False
    """It shows what a diagnostic is related to."""
    markdown: bool = False
    """It shows Markdown in a hover."""
    selective: bool = False
    """It takes hover and completion for some documents alone."""
    lens_refresh: bool = False
    """It answers `workspace/codeLens/refresh`."""
    trusted: bool = True
    """The editor trusts the folder; what it says later comes by `codelaw/workspace/editorTrust` (S-7)."""
    ignores_settings: bool = False
    """Its user goes on without settings that cannot be read, and is asked about every write and command (S-1)."""
    servers: bool = False
    """It asks the user itself about the servers of `codelaw/mcp/list` that have `ask` (X-3)."""
    short_lived: bool = False
    """It asks one thing and ends: nothing is started ahead of a turn."""
    process_id: int | None = None


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

_DECLARED = {
    "progress": "window.workDoneProgress",
    "documents": "window.showDocument.support",
    "configuration": "workspace.configuration",
    "watching": "workspace.didChangeWatchedFiles.dynamicRegistration",
    "relative_patterns": "workspace.didChangeWatchedFiles.relativePatternSupport",
    "applies": "workspace.applyEdit",
    "edits": "workspace.workspaceEdit.documentChanges",
    "annotations": "workspace.workspaceEdit.changeAnnotationSupport",
    "actions": "textDocument.codeAction.codeActionLiteralSupport",
    "outlines": "textDocument.documentSymbol.hierarchicalDocumentSymbolSupport",
    "contents": "workspace.textDocumentContent",
    "related": "textDocument.publishDiagnostics.relatedInformation",
    "selective": "textDocument.hover.dynamicRegistration",
    "lens_refresh": "workspace.codeLens.refreshSupport",
    "events": "experimental.codelaw.events",
    "approvals": "experimental.codelaw.approvals",
    "servers": "experimental.codelaw.servers",
    "short_lived": "experimental.codelaw.shortLived",
    "saves": "experimental.codelaw.editor.save",
    "proposals": "experimental.codelaw.editor.proposals",
    "lends": "experimental.codelaw.editor.model",
    "lends_tools": "experimental.codelaw.editor.tool",
}
"""Where a client declares a feature: by an object, or by `true`; `{}` and `[]` (an empty Lua table) both count."""


def client_of(params: types.InitializeParams) -> Client:
    """Read a client's features; whatever it leaves out it cannot do."""
    given: Any = converter().unstructure(params.capabilities)
    declared = {name: _declared(given, place) for name, place in _DECLARED.items()}
    declared["edits"] &= declared["applies"]
    declared["selective"] &= _declared(given, "textDocument.completion.dynamicRegistration")
    ours = "experimental.codelaw"
    return Client(
        **declared,
        name=params.client_info.name if params.client_info else "unknown",
        services=frozenset(name for name in SERVICES if _declared(given, f"{ours}.editor.{name}")),
        markdown=types.MarkupKind.Markdown in (_at(given, "textDocument.hover.contentFormat") or ()),
        trusted=_at(given, f"{ours}.workspaceTrusted") in (None, True),
        ignores_settings=_at(given, f"{ours}.ignoreSettings") is True,
        process_id=params.process_id,
    )


def _declared(given: Any, place: str) -> bool:
    return _at(given, place) not in (None, False)


def _at(given: Any, place: str) -> Any:
    for name in place.split("."):
        given = cast("Mapping[str, Any]", given).get(name) if isinstance(given, Mapping) else None
    return given


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
        # Where it can be said for which documents they are, that is said later, by `lsp/server/registering`.
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
