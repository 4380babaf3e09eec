"""Which servers the user has let start, and which they have switched off (X-3).

The list lies in the data folder. What a workspace names starts only as it was when the user said yes: with the answer
stands the digest of all that the server is started with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from codelaw.domain.errors import Refusal
from codelaw.settings.own_lists import alone, put
from codelaw.settings.servers.written import WrittenServer

FILE = "servers.json"
LOST = f"{FILE} in the data folder, the list of servers that are switched off, cannot be read"
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Answers:
    """What the user has said of servers, by their keys."""

    allowed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The digest of what was shown."""
    off: frozenset[str] = frozenset()
    declined: Mapping[str, str] = field(default_factory=dict[str, str])
    """The digest of what was shown when the user said: not now."""
    lost: bool = False
    """The list is there and cannot be read: what was switched off is not known, so that nothing starts (S-1)."""

    def lets(self, server: WrittenServer) -> bool:
        """Whether it may be started: the user has named it in their own settings, or has seen it as it is."""
        return not self.lost and (server.folder is None or self.allowed.get(server.key) == server.digest)

    def asks(self, server: WrittenServer) -> bool:
        """Whether the user has yet to say anything of the server as it is."""
        return not self.lost and not self.lets(server) and self.declined.get(server.key) != server.digest


def read_answers(home: Path) -> Answers:
    """What is remembered; nothing where the list is missing, `lost` where it cannot be read. Touches the disk."""
    try:
        with (home / FILE).open("rb") as file:
            content: Any = json.loads(file.read(_LARGEST))
    except FileNotFoundError:
        return Answers(lost=(home / FILE).is_symlink())
    except (OSError, ValueError, RecursionError):
        return Answers(lost=True)
    table = cast("dict[str, Any]", content) if isinstance(content, dict) else None
    allowed, off, declined = (None, None, None) if table is None else map(table.get, ("allowed", "off", "declined"))
    if not isinstance(allowed, dict) or not isinstance(off, list) or not isinstance(declined or {}, dict):
        return Answers(lost=True)
    keys = cast("list[Any]", off)
    if not all(isinstance(key, str) for key in keys):
        return Answers(lost=True)
    return Answers(_digests(allowed), frozenset(keys), _digests(declined))


def _digests(given: Any) -> dict[str, str]:
    named = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    return {key: digest for key, digest in named.items() if isinstance(digest, str)}


def answer(home: Path, server: WrittenServer, *, enabled: bool) -> Answers:
    """Remember that a server may start as it is written now, or must not; gives all that is remembered then.

    Touches the disk.

    Raises:
        OSError: the list cannot be written.
        Refusal: `store_unavailable`: it cannot be read.
    """
    with alone(home / FILE):
        known = _to_change(home)
        allowed = {**known.allowed}
        if enabled and server.folder is not None:
            allowed[server.key] = server.digest
        off = known.off - {server.key} if enabled else known.off | {server.key}
        return _kept(home, Answers(allowed, frozenset(off), known.declined))


def decline(home: Path, server: WrittenServer) -> Answers:
    """Remember that the user does not want to be asked about a server as it is written now; as `answer`."""
    with alone(home / FILE):
        known = _to_change(home)
        return _kept(home, replace(known, declined={**known.declined, server.key: server.digest}))


def _to_change(home: Path) -> Answers:
    known = read_answers(home)
    if known.lost:
        raise Refusal("store_unavailable", f"{LOST}.", f"Mend {FILE} in the data folder, or delete it.")
    return known


def _kept(home: Path, known: Answers) -> Answers:
    allowed, declined = dict(sorted(known.allowed.items())), dict(sorted(known.declined.items()))
    put(home / FILE, {"allowed": allowed, "off": sorted(known.off), "declined": declined})
    return known
