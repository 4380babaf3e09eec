"""`rg` as the engine of a search: counts first, then the lines of the few newest files (T-3)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import resource
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codelaw.adapters.asking import started
from codelaw.adapters.programs import own_environment
from codelaw.adapters.workspace.expression import Expression
from codelaw.adapters.workspace.scan import MAX_TEXT
from codelaw.domain.errors import ToolFailure

MAX_OUTPUT = 64_000_000
MAX_MEMORY = 1 << 30
"""Bytes; an ignore file without an end, or a line, would take all there is."""
MAX_COLUMNS = 8_000
"""Bytes of a line that are printed."""
_COUNT = re.compile(rb"([^\0]+)\0(\d+)\n")
_RECORD = re.compile(rb"([^\0]+)\0(\d+):([^\n]*)(?:\n|\Z)")
_PLAIN_NAME = re.compile(r"[\w.*?+-]+")

Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Ended:
    """What a program printed before it ended, or before the time was up."""

    out: bytes
    errors: bytes
    code: int
    late: bool


async def run(argv: Sequence[str], folders: Sequence[Path], deadline: float, text: bytes | None = None) -> Ended:
    """Run a program on `text` until a deadline (monotonic seconds), its memory bounded.

    Raises:
        OSError: it cannot be started.
    """
    environment = await asyncio.to_thread(own_environment, os.environ, folders)
    out, errors, late = bytearray(), bytearray(), False
    stdin = DEVNULL if text is None else PIPE
    async with started(*argv, env=environment, stdin=stdin, stderr=PIPE, limit=1 << 20) as process:
        if sys.platform == "linux":  # where the system can bound another process
            with contextlib.suppress(OSError):  # it has ended already
                resource.prlimit(process.pid, resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                await asyncio.gather(
                    _feed(process.stdin, text), _collect(process.stdout, out), _collect(process.stderr, errors)
                )
                await process.wait()
        except TimeoutError:
            late = True
    return Ended(bytes(out), bytes(errors), process.returncode or 0, late)


@dataclass(slots=True)
class Run:
    """The `rg` calls of one search, under one deadline; `folders` are the workspace's."""

    program: str
    expression: Expression
    deadline: float
    folders: Sequence[Path] = ()
    late: bool = False

    async def output(self, arguments: list[str], text: bytes | None = None) -> bytes:
        """What `rg` prints; what it has printed when the time is up.

        Raises:
            ToolFailure: INVALID_PARAM when it refuses the expression.
            OSError: it cannot be started, or is too old for what is asked.
        """
        case = "--ignore-case" if self.expression.ignore_case else "--case-sensitive"
        always = ("--no-config", "--color=never", "--no-messages", "--encoding=none", "--no-mmap", case)
        ended = await run((self.program, *always, *arguments), self.folders, self.deadline, text)
        self.late = self.late or ended.late
        if not ended.late and ended.code < 0:
            raise OSError(f"rg was ended by signal {-ended.code}")
        if ended.code == 2 and ended.errors and not ended.out:
            said = ended.errors.decode("utf-8", "replace").strip()[-300:]
            if "regex" in said:
                raise ToolFailure("INVALID_PARAM", f"pattern: {said}")
            raise OSError(f"rg refuses to run: {said}")
        return ended.out


async def files(run: Run, place: str, glob: str | None, *, parents: bool) -> list[str]:
    """The files at `place` and below that `count` would read, by name alone."""
    out = await run.output(["--files", "--null", *_choosing(glob, parents=parents), "--", place])
    # The last is not whole when the time was up.
    return [os.fsdecode(path) for path in out.split(b"\0")[:-1]]


async def count(
    run: Run, place: str, glob: str | None, *, parents: bool, without: Sequence[str] = ()
) -> dict[str, int]:
    """Matching lines of each file at `place` and below that has any; what `without` names is not even opened."""
    arguments = ["--count", "--with-filename", "--null", *_choosing(glob, parents=parents)]
    # A glob for one absolute path, as `rg` reads it in `/`.
    arguments += ["--glob=!" + re.sub(r"([*?\[\]{}\\!# ])", r"\\\1", path) for path in without]
    out = await run.output([*arguments, f"--regexp={run.expression.rust}", "--", place])
    return await asyncio.to_thread(lambda: {os.fsdecode(path): int(number) for path, number in _COUNT.findall(out)})


def _choosing(glob: str | None, *, parents: bool) -> list[str]:
    arguments = ["--no-require-git", "--no-ignore-global", "--no-ignore-dot", "--glob=!.git"]
    # The type's glob is applied after the ignore files, where `--glob` would override them.
    if glob is not None and _PLAIN_NAME.fullmatch(glob):
        arguments += ["--type-add", f"asked:{glob}", "--type=asked"]
    return arguments if parents else [*arguments, "--no-ignore-parent"]


async def search_files(run: Run, paths: list[str], limit: int) -> dict[str, list[Line]]:
    """The first matching lines of each file."""
    if not paths:
        return {}
    show = ["--line-number", "--with-filename", "--null", "--no-heading", "--text", f"--max-count={limit}"]
    show += [f"--max-columns={MAX_COLUMNS}", "--max-columns-preview", f"--regexp={run.expression.rust}", "--", *paths]
    found: dict[str, list[Line]] = {}
    # A name may hold a line break: a record is read from its beginning, not from the next line.
    for path, number, line in _RECORD.findall(await run.output(show)):
        found.setdefault(os.fsdecode(path), []).append((int(number), shown_line(line)))
    return {name: sorted(lines) for name, lines in found.items()}


async def search_texts(run: Run, texts: list[str]) -> list[list[Line]]:
    """The matching lines of each text; all are searched as one stream."""
    if not texts:
        return []
    lines = [text.removesuffix("\n").split("\n") if text else [] for text in texts]
    joined = "".join(f"{line}\n" for one in lines for line in one)
    out = await run.output(
        ["--line-number", "--no-filename", "--text", "--max-columns=1", f"--regexp={run.expression.rust}", "-"],
        joined.encode("utf-8", "replace"),
    )
    numbers = [int(number) for record in out.split(b"\n") if (number := record.partition(b":")[0]).isdigit()]
    found: list[list[Line]] = []
    before = 0
    for one in lines:
        mine = [number - before for number in numbers if before < number <= before + len(one)]
        found.append([(number, shown_line(one[number - 1].encode("utf-8", "replace"))) for number in mine])
        before += len(one)
    return found


def shown_line(line: bytes) -> str:
    """A line as it is told: without its break, undecodable bytes replaced, cut."""
    text = line[: 4 * MAX_TEXT].decode("utf-8", "replace").removesuffix("\r")
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


async def _feed(stream: asyncio.StreamWriter | None, text: bytes | None) -> None:
    if stream is None or text is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(text)
        await stream.drain()
    stream.close()


async def _collect(stream: asyncio.StreamReader | None, into: bytearray) -> None:
    while stream is not None and (data := await stream.read(1 << 16)):
        if len(into) < MAX_OUTPUT:
            into += data
