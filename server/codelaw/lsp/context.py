"""What the requests of one client work with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from codelaw.app.session import Session
    from codelaw.lsp.cancelling import Spawner
    from codelaw.lsp.client import Client
    from codelaw.lsp.client_calls.approver import ClientApprover
    from codelaw.lsp.client_calls.edits import ClientEditor
    from codelaw.lsp.client_calls.window import ClientUI
    from codelaw.lsp.configuration import Configuration
    from codelaw.lsp.documents.documents import EditorDocuments
    from codelaw.lsp.folders import Folders
    from codelaw.lsp.transport.rpc import Rpc
    from codelaw.ports.cancelling import Scopes


@dataclass(slots=True, kw_only=True)
class Context:
    """The client, what is open in it, and the session behind it."""

    rpc: Rpc
    client: Client
    documents: EditorDocuments
    folders: Folders
    configuration: Configuration
    arrived: Scopes
    """The requests that begin something and are not answered yet."""
    home: Path
    """The data folder."""
    spawn: Spawner
    ui: ClientUI
    approver: ClientApprover
    editor: ClientEditor
    session: Session = field(init=False)
    """There when it is opened."""
