# ruff: noqa: INP001
"""Measure what there is to read, and hold it to the table in `scripts/size.toml`.

    python3 scripts/size.py            the rooms of `server/codelaw` beside the table, and the measures of the whole
    python3 scripts/size.py --names    the modules that one other imports, and the classes whose name stands twice
    python3 scripts/size.py --write    write the table anew; the diff is what somebody decides on

A statement is one of the syntax tree; a text that stands alone is a docstring and none. A line of code is neither
blank, nor a comment, nor part of a docstring.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "scripts" / "size.toml"
SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    tokenize.ENCODING,
}  # fmt: skip
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


def size_of(source: str, tree: ast.Module | None = None) -> Size:
    """The size of a module's text; `tree` is its syntax where that is at hand."""
    nodes = list(ast.walk(tree or ast.parse(source)))
    statements = [node for node in nodes if isinstance(node, ast.stmt)]
    docstrings = [node for node in statements if _is_docstring(node)]
    silent = {line for node in docstrings for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return Size(len(statements) - len(docstrings), len(nodes), len(lines - silent))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


class Tree:
    """The modules of a folder, by their dotted name."""

    def __init__(self, folder: Path) -> None:
        paths = {
            ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__"): path
            for path in sorted(folder.rglob("*.py"))
        }
        self._sources = {name: path.read_text("utf-8") for name, path in paths.items()}
        self._trees = {name: ast.parse(source) for name, source in self._sources.items()}

    def sizes(self) -> dict[str, Size]:
        """The size of each room: a folder directly below the root, "." for the root's own modules."""
        rooms: defaultdict[str, Size] = defaultdict(Size)
        for name, source in self._sources.items():
            room = name.split(".")[1] if "." in name else "."
            rooms[room] = rooms[room].plus(size_of(source, self._trees[name]))
        return dict(sorted(rooms.items()))

    def importers(self) -> dict[str, set[str]]:
        """By whom each module is imported."""
        found: dict[str, set[str]] = {name: set() for name in self._trees}
        for name, tree in self._trees.items():
            for imported in _imported(tree):
                if imported in found:
                    found[imported].add(name)
        return found

    def lonely(self) -> list[str]:
        """The modules that exactly one other imports; packages do not count."""
        packages = {name.rpartition(".")[0] for name in self._trees}
        return [name for name, by in self.importers().items() if len(by) == 1 and name not in packages]

    def namesakes(self) -> dict[str, list[str]]:
        """The classes that have a name in common, and the modules in which they stand."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for name, tree in self._trees.items():
            for node in {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}:
                found[node].append(name)
        return {name: modules for name, modules in sorted(found.items()) if len(modules) > 1}


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names that may be modules; `from a import b` imports `a.b` where that is one, or else `a`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


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
