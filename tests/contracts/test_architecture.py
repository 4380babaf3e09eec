"""What ARCHITECTURE.md claims of the tree, where no contract in `pyproject.toml` and no other test holds it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "server" / "codelaw"
CLIENT = ROOT / "editor-client"
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
DESIGN = (ROOT / "docs" / "design.md").read_text("utf-8")


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Each module by its path below `server/codelaw`, without the ending."""
    paths = sorted(SERVER.rglob("*.py"))
    found = {path.relative_to(SERVER).with_suffix("").as_posix(): ast.parse(path.read_text("utf-8")) for path in paths}
    assert len(found) > 300
    return found


@pytest.fixture(scope="module")
def contracts() -> dict[str, dict[str, Any]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return {contract["id"]: contract for contract in table}


def where(trees: dict[str, ast.Module], found: Callable[[ast.AST], bool]) -> set[str]:
    """The modules that hold such a node."""
    return {name for name, tree in trees.items() if any(found(node) for node in ast.walk(tree))}


def imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=aliases):
            yield from (alias.name for alias in aliases)
        case ast.ImportFrom(module=str(module), names=aliases):
            yield from (module, *(f"{module}.{alias.name}" for alias in aliases))
        case _:
            pass


def called(*names: str) -> Callable[[ast.AST], bool]:
    """Whether a node is `module.name`, be it called or passed on."""
    return lambda node: isinstance(node, ast.Attribute) and ast.unparse(node) in names


def spans(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


def test_the_table_of_floors_is_the_contract(contracts: dict[str, dict[str, Any]]) -> None:
    reported = [set(spans(row)) for row in re.findall(r"^\| (`.+?) \|", TEXT.split("\n## Floors\n")[1], re.MULTILINE)]
    held = [
        {room.strip() for room in layer.split("|") if not room.strip().startswith("(")}
        for layer in contracts["floors"]["layers"]
    ]
    assert reported[: len(held)] == held


def test_no_circle_is_left_out_of_the_contract(contracts: dict[str, dict[str, Any]]) -> None:
    assert "ignore_imports" not in contracts["circles"]


def test_the_settings_alone_read_the_environment(trees: dict[str, ast.Module]) -> None:
    """The others hand it on, cut down, to a program that they start."""
    handing_on = {
        "cli/spawn",
        "adapters/processes/local",
        "adapters/workspace/rg",
        "adapters/workspace/search",
    }
    reading = where(trees, called("os.environ", "os.getenv", "os.environb"))
    assert reading == {"settings/places", *handing_on}


def test_the_values_of_the_vocabulary_are_frozen(trees: dict[str, ast.Module]) -> None:
    decorated = [
        ast.unparse(decorator)
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if name.startswith("domain/") and isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
    ]
    assert len(decorated) > 40
    assert {text for text in decorated if text.startswith("dataclass") and "frozen=True" not in text} == set()


def test_pydantic_stays_at_the_edges(trees: dict[str, ast.Module]) -> None:
    knowing = where(trees, lambda node: any(name.split(".")[0] == "pydantic" for name in imported(node)))
    assert {name for name in knowing if name.startswith("adapters/")} == {
        "adapters/mcp/connection",
        "adapters/mcp/login",
        "adapters/models/scripted",
    }
    assert {name.split("/")[0] for name in knowing} == {"adapters", "lsp", "protocol", "settings", "tools"}


def test_one_place_leaves_without_taking_the_interpreter_apart(trees: dict[str, ast.Module]) -> None:
    bounds = {"lsp/server/serve", "cli/conversation/talk"}
    children = {"adapters/processes/sandboxes/landlock_child", "adapters/processes/network/listening_child"}
    assert where(trees, called("os._exit")) == {"cli/exits", *bounds, *children}


def test_the_tests_mirror_the_rooms() -> None:
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
    sentence = re.search(r"`tests/` mirrors `server/codelaw` and adds (.+?)\. `benchmarks/`", TEXT)
    assert sentence
    rooms = {path.name for path in SERVER.iterdir() if path.is_dir()}
    assert folders - set(spans(sentence[1])) - rooms == set()
    assert set(spans(sentence[1])) - folders == set()


def test_the_modules_of_the_fence_exist() -> None:
    """A paragraph that says of which folder its bare names are modules."""
    paragraphs = [line for line in DESIGN.splitlines() if "modules of `" in line]
    assert paragraphs
    for paragraph in paragraphs:
        folder = re.findall(r"modules of `([a-z/]+)`", paragraph)[0]
        bare = {span for span in spans(paragraph) if re.fullmatch("[a-z_]+", span)}
        assert len(bare) > 4
        assert {name for name in bare if not (SERVER / folder / f"{name}.py").is_file()} == set()


def sources(folder: str) -> dict[str, str]:
    found = {path.relative_to(CLIENT).as_posix(): path.read_text("utf-8") for path in (CLIENT / folder).rglob("*.ts*")}
    assert found
    return found


def test_the_files_of_the_panel_exist() -> None:
    named = {span for span in spans(DESIGN) if re.match(r"(?:src|webview|workbench)/", span)}
    assert len(named) > 10
    assert {name for name in named if not (CLIENT / name).exists()} == set()


def test_the_page_knows_nothing_of_the_editor_and_markup_enters_it_in_one_place() -> None:
    page = sources("webview")
    assert [
        name for name, text in page.items() if re.search(r"""(?:from|import) ?\(?["'](?:vscode|node:)""", text)
    ] == []
    shared = {path for text in page.values() for path in re.findall(r'from "(?:\.\./)+src/([^"]+)"', text)}
    assert {path.split("/")[0] for path in shared} == {"amounts", "hidden", "languages", "messages", "protocol", "ways"}
    raw = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment", re.IGNORECASE)
    assert [name for name, text in page.items() if raw.search(text)] == ["webview/text/Html.tsx"]
