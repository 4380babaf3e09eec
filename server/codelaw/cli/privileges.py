"""Whether codelaw runs with more rights than it should."""

from __future__ import annotations

import os

ROOT = "codelaw runs as root, and so do its commands: a sandbox holds root less well; use an ordinary user"


def is_root() -> bool:
    """Whether this is the superuser."""
    return os.name == "posix" and os.geteuid() == 0
