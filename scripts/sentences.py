# ruff: noqa: INP001
"""List the sentences that a person reads: errors, notices, settings, help of the terminal.

    python3 scripts/sentences.py [WORD]

Each line names the file, the line and the sentence; `…` stands for a value. With WORD only those that hold it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SERVER = Path(__file__).resolve().parents[1] / "server" / "codelaw"
SAYING = {"Refusal", "Notice", "ModelFailure", "print", "add_argument", "add_parser", "ArgumentParser", "Field"}
"""Calls whose words reach a person."""
SAID = {"description", "help", "hint", "message", "epilog"}
"""Arguments by name that do; of `Field` and of argparse nothing else does."""
NAMED_ONLY = {"Field", "add_argument", "add_parser", "ArgumentParser"}


class Sentence(NamedTuple):
    """One text as a person reads it, and where it stands."""

    file: str
    line: int
    text: str


def sentences(folder: Path = SERVER) -> Iterator[Sentence]:
    """All of them below a folder, file by file."""
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            yield from _of(call, path.relative_to(folder).as_posix())


def _of(call: ast.Call, file: str) -> Iterator[Sentence]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in SAYING:
        return
    given = [] if name in NAMED_ONLY else call.args
    given = [*given, *(keyword.value for keyword in call.keywords if keyword.arg in SAID)]
    for argument in given:
        text = _text(argument)
        if " " in text.strip("… "):
            yield Sentence(file, argument.lineno, text)


def _text(node: ast.expr) -> str:
    """What a literal says; of two choices both, of a value `…`."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr():
            return "".join(_text(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
        case ast.IfExp():
            return f"{_text(node.body)} / {_text(node.orelse)}"
        case ast.BinOp(op=ast.Add()):
            return _text(node.left) + _text(node.right)
        case _:
            return "…"


if __name__ == "__main__":
    for one in sentences():
        if len(sys.argv) < 2 or sys.argv[1] in one.text:
            sys.stdout.write(f"{one.file}:{one.line}: {one.text}\n")
