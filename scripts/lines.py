# ruff: noqa: INP001
"""Count what there is to read in `server/codelaw`, room by room.

    python3 scripts/lines.py [FOLDER] [--depth N]

Of each room: files, lines of code (neither blank, nor comment, nor docstring), and statements. FOLDER is another folder
to count, `--depth` how many folders down a room of its own begins (1).
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

SERVER = Path(__file__).resolve().parents[1] / "server" / "codelaw"
SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    tokenize.ENCODING,
}  # fmt: skip


def counted(source: str) -> tuple[int, int]:
    """Lines of code and statements of one module; a text that stands alone is a docstring."""
    statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    spoken = [node for node in statements if _is_docstring(node)]
    silent = {line for node in spoken for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - silent), len(statements) - len(spoken)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=SERVER)
    parser.add_argument("--depth", type=int, default=1)
    arguments = parser.parse_args()
    files, lines, statements = Counter[str](), Counter[str](), Counter[str]()
    for path in sorted(arguments.folder.rglob("*.py")):
        room = "/".join(path.relative_to(arguments.folder).parent.parts[: arguments.depth]) or "."
        code, said = counted(path.read_text("utf-8"))
        for name in (room, "all"):
            files[name] += 1
            lines[name] += code
            statements[name] += said
    width = max(map(len, files))
    print(f"{'':{width}}  files    code  statements")  # noqa: T201
    for name in [*(name for name in files if name != "all"), "all"]:
        print(f"{name:{width}}  {files[name]:5}  {lines[name]:6}  {statements[name]:10}")  # noqa: T201


if __name__ == "__main__":
    main()
