"""What is known to get through landlock after an approval, and the sentences of docs/safety.md that say so (S-4)."""

from __future__ import annotations

from dataclasses import replace

from tests.attacks.row import Attack

OBEYED = (
    "It does not keep commands from changing git's settings and hooks, `.codelaw`, `.vscode` and the like in the"
    " workspace, which other programs obey; from seeing names, sizes and times of hidden files; nor from changing modes"
    " and times of your own files."
)
OTHERS = "Nor does it keep them from changing the limits and the priority of your other programs."
BY_NAME = {"changing the mode": OBEYED, "the server's limits": OTHERS, "the server's priority": OTHERS}
HELD = frozenset(
    [
        *("a bare repository at the top", "a bare repository at the top, moved there"),
        *("a bare repository that hides the one above", "a clone over the workspace", "a common folder"),
        *("a common folder, by renaming", "a file for .git that hides the one above"),
        *("a file for .git where there was none", "a head outside by a file for .git"),
        *("a head outside by a link for .git", "a home made a git folder", "a hook outside by a file for .git"),
        *("a hook outside by a link for .git", "a link above what the settings wait for"),
        *("a link for .git that comes first", "a link for .git where there was none"),
        *("a link for .git, turned elsewhere", "a link for the rules, turned elsewhere"),
        *("a link that the settings wait for", "a new .envrc", "a new .husky/pre-commit", "a new .idea/workspace.xml"),
        "a new .vscode in a folder that is locked then",
        *("a new .mcp.json", "a new .pre-commit-config.yaml", "a new .vscode/tasks.json"),
        *("a race for a name that is masked", "a rebase that runs", "a repository inside that the index knows"),
        *("a repository inside, added", "a repository that hides the one above", "a repository where a link leads"),
        *("a repository where there was none", "a submodule's common folder", "alternates", "another submodule"),
        *("git init", "hooks outside behind a link", "hooks that the settings wait for"),
        *("included settings behind a link", "included settings that were awaited", "rules behind a link"),
        *("rules where a link leads", "rules where there were none", "rules where there were none, by a link"),
        *("settings outside by a file for .git", "settings outside by a link for .git", "the machine's git settings"),
        "the user's git settings",
    ]
)
"""Attacks on what other programs obey that it holds all the same."""


def known(row: Attack) -> Attack:
    """The row with the sentence for landlock, where one is needed."""
    if "landlock" not in row.means:
        return row
    if row.aim == "obeyed" and row.start != "a home as the workspace" and row.name not in HELD:
        return replace(row, known=OBEYED)
    return replace(row, known=BY_NAME.get(row.name, ""))
