"""What a server is started with by a terminal command, which imports this first: nothing heavy stands here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import codelaw
from codelaw.adapters.programs import outside


def server_environment(environment: Mapping[str, str], folders: Sequence[Path]) -> dict[str, str]:
    """The user's environment, keys and all, without what would load a workspace's modules into the server (S-8)."""
    kept = {name: value for name, value in environment.items() if name not in ("PYTHONPATH", "PYTHONSTARTUP")}
    safe = outside(environment.get("PYTHONPATH", ""), folders)
    own = str(Path(codelaw.__file__).parents[1])
    if own in environment.get("PYTHONPATH", "").split(os.pathsep) and own not in safe:
        safe = [own, *safe]  # what we run on ourselves
    return kept | ({"PYTHONPATH": os.pathsep.join(safe)} if safe else {})
