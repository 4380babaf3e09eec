"""What settings and links name beside the table of `sensitive_files`, and decides what codelaw does later (S-8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from codelaw.domain.safety.sensitive_files import folded


@dataclass(frozen=True, slots=True)
class ObeyedPaths:
    """Names and paths, folded, each with why it decides something, as the end of a sentence."""

    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """At any depth."""
    paths: Mapping[str, str] = field(default_factory=dict[str, str])
    """As they are shown, each with all that lies below."""

    def why(self, shown: str) -> str:
        """Why a file, by its path as shown, is asked about every time; empty for any other."""
        parts = [folded(part) for part in re.split(r"[/\\]", shown)]
        named = (self.names.get(part, "") for part in parts)
        placed = (self.paths.get(path, "") for path in accumulate(parts, lambda above, part: f"{above}/{part}"))
        return next(filter(None, (*named, *placed)), "")


def folded_path(shown: str) -> str:
    """A path as its names are compared."""
    return "/".join(map(folded, shown.split("/")))
