"""`codelaw/search` and `codelaw/index/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.lsp.methods.routing import route
from codelaw.protocol import searching as wire

if TYPE_CHECKING:
    from codelaw.lsp.context import Context
    from codelaw.ports.code import IndexState, Place

FOUND = 10
"""Places where no limit is named."""


@route("codelaw/search", wire.SearchCode, wire.FoundPlaces)
async def search(context: Context, params: wire.SearchCode) -> object:
    found, uris = await context.session.code.search(
        params.query, path=params.path or ".", kind=params.kind or "any", limit=params.limit or FOUND
    )
    state = found.state
    return wire.FoundPlaces(
        places=[_place(place, uri) for place, uri in zip(found.places, uris, strict=True)],
        indexed=wire.Indexed(files=state.files, fresh=state.status in {"ready", "memory"} and not state.pending),
    )


@route("codelaw/index/status", wire.ReadIndex, wire.IndexReport)
async def status(context: Context, _params: wire.ReadIndex) -> object:
    return _report(context.session.code.state())


@route("codelaw/index/rebuild", wire.ReadIndex, wire.IndexReport)
async def rebuild(context: Context, _params: wire.ReadIndex) -> object:
    return _report(await context.session.code.rebuild())


def _place(place: Place, uri: str) -> wire.FoundPlace:
    return wire.FoundPlace(
        uri=uri,
        path=place.path,
        range=wire.PlaceRange(
            start=wire.PlacePosition(line=place.start, character=0),
            end=wire.PlacePosition(line=place.end, character=0),
        ),
        symbol=place.symbol or None,
        kind=place.kind,
        lines=list(place.lines),
        why=place.why,
        score=round(place.score, 4),
    )


def _report(state: IndexState) -> wire.IndexReport:
    return wire.IndexReport.of(state, state=state.status, skipped=dict(state.skipped))
