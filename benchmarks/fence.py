"""What a command costs in the sandbox over a bare one (S-4): `python benchmarks/fence.py [--files N] [--rounds N]`.

The command is `true`, in a repository of 2 000 files, and in one with ten submodules besides; medians in milliseconds,
taken in turns: wall time, then the processor time of the server and of what it starts, which a busy machine changes
less. The goal is 15 ms over bare. Root is kept from more of the kernel than others, which costs it mounts: run it as
an ordinary user.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

MODULES = 10
PR_SET_CHILD_SUBREAPER = 36
WHO = ["-c", "user.name=A User", "-c", "user.email=a@user.example", "-c", "protocol.file.allow=always"]


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *WHO, *words], cwd=folder, check=True, capture_output=True)


def build(root: Path, files: int, modules: int) -> Path:
    root.mkdir()
    for index in range(files):
        folder = root / f"package_{index % 40}" / f"module_{index % 200}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file_{index}.py").write_text("pass\n")
    git(root, "init", "-q")
    for index in range(modules):
        other = root.parent / f"other_{index}"
        other.mkdir()
        (other / "a.txt").write_text("a\n")
        git(other, "init", "-q")
        git(other, "add", ".")
        git(other, "commit", "-qm", "first")
        git(root, "submodule", "add", "-q", str(other), f"libraries/lib_{index}")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def adopt_orphans() -> None:
    """Have the processes of a command that outlive their parent be ours, so that their time can be read."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def started_cpu() -> float:
    """Seconds of processor time of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


async def measure(root: Path, home: Path, rounds: int) -> None:
    from codelaw.adapters.processes.local import LocalProcesses
    from codelaw.adapters.processes.rules import build_profile as drawing
    from codelaw.adapters.processes.rules.listings import Listings
    from codelaw.adapters.processes.sandbox import Sandbox

    environment = {**os.environ, "HOME": str(home)}
    ways = {"bare": LocalProcesses(environment)}
    sandboxes: list[Sandbox] = []
    for kind in ("bubblewrap", "landlock"):
        sandbox = Sandbox(lambda: [root], [], environment, kinds=(kind,))
        sandboxes.append(sandbox)
        means = await sandbox.means()
        if means.kind is None:
            print(f"{kind}: {means.detail}")
            continue
        ways[kind] = LocalProcesses(environment, sandbox=sandbox, means=means)
    adopt_orphans()
    times: dict[str, list[float]] = {name: [] for name in ways}
    server: dict[str, list[float]] = {name: [] for name in ways}
    children: dict[str, list[float]] = {name: [] for name in ways}
    drawn: list[float] = []
    listings = Listings()
    for _ in range(rounds + 1):
        for name, processes in ways.items():
            before = started_cpu()
            began, spent = time.perf_counter(), time.process_time()
            result = await processes.run("true", cwd=root, timeout=60)
            times[name].append((time.perf_counter() - began) * 1000)
            server[name].append((time.process_time() - spent) * 1000)
            await asyncio.to_thread(reap)
            children[name].append((started_cpu() - before) * 1000)
            if result.exit_code != 0:
                raise SystemExit(f"{name}: {result}")
        began = time.perf_counter()
        await asyncio.to_thread(
            drawing.build_profile, [root], [], environment, cwd=root, network=False, listings=listings
        )
        drawn.append((time.perf_counter() - began) * 1000)
    base = statistics.median(times["bare"][1:])
    for name, all_times in times.items():
        median = statistics.median(all_times[1:])
        own, theirs = statistics.median(server[name][1:]), statistics.median(children[name][1:])
        print(
            f"{root.name:12}{name:12}{median:8.1f} ms{median / base:7.2f} ×{median - base:8.1f} ms over bare"
            f"   processor {own:6.1f} + {theirs:6.1f} ms"
        )
    profile = drawing.build_profile([root], [], environment, cwd=root, network=False, listings=listings)
    print(
        f"{root.name:12}{'(drawing)':12}{statistics.median(drawn[1:]):8.1f} ms"
        f"   {len(profile.places)} places, {len(profile.watched)} names watched"
    )
    for sandbox in sandboxes:
        await sandbox.close()


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--files", type=int, default=2_000)
    reader.add_argument("--rounds", type=int, default=41)
    options = reader.parse_args()
    with tempfile.TemporaryDirectory(prefix="codelaw-fence-") as name:
        base = Path(os.path.realpath(name))
        (base / "home").mkdir()
        for case, modules in (("plain", 0), ("submodules", MODULES)):
            asyncio.run(measure(build(base / case, options.files, modules), base / "home", options.rounds))


if __name__ == "__main__":
    main()
