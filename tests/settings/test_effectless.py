"""A setting that does nothing says so, and every other one is read somewhere."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from codelaw.agent.model_calls.recovery import explain
from codelaw.domain.errors import ModelFailure
from codelaw.settings.effective import load_settings
from codelaw.settings.model import Group, Settings

CODE = Path(__file__).parents[2] / "server" / "codelaw"


def leaves(group: type[Group] = Settings, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The names of attributes by the keys of every setting."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for name, info in group.model_fields.items():
        key, kind = info.alias or name, info.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            found |= {(key, *keys): (name, *names) for keys, names in leaves(kind).items()}
        else:
            found[(key,)] = (name,)
    return found


@cache
def trees() -> dict[Path, ast.Module]:
    """The modules of the server, parsed once."""
    return {file: ast.parse(file.read_text("utf-8")) for file in CODE.rglob("*.py")}


def test_every_setting_is_read_by_some_code():
    read = {
        node.attr
        for file, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and file.parent.name != "settings"
    }
    unread = {keys for keys, names in leaves().items() if names[-1] not in read and keys[0] != "hooks"}
    assert unread == set()


@pytest.mark.parametrize(
    ("client", "key"),
    [
        ({"tools": {"webSearch": True}}, "tools.webSearch"),
        ({"model": {"script": "a.json"}}, "model.script"),
        ({"embedding": {"path": "/m"}}, "embedding.path"),
        ({"embedding": {"provider": "local", "path": "/m", "apiKey": "SECRET"}}, "embedding.apiKey"),
        ({"memory": {"enabled": False, "topK": 3}}, "memory.topK"),
    ],
)
def test_what_has_no_effect_is_a_notice(client: dict[str, object], key: str):
    (problem,) = load_settings(environ={}, client=client).problems
    assert (problem.level, problem.code) == ("warning", "setting_without_effect")
    assert problem.message.startswith(f"{key} has no effect: ")
    assert "SECRET" not in problem.message


@pytest.mark.parametrize(
    "client",
    [
        {"tools": {"webSearch": False}, "mcp": {"servers": {"a": {"command": "x"}}}, "skills": {"paths": ["~/s"]}},
        {"model": {"provider": "scripted", "script": "a.json"}},
        {"embedding": {"provider": "local", "path": "/m", "model": "m"}},
        {"embedding": {"provider": "openai", "baseUrl": "http://127.0.0.1:1", "apiKey": "k"}},
        {"memory": {"topK": 3}},
    ],
)
def test_what_has_one_is_none(client: dict[str, object]):
    assert load_settings(environ={}, client=client).problems == []


def said() -> dict[str, set[str]]:
    """What is spelt like a setting in the words of the code, docstrings aside, with the files that say it."""
    groups = "|".join(sorted({keys[0] for keys in leaves()}))
    pattern = re.compile(rf"(?<![\w./-])(?:{groups})\.[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)?(?![\w(/<]|\.\w)")
    found: dict[str, set[str]] = {}
    for file, tree in trees().items():
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            if node.body and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
                for name in pattern.findall(node.value):
                    found.setdefault(name, set()).add(file.relative_to(CODE).as_posix())
    return found


def test_every_setting_that_a_message_names_exists():
    known = {".".join(keys) for keys in leaves()} | {
        "model.safetensors",
        "models.json",
        "embedding.weight",
        "memory.max",
        "agents.md",
        "agents.override.md",
    }  # files
    named = said()
    assert len(named) > 20, "the search finds nothing"
    assert {name: files for name, files in named.items() if name not in known} == {}


def test_a_wrong_key_is_answered_with_where_keys_are_looked_for():
    error = explain(ModelFailure("auth", "no"))
    assert (error.code, "ANTHROPIC_API_KEY" in error.hint, "config.toml" in error.hint) == ("auth_failed", True, True)
    assert explain(ModelFailure("unknown_model", "no")).code == "model_not_found"
    assert "model.baseUrl" in explain(ModelFailure("network", "no")).hint
