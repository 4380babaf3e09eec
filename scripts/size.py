# ruff: noqa: INP001
"""Measure what there is to read, and hold it to the table in `scripts/size.toml`.

    python3 scripts/size.py            the rooms of `server/codelaw` beside the table, and the measures of the whole
    python3 scripts/size.py --names    the modules that one other imports, and the classes whose name stands twice
    python3 scripts/size.py --write    write the table anew; the diff is what somebody decides on

A statement is one of the syntax tree; a text that stands alone is a docstring and none. A line of code is neither
blank, nor a comment, nor in a docstring.
"""

from __future__ import annotations

import argparse
import ast
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "scripts" / "size.toml"
HEADING = (
    "# What `scripts/size.py` measured when somebody last decided on it. A test fails where the code has outgrown a\n"
    "# row: take something away, or write the table anew and say why.\n"
)


class Size(NamedTuple):
    """The size of one module, or of several."""

    statements: int = 0
    nodes: int = 0
    lines: int = 0

    def plus(self, other: Size) -> Size:
        """The two together."""
        return Size(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


class Module:
    """What one walk of a module's syntax tree finds."""

    def __init__(self, source: str) -> None:
        statements = nodes = 0
        self.imported: set[str] = set()
        """Names that may be modules; `from a import b` names `a` and `a.b`."""
        self.classes: set[str] = set()
        docstrings: set[int] = set()
        for node in ast.walk(ast.parse(source)):
            nodes += 1
            if not isinstance(node, ast.stmt):
                continue
            statements += 1
            if isinstance(node, ast.Import):
                self.imported.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self.imported.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
            elif isinstance(node, ast.ClassDef):
                self.classes.add(node.name)
            elif _is_docstring(node):
                statements -= 1
                docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        code = (
            number
            for number, line in enumerate(source.splitlines(), 1)
            if number not in docstrings and line.strip() and not line.lstrip().startswith("#")
        )
        self.size = Size(statements, nodes, sum(1 for _ in code))


class Tree:
    """The modules of a folder, by their dotted name."""

    def __init__(self, folder: Path) -> None:
        self._modules = {
            ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__"): Module(
                path.read_text("utf-8")
            )
            for path in sorted(folder.rglob("*.py"))
        }

    def sizes(self) -> dict[str, Size]:
        """The size of each room: a folder directly below the root, "." for the root's own modules."""
        rooms: defaultdict[str, Size] = defaultdict(Size)
        for name, module in self._modules.items():
            room = name.split(".")[1] if "." in name else "."
            rooms[room] = rooms[room].plus(module.size)
        return dict(sorted(rooms.items()))

    def lonely(self) -> list[str]:
        """The modules that exactly one other imports; packages do not count."""
        packages = {name.rpartition(".")[0] for name in self._modules}
        importers = Counter(name for module in self._modules.values() for name in module.imported)
        return [name for name in self._modules if importers[name] == 1 and name not in packages]

    def namesakes(self) -> dict[str, list[str]]:
        """The classes that have a name in common, and the modules in which they stand."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for name, module in self._modules.items():
            for one in module.classes:
                found[one].append(name)
        return {name: modules for name, modules in sorted(found.items()) if len(modules) > 1}


def measured(root: Path = ROOT) -> dict[str, dict[str, int]]:
    """What the table holds: statements of each room of the server, and the measures of server and tests."""
    server, tests = Tree(root / "server" / "codelaw"), Tree(root / "tests")
    rooms = server.sizes()
    whole, tested = (sum_of(tree.sizes()) for tree in (server, tests))
    return {
        "rooms": {name: size.statements for name, size in rooms.items()},
        "server": {
            **whole._asdict(),
            "modules_with_one_importer": len(server.lonely()),
            "class_names_in_two_modules": len(server.namesakes()),
        },
        "tests": {"lines": tested.lines},
    }


def sum_of(sizes: dict[str, Size]) -> Size:
    """All rooms together."""
    whole = Size()
    for size in sizes.values():
        whole = whole.plus(size)
    return whole


def table(path: Path = TABLE) -> dict[str, dict[str, int]]:
    """What somebody decided on."""
    return tomllib.loads(path.read_text("utf-8"))


def outgrown(now: dict[str, dict[str, int]], decided: dict[str, dict[str, int]]) -> list[str]:
    """The rows that the code has outgrown, a sentence each; a room without a row has outgrown nothing, 0."""
    return [
        f"{group}.{name} is {value}, and {limit} in scripts/size.toml"
        for group, rows in now.items()
        for name, value in rows.items()
        if value > (limit := decided.get(group, {}).get(name, 0))
    ]


def main() -> None:
    """Print, or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.names:
        tree = Tree(ROOT / "server" / "codelaw")
        print("\n".join(tree.lonely()))  # noqa: T201
        for name, modules in tree.namesakes().items():
            print(f"{name}: {', '.join(modules)}")  # noqa: T201
        return
    now = measured()
    if arguments.write:
        now["trace"] = table()["trace"]  # what `scripts/trace.py` counts is written by hand
        groups = ("\n".join((f"[{group}]", *(f'"{k}" = {v}' for k, v in rows.items()))) for group, rows in now.items())
        TABLE.write_text(HEADING + "\n" + "\n\n".join(groups) + "\n", "utf-8")
        return
    decided = table() if TABLE.exists() else {}
    width = max(len(name) for rows in now.values() for name in rows)
    for group, rows in now.items():
        print(f"{group:{width}}      now   table")  # noqa: T201
        for name, value in rows.items():
            print(f"  {name:{width}} {value:6}  {decided.get(group, {}).get(name, 0):6}")  # noqa: T201


if __name__ == "__main__":
    main()
