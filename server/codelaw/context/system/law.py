"""The workspace's law, L2 (L-4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from codelaw.context.escaping import one_name
from codelaw.templates.render import render

NAME = "CODE_LAW.md"
LARGE_SHARE = 0.1
"""Share of the window above which a law is warned about."""


@dataclass(frozen=True, slots=True)
class LawText:
    """One folder's law as found."""

    folder: str
    uri: str
    text: str
    digest: str
    source: Literal["buffer", "disk"]


def choose(names: Iterable[str]) -> str | None:
    """Which of a folder's file names is the law: `CODE_LAW.md` itself, else the first of another spelling."""
    spelt = sorted(name for name in names if name.casefold() == NAME.casefold())
    return NAME if NAME in spelt else (spelt[0] if spelt else None)


def assemble(documents: Sequence[LawText]) -> str:
    """L2 as it is sent: each text verbatim, labelled by folder when there are several; empty without any."""
    written = [replace(entry, folder=one_name(entry.folder)) for entry in documents if entry.text.strip()]
    return render("law", documents=written, labelled=len(written) > 1) if written else ""
