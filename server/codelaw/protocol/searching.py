"""`codelaw/search` and `codelaw/index/*`: places in the workspace's code and documentation (X-5)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from codelaw.ports import code
from codelaw.ports.code import IndexStatus, PlaceKind
from codelaw.protocol.base import Params, Payload


class SearchCode(Params):
    """`path` is a file or folder as the tools take it; `limit` is 10 by default."""

    query: Annotated[str, Field(min_length=1, max_length=4000)]
    path: Annotated[str, Field(min_length=1, max_length=8192)] | None = None
    kind: PlaceKind | None = None
    limit: Annotated[int, Field(ge=1, le=100)] | None = None


class PlacePosition(Payload):
    line: int
    character: int


class PlaceRange(Payload):
    """Whole lines, zero-based: from the begin of the first to the begin of the one behind the last."""

    start: PlacePosition
    end: PlacePosition


class FoundPlace(Payload):
    """`kind` is the symbol's, else `doc` or `code`; `score` compares with others of this answer only."""

    uri: str
    path: str
    range: PlaceRange
    symbol: str | None = None
    kind: str
    lines: list[str]
    why: str
    score: float


class Indexed(Payload):
    """`fresh` where every file was looked at as it is now."""

    files: int
    fresh: bool


class FoundPlacesPayload(Payload):
    places: list[FoundPlace]
    indexed: Indexed


class ReadIndex(Params):
    pass


class IndexReport(Payload, copies=code.IndexState, without="status", maybe="embedder note"):
    """`seconds` is how long the last run took that read anything; `skipped` counts files by the reason.

    `commits` is how many commits' messages help to rank; `embedder` makes vectors of pieces, of which `embedded` have
    theirs; while `embedding` is true more are made.
    """

    state: IndexStatus
    skipped: dict[str, int]
