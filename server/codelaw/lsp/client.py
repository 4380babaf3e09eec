"""What the client can do, as it said at `initialize`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from lsprotocol import types

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


def client_of(params: types.InitializeParams) -> Client:
    """Read a client's features; whatever it leaves out it cannot do."""
    window = params.capabilities.window or types.WindowClientCapabilities()
    workspace = params.capabilities.workspace or types.WorkspaceClientCapabilities()
    watched = workspace.did_change_watched_files or types.DidChangeWatchedFilesClientCapabilities()
    edit = workspace.workspace_edit or types.WorkspaceEditClientCapabilities()
    lens = workspace.code_lens or types.CodeLensWorkspaceClientCapabilities()
    text = params.capabilities.text_document or types.TextDocumentClientCapabilities()
    action = text.code_action or types.CodeActionClientCapabilities()
    symbol = text.document_symbol or types.DocumentSymbolClientCapabilities()
    published = text.publish_diagnostics or types.PublishDiagnosticsClientCapabilities()
    hover = text.hover or types.HoverClientCapabilities()
    completion = text.completion or types.CompletionClientCapabilities()
    ours = _table(_table(params.capabilities.experimental).get("codelaw"))
    editor = _table(ours.get("editor"))
    return Client(
        name=params.client_info.name if params.client_info else "unknown",
        events=_declared(ours, "events"),
        approvals=_declared(ours, "approvals"),
        progress=bool(window.work_done_progress),
        documents=bool(window.show_document and window.show_document.support),
        configuration=bool(workspace.configuration),
        watching=bool(watched.dynamic_registration),
        relative_patterns=bool(watched.relative_pattern_support),
        edits=bool(workspace.apply_edit and edit.document_changes),
        annotations=edit.change_annotation_support is not None,
        saves=_declared(editor, "save"),
        proposals=_declared(editor, "proposals"),
        services=frozenset(name for name in SERVICES if _declared(editor, name)),
        applies=bool(workspace.apply_edit),
        actions=action.code_action_literal_support is not None,
        outlines=bool(symbol.hierarchical_document_symbol_support),
        contents=workspace.text_document_content is not None,
        related=bool(published.related_information),
        selective=bool(hover.dynamic_registration and completion.dynamic_registration),
        markdown=types.MarkupKind.Markdown in (hover.content_format or ()),
        lens_refresh=bool(lens.refresh_support),
        servers=_declared(ours, "servers"),
        ignores_settings=ours.get("ignoreSettings") is True,
        short_lived=_declared(ours, "shortLived"),
        trusted=ours.get("workspaceTrusted") in (None, True),
        process_id=params.process_id,
    )


def _declared(ours: Mapping[str, Any], feature: str) -> bool:
    """Declared by an object, or by `true`; `{}` and `[]` (an empty Lua table) both count."""
    value = ours.get(feature)
    return value is not None and value is not False


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
