"""The tree itself: sizes, stray addresses, and what may be imported where."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "server" / "codelaw"
LONGEST = 400
MOST_FILES = 20
MOST_ARGUMENTS = 5
STRAY = re.compile(
    r"(?<![\w.])/(?:work|root|opt)/[\w.-]+"  # a machine where this was written
    r"|(?<![\w.])/(?:home|Users)/(?!(?:x|me|ann|user)\b)[\w.-]+"  # somebody's home, made-up ones aside
    r"|(?:pypi|npmjs|pythonhosted|yarnpkg|jfrog|artifactory|nexus)\.[\w.-]*(?:org|com|io|net)"  # a registry's host
)


def tracked() -> list[Path]:
    """The files under version control, or about to be."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in listing.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def modules() -> list[Path]:
    return sorted(SERVER.rglob("*.py"))


def test_no_module_is_longer_than_its_reader_is_patient() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in modules()}
    assert lengths, "no module found"
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_no_room_has_more_files_than_one_can_look_over() -> None:
    rooms = Counter(path.parent.relative_to(SERVER).as_posix() for path in modules() if path.name != "__init__.py")
    assert rooms, "no module found"
    assert {room: files for room, files in rooms.items() if files > MOST_FILES} == {}


def test_every_room_says_what_lives_there_and_what_does_not() -> None:
    folders = {path.parent for path in modules()}
    texts = {folder: ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) for folder in folders}
    silent = [folder.relative_to(ROOT).as_posix() for folder, text in texts.items() if "\n\n" not in (text or "")]
    assert silent == []


def test_no_call_gives_more_than_five_arguments_by_position_alone() -> None:
    """Functions that take any number of values of one kind are named here."""
    alike = {"verify", "checksum", "as_written", "asyncio.to_thread", "_call"}
    long = [
        f"{path.relative_to(SERVER)}:{call.lineno} {ast.unparse(call.func)}"
        for path in modules()
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and len(call.args) > MOST_ARGUMENTS and ast.unparse(call.func) not in alike
    ]
    assert long == []


def test_no_file_names_a_machine_or_a_registry() -> None:
    strays: list[str] = []
    for path in tracked():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        if path == Path(__file__):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if found := STRAY.search(line):
                strays.append(f"{path.relative_to(ROOT)}:{number}: {found[0]}")
    assert strays == []


def test_every_module_says_what_it_is_and_postpones_annotations() -> None:
    silent: list[str] = []
    for path in modules():
        tree = ast.parse(path.read_text("utf-8"))
        code = [node for node in tree.body if not isinstance(node, ast.Expr)]
        future = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in code)
        if ast.get_docstring(tree) is None or (path.name != "__init__.py" and code and not future):
            silent.append(path.relative_to(ROOT).as_posix())
    assert silent == []


def test_the_vocabulary_needs_only_the_standard_library() -> None:
    foreign: set[str] = set()
    for path in sorted((SERVER / "domain").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names.append(node.module or "")
            foreign |= {name for name in names if name.split(".")[0] not in {*sys.stdlib_module_names, "codelaw"}}
    assert foreign == set()


def test_no_module_is_named_for_nothing() -> None:
    vague = re.compile(r"(?:^|_)(?:utils?|helpers?|managers?|engines?|common|misc)(?:_|$)")
    assert [path.name for path in modules() if vague.search(path.stem)] == []
