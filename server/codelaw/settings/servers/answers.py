"""Which servers the user has let start, and which they have switched off (X-3).

The list lies in the data folder. What a workspace names starts only as it was when the user said yes: with the answer
stands the digest of all that the server is started with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from codelaw.settings.own_lists import alone, put
from codelaw.settings.servers.written import WrittenServer

FILE = "servers.json"
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Answers:
    """What the user has said of servers, by their keys."""

    allowed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The digest of what was shown."""
    off: frozenset[str] = frozenset()

    def lets(self, server: WrittenServer) -> bool:
        """Whether it may be started: the user has named it in their own settings, or has seen it as it is."""
        return server.folder is None or self.allowed.get(server.key) == server.digest


def read_answers(home: Path) -> Answers:
    """What is remembered; nothing where the list is missing or cannot be read. Touches the disk."""
    try:
        with (home / FILE).open("rb") as file:
            content: Any = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return Answers()
    table = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    allowed, off = table.get("allowed"), table.get("off")
    named = cast("dict[str, Any]", allowed) if isinstance(allowed, dict) else {}
    return Answers(
        {key: digest for key, digest in named.items() if isinstance(digest, str)},
        frozenset(key for key in cast("list[Any]", off) if isinstance(key, str))
        if isinstance(off, list)
        else frozenset(),
    )


def answer(home: Path, server: WrittenServer, *, enabled: bool) -> Answers:
    """Remember that a server may start as it is written now, or must not; gives all that is remembered then.

    Touches the disk.

    Raises:
        OSError: the list cannot be written.
    """
    with alone(home / FILE):
        known = read_answers(home)
        allowed = {**known.allowed}
        if enabled and server.folder is not None:
            allowed[server.key] = server.digest
        off = known.off - {server.key} if enabled else known.off | {server.key}
        put(home / FILE, {"allowed": dict(sorted(allowed.items())), "off": sorted(off)})
        return Answers(allowed, frozenset(off))
