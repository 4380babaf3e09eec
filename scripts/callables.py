# ruff: noqa: INP001
"""List the callables that the engine hands around, each of which a reader has to look up somewhere else.

    python3 scripts/callables.py [WORD]

Counted are parameters, results, fields and tables whose annotation says `Callable`, by itself or under another name;
such a name itself; `partial(…)`; tables of functions without an annotation; and Protocols that fewer than two classes
fulfil. With WORD only those whose line holds it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

SERVER = Path(__file__).resolve().parents[1] / "server" / "codelaw"
ROOMS = ("agent", "context", "tools")


class Handed(NamedTuple):
    """One callable and where it is handed on."""

    file: str
    line: int
    kind: str
    name: str


def callables(folder: Path = SERVER, rooms: Iterable[str] = ROOMS) -> Iterator[Handed]:
    """All of them in these rooms below a folder, file by file."""
    trees = {path.relative_to(folder): ast.parse(path.read_text("utf-8")) for path in sorted(folder.rglob("*.py"))}
    defined = {_module(path): {name for name, _ in _aliases(tree)} for path, tree in trees.items()}
    classes = [one for tree in trees.values() for one in _classes(tree)]
    for path, tree in trees.items():
        if path.parts[0] in set(rooms):
            names = {"Callable"} | defined[_module(path)] | set(_imported(tree, defined))
            for line, kind, name in sorted(_in(tree, names, classes)):
                yield Handed(path.as_posix(), line, kind, name)


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


def _imported(tree: ast.Module, defined: Mapping[str, set[str]]) -> Iterator[str]:
    """What a module calls the names that another one gives to a `Callable`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = defined.get(node.module.removeprefix("codelaw."), set[str]())
            yield from (one.asname or one.name for one in node.names if one.name in names)


def _in(tree: ast.Module, aliases: set[str], classes: list[set[str]]) -> Iterator[tuple[int, str, str]]:
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    for name, line in _aliases(tree):
        yield line, "alias", name
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as kind) if _says(kind, aliases):
                yield node.lineno, "parameter", node.arg
            case ast.AnnAssign(annotation=kind) if _says(kind, aliases):
                yield node.lineno, "field", ast.unparse(node.target)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.returns and _says(node.returns, aliases):
                yield node.lineno, "result", node.name
            case ast.Call(func=ast.Name(id="partial") | ast.Attribute(attr="partial")):
                yield node.lineno, "partial", ast.unparse(node.args[0])
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value) if _table(value, functions):
                yield node.lineno, "table", name
            case ast.ClassDef() if _is_protocol(node) and _fulfilled(node, classes) < 2:
                yield node.lineno, "protocol", node.name
            case _:
                pass


def _says(annotation: ast.expr, names: set[str]) -> bool:
    """Whether an annotation holds one of these names, in quotes too."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    return any(
        (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in names)
        for node in ast.walk(annotation)
    )


def _aliases(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names at the top of a module that mean a `Callable`."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id="Callable"))):
                yield name, node.lineno
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                if node.value is not None and _says(node.value, {"Callable"}):
                    yield name, node.lineno
            case _:
                pass


def _table(value: ast.expr, functions: set[str]) -> bool:
    match value:
        case ast.Dict(values=values):
            return any(_is_function(one, functions) for one in values)
        case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values):
            return any(_is_function(one, functions) for one in values)
        case _:
            return False


def _is_function(node: ast.expr, functions: set[str]) -> bool:
    return isinstance(node, ast.Lambda) or (isinstance(node, ast.Name) and node.id in functions)


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).split("[")[0] == "Protocol" for base in node.bases)


def _members(node: ast.ClassDef) -> set[str]:
    """Names of a class's methods and fields."""
    names = {one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    for one in ast.walk(node):
        match one:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case _:
                pass
    return names


def _classes(tree: ast.Module) -> Iterator[set[str]]:
    """The members of each class that is not a Protocol."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not _is_protocol(node):
            yield _members(node)


def _fulfilled(protocol: ast.ClassDef, classes: list[set[str]]) -> int:
    """How many classes have all members of a Protocol; a function type is fulfilled by none."""
    wanted = _members(protocol)
    return 0 if "__call__" in wanted else sum(wanted <= have for have in classes)


def by_room(found: Iterable[Handed]) -> Mapping[str, int]:
    """How many each room has."""
    rooms: dict[str, int] = {}
    for one in found:
        room = one.file.split("/")[0]
        rooms[room] = rooms.get(room, 0) + 1
    return rooms


if __name__ == "__main__":
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    everything = list(callables())
    for one in everything:
        if word in (text := f"{one.file}:{one.line}: {one.kind} {one.name}"):
            sys.stdout.write(f"{text}\n")
    rooms = ", ".join(f"{room} {count}" for room, count in by_room(everything).items())
    sys.stdout.write(f"{len(everything)} in all: {rooms}\n")
