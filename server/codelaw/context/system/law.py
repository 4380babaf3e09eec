"""The workspace's law, L2: CODE_LAW.md, and files such as AGENTS.md beside it (L-4, X-10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from codelaw.context.escaping import one_name
from codelaw.context.sections import Section, text_section
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


def choose_beside(names: Sequence[str], files: Iterable[str]) -> str | None:
    """Which of a folder's file names stands beside its law: the first of `files` that is there (X-10)."""
    chosen = (choose(names, wanted) for wanted in files)
    return next((name for name in chosen if name is not None), None)


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
