"""Every figure of the documents, measured anew: `python benchmarks/figures.py [NAME...]`.

Runs each benchmark of `BENCHMARKS` in a process of its own, one after the other, and writes their tables to
`docs/figures.md` with the commit and the machine. With names only those are measured, and printed instead of written.
A benchmark that fails writes nothing, and the exit status is 1.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from client import ROOT, TABLES

BENCHMARKS = (
    *("startup", "step", "stop", "assembly", "observations"),
    *("prefix", "session", "compaction", "hygiene", "store"),
)
PAGE = ROOT / "docs" / "figures.md"
HEAD = (
    "# Figures\n\n`.venv/bin/python benchmarks/figures.py` measures them and writes this page;"
    " [benchmarks](../benchmarks/README.md) says what each one is. Times depend on the machine: compare ratios, or"
    " measure both versions on one machine.\n\nCommit {commit}, {date}, {machine}.\n"
)


@dataclass(frozen=True, slots=True)
class Table:
    """What a benchmark has measured; a row is what, measured and goal."""

    benchmark: str
    title: str
    rows: tuple[tuple[str, str, str], ...]


def measure(name: str) -> list[Table]:
    """The tables of one benchmark, which prints them as well.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "tables"
        command = [sys.executable, str(Path(__file__).with_name(f"{name}.py"))]
        subprocess.run(command, env={**os.environ, TABLES: str(kept)}, check=True)
        lines = kept.read_text("utf-8").splitlines()
    return [Table(name, title, tuple(map(tuple, rows))) for title, rows in map(json.loads, lines)]


def page(tables: list[Table]) -> str:
    """The page in Markdown."""
    out = [HEAD.format(commit=commit(), date=time.strftime("%Y-%m-%d", time.gmtime()), machine=machine())]
    for table in tables:
        out.append(f"## {table.title}\n\n`benchmarks/{table.benchmark}.py`\n\n| | measured | goal |\n|---|---|---|")
        out += [f"| {' | '.join(row)} |" for row in table.rows]
        out.append("")
    return "\n".join(out)


def commit() -> str:
    """The commit of the checkout, marked where files are changed."""
    described = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    return subprocess.run(described, capture_output=True, text=True, check=True).stdout.strip()


def machine() -> str:
    """Processor, memory, system and Python, as a phrase."""
    facts = Path("/proc/cpuinfo").read_text("utf-8") if sys.platform == "linux" else ""
    model = next((line.partition(":")[2].strip() for line in facts.splitlines() if line.startswith("model name")), "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return (
        f"{os.cpu_count()} cores of {model or platform.machine()}, {memory:.0f} GB,"
        f" {platform.system()} {platform.release().partition('-')[0]}, Python {platform.python_version()}"
    )


def main() -> int:
    """Measure what the command line names; gives the exit status."""
    names = sys.argv[1:]
    if unknown := set(names) - set(BENCHMARKS):
        print(f"not among {', '.join(BENCHMARKS)}: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    try:
        tables = [table for name in names or BENCHMARKS for table in measure(name)]
    except subprocess.CalledProcessError as failure:
        print(f"{failure}: nothing is written", file=sys.stderr)
        return 1
    if names:
        print(page(tables))
    else:
        PAGE.write_text(page(tables), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
