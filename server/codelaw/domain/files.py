"""Files of the workspace as tools and mentions see them (T-2, F-1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Folder:
    """A workspace folder."""

    name: str
    root: Path
    """Absolute, symlinks resolved."""
    uri: str


@dataclass(frozen=True, slots=True)
class Located:
    """A path inside the workspace; it need not exist."""

    path: Path
    """Absolute, symlinks resolved: what is opened."""
    shown: str
    """What the model and the user see: relative, with `<folder>/` in front when there are several."""
    uri: str
    folder: Folder


@dataclass(frozen=True, slots=True)
class Buffer:
    """A document open in the editor."""

    uri: str
    path: Path | None
    """None for `untitled:` and other schemes without a file."""
    text: str
    version: int
    language: str = ""


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file at one moment, and where it came from."""

    text: str
    """Line breaks as in the file."""
    source: Literal["buffer", "disk"]
    digest: str
    """SHA-256 of the text, hexadecimal; equal for equal text whatever the source."""
    mtime: float
    """Seconds since the epoch of the file on disk; 0 when it has none."""
    size: int
    """Bytes on disk; of the text in UTF-8 for a buffer."""
    version: int | None = None
    """The buffer's version."""
    unsaved: bool = False
    """The buffer differs from the disk."""
    encoding: str = "utf-8"
    bom: bool = False
    formed_from: tuple[str, ...] = ()
    """Digests of the texts that the editor's formatter made this one of when it saved (F-2)."""
    replaced: bool = False
    """Some bytes could not be decoded and stand as U+FFFD."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """Some lines of a file on the disk that is too large to be read whole (T-4)."""

    lines: tuple[str, ...]
    """Without their breaks, each cut a character behind the width that was asked for."""
    lengths: tuple[int, ...]
    """Characters of each line in the file."""
    total_lines: int
    """Of the whole file."""
    mtime: float
    """Seconds since the epoch."""
    size: int
    """Bytes of the whole file."""
    replaced: bool
    """Some bytes of these lines could not be decoded and stand as U+FFFD."""


@dataclass(frozen=True, slots=True)
class FileImage:
    """A file on the disk at one moment, byte for byte."""

    content: bytes
    mode: int
    """Permission bits."""


@dataclass(frozen=True, slots=True)
class MadeChange:
    """What a command made of one file on the disk."""

    place: Located
    before: FileImage | None
    """None: there was no file."""
    after: FileImage | None
    """None: the file was removed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder."""

    name: str
    kind: Literal["file", "folder", "link"]
    size: int
    mtime: float


OutputStream = Literal["stdout", "stderr"]


@dataclass(frozen=True, slots=True)
class SetAside:
    """What a command made under a name that other programs obey, and was taken away from it (S-8)."""

    path: Path
    """Where it lay."""
    kept: Path
    """Where it lies now."""
    asked: bool
    """Whether the user may have it brought back."""


@dataclass(frozen=True, slots=True)
class UnseenChange:
    """What a command made of a file that codelaw itself obeys, and that the user has not seen (S-8)."""

    path: Path
    """As codelaw looks for it; absolute."""
    shown: str
    before: str | None
    """What goes on to count; None: nothing does."""
    after: str | None
    """What is there now; None: it is gone."""


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a command ended; `stdout` and `stderr` are already bounded."""

    exit_code: int | None
    """None when it was killed by us, or when nobody can say how it ended."""
    stdout: str
    stderr: str
    stdout_omitted: int
    """Characters dropped from the middle."""
    stderr_omitted: int
    timed_out: bool
    seconds: float
    refused: tuple[str, ...] = ()
    """Hosts that the command asked for in vain, `host:port: why`, each once and not more than some (S-4)."""
    limit: str = ""
    """A sentence about the limit that the command met, when it met one (S-4)."""
    blocked: tuple[Path, ...] = ()
    """Paths that other programs obey, which kept it from succeeding; an approval may open them (S-8)."""
    stopped: bool = False
    """The user has stopped it, and not its turn (R-8)."""
    aside: tuple[SetAside, ...] = ()
    """What it made under names that other programs obey, the newest of each name (S-8)."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells cheaply that a file has not changed; equal stamps mean equal content (F-2)."""

    mtime: float
    """Seconds since the epoch; 0 when there is no file on disk."""
    size: int
    version: int | None = None
    """The buffer's version; None when the file is not open."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that a walk met."""

    shown: str
    mtime: float


@dataclass(frozen=True, slots=True)
class Found:
    """The files a walk met, newest first."""

    files: tuple[FoundFile, ...]
    stopped: str = ""
    """Why the walk ended early, in words; empty when it is complete."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The files of the workspace at one moment, as what has changed since the survey before (X-5)."""

    changed: Mapping[str, float]
    """New and changed files as shown, with the seconds since the epoch of their last change; negative: it is so young
    that another one may leave the time as it is."""
    gone: frozenset[str]
    """Files that are not there any more, or are hidden now."""
    whole: bool
    """There was no survey before that counts: `changed` are all files."""
    open: Mapping[str, Buffer] = field(default_factory=dict[str, "Buffer"])
    """The open documents that are not hidden, with a file or without, by path as shown."""
    made: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Of an exact survey: files of whose place it is sure that nothing was there, with where each was before if it was
    moved; they are not among `changed`."""
    made_folders: tuple[str, ...] = ()
    """Likewise, parents first."""
    gone_folders: tuple[str, ...] = ()
    stamps: Mapping[int, str] = field(default_factory=dict[int, str])
    """Of the first of several exact surveys: every file by a stamp that it keeps when it is moved."""
    stopped: str = ""
    """Why it ended early, in words; then files that it does not name may be there all the same."""
    tree: object = None
    """What the next one is compared with; nobody else looks at it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that matches."""

    shown: str
    line: int
    """One-based."""
    text: str
    """The line without its break, possibly cut."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search gave: the first hits, newest files first (T-3)."""

    hits: tuple[Hit, ...]
    total: int
    """Matching lines, those beyond `hits` included."""
    files: int
    """Files with a match."""
    from_buffers: tuple[str, ...] = ()
    """The files whose open buffer matched, as shown."""
    stopped: str = ""
    """Why the search ended early, in words; empty when it is complete."""
    engine: Literal["rg", "python"] = "rg"
