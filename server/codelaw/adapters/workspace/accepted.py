"""Which text of a file that codelaw itself obeys counts: the one that the user has seen, or that no command made (S-8).

What counted last is kept in codelaw's own folder, so that it goes on to count, in the next server too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from codelaw.adapters.processes.quarantine.command_times import CommandTimes
from codelaw.adapters.texts import Raw, beginning, decoded, visible, write_whole
from codelaw.adapters.texts import digest as text_digest
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Located, UnseenChange
from codelaw.domain.safety.redaction import Redaction

MOST_RECORDS = 10_000
LARGEST_KEPT = 1 << 20
"""Bytes of a text that goes on to count; of a larger one only the digest is kept."""
_HEAD = 1 << 19
"""Bytes of what stands before a text, and of seals in it."""
_WRITES = 256
_UNREAD = "unread"
"""In the place of a digest."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Record:
    """What counted last of one file."""

    digest: str
    content: bytes | None
    """None where it is not kept."""
    changed: int = 0
    """When the file was changed last, in nanoseconds."""
    gone: bool = False
    """A command has removed the file, and the user has not seen it."""


class AcceptedTexts:
    """Of one session; used from threads, touches the disk."""

    def __init__(self, folder: Path, times: CommandTimes, redaction: Redaction) -> None:
        """`folder` is one of codelaw's own, which no command sees; in it keys have a seal in their place (S-5)."""
        self._folder = folder
        self._times = times
        self._redaction = redaction
        self._lock = threading.Lock()
        self._digests: dict[Path, tuple[str, int]] = {}
        """Of what counts on the disk, by how the file is looked for, and when it was changed."""
        self.shown: dict[Path, str] = {}
        """The digests of the texts that counted last, of open documents, too."""
        self._written: dict[Path, tuple[int, str]] = {}
        """By real path of what we have written on the user's behalf: when, in nanoseconds, and the text's digest."""
        self._pending: dict[Path, UnseenChange] = {}
        self._refused: set[UnseenChange] = set()
        self._pruned = False

    def counts(self, path: Path, place: Located, content: bytes) -> bool:
        """Whether the content that was just read of a file counts; `path` is how it is looked for."""
        digest, changed = hashlib.sha256(content).hexdigest(), _changed(place.path)
        with self._lock:
            if self._digests.get(path) != (digest, changed):
                record = self._record(path)  # another server may have accepted it
                if (record is None or record.digest != digest) and self._is_command_made(path, place, content, record):
                    before = None if record is None else record.content
                    self._pending[path] = UnseenChange(path, place.shown, _text(before), _text(content))
                    return False
                self._accept(path, content, digest, changed)
            self._pending.pop(path, None)
            return True

    def counts_unread(self, path: Path, shown: str) -> bool:
        """Whether what is there and cannot be read counts so: a command may have put a link or a folder there."""
        with self._lock:
            record, changed = self._record(path), _changed(path)
            let = record is not None and record.digest == _UNREAD and record.changed == changed
            if let or self._times.changed_by(path, as_far=True) is None:
                self._pending.pop(path, None)
                return True
            before = None if record is None else record.content
            self._pending[path] = UnseenChange(path, shown, _text(before), None)
            return False

    def last(self, path: Path) -> bytes | None:
        """What goes on to count of a file whose content does not; None: nothing does."""
        record = self._record(path)
        return None if record is None else record.content

    def removed(self, path: Path, shown: str) -> bytes | None:
        """What goes on to count of a file that is not there, because a command has removed it; None: nothing does."""
        with self._lock:
            record = self._record(path)
            if record is None or record.content is None:
                return None
            if not record.gone:
                before = self._times.changed_by(path, gone=True)
                if before is None or (before.holds(path, record.content) and before.left(path)):
                    self._forget(path)
                    return None
                self._keep(path, replace(record, gone=True))
            self._pending[path] = UnseenChange(path, shown, _text(record.content), None)
            return record.content

    def pending(self) -> list[UnseenChange]:
        """What commands have made of files, as far as it was met, and the user has not been asked about."""
        return [one for one in self._pending.values() if one not in self._refused]

    def settle(self, change: UnseenChange, content: bytes | None, *, accepted: bool) -> None:
        """The user has seen what a command made of a file: it counts now, or will not before it is changed again."""
        with self._lock:
            if self._pending.get(change.path) != change or _text(content) != change.after:
                return  # it is another by now
            if not accepted:
                self._refused.add(change)
            elif content is None:
                self._forget(change.path)
                if changed := _changed(change.path):
                    self._keep(change.path, _Record(_UNREAD, None, changed))
            else:
                digest = hashlib.sha256(content).hexdigest()
                self._accept(change.path, content, digest, _changed(change.path, follow=True))
            if accepted:
                self._pending.pop(change.path, None)

    def wrote(self, texts: Mapping[Path, str]) -> None:
        """We have just written these texts on the user's behalf; the paths are real."""
        with self._lock:
            for path, text in texts.items():
                self._written[path] = _changed(path), text_digest(text)
            while len(self._written) > _WRITES:
                del self._written[next(iter(self._written))]

    def _is_command_made(self, path: Path, place: Located, content: bytes, record: _Record | None) -> bool:
        try:
            before, changed = self._times.changed_by(path), place.path.lstat().st_ctime_ns
        except OSError:
            return True  # it is gone or moves just now
        if before is None:
            # On tmpfs a mapped file is written without a new time.
            return record is not None and record.changed == changed
        written = self._written.get(place.path)
        if written is not None and written[0] == changed and written[1] == _digest_of_text(content, place):
            return False
        return not before.holds(place.path, content)

    def _accept(self, path: Path, content: bytes, digest: str, changed: int) -> None:
        self._digests[path] = digest, changed
        record = self._record(path)
        if record is None or record.digest != digest or record.gone or record.changed != changed:
            self._keep(path, _Record(digest, content, changed))

    def _forget(self, path: Path) -> None:
        self._digests.pop(path, None)
        self._pending.pop(path, None)
        self._file(path).unlink(missing_ok=True)

    def _file(self, path: Path) -> Path:
        return self._folder / hashlib.sha256(os.fsencode(path)).hexdigest()[:32]

    def _record(self, path: Path) -> _Record | None:
        written = beginning(self._file(path), LARGEST_KEPT + _HEAD)
        head, _, content = (written or b"").partition(b"\n")
        try:
            said = json.loads(head)
        except ValueError:
            return None  # there is none, or it was cut with the machine's power
        text = self._redaction.opened(content.decode("utf-8", "surrogateescape")) if said["whole"] else None
        return _Record(said["digest"], None if text is None else _bytes(text), said.get("changed", 0), said["gone"])

    def _keep(self, path: Path, record: _Record) -> None:
        content = record.content
        whole = content is not None and len(content) <= LARGEST_KEPT
        kept = self._redaction.sealed(content.decode("utf-8", "surrogateescape")) if content and whole else ""
        facts = {"digest": record.digest, "gone": record.gone, "changed": record.changed}
        said = {"path": str(path), "whole": whole, **facts}
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._file(path), json.dumps(said).encode("ascii") + b"\n" + _bytes(kept))
            self._prune()
        except OSError as error:
            _log.warning("what counts of %s is not kept for another server: %s", path, error)

    def _prune(self) -> None:
        """Once a session, forget what was kept longest ago where there is too much of it (S-6)."""
        if not self._pruned:
            self._pruned = True
            with os.scandir(self._folder) as entries:
                by_age = sorted(((entry.stat().st_mtime, entry.path) for entry in entries), reverse=True)
            for _, file in by_age[MOST_RECORDS:]:
                Path(file).unlink(missing_ok=True)


def _changed(path: Path, *, follow: bool = False) -> int:
    """When a file was changed last, in nanoseconds; 0 where there is none."""
    try:
        return path.stat(follow_symlinks=follow).st_ctime_ns
    except OSError:
        return 0


def _digest_of_text(content: bytes, place: Located) -> str:
    with contextlib.suppress(ToolFailure):
        return decoded(Raw(content, 0, 0, 0, 0), place).digest
    return ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(content: bytes | None) -> str | None:
    """For the user to judge."""
    return None if content is None else visible(content.decode("utf-8", "surrogateescape"))
