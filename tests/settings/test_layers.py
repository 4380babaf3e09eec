from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codelaw.settings.effective import EffectiveSettings, load_settings
from codelaw.settings.model import Settings
from codelaw.settings.places import home, user_file


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def loaded(**given: Any) -> EffectiveSettings:
    return load_settings(**{"environ": {}, **given})


def codes(effective: EffectiveSettings) -> list[str]:
    return [notice.code for notice in effective.problems]


def test_without_any_layer_everything_is_the_default() -> None:
    effective = loaded()
    assert effective.value == Settings()
    assert set(effective.origins.values()) == {"default"}
    assert effective.problems == []


def test_each_layer_wins_over_the_one_before(tmp_path: Path) -> None:
    user = written(tmp_path / "config.toml", "[turn]\nmaxSteps = 40\n")
    workspace = written(tmp_path / "w" / "config.toml", "[turn]\nmaxSteps = 30\n")
    layers: list[tuple[str, dict[str, Any], int]] = [
        ("user", {"user_file": user}, 40),
        ("workspace", {"workspace_files": [workspace]}, 30),
        ("environment", {"environ": {"CODELAW_TURN__MAX_STEPS": "20"}}, 20),
        ("client", {"client": {"turn": {"maxSteps": 60}}}, 60),
    ]
    given: dict[str, Any] = {}
    for name, more, value in layers:
        given |= more
        effective = loaded(**given)
        assert (effective.value.turn.max_steps, effective.origins["turn.maxSteps"]) == (value, name)
        assert effective.problems == []


def test_a_bad_value_leaves_the_layer_below(tmp_path: Path) -> None:
    user = written(tmp_path / "config.toml", "[turn]\nmaxSteps = 40\n")
    effective = loaded(user_file=user, client={"turn": {"maxSteps": 0}})
    assert (effective.value.turn.max_steps, effective.origins["turn.maxSteps"]) == (40, "user")
    assert codes(effective) == ["bad_setting"]
    assert "turn.maxSteps" in effective.problems[0].message


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ({"turn": {"maxSteps": "50"}}, "turn.maxSteps"),
        ({"turn": []}, "turn"),
        ({"context": {"threshold": 1}}, "context.threshold"),
        ({"context": {"threshold": float("nan")}}, "context.threshold"),
        ({"context": {"shares": [1, 2, 3]}}, "context.shares[3]"),
        ({"context": {"shares": [0, 0, 0, 0, 0]}}, "context.shares"),
        ({"context": {"historyLimits": {"panel": -1}}}, "context.historyLimits.panel"),
        ({"context": {"historyLimits": {"pannel:5d0c": 3}}}, "context.historyLimits"),
        ({"model": {"dialect": "latin"}}, "model.dialect"),
        ({"models": {"a.b": {"contextWindow": float("nan")}}}, "models.a.b.contextWindow"),
    ],
)
def test_bad_values_are_named_and_ignored(raw: dict[str, Any], key: str) -> None:
    effective = loaded(client=raw)
    assert effective.value == Settings()
    assert codes(effective) == ["bad_setting"]
    assert effective.problems[0].message.startswith(f"{key}:")


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"colour": 1}, "colour: no such setting"),
        ({"turn": {"maxStep": 1}}, "did you mean turn.maxSteps?"),
        ({"turn": {"max_steps": 1}}, "turn.max_steps: no such setting"),
        ({"models": {"m": {"window": 1}}}, "models.m.window"),
        ({"x" * 5000: 1}, "no such setting"),
    ],
)
def test_unknown_keys_are_named(raw: dict[str, Any], said: str) -> None:
    effective = loaded(client=raw)
    assert codes(effective) == ["unknown_setting"]
    assert said in effective.problems[0].message
    assert len(effective.problems[0].message) < 500


def test_a_dot_in_a_models_name_is_no_separator() -> None:
    effective = loaded(client={"models": {"gpt-4.1": {"contextWindow": 1_000}}})
    assert effective.value.models["gpt-4.1"].context_window == 1_000
    assert effective.origins["models.gpt-4.1.contextWindow"] == "client"


@pytest.mark.parametrize(
    ("variable", "text", "path", "value"),
    [
        ("CODELAW_MODEL__NAME", '"quoted"', ("model", "name"), "quoted"),
        ("CODELAW_MODEL__API_KEY", "123", ("model", "api_key"), "123"),
        ("CODELAW_MODEL__BASE_URL", "http://127.0.0.1:9", ("model", "base_url"), "http://127.0.0.1:9"),
        ("CODELAW_TOOLS__BASH__TIMEOUT_SECONDS", "5", ("tools", "bash", "timeout_seconds"), 5),
        ("CODELAW_PERMISSIONS__DENY", '["Bash(rm:*)"]', ("permissions", "deny"), ["Bash(rm:*)"]),
        ("CODELAW_TURN", '{"maxSteps": 8}', ("turn", "max_steps"), 8),
    ],
)
def test_environment(variable: str, text: str, path: tuple[str, ...], value: object) -> None:
    effective = loaded(environ={variable: text})
    found: Any = effective.value
    for name in path:
        found = getattr(found, name)
    assert found == value
    assert effective.problems == []
    assert set(effective.sources.values()) == {variable}


def test_empty_and_foreign_variables_say_nothing() -> None:
    effective = loaded(environ={"CODELAW_MODEL__NAME": "", "CODELAW_HOME": "/x", "OTHER": "1", "ANTHROPIC_API_KEY": ""})
    assert (effective.value, effective.problems) == (Settings(), [])


def test_the_sdks_variables_are_defaults_of_ours(tmp_path: Path) -> None:
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_BASE_URL": "http://h"}
    model = loaded(environ=environ).value.model
    assert (model.api_key, model.auth_token, model.base_url) == ("k", "t", "http://h")
    assert loaded(environ=environ).origins["model.apiKey"] == "environment"
    user = written(tmp_path / "config.toml", '[model]\napiKey = "mine"\n')
    model = loaded(environ=environ, user_file=user).value.model
    assert (model.api_key, model.auth_token, model.base_url) == ("mine", None, "http://h")


def test_null_from_a_client_means_unset() -> None:
    effective = loaded(environ={"CODELAW_MODEL__NAME": "a"}, client={"model": {"name": None}, "turn": None})
    assert (effective.value.model.name, effective.problems) == ("a", [])


def test_secrets_are_masked_and_not_printed() -> None:
    environ = {
        "CODELAW_MODEL__API_KEY": "secret-1",
        "CODELAW_EMBEDDING__API_KEY": "secret-2",
        "CODELAW_STORE__URL": "postgresql://user:secret-3@host/base?password=secret-4",
        "CODELAW_MODEL__BASE_URL": "http://user:secret-5@host/x",
        "CODELAW_MCP__SERVERS": '{"a": {"command": "run", "args": ["secret-6"], "env": {"K": "secret-7"}}}',
    }
    effective = loaded(environ=environ, client={"model": {"apiKey": 5, "authToken": ["secret-8"]}})
    described = effective.describe()["settings"]
    assert "secret" not in str(described)
    assert described["mcp.servers"]["value"]["a"]["command"] == "run"
    assert "host" in described["store.url"]["value"]
    assert "secret" not in repr(effective.value)
    assert "secret" not in str(effective.problems)
    assert codes(effective) == ["bad_setting", "bad_setting", "setting_without_effect"]


def test_codelaw_home_moves_data_and_configuration(tmp_path: Path) -> None:
    environ = {"CODELAW_HOME": str(tmp_path)}
    assert home(environ) == tmp_path
    assert user_file(environ) == tmp_path / "config.toml"
    assert home({}) != tmp_path
    assert user_file({}).name == "config.toml"
    assert home({"CODELAW_HOME": "relative"}).is_absolute()
