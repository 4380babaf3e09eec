"""Open buffers in front of the disk (F-1)."""

from __future__ import annotations

from codelaw.adapters.workspace.texts import decoded, digest, read_raw, same_but_for_breaks
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, FileText, Located


def text_of(located: Located, buffer: Buffer | None) -> FileText:
    """The text of a file: the buffer's if it is open, else the disk's. Reads the disk in both cases.

    Raises:
        ToolFailure: what reading the disk raises, unless a buffer stands in for it.
    """
    if buffer is None:
        return decoded(read_raw(located), located)
    try:
        disk = decoded(read_raw(located), located) if buffer.path is not None else None
    except ToolFailure:
        # The buffer is the truth whatever stands on the disk: nothing yet, or something unreadable.
        disk = None
    clean = disk is not None and not disk.replaced and same_but_for_breaks(disk.text, buffer.text)
    # A clean buffer differs at most in how the editor spells line breaks: the file's own spelling counts.
    text = disk.text if clean and disk is not None else buffer.text
    return FileText(
        text,
        "buffer",
        digest(text),
        disk.mtime if disk is not None else 0,
        len(buffer.text.encode("utf-8", "surrogatepass")),
        version=buffer.version,
        unsaved=not clean,
        bom=disk.bom if disk is not None else False,
    )
