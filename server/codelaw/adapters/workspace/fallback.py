"""What is searched and where, and the search without `rg`, by a Python child (T-3, F-1)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codelaw.adapters.asking import started
from codelaw.adapters.programs import own_environment, own_python
from codelaw.adapters.workspace import scan as program
from codelaw.adapters.workspace.expression import Expression
from codelaw.adapters.workspace.ignore import IgnoreTree
from codelaw.adapters.workspace.rg import shown_line
from codelaw.adapters.workspace.walk import WalkBudget, files_below, mtime_of
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Hit, Hits, Located

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


@dataclass(slots=True)
class _Answers:
    """What the child has said so far."""

    hits: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    """Source, line and text."""
    counts: dict[int, int] = field(default_factory=dict[int, int])
    """Matching lines by source."""


async def search_by_child(
    search: FileSearch, opened: Sequence[TextSource], covered: frozenset[str], deadline: float
) -> Hits:
    """The hits of a search, newest files first; `covered` are the paths that buffers stand for."""
    budget = WalkBudget(MAX_VISITS, max(0.0, deadline - time.monotonic()))
    files = await asyncio.to_thread(_files, search, covered, budget)
    sources = sorted([*opened, *files.values()], key=lambda source: (-source.mtime, source.path))
    found, killed = await _scanned(search, sources, deadline)
    hits = tuple(Hit(sources[index].shown, line, text) for index, line, text in found.hits)
    return Hits(
        hits=hits,
        total=max(sum(found.counts.values()), len(hits)),
        files=max(len(found.counts), len({hit.shown for hit in hits})),
        from_buffers=tuple(sources[index].shown for index in found.counts if sources[index].text is not None),
        stopped=budget.stopped or search.stopped(late=killed),
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


async def _scanned(search: FileSearch, sources: Sequence[TextSource], deadline: float) -> tuple[_Answers, bool]:
    """What the child finds in the sources, and whether its time was up."""
    request = {
        "pattern": search.expression.python,
        "ignore_case": search.expression.ignore_case,
        "limit": search.limit,
        "items": [{"path": one.path} if one.text is None else {"text": one.text} for one in sources],
    }
    python = await asyncio.to_thread(own_python, search.folders)
    environment = await asyncio.to_thread(own_environment, os.environ, search.folders)
    argv = (python, "-I", "-S", "-B", str(Path(program.__file__)))
    found, killed = _Answers(), False
    async with started(*argv, env=environment, stdin=PIPE, limit=1 << 20) as process:
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                await asyncio.gather(_ask(process, request), _hear(process, found))
                await process.wait()
        except TimeoutError:
            killed = True
    if not killed and process.returncode != 0:
        raise RuntimeError(f"the search child ended with exit code {process.returncode}")
    return found, killed


async def _ask(process: Process, request: Mapping[str, object]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(await asyncio.to_thread(lambda: json.dumps(request).encode()))
            await process.stdin.drain()
        process.stdin.close()


async def _hear(process: Process, found: _Answers) -> None:
    while process.stdout is not None and (line := await process.stdout.readline()):
        said = json.loads(line)
        if len(said) == 2:
            found.counts[said[0]] = said[1]
        else:
            found.hits.append((said[0], said[1], shown_line(said[2].encode("utf-8"))))
