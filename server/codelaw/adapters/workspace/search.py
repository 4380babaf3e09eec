"""Searching lines: open buffers first, then the disk through `rg` or a Python child (T-3, F-1)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os.path import dirname
from pathlib import Path
from typing import Any

from codelaw.adapters.programs import find_program, own_python, usable
from codelaw.adapters.workspace import rg
from codelaw.adapters.workspace import scan as program
from codelaw.adapters.workspace.expression import Expression
from codelaw.adapters.workspace.ignore import IgnoreTree
from codelaw.adapters.workspace.rg import run, shown_line
from codelaw.adapters.workspace.walk import WalkBudget, files_below, mtime_of
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, Hit, Hits, Located

SHARE = 0.7
"""Of the time, for `rg`: an ignore file without an end, which it reads for ever, leaves some (S-6)."""
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
        run = rg.Run(program, search.expression, deadline - (1 - SHARE) * search.seconds, search.folders)
        with contextlib.suppress(OSError):  # it vanished, cannot be started or took too much: the other way does it
            found = await _by_rg(search, run, opened, covered)
    if found is None or (found.stopped and not found.hits):
        return await search_by_child(search, opened, covered, deadline)
    return found


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


MAX_VISITS = 500_000


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text to be searched: a buffer's, or a file's when `text` is None."""

    path: str
    shown: str
    mtime: float
    text: str | None = None


@dataclass(frozen=True, slots=True)
class FileSearch:
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
    """Whether a rule withholds a file, by its path as shown: such a file is not even opened (S-1)."""

    def stopped(self, *, late: bool) -> str:
        """Why the search ended early."""
        return f"stopped after {self.seconds:g} s" if late else ""


async def search_by_child(
    search: FileSearch, opened: Sequence[TextSource], covered: frozenset[str], deadline: float
) -> Hits:
    """The hits of a search, newest files first; `covered` are the paths that buffers stand for."""
    budget = WalkBudget(MAX_VISITS, max(0.0, deadline - time.monotonic()))
    files = await asyncio.to_thread(_files, search, covered, budget)
    sources = sorted([*opened, *files.values()], key=lambda source: (-source.mtime, source.path))
    request = {
        "pattern": search.expression.python,
        "ignore_case": search.expression.ignore_case,
        "limit": search.limit,
        "items": [{"path": one.path} if one.text is None else {"text": one.text} for one in sources],
    }
    python = await asyncio.to_thread(own_python, search.folders)
    text = await asyncio.to_thread(lambda: json.dumps(request).encode())
    ended = await run((python, "-I", "-S", "-B", str(Path(program.__file__))), search.folders, deadline, text)
    if not ended.late and ended.code != 0:
        raise RuntimeError(f"the search child ended with exit code {ended.code}")
    # The last line is not whole when the time was up.
    said: list[list[Any]] = await asyncio.to_thread(lambda: [json.loads(line) for line in ended.out.split(b"\n")[:-1]])
    hits = tuple(Hit(sources[int(one[0])].shown, one[1], shown_line(one[2].encode())) for one in said if len(one) == 3)
    counts: dict[int, int] = {one[0]: one[1] for one in said if len(one) == 2}
    return Hits(
        hits=hits,
        total=max(sum(counts.values()), len(hits)),
        files=max(len(counts), len({hit.shown for hit in hits})),
        from_buffers=tuple(sources[index].shown for index in counts if sources[index].text is not None),
        stopped=budget.stopped or search.stopped(late=ended.late),
        engine="python",
    )


def searchable(starts: Sequence[Located]) -> list[Located]:
    """The starts that are on disk; a single file only when it is text, which `rg` would not check.

    Raises:
        ToolFailure: ACCESS_DENIED: one cannot be looked at.
    """
    kept: list[Located] = []
    for start in starts:
        try:
            mode = start.path.stat().st_mode
            if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and not _has_nul(start.path)):
                kept.append(start)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ToolFailure("ACCESS_DENIED", f"{start.shown} cannot be searched: {error.strerror}.") from error
    return kept


def file_mtime(path: Path) -> float:
    """When a file was changed; the future where it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return float("inf")


def _has_nul(path: Path) -> bool:
    with path.open("rb") as file:
        return any(b"\0" in chunk for chunk in iter(lambda: file.read(1 << 20), b""))


def _files(search: FileSearch, covered: frozenset[str], budget: WalkBudget) -> dict[str, TextSource]:
    found: dict[str, TextSource] = {}
    for start in searchable(search.starts):
        if start.path.is_file():
            below = [(str(start.path), file_mtime(start.path))]
        else:
            entries = files_below(str(start.path), IgnoreTree(start.folder.root), budget)
            below = ((entry.path, mtime_of(entry)) for entry in entries)
        for path, mtime in below:
            if path not in covered and search.matches(start, path):
                found[path] = TextSource(path, search.shown(path), mtime)
    return found
