"""Grep against bare `rg` on a large tree: `python benchmarks/grep.py [--files N] [--rounds N]`.

Prints medians in milliseconds and their ratio; the goal is 1.5 with `rg` (T-3).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

WORDS = ("alpha", "request", "handler", "return", "value", "config", "import", "None", "stream", "token", "result")
CASES = {"rare": "needle_[0-9]+", "common": "handler", "none": "nothing_at_all", "every line": "."}


def build(root: Path, files: int) -> None:
    chance = random.Random(1)
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("*.log\nbuild/\nnode_modules/\n__pycache__/\n*.pyc\n/dist\n!keep.log\n")
    for index in range(files):
        folder = root / f"package_{index % 40}" / f"module_{index % 500}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = [" ".join(chance.choices(WORDS, k=8)) for _ in range(60)]
        if index % 1000 == 0:
            lines[30] = f"needle_{index}"
        (folder / f"file_{index}.py").write_text("\n".join(lines) + "\n")


async def measure(root: Path, rounds: int) -> None:
    from tests.fakes.desk import folder, make_desk

    desks = {"Grep": make_desk(folder(root)), "Grep without rg": make_desk(folder(root), rg=lambda: None)}
    print(f"{'case':12}{'way':18}{'median ms':>10}{'ratio':>8}")
    for case, pattern in CASES.items():
        bare = []
        for _ in range(rounds + 1):
            began = time.perf_counter()
            with tempfile.TemporaryFile() as out:
                subprocess.run(["rg", "-n", "--no-heading", pattern, str(root)], stdout=out, check=False)  # noqa: ASYNC221
            bare.append((time.perf_counter() - began) * 1000)
        base = statistics.median(bare[1:])
        print(f"{case:12}{'rg':18}{base:10.1f}{1:8.2f}")
        for name, desk in desks.items():
            times = []
            for _ in range(rounds + 1):
                began = time.perf_counter()
                result = await desk("Grep", pattern=pattern)
                times.append((time.perf_counter() - began) * 1000)
                if result.error is not None:
                    print(f"{name}: {result.error.message}")
            median = statistics.median(times[1:])
            print(f"{'':12}{name:18}{median:10.1f}{median / base:8.2f}")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--files", type=int, default=20_000)
    reader.add_argument("--rounds", type=int, default=7)
    options = reader.parse_args()
    if shutil.which("rg") is None:
        raise SystemExit("rg is not on PATH: there is nothing to compare with")
    with tempfile.TemporaryDirectory(prefix="codelaw-grep-") as name:
        build(Path(name), options.files)
        asyncio.run(measure(Path(name), options.rounds))


if __name__ == "__main__":
    main()
