"""The documents open in the editor, kept in step by text synchronisation (F-1).

pygls reads the disk for a document that is not open and counts lines as Python does; here neither happens.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from lsprotocol import types
from pygls.uris import to_fs_path

from codelaw.domain.files import Buffer
from codelaw.lsp.documents.positions import Encoding, SplicedText

KEPT_TEXTS = 3
KEPT_FORMATTED = 64
"""Files whose formattings are remembered (S-6)."""
KEPT_FORMATTINGS = 8
"""Of one file that are remembered (S-6)."""
DocumentMoment = Literal["opened", "changed", "closed", "saved"]


class Follow:
    """The texts that a document has had since it is followed, also those inside one notification."""

    def __init__(self, wanted: str | None = None) -> None:
        self.texts: deque[str] = deque(maxlen=KEPT_TEXTS)
        """The newest of them."""
        self.met = False
        """The wanted text was among them."""
        self.closed = False
        self._wanted = wanted
        self._news = asyncio.Event()

    def may_want(self, characters: int) -> bool:
        """Whether a text of so many characters may be the wanted one."""
        return self._wanted is not None and len(self._wanted) == characters

    def saw(self, text: str) -> None:
        """The document has this text now."""
        self.texts.append(text)
        self.met = self.met or text == self._wanted
        self._news.set()

    def ended(self) -> None:
        """The document was closed."""
        self.closed = True
        self._news.set()

    async def more(self) -> None:
        """Wait for the next text, or the end."""
        await self._news.wait()
        self._news.clear()


class EditorDocuments:
    """Open buffers by uri and by path. Changed on the event loop only; may be asked from any thread."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self._follows: dict[str, list[Follow]] = {}
        self._saving: dict[str, str] = {}
        self._formed: dict[Path | str, list[tuple[str, str]]] = {}
        self._saves: Counter[Path | str] = Counter()
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
        for follow in self._follows.get(item.uri, ()):
            follow.saw(item.text)
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
        follows = self._follows.get(buffer.uri, ())
        if len(params.content_changes) == 1 and _is_typed(params.content_changes[0]):
            # Somebody types while the editor saves: what comes of it is not a formatter's work alone.
            self._saving.pop(buffer.uri, None)
        spliced = SplicedText(buffer.text, self.encoding)
        for left, change in zip(range(len(params.content_changes), 0, -1), params.content_changes, strict=True):
            if isinstance(change, types.TextDocumentContentChangePartial):
                begin, end = change.range.start, change.range.end
                spliced.splice((begin.line, begin.character), (end.line, end.character), change.text)
            else:
                spliced = SplicedText(change.text, self.encoding)
            for follow in follows:
                # A text costs as much as the document has characters: nobody needs every one between.
                if left <= KEPT_TEXTS or follow.may_want(len(spliced)):
                    follow.saw(spliced.text)
        self._by_uri[buffer.uri] = replace(buffer, text=spliced.text, version=params.text_document.version)

    def closed(self, uri: str) -> None:
        """A document was closed: the disk is the truth again."""
        if self._by_uri.pop(uri, None) is not None:
            self._by_path = {path: other for path, other in self._by_path.items() if other != uri}
            for other in self._by_uri.values():
                if other.path is not None:
                    self._by_path.setdefault(other.path, other.uri)
            self._saving.pop(uri, None)
            for follow in self._follows.get(uri, ()):
                follow.ended()

    @contextmanager
    def following(self, uri: str, wanted: str | None = None) -> Generator[Follow]:
        """Watch a document's text for a while, and for the `wanted` one."""
        follow = Follow(wanted)
        self._follows.setdefault(uri, []).append(follow)
        try:
            yield follow
        finally:
            self._follows[uri].remove(follow)
            if not self._follows[uri]:
                del self._follows[uri]

    def saving(self, uri: str) -> None:
        """The editor begins to save: what changes until it has is its formatter's work, nobody's edit (F-2)."""
        buffer = self._by_uri.get(uri)
        if buffer is not None:
            self._saving[uri] = buffer.text

    def saved(self, uri: str) -> None:
        """The editor has saved."""
        before, buffer = self._saving.pop(uri, None), self._by_uri.get(uri)
        if buffer is not None:
            self._saves[buffer.path or uri] += 1
        if before is not None and buffer is not None and buffer.text != before:
            formed = self._formed.setdefault(buffer.path or uri, [])
            formed.append((before, buffer.text))
            del formed[:-KEPT_FORMATTINGS]
            while len(self._formed) > KEPT_FORMATTED:
                del self._formed[next(iter(self._formed))]

    def saves(self, path: Path) -> int:
        """How often the editor has saved the file."""
        return self._saves[path]

    def formed(self, path: Path) -> Sequence[tuple[str, str]]:
        """What saving has made of a file's text: before and after, oldest first."""
        return tuple(self._formed.get(path, ()))

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


def _is_typed(change: types.TextDocumentContentChangeEvent) -> bool:
    """Whether it looks like a keystroke: an insertion of more than white space."""
    if not isinstance(change, types.TextDocumentContentChangePartial):
        return False
    return change.range.start == change.range.end and bool(change.text.strip())


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
