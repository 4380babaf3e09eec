"""The workspace's law: L2, and the laws of folders below the root and of folders that are not trusted.

CODE_LAW.md and files such as AGENTS.md beside it are L2 (L-4). That of a folder below stands behind the result that
touches the folder (X-10), and that of an untrusted folder is quoted as data (S-7).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from codelaw.context.escaping import escaped, one_name, quoted
from codelaw.context.observations.layout import block
from codelaw.context.sections import Section, text_section
from codelaw.domain.messages import Fragment
from codelaw.domain.safety.own_tags import escape
from codelaw.domain.safety.unseen import without_hidden
from codelaw.templates.render import render

NAME = "CODE_LAW.md"
LARGE_SHARE = 0.1
"""Share of the window above which a law is warned about."""


@dataclass(frozen=True, slots=True)
class LawText:
    """One file of one folder as found."""

    folder: str
    uri: str
    text: str
    digest: str
    source: Literal["buffer", "disk"]
    name: str = NAME
    """As it is spelt where it stands beside the law."""

    @property
    def is_code_law(self) -> bool:
        """Whether it is a CODE_LAW.md, and not a file beside it."""
        return _same(self.name, NAME)


def choose(names: Iterable[str], wanted: str = NAME) -> str | None:
    """Which of a folder's file names is meant by `wanted`: it itself, else the first of another spelling."""
    spelt = sorted(name for name in names if _same(name, wanted))
    return wanted if wanted in spelt else (spelt[0] if spelt else None)


def root_files(files: Iterable[str]) -> tuple[str, ...]:
    """Of `law.files` those that may stand beside the law of a root: CODE_LAW.md is there already."""
    return tuple(name for name in files if not _same(name, NAME))


def is_law_name(name: str, files: Iterable[str]) -> bool:
    """Whether a file of that name is a law somewhere: CODE_LAW.md, or one of `files`."""
    return any(_same(name, wanted) for wanted in (NAME, *files))


def assemble(documents: Sequence[LawText]) -> tuple[Section, ...]:
    """L2 as it is sent: each text verbatim, CODE_LAW.md first, labelled by folder where there are several.

    A file that says what its folder's CODE_LAW.md says, as a link to it does, is not said twice.
    """
    written = [replace(entry, folder=one_name(entry.folder)) for entry in documents if entry.text.strip()]
    labelled = len({entry.folder for entry in written}) > 1
    laws = [entry for entry in written if entry.is_code_law]
    said = {(entry.folder, entry.text) for entry in laws}
    files = [
        replace(entry, name=one_name(entry.name))
        for entry in written
        if not entry.is_code_law and (entry.folder, entry.text) not in said
    ]
    return (
        *([text_section("L2", "law", render("law", documents=laws, labelled=labelled))] if laws else []),
        *([text_section("L2", "law files", render("law_files", documents=files, labelled=labelled))] if files else []),
    )


def text_of(layer: Sequence[Section]) -> str:
    """L2 as one text."""
    return "\n\n".join(section.content for section in layer)


def tokens_of(layer: Sequence[Section]) -> int:
    """Estimated tokens of L2."""
    return sum(section.tokens for section in layer)


def names_of(documents: Iterable[LawText]) -> str:
    """What the files are called, for a sentence: "CODE_LAW.md and AGENTS.md"."""
    names = dict.fromkeys(NAME if entry.is_code_law else entry.name for entry in documents if entry.text.strip())
    return " and ".join(names) or NAME


def _same(name: str, other: str) -> bool:
    return name.casefold() == other.casefold()


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
class NestedLaw:
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


def laws_to_send(chain: Sequence[NestedLaw], standing: Mapping[str, str], *, restricted: bool) -> tuple[Fragment, ...]:
    """What is to be told of the folders in `chain`, the outermost first, where `standing` is what the view tells.

    `standing` has the newest text by name. A law is told where that is another one or none, and where it is gone, that
    it is. The nearest folders come first into what one result may carry; others wait for the next. `restricted` where
    the editor does not trust the folder: it is quoted as data (S-7).
    """
    reported: list[Fragment] = []
    room = TOLD_CHARACTERS
    for law in reversed(chain):
        said = standing.get(law.name)
        if not law.text.strip():
            text = None if said is None else _gone(law.folder)
        else:
            text = _reported(law, restricted=restricted)
        if text is None or text == said:
            continue
        if reported and (len(text) > room or len(reported) == TOLD_FOLDERS):
            break
        room -= len(text)
        reported.append(Fragment(law.name, text))
    return tuple(reversed(reported))


def _reported(law: NestedLaw, *, restricted: bool) -> str:
    kept = law.text[: law.most]
    # Each line begins with a space, so that none can pass for a label or a line of ours.
    clean = quoted(escape(without_hidden(kept))) if restricted else escaped(_BREAK.sub("\n", kept))
    return render(
        "folder_law",
        folder=_attribute(law.folder),
        file=one_name(law.file),
        text=block(clean.strip("\n")),
        restricted=restricted,
        cut=len(kept) < len(law.text),
        shown=len(kept),
        characters=len(law.text),
    )


def _attribute(name: str) -> str:
    return one_name(name).replace('"', "&quot;")


def _gone(folder: str) -> str:
    return render("folder_law", folder=_attribute(folder), file="", text=None, restricted=False, cut=False)


UNTRUSTED_CHARACTERS = 8_000
"""Of all laws together that a model is shown as data."""


def restricted(documents: Sequence[LawText]) -> Fragment:
    """What a turn in restricted mode is told beside its question, the laws quoted in it (R-5)."""
    room = UNTRUSTED_CHARACTERS
    shown: list[dict[str, object]] = []
    laws = [document for document in documents if document.text.strip()]
    for document in laws:
        text = without_hidden(document.text).strip("\n")
        kept = text[:room]
        room -= len(kept)
        # Each line begins with a space, so that none can pass for a label or a line of ours.
        shown.append(
            {
                "folder": one_name(document.folder),
                "name": f"a {NAME}" if document.is_code_law else f"the file {one_name(document.name)}",
                "text": block(quoted(escape(kept))),
                "cut": len(kept) < len(text),
                "shown": len(kept),
                "characters": len(text),
            }
        )
    return Fragment("restricted", render("restricted", documents=shown, labelled=len({law.folder for law in laws}) > 1))
