"""Files that other programs obey: who writes one decides what runs outside of codelaw (S-8)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

FOLDERS = (".vscode", ".idea", ".husky", ".helix", ".zed", ".devcontainer", ".claude", ".cursor")
"""Obeyed with everything in them."""
FILES = (
    ".envrc",
    ".gitmodules",
    ".mcp.json",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".devcontainer.json",
    ".exrc",
    ".nvim.lua",
    ".nvimrc",
)
START_UP = (
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".inputrc", ".kshrc", ".mkshrc"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".login", ".cshrc", ".tcshrc", ".xprofile", ".xinitrc"),
    *(".xsession", ".xsessionrc", ".pam_environment"),
)
"""Files that a shell or a session reads when it starts; obeyed in a home folder."""

WORKSPACES = ".code-workspace"
"""What the names of an editor's workspace files end with: they hold tasks and settings."""
NAMES = frozenset((*FOLDERS, *FILES, *START_UP))
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
"""What some file systems leave out when they compare names."""

_INTENTS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"\bgit\b[^|;&\n]*\b(config|remote|submodule|sparse-checkout|maintenance)\b"), (".git/config",)),
    (re.compile(r"\bgit\b[^|;&\n]*\binit\b"), (".git",)),
    (re.compile(r"\bgit\b[^|;&\n]*\blfs\s+(install|update)\b"), (".git/config", ".git/hooks")),
    (re.compile(r"\b(pre-commit|lefthook|overcommit)\b[^|;&\n]*\binstall\b"), (".git/hooks",)),
    (re.compile(r"\bhusky\b"), (".husky", ".git/config")),
)
"""What commands are about that do not always say on which path they failed."""


_EDITORS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"\bzed\b"), (".zed",)),
    (re.compile(r"\bhelix\b"), (".helix",)),
    (re.compile(r"intellij|jetbrains|pycharm|webstorm|goland|lsp4ij"), (".idea",)),
    (re.compile(r"vim\b"), (".exrc", ".nvim.lua", ".nvimrc")),
    (re.compile(r"emacs|eglot"), (".dir-locals.el", ".dir-locals-2.el")),
    (re.compile(r"cursor"), (".vscode", ".cursor", ".devcontainer", ".devcontainer.json")),
)


def at_once(editor: str) -> tuple[str, ...]:
    """The names that an editor obeys as soon as they appear, by what it calls itself; unknown ones are like VS Code."""
    found = (names for pattern, names in _EDITORS if pattern.search(editor.casefold()))
    return next(found, (".vscode", ".devcontainer", ".devcontainer.json"))


def about(command: str) -> list[str]:
    """What a command is about that it may not name: paths in the folder that it runs in."""
    return [name for pattern, names in _INTENTS if pattern.search(command) for name in names]


def obeyed(parts: Iterable[str]) -> str | None:
    """The name in a path's parts that other programs obey, in any case; None for a path that nobody obeys.

    `.git` and `.codelaw` are not among them: the file tools never write these (T-2).
    """
    return next((name for part in parts if (name := folded(part)) in NAMES or name.endswith(WORKSPACES)), None)


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A file's name as the file systems that fold most compare it: case, accents, what is not seen, dots at the end.

    A stream of NTFS, `.envrc:x`, is the file before the colon.
    """
    plain = unicodedata.normalize("NFD", _IGNORED.sub("", name)).casefold()
    return unicodedata.normalize("NFC", plain).partition(":")[0].rstrip(". ")
