"""The index of the workspace's code, as a session has it (X-5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codelaw.adapters.code.commits import Commits
from codelaw.adapters.code.index import WorkspaceIndex


def code_index(home: Path, environment: Mapping[str, str], *, trusted: bool) -> WorkspaceIndex:
    """The index, kept below `home`; git is run with that environment, in folders that are trusted."""
    commits = Commits(environment)
    commits.trusted = trusted
    return WorkspaceIndex(home / "code", commits)
