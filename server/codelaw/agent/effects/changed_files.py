"""What a program has made of files, as it is told: lines, diff, and by what the texts are known (E-2, F-2). Pure."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.agent.recording.redacting import KEEPS_SECRETS
from codelaw.domain.results import FileChange
from codelaw.tools.changing.diffs import difference

if TYPE_CHECKING:
    from codelaw.domain.files import FileImage, Located, MadeChange
    from codelaw.domain.safety.redaction import Redaction

DIFF_LINES = 500
DIFF_CHARACTERS = 20_000
_NO_TEXT = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that was changed."""

    located: Located
    change: FileChange
    """Without keys."""
    diff: str
    """Whole, for the model to know the file by; empty where a part of it is hidden, and where it is not text."""
    before: str | None
    """The digest of the text, as a `FileText` has it; None where there was no file."""
    after: str | None


def changed_files(made: Iterable[MadeChange], redaction: Redaction) -> list[ChangedFile]:
    """The files that are different."""
    return [_changed(one, redaction) for one in made]


def _changed(made: MadeChange, redaction: Redaction) -> ChangedFile:
    before, after, place = _text(made.before), _text(made.after), made.place
    kind = "created" if before is None else "deleted" if after is None else "modified"
    readable = "\0" not in f"{before}{after}"
    diff = difference(before or "", after or "", place.shown) if readable else None
    whole = diff.text if diff is not None else ""
    secret = KEEPS_SECRETS.fullmatch(place.path.name) is not None
    told = redaction.text(whole, shapes=True) if secret else redaction.text(whole)
    change = FileChange(
        path=place.shown,
        uri=place.uri,
        kind=kind,
        added=diff.added if diff is not None else 0,
        removed=diff.removed if diff is not None else 0,
        diff="\n".join(told.split("\n")[:DIFF_LINES])[:DIFF_CHARACTERS],
    )
    known = whole if told == whole and kind == "modified" else ""
    return ChangedFile(place, change, known, _digest(before), _digest(after))


def _text(image: FileImage | None) -> str | None:
    """As a Read has it: without a byte order mark, with U+FFFD for what is no UTF-8."""
    if image is None:
        return None
    return _NO_TEXT.sub("\ufffd", image.content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape"))


def _digest(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
