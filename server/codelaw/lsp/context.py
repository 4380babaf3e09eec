"""What the requests of one client work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from codelaw.app.session import Session
    from codelaw.lsp.cancelling import Spawner
    from codelaw.lsp.client import Client
    from codelaw.lsp.configuration import Configuration
    from codelaw.lsp.documents.documents import EditorDocuments
    from codelaw.lsp.folders import Folders
    from codelaw.lsp.transport.rpc import Rpc
    from codelaw.lsp.ui import ClientUI
    from codelaw.ports.cancelling import Scopes


@dataclass(frozen=True, slots=True)
class Context:
    """The client, what is open in it, and the session behind it."""

    rpc: Rpc
    client: Client
    documents: EditorDocuments
    folders: Folders
    configuration: Configuration
    session: Session
    ui: ClientUI
    arrived: Scopes
    """The requests that begin something and are not answered yet."""
    home: Path
    """The data folder."""
    spawn: Spawner
