"""The law of a folder below the root, told behind the result that touches the folder (X-10): pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codelaw.context.escaping import escaped, one_name, quoted
from codelaw.domain.messages import Fragment
from codelaw.domain.safety.unseen import without_hidden
from codelaw.templates.render import render
from codelaw.transcript.summaries.harmless import harmless

_BREAK = re.compile("\r\n?")
MARK = "law:"
"""What the name of such a text begins with; the folder's path follows."""
SHOWN_CHARACTERS = 16_000
"""Of one file at most."""
SHOWN_PER_TOKEN = 0.3
"""Characters of one file for each token of a small window: a tenth of it."""
TOLD_CHARACTERS = 48_000
"""Of all texts behind one result, beyond the nearest folder's."""
TOLD_FOLDERS = 20
"""Behind one result."""


@dataclass(frozen=True, slots=True)
class Nested:
    """What there is of a law in one folder."""

    folder: str
    """Its path, as the model knows it."""
    file: str = ""
    """The path of what counts there; empty where nothing does."""
    text: str = ""
    most: int = SHOWN_CHARACTERS
    """Characters of it that are shown."""

    @property
    def name(self) -> str:
        """Of the text that tells it."""
        return f"{MARK}{one_name(self.folder)}"

    @property
    def is_cut(self) -> bool:
        """Whether it is longer than what is shown of it."""
        return len(self.text) > self.most


def most_shown(window: int) -> int:
    """Characters of one file that are shown in a window of so many tokens."""
    return min(SHOWN_CHARACTERS, int(window * SHOWN_PER_TOKEN))


def to_tell(chain: Sequence[Nested], standing: Mapping[str, str], *, restricted: bool) -> tuple[Fragment, ...]:
    """What is to be told of the folders in `chain`, the outermost first, where `standing` is what the view tells.

    `standing` has the newest text by name. A law is told where that is another one or none, and where it is gone, that
    it is. The nearest folders come first into what one result may carry; others wait for the next. `restricted` where
    the editor does not trust the folder: it is quoted as data (S-7).
    """
    told: list[Fragment] = []
    room = TOLD_CHARACTERS
    for law in reversed(chain):
        said = standing.get(law.name)
        if not law.text.strip():
            text = None if said is None else _gone(law.folder)
        else:
            text = _told(law, restricted=restricted)
        if text is None or text == said:
            continue
        if told and (len(text) > room or len(told) == TOLD_FOLDERS):
            break
        room -= len(text)
        told.append(Fragment(law.name, text))
    return tuple(reversed(told))


def _told(law: Nested, *, restricted: bool) -> str:
    kept = law.text[: law.most]
    # Each line begins with a space, so that none can pass for a label or a line of ours.
    clean = quoted(harmless(without_hidden(kept))) if restricted else escaped(_BREAK.sub("\n", kept))
    lines = (f" {line}" for line in clean.strip("\n").split("\n"))
    return render(
        "folder_law",
        folder=_attribute(law.folder),
        file=one_name(law.file),
        text="\n".join(lines),
        restricted=restricted,
        cut=law.is_cut,
        shown=len(kept),
        characters=len(law.text),
    )


def _attribute(name: str) -> str:
    return one_name(name).replace('"', "&quot;")


def _gone(folder: str) -> str:
    return render("folder_law", folder=_attribute(folder), file="", text=None, restricted=False, cut=False)
