"""Runs rows of the table and tells what they reached. Runs in a process of an ordinary user's."""

from __future__ import annotations

import asyncio
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from codelaw.adapters import processes
from codelaw.adapters.processes.sandbox import Kind, Sandbox
from codelaw.adapters.processes.sandbox import SandboxMeans as Found
from codelaw.domain.safety.sensitive_files import TABLE
from tests.attacks.row import FENCES, UNSAFE, Attack, Means, NotRun
from tests.attacks.starts import STARTS
from tests.attacks.world import USUAL, World, world
from tests.fakes.seen import seen

AT_ONCE = 2
KNOWN_SECONDS = 2.0
"""In which a process that is known to outlive its command is waited for."""
LONGEST = 200_000
"""Characters of a command's output that are kept."""
GHOSTS = frozenset((*TABLE, ".git", ".codelaw", "commondir", "config.worktree", "alternates", "hooks"))
"""What was once put into a workspace to keep the names free."""
_PASSING = re.compile(r"[a-z]?\d+|sed\w{6}")
"""A name that a loop counts, or that sed makes for a while."""
_LACKING = re.compile(
    r"command not found|: not found$|No module named|SyntaxError|NameError|IndentationError|unrecognized option"
    r"|invalid option|not a git command|unknown option",
    re.MULTILINE,
)
"""What is said where an attack was not made, because something for it is missing or it is misspelt."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one attack reached under one means."""

    name: str
    means: Means
    ran: bool
    breaches: list[str]
    note: str = ""
    """What the command said, or why the attack did not run."""


async def run(rows: Sequence[tuple[Attack, Means]]) -> AsyncIterator[Outcome]:
    """The outcomes, as they come."""
    with tempfile.TemporaryDirectory(prefix="worlds-", ignore_cleanup_errors=True) as folder:
        base = Path(os.path.realpath(folder))
        (base / "tmp").mkdir()
        _temporary(base / "tmp")
        found: dict[Means, Found] = {kind: await means_of(kind) for kind in ("bubblewrap", "landlock")}
        fenced: list[Means] = [means for means in FENCES if any(means == of for _, of in rows)]
        lacking: dict[Means, str] = {means: await _lacking(base / f"control-{means}", means, found) for means in fenced}
        room = asyncio.Semaphore(AT_ONCE)

        async def one(number: int, row: Attack, means: Means) -> Outcome:
            if lacking.get(means):
                return Outcome(row.name, means, ran=False, breaches=[], note=lacking[means])
            async with room:
                return await _one(base / str(number), row, means, found)

        for done in asyncio.as_completed([one(number, *row) for number, row in enumerate(rows)]):
            yield await done


async def means_of(kind: Kind) -> Found:
    """Whether a sandbox of this kind works here."""
    sandbox = Sandbox(list, [], USUAL, kinds=(kind,))
    try:
        return await sandbox.means()
    finally:
        await sandbox.close()


async def _lacking(base: Path, means: Means, found: dict[Means, Found]) -> str:
    """Why no attack would prove anything here: a harmless command must read and copy what lies around it."""
    if means in found and found[means].kind is None:
        return found[means].detail
    line = "cat {out}/victim && cp {out}/program copy && test -s copy && echo copied"
    tried = await _in_world(base, Attack("control", "out", line, seconds=150), means, found)
    if tried.note.endswith("intact\ncopied"):
        return ""
    modes = ", ".join(f"{one} {one.stat().st_mode & 0o7777:o}" for one in base.parents if one.exists())
    return f"a harmless command failed under {means} in {base}: {tried.note} (modes: {modes})"


def _temporary(folder: Path) -> None:
    """The worlds can be seen in the sandbox: they are not hidden with the temporary folder that they lie in."""
    for module in pkgutil.walk_packages(processes.__path__, f"{processes.__name__}."):
        loaded = importlib.import_module(module.name)
        if hasattr(loaded, "TEMPORARY"):
            setattr(loaded, "TEMPORARY", (str(folder),))  # noqa: B010 - of a module whose name is not known here


async def _one(base: Path, row: Attack, means: Means, found: dict[Means, Found]) -> Outcome:
    if row.needs and not any(shutil.which(program) for program in row.needs):
        return Outcome(row.name, means, ran=False, breaches=[], note=f"none of {', '.join(row.needs)} is here")
    if means in found and found[means].kind is None:
        return Outcome(row.name, means, ran=False, breaches=[], note=found[means].detail)
    try:
        async with asyncio.timeout(row.seconds + 120):
            return await _in_world(base, row, means, found)
    except NotRun as missing:
        return Outcome(row.name, means, ran=False, breaches=[], note=str(missing))
    except Exception as error:  # noqa: BLE001 - one broken row must not hide what the others tell
        return Outcome(row.name, means, ran=False, breaches=[], note=f"broken: {type(error).__name__}: {error}")


async def _in_world(base: Path, row: Attack, means: Means, found: dict[Means, Found]) -> Outcome:
    if means == "policy" and not isinstance(row.does, str):
        return Outcome(
            row.name, means, ran=True, breaches=await row.does(cast("World", None))
        )  # it looks at words alone
    around = await asyncio.to_thread(_enter, base, row)
    context, here = around
    try:
        if not isinstance(row.does, str):
            return Outcome(row.name, means, ran=True, breaches=await row.does(here))
        sandbox = here.sandbox(means) if means in ("bubblewrap", "landlock") else None
        processes_here = here.processes(sandbox, found.get(means), network=row.network)
        result = None
        line = row.does.format(**here.words())
        with seen(here.ws) as appeared:
            try:
                result = await processes_here.run(line, cwd=here.ws, timeout=row.seconds)
            finally:
                if sandbox is not None:
                    await sandbox.close()
        said = f"{result.stdout}\n{result.stderr}"
        ran = bool(row.needs) or _LACKING.search(said) is None
        breaches = await asyncio.to_thread(_look, here, row, said, known=bool(row.sentence(means)))
        breaches += [f"appeared: {path}" for path in dict.fromkeys(appeared) if not made_by(line, path)]
        if row.marks and row.marks in result.stdout:
            breaches.append(f"it said {row.marks}")
        if len(said) > LONGEST:
            breaches.append(f"{len(said)} characters were kept")
        if result.timed_out:
            breaches.append("it ran into its time limit")
        return Outcome(row.name, means, ran=ran, breaches=breaches, note=said.strip()[-400:])
    finally:
        await asyncio.to_thread(context.__exit__, None, None, None)
        await asyncio.to_thread(_remove, base)


def made_by(line: str, path: Path) -> bool:
    """Whether a command may have made a name: it says it, or runs git or sed, which make names of their own."""
    if path.name in GHOSTS:
        return path.name in line or ("git init" in line and ".git" in path.parts)
    said = path.name.replace("\n", "\\n") in line
    return said or "git" in line or _PASSING.fullmatch(path.name) is not None


def _enter(base: Path, row: Attack):
    context = world(base)
    here = context.__enter__()
    try:
        STARTS[row.start](here)
        here.settings = row.settings
        here.before = here.seen()
    except BaseException:
        context.__exit__(None, None, None)
        raise
    return context, here


def _look(here: World, row: Attack, said: str, *, known: bool) -> list[str]:
    if row.git:
        here.git_outside()
    # What is known to outlive its command is not waited for.
    return here.breaches(said, KNOWN_SECONDS) if known else here.breaches(said)


def _remove(base: Path) -> None:
    subprocess.run(["chmod", "-R", "u+rwX", str(base)], check=False, capture_output=True)
    shutil.rmtree(base, ignore_errors=True)


def rows_of(table: Sequence[Attack], wanted: Collection[str] | None = None) -> list[tuple[Attack, Means]]:
    """What there is to be run: each row by each of its means; of `wanted` only, given as `means: name`."""
    every: list[tuple[Attack, Means]] = [
        (row, means) for row in table for means in row.means if not (means == "none" and row.bare == UNSAFE)
    ]
    return [(row, means) for row, means in every if wanted is None or label(row, means) in wanted]


def label(row: Attack, means: Means) -> str:
    """A row under one of its means, in words."""
    return f"{means}: {row.name}"


def reported(outcome: Outcome) -> dict[str, object]:
    """For a pipe."""
    return asdict(outcome)
