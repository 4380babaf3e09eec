"""Files that other programs obey, and which programs do: who writes one decides what runs outside (S-8)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

_CODE = "Visual Studio Code"
_FOLDERS = {
    ".vscode": _CODE,
    ".idea": "the editors of JetBrains",
    ".husky": "git",
    ".helix": "Helix",
    ".zed": "Zed",
    ".devcontainer": _CODE,
    ".claude": "Claude Code",
    ".cursor": "Cursor",
}
_FILES = {
    ".envrc": "direnv",
    ".gitmodules": "git",
    ".mcp.json": "whatever starts MCP servers",
    ".pre-commit-config.yaml": "pre-commit",
    ".pre-commit-config.yml": "pre-commit",
    ".dir-locals.el": "Emacs",
    ".dir-locals-2.el": "Emacs",
    ".devcontainer.json": _CODE,
    ".exrc": "vi",
    ".nvim.lua": "Neovim",
    ".nvimrc": "Neovim",
}
FOLDERS, FILES = tuple(_FOLDERS), tuple(_FILES)
"""Obeyed with everything in them, and files that are obeyed."""
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


def who_obeys(path: str) -> str | None:
    """The program that does what the file says, such as `git`; None for a file that nobody obeys."""
    parts: Sequence[str] = path.replace("\\", "/").split("/")
    name = obeyed(parts)
    if name is not None:
        known = {**_FOLDERS, **_FILES, ".inputrc": "the shell"}
        return known.get(name, _CODE if name.endswith(WORKSPACES) else "your shell")
    return "git" if ".git" in (part.casefold() for part in parts) else None
