"""The Python child that searches when there is no `rg` (T-3)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codelaw.adapters.asking import started
from codelaw.adapters.programs import own_environment, own_python
from codelaw.adapters.workspace import scan as program
from codelaw.adapters.workspace.expression import Expression
from codelaw.adapters.workspace.rg import shown_line


@dataclass(slots=True)
class Found:
    """What the child has told; `killed` when its time was up."""

    hits: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    """Item, line and text."""
    counts: dict[int, int] = field(default_factory=dict[int, int])
    """Matching lines by item."""
    killed: bool = False


async def scan(
    expression: Expression,
    items: Sequence[tuple[str, str | None]],
    limit: int,
    deadline: float,
    *,
    folders: Sequence[Path] = (),
) -> Found:
    """Search files (path, None) and texts (name, text), in this order; `folders` are those of the workspace (S-8)."""
    request: dict[str, object] = {
        "pattern": expression.python,
        "ignore_case": expression.ignore_case,
        "limit": limit,
        "items": [{"path": path} if text is None else {"text": text} for path, text in items],
    }
    python = await asyncio.to_thread(own_python, folders)
    environment = await asyncio.to_thread(own_environment, os.environ, folders)
    argv = (python, "-I", "-S", "-B", str(Path(program.__file__)))
    found = Found()
    async with started(*argv, env=environment, stdin=asyncio.subprocess.PIPE, limit=1 << 20) as process:
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                await asyncio.gather(_ask(process, request), _hear(process, found))
                await process.wait()
        except TimeoutError:
            found.killed = True
    if not found.killed and process.returncode != 0:
        raise RuntimeError(f"the search child ended with exit code {process.returncode}")
    return found


async def _ask(process: asyncio.subprocess.Process, request: dict[str, object]) -> None:
    if process.stdin is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(await asyncio.to_thread(lambda: json.dumps(request).encode()))
        await process.stdin.drain()
    process.stdin.close()


async def _hear(process: asyncio.subprocess.Process, found: Found) -> None:
    while process.stdout is not None and (line := await process.stdout.readline()):
        told = json.loads(line)
        if len(told) == 2:
            found.counts[told[0]] = told[1]
        else:
            found.hits.append((told[0], told[1], shown_line(told[2].encode("utf-8"))))
