"""Files and processes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from codelaw.domain.files import Buffer, Entry, FileText, Folder, Found, Hits, Located, ProcessResult, Stamp


class OpenDocuments(Protocol):
    """The documents open in the editor; answers at once and never reads the disk (F-1)."""

    def at(self, path: Path) -> Buffer | None:
        """The buffer of the file at `path` (absolute, resolved), if it is open."""
        ...

    def all(self) -> Sequence[Buffer]:
        """Every open document, `untitled:` ones included."""
        ...


class Workspace(Protocol):
    """The folders the user opened, seen through the editor's buffers first.

    Every method but `folders` and `buffers` may touch the disk; the async ones do it off the event loop; `locate`, as
    it resolves symlinks, is for the caller to put into a thread.
    """

    @property
    def folders(self) -> tuple[Folder, ...]: ...

    @property
    def buffers(self) -> OpenDocuments: ...

    def locate(self, path: str) -> Located:
        """Where `path`, as the model wrote it, lies (T-2).

        Raises:
            ToolFailure: ACCESS_DENIED outside the workspace; INVALID_PARAM for a path no file can have, or where no
                folder is open.
        """
        ...

    async def read(self, located: Located) -> FileText:
        """The text: the open buffer if there is one, else the disk.

        Raises:
            ToolFailure: NOT_FOUND, IS_DIRECTORY, BINARY_FILE (a NUL in the first 8 KiB), ACCESS_DENIED.
        """
        ...

    async def write(self, located: Located, text: str, *, over: FileText | None) -> FileText:
        """Replace the file atomically, creating folders; mode bits, symlinks, encoding and BOM of `over` are kept.

        `over` is what the new text was made from (None: the file must not exist). It is checked at the last moment.

        Raises:
            ToolFailure: CONFLICT when the content is no longer `over`, or an open buffer differs from the disk;
                ACCESS_DENIED.
        """
        ...

    async def entries(self, located: Located, *, hidden: bool, ignored: bool) -> list[Entry]:
        """The names in a folder, unsorted. `ignored` includes what ignore files leave out."""
        ...

    async def exists(self, located: Located) -> str | None:
        """`file`, `folder` or None; an open buffer counts as a file."""
        ...

    async def stamps(self, located: Sequence[Located]) -> list[Stamp | None]:
        """The stamp of each file, None where there is none; reads no content."""
        ...

    async def walk(self, starts: Sequence[Located], pattern: str, *, max_visits: int, seconds: float) -> Found:
        """Files below `starts` that match a glob; hidden and ignored ones left out, open buffers included (T-3)."""
        ...

    async def search(
        self,
        starts: Sequence[Located],
        pattern: str,
        *,
        glob: str | None,
        case_sensitive: bool,
        limit: int,
        seconds: float,
    ) -> Hits:
        """The lines below `starts` that match a regular expression; open buffers stand for their files (T-3, F-1).

        Raises:
            ToolFailure: INVALID_PARAM naming syntax that is not common to every engine.
        """
        ...


class Processes(Protocol):
    """Commands in their own process group, with a scrubbed environment (T-6)."""

    sandboxed: bool

    async def run(self, command: str, *, cwd: Path, timeout: float) -> ProcessResult:
        """Run a shell command; cancelling the task kills the whole group. `timeout` is in seconds."""
        ...
