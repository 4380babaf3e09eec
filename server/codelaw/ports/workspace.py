"""Files and processes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import (
    Buffer,
    Entry,
    FileImage,
    FilePart,
    FileText,
    Folder,
    Found,
    Hits,
    Located,
    OutputStream,
    ProcessResult,
    Stamp,
    Survey,
    UnseenChange,
)


class OpenDocuments(Protocol):
    """The documents open in the editor; answers at once and never reads the disk (F-1)."""

    def at(self, path: Path) -> Buffer | None:
        """The buffer of the file at `path` (absolute, resolved), if it is open."""
        ...

    def all(self) -> Sequence[Buffer]:
        """Every open document, `untitled:` ones included."""
        ...

    def saves(self, path: Path) -> int:
        """How often the editor has saved the file; what a person saved is not what a command did."""
        ...

    def formed(self, path: Path) -> Sequence[tuple[str, str]]:
        """What saving has lately made of the text of a file, open or not: before and after, oldest first."""
        ...


class Hiding(Protocol):
    """What is kept back; equal ones keep back the same."""

    def hides(self, shown: str) -> bool:
        """Whether the file with this path, as shown, is left out and not counted (S-1)."""
        ...


class ObeyedFiles(Protocol):
    """Files that codelaw itself obeys: law, skills, commands, agents, programs of hooks (S-8).

    What a command has made of one counts only when the user has seen it, or a ref held it before. A `path` is as the
    workspace takes it, and as codelaw looks for the file: no link in it is resolved.
    """

    async def read(self, path: str) -> FileText | None:
        """What counts: the text that is there, else the one that counted last; None where nothing does yet.

        Raises:
            ToolFailure: as `Workspace.read`.
        """
        ...

    async def removed(self, path: str) -> FileText | None:
        """What goes on to count of a file that is not there or cannot be read, because of a command; else None."""
        ...

    async def counts(self, path: str) -> bool:
        """Whether a file counts as it is, or each file of a folder; also what is none, and was none before."""
        ...

    async def unseen(self) -> Sequence[UnseenChange]:
        """What commands have made of files that were looked for, and the user has not answered."""
        ...

    async def settle(self, changes: Sequence[UnseenChange], *, accepted: bool) -> None:
        """The user has answered: they count as they are now, or as before for as long as they stay so."""
        ...


class Workspace(Protocol):
    """The folders the user opened, seen through the editor's buffers first.

    Every method but `folders`, `buffers` and `obeyed` may touch the disk; the async ones do it off the event loop;
    `locate`, as it resolves symlinks, is for the caller to put into a thread.
    """

    @property
    def folders(self) -> tuple[Folder, ...]: ...

    @property
    def buffers(self) -> OpenDocuments: ...

    @property
    def obeyed(self) -> ObeyedFiles: ...

    def without(self, denied: Hiding | None) -> Workspace:
        """The same in which denied files are not there to be looked at (S-1); itself for None.

        Writing is judged before, call by call.
        """
        ...

    def shown(self, path: str) -> str:
        """How an absolute path is shown: relative to the innermost folder, by whose name it begins among several."""
        ...

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

    async def part(self, located: Located, *, first: int, count: int, width: int) -> FilePart | None:
        """`count` lines, from the one-based `first` on, of a file on the disk that is too large for `read`.

        No more than `width` characters of a line are wanted; the file is never in memory as a whole. None for a file
        that `read` reads: an open document, or a smaller one.

        Raises:
            ToolFailure: NOT_FOUND, IS_DIRECTORY, BINARY_FILE, ACCESS_DENIED; INVALID_PARAM where even this is too much.
        """
        ...

    def in_editor(self, located: Located) -> bool:
        """Whether it is an open document that the editor changes for us (F-4)."""
        ...

    def reviews(self, located: Located) -> bool:
        """Whether the user confirms each part of a change of it, in the editor (E-1)."""
        ...

    async def save_edited(self) -> Sequence[str]:
        """Have the editor save what we changed in it and was clean before (F-6).

        Gives the files, as shown, whose open document differs from the disk all the same.
        """
        ...

    async def write(
        self, located: Located, text: str, *, over: FileText | None, label: str = "", review: bool = True
    ) -> FileText:
        """Replace the text.

        An open document is changed in the editor, where it can do that (F-4); a file atomically, creating folders;
        mode bits, symlinks, encoding and BOM of `over` are kept.

        `over` is what the new text was made from (None: the file must not exist). It is checked at the last moment.
        `label` names the change in the editor's undo stack. Under review less than `text` may come of it (E-1);
        without `review` it is not confirmed again, because the user asked for just this change.

        Cancelled, it waits until it is known what came of it: it returns when the change was made all the same.

        Raises:
            ToolFailure: CONFLICT when the content is no longer `over`, or an open buffer differs from the disk;
                ACCESS_DENIED.
        """
        ...

    async def image(self, located: Located, *, most: int | None = None) -> FileImage | None:
        """The file on the disk byte for byte, whatever is open; None when there is none.

        Raises:
            ToolFailure: IS_DIRECTORY, ACCESS_DENIED; INVALID_PARAM when it has more than `most` bytes.
        """
        ...

    async def images(
        self, located: Sequence[Located], *, most: int, total: int
    ) -> list[FileImage | ToolFailure | None]:
        """Many at once, in order; where there is a failure it stands for the image.

        `total` is the most bytes of all together; what does not fit is a failure as if it had more than `most`.
        """
        ...

    async def put_back(self, located: Located, content: bytes, *, over: bytes | None, mode: int | None = None) -> None:
        """Give a file on the disk these bytes, in one step (E-2).

        `over` is what is there now (None: no file), checked at the last moment. `mode` are its permission bits; without
        it they stay, or are those of a new file.

        Raises:
            ToolFailure: CONFLICT when the file is not `over`, or open in the editor with another text than `content`;
                ACCESS_DENIED.
        """
        ...

    async def remove(self, located: Located, *, over: bytes, shown: str | None = None) -> None:
        """Remove a file from the disk (E-2).

        `over` is what is there now, checked at the last moment. `shown` is the text that the editor may have open.

        Raises:
            ToolFailure: CONFLICT when the file is not `over`, or open in the editor with another text; ACCESS_DENIED.
        """
        ...

    async def put_folder(self, located: Located, *, there: bool) -> bool:
        """Make a folder, or remove it where it is empty; False where it is not.

        Raises:
            ToolFailure: ACCESS_DENIED.
        """
        ...

    async def entries(self, located: Located, *, hidden: bool, ignored: bool) -> list[Entry]:
        """The names in a folder, unsorted. `ignored` includes what ignore files leave out."""
        ...

    async def exists(self, located: Located) -> str | None:
        """`file`, `folder` or None; an open buffer counts as a file."""
        ...

    async def is_hidden(self, located: Located) -> bool:
        """Whether a listing of the folders on the way would leave the place out: hidden, or ignored (T-2)."""
        ...

    async def is_obeyed_by_git(self, located: Located) -> bool:
        """Whether git would obey the file as the settings are: hooks, further settings, programs they name (S-8)."""
        ...

    async def stamps(self, located: Sequence[Located]) -> list[Stamp | None]:
        """The stamp of each file, None where there is none; reads no content."""
        ...

    async def walk(
        self,
        starts: Sequence[Located],
        pattern: str,
        *,
        max_visits: int,
        seconds: float,
    ) -> Found:
        """Files below `starts` that match a glob; hidden and ignored ones left out, open buffers included (T-3)."""
        ...

    async def survey(
        self,
        since: Survey | None,
        *,
        max_visits: int,
        seconds: float,
        exact: bool = False,
    ) -> Survey:
        """All files but hidden, ignored and kept back ones, as what has changed since an earlier survey.

        A file that was changed in any way before the call is seen as it is, whoever changed it. `exact` takes hidden
        files in and says what happened between two such surveys: what was made, moved, changed and removed (E-2).
        """
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


class Halt(Protocol):
    """What a command may be ended by before its time."""

    async def wait(self) -> object:
        """Until the command is to end."""
        ...


class OutputListener(Protocol):
    """Hears what a command prints, as it comes; it must not wait. It may stop the command."""

    def heard(self, stream: OutputStream, data: bytes) -> None:
        """More bytes, which may end in the midst of a character."""
        ...

    def halt(self) -> Halt:
        """What ends the command; asked for when the command runs (R-8)."""
        ...


class Processes(Protocol):
    """Commands in their own process group, with a scrubbed environment (T-6)."""

    @property
    def sandboxed(self) -> bool:
        """Whether commands are locked into the workspace, by whatever there is (S-4)."""
        ...

    @property
    def trusted(self) -> bool:
        """Whether they are locked in so well that blanket permissions for commands count (S-4)."""
        ...

    @property
    def posix(self) -> bool:
        """Whether commands go to a shell whose lines can be read (S-1); elsewhere they are always asked about."""
        ...

    @property
    def describe(self) -> str:
        """How commands run, or why not in a sandbox, as a sentence for the user."""
        ...

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        timeout: float,
        opened: frozenset[Path] = frozenset(),
        listener: OutputListener | None = None,
        given: str = "",
    ) -> ProcessResult:
        """Run a shell command; cancelling the task kills the whole group. `timeout` is in seconds.

        `opened` are paths of an earlier result's `blocked` that the user has allowed this run to change (S-8).
        `listener` hears what is printed as it comes, and `given` is what the command reads on standard input.
        """
        ...

    def kept_files(self, place: Path) -> dict[str, str]:
        """The files at a place of the quarantine, by name, with their beginnings (S-8); touches the disk."""
        ...

    def bring_back(self, place: Path) -> str:
        """Put it back where it lay; a sentence where that cannot be. Touches the disk."""
        ...
