"""Paths in settings that are kept back from commands (S-4)."""

from __future__ import annotations

import posixpath
from typing import Annotated

from pydantic import AfterValidator, Field


def _one_path(path: str) -> str:
    normal = posixpath.normpath(path)
    if "\0" in path or normal in {"/", "//", ".", "~"} or normal.split("/")[0] == "..":
        message = f"{path!r} names no file or folder that can be kept back: name one below the workspace or the home"
        raise ValueError(message)
    if path.startswith("~") and not path.startswith("~/"):
        message = f"{path!r}: only your own home folder can be named, by ~/"
        raise ValueError(message)
    if any(char in path for char in "*?["):
        message = f"{path!r} is a pattern, and here are paths only: write Read({path}) into permissions.deny"
        raise ValueError(message)
    return path


KeptPath = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_one_path)]
