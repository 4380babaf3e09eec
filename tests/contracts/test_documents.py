"""What the documents tell a person to type exists."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from codelaw import api
from codelaw.cli.usage import parser as command_line
from scripts.settings import page

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "benchmarks/README.md"),
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
]


def help_of(*command: str) -> str:
    done = subprocess.run([sys.executable, *command, "--help"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def code(document: str) -> str:
    """The code blocks and code spans of a document."""
    spans = re.findall(r"```[a-z]*\n(.*?)```|`([^`\n]+)`", (ROOT / document).read_text("utf-8"), re.DOTALL)
    return "\n".join(block or span for block, span in spans)


@pytest.mark.parametrize(("document", "most"), [("README.md", 12), ("ARCHITECTURE.md", 14), ("CHANGELOG.md", 6)])
def test_a_first_page_is_short(document: str, most: int) -> None:
    """In kilobytes; what is too long for it stands in `docs/`."""
    assert len((ROOT / document).read_bytes()) <= most * 1000


def test_the_table_of_settings_is_what_the_schema_says() -> None:
    written = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert page(written, wire()["settings"]) == written, "run `python3 dev.py fix`"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_codelaw_commands_exist(document: str) -> None:
    offered = help_of("-m", "codelaw")
    for command in set(re.findall(r"^\s*(?:\$ )?codelaw ([a-z]+)", code(document), re.MULTILINE)):
        assert re.search(rf"\b{command}\b", offered), f"{document} names `codelaw {command}`"


TOLD = [*DOCUMENTS, "editor-client/README.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", sorted({*TOLD} - {"CHANGELOG.md"}))
def test_actions_and_options_of_commands_exist(document: str) -> None:
    for line in set(re.findall(r"^\s*(?:\$ |\.venv/bin/)?codelaw ([a-z-]+\b.*)", code(document), re.MULTILINE)):
        parser = command_line()
        for word in re.sub(r"\"[^\"]*\"|[\[\]()]", " ", line).partition(" #")[0].split():
            inside = next((one for one in parser._actions if isinstance(one, argparse._SubParsersAction)), None)
            if inside is not None:
                for action in word.split("|"):
                    assert action in inside.choices, f"{document} names `codelaw {line}`"
                parser = inside.choices[word.split("|")[0]]
            elif word.startswith("--"):
                known = {name for one in parser._actions for name in one.option_strings}
                assert word.partition("=")[0] in known, f"{document} names `codelaw {line}`"
            elif word in {"|", "&&", ";", ">", "<"}:
                break


@pytest.mark.parametrize("document", TOLD)
def test_no_document_takes_codelaw_from_a_package_index(document: str) -> None:
    """It is in none, and its name there could be anybody's."""
    text = (ROOT / document).read_text("utf-8")
    assert not re.findall(r"codelaw\[|(?:pip|pipx|uv|uvx|npm|npx|conda)\b[^`\n]* [\"']?codelaw\b(?!-)", text)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_dev_commands_exist(document: str) -> None:
    offered = help_of("dev.py")
    for command in set(re.findall(r"dev\.py ([a-z]+)", code(document))):
        assert re.search(rf"\b{command}\b", offered), f"{document} names `dev.py {command}`"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_in_documents_exist(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    missing = [
        target
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
        if not ((ROOT / document).parent / target).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "docs/design.md", "docs/seeds.md"])
def test_the_code_map_is_true(document: str) -> None:
    """A `room/module` that is named exists."""
    server = ROOT / "server" / "codelaw"
    rooms = {path.name for path in server.iterdir() if path.is_dir()}
    text = (ROOT / document).read_text("utf-8")
    named = {span for span in re.findall(r"`([a-z]+(?:/[a-z_]+)+)`", text) if span.split("/")[0] in rooms}
    assert named
    assert {name for name in named if not ((server / name).is_dir() or (server / f"{name}.py").is_file())} == set()


def test_a_recipe_changes_at_most_four_files_that_exist() -> None:
    """A step names its file first; capitals in a path stand for a name that is new or chosen."""
    recipes = (ROOT / "docs/extending.md").read_text("utf-8").split("\n## ")[1:]
    assert len(recipes) >= 5
    for recipe in recipes:
        steps = re.findall(r"^\d+\. (?:`([^`]+)`|.+)", recipe, re.MULTILINE)
        assert 1 <= len(steps) <= 4, recipe.splitlines()[0]
        for step in filter(None, steps):
            known = (
                re.split(r"(?:NAME|GROUP|TAG)", step)[0].rpartition("/")[0]
                if re.search("NAME|GROUP|TAG", step)
                else step
            )
            assert (ROOT / known).exists(), step


@cache
def wire() -> dict[str, Any]:
    schema = [sys.executable, "-m", "codelaw", "schema"]
    return json.loads(subprocess.run(schema, capture_output=True, text=True, check=True).stdout)


def setting_keys(schema: dict[str, Any], prefix: str = "") -> set[str]:
    """Settings by their dotted names; `<name>` stands for a name that people choose."""
    found: set[str] = set()
    for name, field in schema.get("properties", {}).items():
        chosen = field.get("additionalProperties")
        for at, inner in ((f"{prefix}{name}", field), (f"{prefix}{name}.<name>", chosen)):
            if isinstance(inner, dict):
                target = wire()["settings"]["$defs"].get(inner.get("$ref", "").rpartition("/")[2], {})
                found |= {at, *setting_keys(target, f"{at}.")}
    return found


def test_what_the_seeds_became_exists() -> None:
    text = (ROOT / "docs" / "seeds.md").read_text("utf-8")
    here = " ".join(line.rpartition(" | ")[2] for line in text.splitlines() if line.startswith("| "))
    keys = setting_keys(wire()["settings"]) | {
        f"metadata.{name}" for name in wire()["$defs"]["MessageMetadata"]["properties"]
    }
    named = {span for span in re.findall(r"`([a-zA-Z]+(?:\.[a-zA-Z<>]+)+)`", here) if not span.startswith("codelaw.")}
    assert len(named) > 20
    assert {span for span in named if span not in keys} == set()
    methods = set(re.findall(r"`(codelaw/[a-z/A-Z]+)`", here))
    assert methods
    assert methods - set(wire()["methods"]) == set()
    functions = {span.removeprefix("codelaw.api.") for span in re.findall(r"`(codelaw\.api\.[a-z_]+)`", here)}
    assert {name for name in functions if not hasattr(api, name)} == set()


def wire_words() -> set[str]:
    """Methods, commands, requests, notifications, refusals, and the codes of notices as the code spells them."""
    schema = wire()
    words = {
        word
        for group in ("methods", "commands", "notifications", "clientNotifications", "requests", "refusals")
        for word in schema[group]
    }
    words |= set(schema["$defs"]["StrategyOptions"]["properties"])
    for path in (ROOT / "server" / "codelaw").rglob("*.py"):
        words |= set(re.findall(r'Notice\(\s*"[a-z]+",\s*"([a-z_]+)"', path.read_text("utf-8")))
    return words


def test_the_protocol_names_every_word_of_the_wire() -> None:
    pages = "\n".join((ROOT / "docs" / name).read_text("utf-8") for name in ("protocol.md", "settings.md"))
    said = set(re.findall(r"[A-Za-z0-9_./]+", pages))
    words = wire_words()
    assert len(words) > 100
    assert words - said == set()
