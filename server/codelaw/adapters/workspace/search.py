"""Searching lines: open buffers first, then the disk through `rg` or a Python child (T-3, F-1)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from os.path import dirname
from pathlib import Path
from typing import Any

from codelaw.adapters.programs import find_program, usable
from codelaw.adapters.workspace import rg
from codelaw.adapters.workspace.fallback import (
    MAX_VISITS,
    FileSearch,
    TextSource,
    file_mtime,
    search_by_child,
    searchable,
)
from codelaw.adapters.workspace.ignore import IgnoreTree
from codelaw.adapters.workspace.walk import WalkBudget, files_below
from codelaw.domain.files import Buffer, Hit, Hits, Located

PATIENCE_SECONDS = 1.0
"""How long `rg` may take before its ignore files are looked at."""
MOST_LEFT_OUT = 500
"""Paths that `rg` is told to leave out; each is tried on every file."""


def find_rg(folders: Sequence[Path] = (), environment: Mapping[str, str] | None = None) -> str | None:
    """The `rg` on PATH, or the one installed beside this Python; never one of a workspace folder (S-8)."""
    found = find_program("rg", os.environ if environment is None else environment, folders)
    beside = str(Path(sys.executable).parent / "rg")
    return found or (beside if usable(beside, folders) else None)


async def search_lines(search: FileSearch, buffers: Sequence[Buffer], program: str | None) -> Hits:
    """The hits of a search; with `rg` as `program`, else without."""
    deadline = time.monotonic() + search.seconds
    opened = await asyncio.to_thread(_opened, search, buffers)
    covered = frozenset(str(buffer.path) for buffer in buffers if buffer.path is not None)
    found = None
    if program is not None:
        run = rg.Run(program, search.expression, deadline, search.folders)
        with contextlib.suppress(OSError):  # it vanished, cannot be started or took too much: the other way does it
            found = await _unless_misled(_by_rg(search, run, opened, covered), search.starts, deadline)
    return found or await search_by_child(search, opened, covered, deadline)


async def _unless_misled(
    search: Coroutine[Any, Any, Hits | None], starts: Sequence[Located], deadline: float
) -> Hits | None:
    """What `rg` finds; None when it is still at it after a while, and an ignore file would keep it for ever (S-6)."""
    searching = asyncio.ensure_future(search)
    tasks: list[asyncio.Future[Any]] = [searching]
    budget = WalkBudget(MAX_VISITS, max(0.0, deadline - time.monotonic()))
    try:
        await asyncio.wait({searching}, timeout=PATIENCE_SECONDS)
        if not searching.done():
            looking = asyncio.ensure_future(asyncio.to_thread(_misled, starts, budget))
            tasks.append(looking)
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not searching.done() and await looking:
                return None
        return await searching
    finally:
        budget.stopped = budget.stopped or "the search has ended"
        searching.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _misled(starts: Sequence[Located], budget: WalkBudget) -> bool:
    for start in starts:
        tree = IgnoreTree(start.folder.root)
        if any(tree.endless for _ in files_below(str(start.path), tree, budget)) or tree.endless:
            return True
    return False


async def _by_rg(search: FileSearch, run: rg.Run, opened: list[TextSource], covered: frozenset[str]) -> Hits | None:
    """None: too many files are denied to name them; the other way opens only what it may."""
    in_buffers = await rg.search_texts(run, [source.text or "" for source in opened])
    starts = await asyncio.to_thread(searchable, search.starts)
    trees = {start: await asyncio.to_thread(IgnoreTree, start.folder.root) for start in starts}
    # Outside a repository `rg` must not look for ignore files above the folder.
    where = [(str(start.path), trees[start].in_repository) for start in starts]
    without: tuple[str, ...] | None = ()
    if (denied := search.denied) is not None:
        listed = [path for place, parents in where for path in await rg.files(run, place, search.glob, parents=parents)]
        places = [place for place, _ in where]
        without = await asyncio.to_thread(left_out, places, listed, lambda path: denied(search.shown(path)))
    if without is None or run.late:
        return None
    counts: dict[str, tuple[Located, int]] = {}
    for start, (place, parents) in zip(starts, where, strict=True):
        found = await rg.count(run, place, search.glob, parents=parents, without=without)
        counts = {path: (start, number) for path, number in found.items() if path not in covered} | counts
    kept = await asyncio.to_thread(_kept, search, trees, counts)
    texts = {source.path: lines for source, lines in zip(opened, in_buffers, strict=True) if lines}
    kept += [(-source.mtime, source.path, len(texts[source.path])) for source in opened if source.path in texts]
    kept.sort()
    wanted: list[str] = []
    room = search.limit
    for _, path, number in kept:
        if room > 0:
            wanted.append(path)
        room -= number
    lines = texts | await rg.search_files(run, [path for path in wanted if path not in texts], search.limit)
    hits = [Hit(search.shown(path), number, text) for path in wanted for number, text in lines.get(path, ())]
    return Hits(
        hits=tuple(hits[: search.limit]),
        total=sum(number for _, _, number in kept),
        files=len(kept),
        from_buffers=tuple(search.shown(path) for _, path, _ in kept if path in texts),
        stopped=search.stopped(late=run.late),
    )


def left_out(starts: Sequence[str], listed: Sequence[str], denied: Callable[[str], bool]) -> tuple[str, ...] | None:
    """The fewest paths that cover what is denied of the files `listed` and nothing else; None when they are too many.

    A folder below one of `starts` in which everything is denied stands for its files.
    """
    shared: set[str] = set()
    withheld = list(filter(denied, listed))
    for folder in (*starts, *(dirname(path) for path in set(listed).difference(withheld))):  # noqa: PTH120 - very many
        at = folder
        while at not in shared:
            shared.add(at)
            at = dirname(at)  # noqa: PTH120
    found: dict[str, None] = {}
    for path in withheld:
        top = path
        while (above := dirname(top)) not in shared:  # noqa: PTH120
            top = above
        found[top] = None
    too_many = len(found) > MOST_LEFT_OUT or not all(path.isprintable() for path in found)
    return None if too_many else tuple(found)


def _kept(
    search: FileSearch, trees: Mapping[Located, IgnoreTree], counts: Mapping[str, tuple[Located, int]]
) -> list[tuple[float, str, int]]:
    """The counted files that are asked for: minus mtime, path and count."""
    kept: list[tuple[float, str, int]] = []
    for path, (start, count) in counts.items():
        # Below a folder outside a repository `rg` was not told of the ignore files above the start: ask them here.
        beyond = start.path != start.folder.root and not trees[start].in_repository
        if (beyond and trees[start].hides(str(start.path), path)) or not search.matches(start, path):
            continue
        try:
            kept.append((-os.lstat(path).st_mtime, path, count))
        except OSError:
            continue  # gone since it was counted
    return kept


def _opened(search: FileSearch, buffers: Sequence[Buffer]) -> list[TextSource]:
    """The buffers that are asked for."""
    trees = {start.folder.root: IgnoreTree(start.folder.root) for start in search.starts}
    opened: dict[str, TextSource] = {}
    for buffer in buffers:
        for start in search.starts:
            if buffer.path is None:
                whole = start.path in {start.folder.root, Path(buffer.uri)}
                if whole and search.matches(start, f"{start.path}/{buffer.uri}"):
                    opened[buffer.uri] = TextSource(buffer.uri, buffer.uri, float("inf"), buffer.text)
                continue
            path = str(buffer.path)
            inside = buffer.path == start.path or start.path in buffer.path.parents
            hidden = not inside or trees[start.folder.root].hides(str(start.path), path)
            if not hidden and search.matches(start, path):
                opened[path] = TextSource(path, search.shown(path), file_mtime(buffer.path), buffer.text)
    return list(opened.values())
