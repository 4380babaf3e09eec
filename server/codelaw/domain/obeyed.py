"""Files that other programs obey: who writes one decides what runs outside of codelaw (S-8)."""

from __future__ import annotations

from collections.abc import Iterable

FOLDERS = (".vscode", ".idea", ".husky")
"""Obeyed with everything in them."""
FILES = (
    ".envrc",
    ".gitmodules",
    ".mcp.json",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".dir-locals.el",
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

_NAMES = frozenset((*FOLDERS, *FILES, *START_UP))


def obeyed(parts: Iterable[str]) -> str | None:
    """The name in a path's parts that other programs obey, in any case; None for a path that nobody obeys.

    `.git` and `.codelaw` are not among them: the file tools never write these (T-2).
    """
    for part in parts:
        name = part.casefold().rstrip(". ")
        if name in _NAMES:
            return name
    return None
