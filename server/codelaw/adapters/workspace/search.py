"""Searching lines: open buffers first, then the disk through `rg` or a Python child (T-3, F-1)."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codelaw.adapters.programs import find_program, usable
from codelaw.adapters.workspace import child, rg
from codelaw.adapters.workspace.expression import Expression
from codelaw.adapters.workspace.ignore import IgnoreTree
from codelaw.adapters.workspace.walk import Budget, files_below, misled_below, mtime_of
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, Hit, Hits, Located

MAX_VISITS = 500_000
PATIENCE_SECONDS = 1.0
"""How long `rg` may take before its ignore files are looked at."""
MOST_LEFT_OUT = 500
"""Paths that `rg` is told to leave out; each is tried on every file."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text to be searched: a buffer's, or a file's when `text` is None."""

    path: str
    shown: str
    mtime: float
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched, and where."""

    starts: Sequence[Located]
    expression: Expression
    matches: Callable[[Located, str], bool]
    """Whether a file, by its absolute path below a start, is asked for."""
    shown: Callable[[str], str]
    """How an absolute path is shown."""
    glob: str | None
    limit: int
    seconds: float
    folders: Sequence[Path] = ()
    """All of the workspace's: no program is taken from them (S-8)."""
    denied: Callable[[str], bool] | None = None
    """Whether a rule withholds a file, by its absolute path: such a file is not even opened (S-1)."""


def find_rg(folders: Sequence[Path] = (), environment: Mapping[str, str] | None = None) -> str | None:
    """The `rg` on PATH, or the one installed beside this Python; never one of a workspace folder (S-8)."""
    found = find_program("rg", os.environ if environment is None else environment, folders)
    beside = str(Path(sys.executable).parent / "rg")
    return found or (beside if usable(beside, folders) else None)


async def search(question: Question, buffers: Sequence[Buffer], program: str | None) -> Hits:
    """The hits of a question; with `rg` as `program`, else without."""
    deadline = time.monotonic() + question.seconds
    opened, covered = await asyncio.to_thread(_opened, question, buffers)
    if program is None:
        return await _by_child(question, opened, covered, deadline)
    try:
        found = await _unless_misled(_by_rg(question, opened, covered, program, deadline), question, deadline)
    except OSError:
        # `rg` vanished, cannot be started or took too much: the other way gives the same.
        found = None
    return await _by_child(question, opened, covered, deadline) if found is None else found


async def _unless_misled(search: Coroutine[Any, Any, Hits], question: Question, deadline: float) -> Hits | None:
    """What `rg` finds; None when it is still at it after a while, and an ignore file would keep it for ever (S-6)."""
    searching = asyncio.ensure_future(search)
    tasks: list[asyncio.Future[Any]] = [searching]
    budget = Budget(MAX_VISITS, max(0.0, deadline - time.monotonic()))
    try:
        await asyncio.wait({searching}, timeout=PATIENCE_SECONDS)
        if not searching.done():
            looking = asyncio.ensure_future(asyncio.to_thread(_misled, question.starts, budget))
            tasks.append(looking)
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not searching.done() and await looking:
                return None
        return await searching
    finally:
        budget.stopped = budget.stopped or "the search has ended"
        searching.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _misled(starts: Sequence[Located], budget: Budget) -> bool:
    return any(misled_below(str(start.path), IgnoreTree(start.folder.root), budget) for start in starts)


async def _by_rg(
    question: Question,
    opened: list[Source],
    covered: frozenset[str],
    program: str,
    deadline: float,
) -> Hits:
    run = rg.Run(program, question.expression, deadline, question.folders)
    in_buffers = await rg.search_texts(run, [source.text or "" for source in opened])
    starts = await asyncio.to_thread(_searchable, question.starts)
    repositories = await asyncio.to_thread(lambda: {start for start in starts if _in_repository(start)})
    parts = [
        ([str(start.path) for start in starts if (start in repositories) is parents], parents)
        for parents in (True, False)
    ]
    parts = [(paths, parents) for paths, parents in parts if paths]
    without: tuple[str, ...] | None = ()
    if question.denied is not None:
        listed = [
            path for paths, parents in parts for path in await rg.files(run, paths, question.glob, parents=parents)
        ]
        without = await asyncio.to_thread(left_out, [str(start.path) for start in starts], listed, question.denied)
    if without is None or run.late:
        # Too many to name: the other way opens only what it may.
        return await _by_child(question, opened, covered, deadline)
    counts: dict[str, int] = {}
    for paths, parents in parts:
        # Outside a repository `rg` must not look for ignore files above the folder.
        counts |= await rg.count(run, paths, question.glob, parents=parents, without=without)
    stopped = run.stopped(question.seconds)
    kept = await asyncio.to_thread(_kept, question, starts, counts, covered)
    texts = {source.path: lines for source, lines in zip(opened, in_buffers, strict=True) if lines}
    kept += [(-source.mtime, source.path, len(texts[source.path])) for source in opened if source.path in texts]
    kept.sort()
    wanted: list[str] = []
    room = question.limit
    for _, path, number in kept:
        if room <= 0:
            break
        room -= number
        wanted.append(path)
    lines = texts | await rg.search_files(run, [path for path in wanted if path not in texts], question.limit)
    hits = [Hit(question.shown(path), number, text) for path in wanted for number, text in lines.get(path, ())]
    return Hits(
        hits=tuple(hits[: question.limit]),
        total=sum(number for _, _, number in kept),
        files=len(kept),
        from_buffers=tuple(question.shown(path) for _, path, _ in kept if path in texts),
        stopped=stopped or run.stopped(question.seconds),
        engine="rg",
    )


def left_out(starts: Sequence[str], listed: Sequence[str], denied: Callable[[str], bool]) -> tuple[str, ...] | None:
    """The fewest paths that cover what is denied of the files `listed` and nothing else; None when they are too many.

    A folder below one of `starts` in which everything is denied stands for its files.
    """
    shared: set[str] = set()
    withheld: list[str] = []

    def share(folder: str) -> None:
        while folder not in shared:
            shared.add(folder)
            folder = os.path.dirname(folder)  # noqa: PTH120 - for up to half a million of them

    for start in starts:
        share(start)
    for path in listed:
        if denied(path):
            withheld.append(path)
        else:
            share(os.path.dirname(path))  # noqa: PTH120
    found: dict[str, None] = {}
    for path in withheld:
        top = path
        while (above := os.path.dirname(top)) not in shared:  # noqa: PTH120
            top = above
        found[top] = None
    too_many = len(found) > MOST_LEFT_OUT or not all(path.isprintable() for path in found)
    return None if too_many else tuple(found)


def _kept(
    question: Question, starts: list[Located], counts: dict[str, int], covered: frozenset[str]
) -> list[tuple[float, str, int]]:
    """The counted files that are asked for: minus mtime, path and count."""
    # Below a folder outside a repository `rg` was not told of the ignore files above the start: ask them here.
    trees = {
        start: IgnoreTree(start.folder.root)
        for start in starts
        if start.path != start.folder.root and not _in_repository(start)
    }
    kept: list[tuple[float, str, int]] = []
    for path, count in counts.items():
        start = starts[0] if len(starts) == 1 else next(one for one in starts if _below(str(one.path), path))
        if path in covered or (start in trees and trees[start].hides(str(start.path), path)):
            continue
        if not question.matches(start, path):
            continue
        try:
            kept.append((-os.lstat(path).st_mtime, path, count))
        except OSError:
            # Gone since it was counted.
            continue
    return kept


async def _by_child(
    question: Question,
    opened: list[Source],
    covered: frozenset[str],
    deadline: float,
) -> Hits:
    sources, stopped = await asyncio.to_thread(_sources, question, covered, deadline)
    ordered = _newest([*opened, *sources])
    found = await child.scan(
        question.expression,
        [(source.path, source.text) for source in ordered],
        question.limit,
        deadline,
        folders=question.folders,
    )
    hits = tuple(Hit(ordered[index].shown, line, text) for index, line, text in found.hits)
    return Hits(
        hits=hits,
        total=max(sum(found.counts.values()), len(hits)),
        files=max(len(found.counts), len({hit.shown for hit in hits})),
        from_buffers=tuple(ordered[index].shown for index in found.counts if ordered[index].text is not None),
        stopped=stopped or (f"stopped after {question.seconds:g} s" if found.killed else ""),
        engine="python",
    )


def _sources(question: Question, covered: frozenset[str], deadline: float) -> tuple[list[Source], str]:
    budget = Budget(MAX_VISITS, max(0.0, deadline - time.monotonic()))
    sources: dict[str, Source] = {}
    for start in _searchable(question.starts):
        if os.path.isfile(start.path):  # noqa: PTH113 - never raises
            found = [(str(start.path), _mtime(start.path))]
        else:
            below = files_below(str(start.path), IgnoreTree(start.folder.root), budget)
            found = [(entry.path, mtime_of(entry)) for entry in below if question.matches(start, entry.path)]
        for path, mtime in found:
            if path not in covered and question.matches(start, path):
                sources[path] = Source(path, question.shown(path), mtime)
    return list(sources.values()), budget.stopped


def _searchable(starts: Sequence[Located]) -> list[Located]:
    """The starts that are on disk; a single file only when it is text, which `rg` would not check."""
    kept: list[Located] = []
    for start in starts:
        try:
            mode = start.path.stat().st_mode
            if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and not _has_nul(start.path)):
                kept.append(start)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                raise ToolFailure("ACCESS_DENIED", f"{start.shown} cannot be searched: {error.strerror}.") from error
    return kept


def _has_nul(path: Path) -> bool:
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            if b"\0" in chunk:
                return True
    return False


def _opened(question: Question, buffers: Sequence[Buffer]) -> tuple[list[Source], frozenset[str]]:
    """The buffers that are asked for, and the paths that buffers stand for."""
    trees = {start.folder.root: IgnoreTree(start.folder.root) for start in question.starts}
    opened: list[Source] = []
    for buffer in buffers:
        for start in question.starts:
            if buffer.path is None:
                whole = start.path in {start.folder.root, Path(buffer.uri)}
                if whole and question.matches(start, f"{start.path}/{buffer.uri}"):
                    opened.append(Source(buffer.uri, buffer.uri, float("inf"), buffer.text))
                    break
                continue
            path = str(buffer.path)
            if not _below(str(start.path), path) or not question.matches(start, path):
                continue
            if not trees[start.folder.root].hides(str(start.path), path):
                opened.append(Source(path, question.shown(path), _mtime(buffer.path), buffer.text))
                break
    return opened, frozenset(str(buffer.path) for buffer in buffers if buffer.path is not None)


def _mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return float("inf")


def _in_repository(start: Located) -> bool:
    return IgnoreTree(start.folder.root).in_repository


def _below(start: str, path: str) -> bool:
    return path == start or path.startswith(start.rstrip("/") + "/")


def _newest(sources: Sequence[Source]) -> list[Source]:
    return sorted(sources, key=lambda source: (-source.mtime, source.path))
