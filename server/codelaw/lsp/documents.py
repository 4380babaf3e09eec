"""The documents open in the editor, kept in step by text synchronisation (F-1).

pygls reads the disk for a document that is not open and counts lines as Python does; here neither happens.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from lsprotocol import types
from pygls.uris import to_fs_path

from codelaw.domain.files import Buffer
from codelaw.lsp.positions import Encoding, line_starts, offset

DocumentMoment = Literal["opened", "changed", "closed", "saved"]


class EditorDocuments:
    """Open buffers by uri and by path. Changed on the event loop only; may be asked from any thread."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self._by_uri: dict[str, Buffer] = {}
        self._by_path: dict[Path, str] = {}
        self._resolving: set[asyncio.Task[None]] = set()

    def at(self, path: Path) -> Buffer | None:
        """The buffer of the file at `path` (absolute, symlinks resolved), if it is open."""
        uri = self._by_path.get(path)
        return self._by_uri.get(uri) if uri is not None else None

    def all(self) -> Sequence[Buffer]:
        """Every open document."""
        return list(self._by_uri.values())

    def get(self, uri: str) -> Buffer | None:
        """The document with that uri, if it is open."""
        return self._by_uri.get(uri)

    def opened(self, item: types.TextDocumentItem) -> None:
        """A document was opened; opening it again replaces its text."""
        path = path_of(item.uri)
        self._by_uri[item.uri] = Buffer(item.uri, path, item.text, item.version, item.language_id)
        if path is not None:
            self._by_path[path] = item.uri
            task = asyncio.get_running_loop().create_task(self._resolve(item.uri, path))
            self._resolving.add(task)
            task.add_done_callback(self._resolving.discard)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply changes in order; a change of a document that is not open is ignored."""
        buffer = self._by_uri.get(params.text_document.uri)
        if buffer is None:
            return
        text = buffer.text
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                text = self._spliced(text, change)
            else:
                text = change.text
        self._by_uri[buffer.uri] = replace(buffer, text=text, version=params.text_document.version)

    def closed(self, uri: str) -> None:
        """A document was closed: the disk is the truth again."""
        if self._by_uri.pop(uri, None) is not None:
            self._by_path = {path: other for path, other in self._by_path.items() if other != uri}

    async def settled(self) -> None:
        """Wait until the symlinks in every open document's path are resolved."""
        while self._resolving:
            await asyncio.wait(set(self._resolving))

    async def _resolve(self, uri: str, path: Path) -> None:
        real = await asyncio.to_thread(resolved, path)
        buffer = self._by_uri.get(uri)
        if buffer is not None and real != path:
            self._by_uri[uri] = replace(buffer, path=real)
            self._by_path[real] = uri

    def _spliced(self, text: str, change: types.TextDocumentContentChangePartial) -> str:
        starts = line_starts(text)
        begin, end = change.range.start, change.range.end
        first = offset(text, starts, begin.line, begin.character, self.encoding)
        last = offset(text, starts, end.line, end.character, self.encoding)
        return text[:first] + change.text + text[max(first, last) :]


def path_of(uri: str) -> Path | None:
    """The file a uri names, normalised without touching the disk; None for `untitled:` and other schemes."""
    if not uri.startswith("file:"):
        return None
    try:
        path = to_fs_path(uri)
    except ValueError:
        return None
    if not path or "\0" in path or not Path(path).is_absolute():
        return None
    return Path(os.path.normpath(path))


def resolved(path: Path) -> Path:
    """`path` with its symlinks resolved, or as it is where that fails. Touches the disk."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
