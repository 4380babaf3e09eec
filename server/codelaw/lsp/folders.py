"""The workspace's folders as the client names them (V-4)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from codelaw.domain.files import Folder
from codelaw.lsp.documents.documents import path_of, resolved


class Folders:
    """Workspace folders by uri, in the client's order."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def begin(self, params: types.InitializeParams) -> None:
        """The folders of `initialize`, or its older `rootUri` and `rootPath`."""
        if params.workspace_folders:
            self.change(params.workspace_folders, ())
            return
        uri = params.root_uri or (from_fs_path(params.root_path) if params.root_path else None)
        if uri:
            self._names[uri] = ""

    def change(self, added: Iterable[types.WorkspaceFolder], removed: Iterable[types.WorkspaceFolder]) -> None:
        """Folders came and went; one that is in both stays."""
        for folder in removed:
            self._names.pop(folder.uri, None)
        for folder in added:
            self._names[folder.uri] = folder.name

    @property
    def uris(self) -> list[str]:
        return list(self._names)

    def named(self) -> list[tuple[str, Path, str]]:
        """Those on the disk: the name that each goes by, which no other has, its path as it was given, and its uri."""
        found: list[tuple[str, Path, str]] = []
        taken: set[str] = set()
        for uri, name in list(self._names.items()):
            path = path_of(uri)
            if path is not None:
                found.append((_free_name(name.replace("/", "-") or path.name or "root", taken), path, uri))
        return found

    def resolve(self) -> list[Folder]:
        """As the engine knows them: folders on disk, symlinks resolved, under different names. Touches the disk."""
        return [Folder(name, resolved(path), uri) for name, path, uri in self.named()]


def _free_name(name: str, taken: set[str]) -> str:
    """`name`, with a number behind it when another folder has it."""
    free, number = name, 2
    while free in taken:
        free = f"{name}-{number}"
        number += 1
    taken.add(free)
    return free
