"""The key of the project that a folder belongs to (B-6)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.adapters.processes.rules.repositories import settings_text
from codelaw.domain.files import Folder
from codelaw.memory import projects


def project_keys(folders: Sequence[Folder], user: str) -> tuple[str, ...]:
    """The keys of folders, in order and each once: of the origin of their repository, else of the folder itself.

    A folder without an origin is nobody else's: `user` is part of its key, since two people of a team may well have
    folders at the same place. Touches the disk.
    """
    found: dict[str, None] = {}
    for folder in folders:
        url = projects.origin(_settings(folder) or "")
        found[(projects.key(url) if url is not None else None) or f"{user}:{folder.uri}"] = None
    return tuple(found)


def _settings(folder: Folder) -> str | None:
    try:
        return settings_text(folder.root)
    except (OSError, RuntimeError):  # a repository of somebody else's, or nobody's home: no turn fails for it (B-8)
        return None
