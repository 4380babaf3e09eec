"""Runs stages side by side, shows what they say, and tells at the end what failed and what was skipped."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.dev.base import CLIENT, ROOT, Machine, here, identity, npm, say
from scripts.dev.stages import TESTS, Stage

REQUIRED = frozenset(os.environ.get("CODELAW_TEST_REQUIRE", "").split(","))
"""What fails here where it cannot run, instead of being skipped: `client` and `workbench` are this program's."""
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Outcome:
    """How a stage ended: its exit status, and the skips it reported, one a line."""

    name: str
    status: int
    skips: tuple[str, ...] = ()


def unavailable(part: str, reason: object) -> Outcome:
    """A part of the checks that this machine cannot run; a failure where it is required."""
    if part in REQUIRED:
        say(f"{part}: failed, because it is required here: {reason}")
        return Outcome(part, 1)
    say(f"{part}: skipped: {reason}")
    return Outcome(part, 0, (str(reason),))


def run_all(stages: Sequence[Stage], machine: Machine | None = None) -> list[Outcome]:
    """Run the lanes side by side and all stages of each, also after a failure; in the order of `stages`."""
    machine = machine or here()
    lanes: dict[str, list[Stage]] = {}
    for stage in stages:
        lanes.setdefault(stage.lane, []).append(stage)
    ended: dict[Stage, Outcome] = {}

    def lane(mine: list[Stage]) -> None:
        for stage in mine:
            ended[stage] = _run(stage, machine, live=stage.lane == TESTS or len(stages) == 1)

    threads = [threading.Thread(target=lane, args=(mine,)) for mine in lanes.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A stage whose lane broke off has no outcome, and that is a failure.
    return [ended.get(stage, Outcome(stage.name, 1)) for stage in stages]


def report(outcomes: Sequence[Outcome]) -> int:
    """Say how it went, skips first; gives the exit status."""
    skips = [(outcome.name, skip) for outcome in outcomes for skip in outcome.skips]
    for name, skip in skips:
        say(f"skipped: {name}: {skip}")
    failed = [outcome.name for outcome in outcomes if outcome.status != 0]
    if failed or not outcomes:
        say(f"failed: {', '.join(failed) or 'nothing ran'}")
        return 1
    say(f"passed, but not everything ran: {len(skips)} skipped" if skips else "all is well")
    return 0


def skipped(output: bytes) -> tuple[str, ...]:
    """The skips in pytest's short summary: how many tests, where and why."""
    lines = COLOUR.sub(b"", output).decode("utf-8", "replace").splitlines()
    return tuple(line.removeprefix("SKIPPED ") for line in lines if re.match(r"SKIPPED \[\d+\] ", line))


def _run(stage: Stage, machine: Machine, *, live: bool) -> Outcome:
    began = time.monotonic()
    program, *arguments = stage.command
    command = npm(*arguments) if stage.client else [machine.bin / program, *arguments]
    if program == "python" and sys.stdout.isatty():
        command.append("--color=yes")
    output = bytearray()
    try:
        with subprocess.Popen(
            [str(part) for part in command],
            cwd=CLIENT if stage.client else machine.root,
            env=machine.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            **identity(machine.user),
        ) as process:
            while process.stdout is not None and (part := process.stdout.read(1 << 16)):
                output += part
                if live:
                    _show(part)
        status = process.returncode
    except OSError as error:
        output += f"{error}\n".encode()
        status = 1
    if status != 0 and not live:
        say(f"{stage.name} says:")
        _show(bytes(output))
    say(f"{stage.name}: {'passed' if status == 0 else 'failed'} after {time.monotonic() - began:.0f} s")
    return Outcome(stage.name, status, skipped(bytes(output)) if stage.lane == TESTS else ())


def _show(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def relative(paths: Sequence[str], start: Path, root: Path = ROOT) -> list[str]:
    """Paths as somebody in the folder `start` types them, relative to the checkout."""
    folder = start.resolve()
    inside = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else "."
    names: list[str] = []
    for path in paths:
        absolute = Path(path.partition("::")[0])
        if absolute.is_absolute() and absolute.is_relative_to(root):
            names.append(absolute.relative_to(root).as_posix() + path[len(str(absolute)) :])
        else:
            names.append(os.path.normpath(f"{inside}/{path}"))
    return names
