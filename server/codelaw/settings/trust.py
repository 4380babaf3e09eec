"""Which folders the user trusts, so that their own settings file counts in full (S-3).

The list lies in the data folder, never in a workspace, and names folders by their real path: another folder under the
same name, or a link to one, is not trusted with it. With each stands the digest of the settings file that the user has
seen: what says anything else is not trusted.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, cast

from codelaw.settings.own_lists import alone, put

FILE = "trusted.json"
_LARGEST = 1 << 20


def trusted_folders(home: Path) -> dict[Path, str]:
    """The trusted folders, each with the digest of the settings file that was seen.

    None when the list is missing or cannot be read; folders that an older version wrote without a digest are left out,
    so that the user is asked again. Touches the disk.
    """
    try:
        with (home / FILE).open("rb") as file:
            content: Any = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    named = cast("dict[str, Any]", content).get("folders") if isinstance(content, dict) else None
    digests = cast("dict[str, Any]", named) if isinstance(named, dict) else {}
    return {
        Path(path): digest for path, digest in digests.items() if isinstance(digest, str) and Path(path).is_absolute()
    }


def set_trust(home: Path, folder: Path, digest: str | None) -> None:
    """Remember that `folder` is trusted with the settings file of that digest; None: that it is not. Touches the disk.

    Raises:
        OSError: the list cannot be written.
    """
    real = Path(os.path.realpath(folder))
    with alone(home / FILE):
        folders = trusted_folders(home)
        if digest is None:
            folders.pop(real, None)
        else:
            folders[real] = digest
        put(home / FILE, {"folders": {str(path): folders[path] for path in sorted(folders)}})
