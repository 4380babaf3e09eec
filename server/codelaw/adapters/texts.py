"""Bytes of a file as text and back, with nothing lost on the way (T-4, T-5)."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import stat
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from codelaw.adapters.descent import folder_of
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileText, Located


def content_stamp(facts: os.stat_result) -> int:
    """It stays when the file is moved, and when only its mode is changed; the same in every process."""
    return hash((facts.st_mtime_ns, facts.st_size, facts.st_ino))


def stamp_of(path: Path) -> int | None:
    """The same of a file; None where there is none."""
    try:
        return content_stamp(path.lstat())
    except OSError:
        return None


MAX_BYTES = 50_000_000
"""Of a file larger than this only parts are read (S-6)."""
MAX_MIDDLE = 4_000
"""Lines between the first and the last change up to which single changes are told apart."""
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Raw:
    """A file's bytes and what the file system says of it."""

    content: bytes
    mode: int
    mtime: float
    uid: int
    gid: int


@contextlib.contextmanager
def opened(located: Located) -> Generator[tuple[int, os.stat_result]]:
    """A descriptor of a regular file, for reading, and what the file system says of it.

    Raises:
        ToolFailure: NOT_FOUND, IS_DIRECTORY, ACCESS_DENIED.
    """
    shown = located.shown
    try:
        # The path is resolved: a symlink that stands there now was put there since, so it is not followed. Without
        # O_NONBLOCK a pipe would wait for its writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with folder_of(located) as (folder, name):
            descriptor = os.open(name, flags, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        raise ToolFailure("NOT_FOUND", f"There is no file {shown}.") from None
    except OSError as error:
        raise ToolFailure("ACCESS_DENIED", f"{shown} cannot be opened: {error.strerror}.") from error
    try:
        facts = os.fstat(descriptor)
        _check(facts, shown)
        yield descriptor, facts
    finally:
        os.close(descriptor)


def read_raw(located: Located) -> Raw:
    """The bytes of a regular file.

    Raises:
        ToolFailure: NOT_FOUND, IS_DIRECTORY, ACCESS_DENIED, INVALID_PARAM when it is too large.
    """
    with opened(located) as (descriptor, facts):
        if facts.st_size > MAX_BYTES:
            raise ToolFailure(
                "INVALID_PARAM",
                f"{located.shown} has {facts.st_size} bytes; of a file of more than {MAX_BYTES} only Read and Grep show"
                " parts, and only a command changes it.",
            )
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ToolFailure("INVALID_PARAM", f"{located.shown} grows while it is read.")
    return Raw(content, stat.S_IMODE(facts.st_mode), facts.st_mtime, facts.st_uid, facts.st_gid)


def small_text(path: Path, most: int) -> str | None:
    """The text of a regular file of at most `most` bytes; None for any other, be it missing, a pipe or a device."""
    content = beginning(path, most + 1)
    return None if content is None or len(content) > most else content.decode("utf-8", "surrogateescape")


def beginning(path: Path, most: int) -> bytes | None:
    """The first `most` bytes of a regular file; None for what is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        # What cannot be opened says nothing; git treats it the same.
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def write_whole(file: Path, content: bytes) -> None:
    """Write a file of ours in one step, for this user alone; whoever reads it meets all of it.

    Raises:
        OSError: it cannot be written.
    """
    new = file.with_name(f".{file.name}.{os.urandom(4).hex()}")
    descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as writing:
        writing.write(content)
    new.replace(file)


def _check(facts: os.stat_result, shown: str) -> None:
    if stat.S_ISDIR(facts.st_mode):
        raise ToolFailure("IS_DIRECTORY", f"{shown} is a folder: use LS.")
    if not stat.S_ISREG(facts.st_mode):
        raise ToolFailure("ACCESS_DENIED", f"{shown} is not a regular file.")


def decoded(raw: Raw, located: Located) -> FileText:
    """The text of a file.

    Raises:
        ToolFailure: BINARY_FILE when a NUL stands in the first 8 KiB.
    """
    if b"\0" in raw.content[:8192]:
        raise ToolFailure("BINARY_FILE", f"{located.shown} is a binary file ({len(raw.content)} bytes).")
    bom = raw.content.startswith(_BOM)
    content = raw.content[3:] if bom else raw.content
    try:
        text, replaced = content.decode("utf-8"), False
    except UnicodeDecodeError:
        text, replaced = visible(content.decode("utf-8", "surrogateescape")), True
    return FileText(
        text, "disk", digest(text), raw.mtime, len(raw.content), encoding="utf-8", bom=bom, replaced=replaced
    )


def encoded(text: str, over: FileText | None, raw: Raw | None, located: Located) -> bytes:
    """The bytes of a new text, in the manner of the file it replaces; bytes that are not UTF-8 stay as they are.

    Raises:
        ToolFailure: BINARY_FILE when a changed line holds such bytes; INVALID_PARAM when the text cannot be encoded.
    """
    if over is not None and raw is not None and over.replaced:
        content = raw.content[3:] if over.bom else raw.content
        text = _restored(over.text, content.decode("utf-8", "surrogateescape"), text, located)
        body = text.encode("utf-8", "surrogateescape")
    else:
        try:
            body = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ToolFailure("INVALID_PARAM", "The text holds half a surrogate pair, which no file can.") from error
    return (_BOM if over is not None and over.bom else b"") + body


def digest(text: str) -> str:
    """SHA-256 of a text, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def visible(text: str) -> str:
    """One U+FFFD for each byte that could not be decoded."""
    return "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in text)


def _restored(shown: str, real: str, new: str, located: Located) -> str:
    """`new` with the undecodable bytes back in the lines that are unchanged."""
    shown_lines, real_lines, new_lines = shown.split("\n"), real.split("\n"), new.split("\n")
    least = min(len(shown_lines), len(new_lines))
    head = next((n for n in range(least) if shown_lines[n] != new_lines[n]), least)
    tail = next((n for n in range(least - head) if shown_lines[-1 - n] != new_lines[-1 - n]), least - head)
    old_end, new_end = len(shown_lines) - tail, len(new_lines) - tail
    codes = [("replace", head, old_end, head, new_end)]
    if max(old_end, new_end) - head <= MAX_MIDDLE:
        matcher = difflib.SequenceMatcher(None, shown_lines[head:old_end], new_lines[head:new_end], autojunk=True)
        codes = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in matcher.get_opcodes()]
    out = real_lines[:head]
    for tag, i1, i2, j1, j2 in codes:
        if tag == "equal":
            out += real_lines[i1:i2]
            continue
        if any("\ufffd" in line for line in new_lines[j1:j2]):
            raise ToolFailure(
                "BINARY_FILE",
                f"{located.shown}: a changed line holds bytes that are not UTF-8, which would be lost: use Bash.",
            )
        out += new_lines[j1:j2]
    return "\n".join(out + real_lines[old_end:])
