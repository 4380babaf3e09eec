"""What results cost as the model is shown them, against the plain text that they bring (C-7).

The trees are five packages of this environment, or those named by `--repository`. Which files are read, what is
searched for and which commands run follows from rules below, and from nothing that was measured.
"""

from __future__ import annotations

import argparse
import asyncio
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import client
from client import table

from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.tokenizer import counter
from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.context.escaping import json_line
from codelaw.context.observations.text import observation_text
from codelaw.domain.files import Folder
from codelaw.tools.base import ToolEnvironment, run_tool
from codelaw.tools.freshness import Ledger
from codelaw.tools.todo_list import TodoList
from codelaw.tools.toolbox import default_toolbox
from tests.fakes.editor import Buffers

PACKAGES = ("click", "hypothesis", "pydantic", "pygls", "rich")
FILES = 40
"""Files of a tree that are read: its Python files by name, at equal distances."""
PATTERNS = (r"^class ", r"^import |^from ", r"def \w+\(self", r"raise \w+", r"TODO|FIXME|XXX", r"return None")
COMMANDS = (
    "ls -l",
    "find . -name '*.py' | sort | head -100",
    "find . -name '*.py' | sort | head -60 | xargs wc -l",
    "grep -rn 'class ' --include='*.py' . | sort | head -80",
    "find . -name '*.py' | sort | tail -5 | xargs head -40",
    "grep -c '' $(find . -name '*.py' | sort | head -80)",
)
GOALS = {"Read": 1.20, "Grep": 1.05, "Bash": 1.03}


class Desk:
    """The real tools over one tree."""

    def __init__(self, root: Path) -> None:
        workspace = DiskWorkspace([Folder(root.name, root.resolve(), root.as_uri())], Buffers())
        self._toolbox = default_toolbox()
        self._env = ToolEnvironment(workspace, LocalProcesses(), Ledger(), _nothing, TodoList())

    async def run(self, name: str, **arguments: object) -> tuple[dict, str]:
        """A result's data, and what the model is shown of it."""
        tool = self._toolbox.get(name)
        assert tool is not None
        result = await run_tool(tool, self._toolbox.parse(tool, arguments), self._env)
        return dict(result.data), observation_text(name, json_line(result.observation()))


async def _nothing(_: str) -> None:
    return None


def files(root: Path) -> Iterator[str]:
    """The files that are read of a tree."""
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py") if path.stat().st_size)
    yield from names[:: max(1, len(names) // FILES)][:FILES]


def raw_lines(root: Path, data: dict) -> str:
    """The lines that a Read has shown, as the file has them."""
    lines = (root / data["path"]).read_text("utf-8", "replace").split("\n")
    return "\n".join(lines[data["start_line"] - 1 : data["end_line"]])


def raw_matches(data: dict) -> str:
    """Matches as `rg --heading` prints them, without the empty lines between files."""
    found: dict[str, list[str]] = {}
    for match in data["matches"]:
        found.setdefault(match["file"], []).append(f"{match['line']}:{match['text']}")
    return "\n".join(line for name, lines in found.items() for line in (name, *lines))


async def measure(root: Path, sums: dict[str, Counter[str]]) -> None:
    """Add the tokens of one tree's results."""
    count = counter()
    desk = Desk(root)

    def add(tool: str, raw: str, shown: str) -> None:
        head, _, body = shown.partition("\n")
        sums[tool].update(results=1, raw=count(raw), body=count(body), header=count(head), all=count(shown))
        sums[tool]["longest"] = max(sums[tool]["longest"], count(head))

    for name in files(root):
        data, shown = await desk.run("Read", path=name)
        if "content" in data:
            add("Read", raw_lines(root, data), shown)
    for pattern in PATTERNS:
        data, shown = await desk.run("Grep", pattern=pattern)
        if data.get("matches"):
            add("Grep", raw_matches(data), shown)
    for command in COMMANDS:
        data, shown = await desk.run("Bash", command=command)
        if data.get("stdout"):
            add("Bash", data["stdout"], shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, action="append", help="a tree in place of the packages")
    given = parser.parse_args().repository
    libraries = Path(sysconfig.get_path("purelib"))
    roots = [path.resolve() for path in given] if given else [libraries / name for name in PACKAGES]
    sums = {tool: Counter[str]() for tool in GOALS}
    for root in roots:
        asyncio.run(measure(root, sums))
    rows = []
    for tool, tokens in sums.items():
        rows += [
            (f"{tool}: {tokens['results']} results, raw", f"{tokens['raw']} tokens", ""),
            (f"{tool}: without headers", f"{tokens['body'] / tokens['raw']:.3f} x raw", f"<= {GOALS[tool]:.2f}"),
            (f"{tool}: with headers", f"{tokens['all'] / tokens['raw']:.3f} x raw", ""),
            (f"{tool}: a header, mean", f"{tokens['header'] / tokens['results']:.1f} tokens", ""),
            (f"{tool}: a header, longest", f"{tokens['longest']} tokens", "<= 40"),
        ]
    table(", ".join(root.name for root in roots), rows)


if __name__ == "__main__":
    assert client.ROOT
    main()
