"""Which program obeys a file, in words for the person who is asked about it (S-8)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.domain.safety.obeyed import WORKSPACES, obeyed

_BY_NAME = {
    ".vscode": "Visual Studio Code",
    ".idea": "the editors of JetBrains",
    ".husky": "git",
    ".helix": "Helix",
    ".zed": "Zed",
    ".devcontainer": "Visual Studio Code",
    ".devcontainer.json": "Visual Studio Code",
    ".claude": "Claude Code",
    ".cursor": "Cursor",
    ".envrc": "direnv",
    ".gitmodules": "git",
    ".mcp.json": "whatever starts MCP servers",
    ".pre-commit-config.yaml": "pre-commit",
    ".pre-commit-config.yml": "pre-commit",
    ".dir-locals.el": "Emacs",
    ".dir-locals-2.el": "Emacs",
    ".exrc": "vi",
    ".nvim.lua": "Neovim",
    ".nvimrc": "Neovim",
    ".inputrc": "the shell",
}


def who_obeys(path: str) -> str | None:
    """The program that does what the file says, such as `git`; None for a file that nobody obeys."""
    parts: Sequence[str] = path.replace("\\", "/").split("/")
    name = obeyed(parts)
    if name is not None:
        return _BY_NAME.get(name, _BY_NAME[".vscode"] if name.endswith(WORKSPACES) else "your shell")
    return "git" if ".git" in (part.casefold() for part in parts) else None
