"""Which servers the user has let start, and which they have switched off (X-3).

The list lies in the data folder. What a workspace names starts only as it was when the user said yes: with the answer
stands the digest of all that the server is started with.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codelaw.domain.errors import Refusal
from codelaw.settings.servers.written import WrittenServer
from codelaw.settings.trust import LARGEST, alone, put

FILE = "servers.json"
LOST = f"{FILE} in the data folder, the list of servers that are switched off, cannot be read"


class Answers(BaseModel):
    """What the user has said of servers, by their keys."""

    model_config = ConfigDict(frozen=True, strict=True)
    allowed: dict[str, str] = Field(default_factory=dict[str, str])
    """The digest of what was shown."""
    off: frozenset[str] = frozenset()
    declined: dict[str, str] = Field(default_factory=dict[str, str])
    """The digest of what was shown when the user said: not now."""
    lost: bool = Field(default=False, exclude=True)
    """The list is there and cannot be read: what was switched off is not known, so that nothing starts (S-1)."""

    def lets(self, server: WrittenServer) -> bool:
        """Whether it may be started: the user has named it in their own settings, or has seen it as it is."""
        return not self.lost and (server.folder is None or self.allowed.get(server.key) == server.digest)


def read_answers(home: Path) -> Answers:
    """What is remembered; nothing where the list is missing, `lost` where it cannot be read. Touches the disk."""
    try:
        with (home / FILE).open("rb") as file:
            return Answers.model_validate_json(file.read(LARGEST))
    except FileNotFoundError:
        return Answers(lost=(home / FILE).is_symlink())
    except (OSError, ValueError):
        return Answers(lost=True)


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
        return _written(home, Answers(allowed=allowed, off=frozenset(off), declined=known.declined))


def decline(home: Path, server: WrittenServer) -> Answers:
    """Remember that the user does not want to be asked about a server as it is written now; as `answer`."""
    with alone(home / FILE):
        known = _to_change(home)
        return _written(home, known.model_copy(update={"declined": {**known.declined, server.key: server.digest}}))


def _to_change(home: Path) -> Answers:
    known = read_answers(home)
    if known.lost:
        raise Refusal("store_unavailable", f"{LOST}.", f"Mend {FILE} in the data folder, or delete it.")
    return known


def _written(home: Path, known: Answers) -> Answers:
    put(home / FILE, {**known.model_dump(), "off": sorted(known.off)})
    return known
