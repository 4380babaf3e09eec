"""A workspace's own file tightens and never loosens (S-3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codelaw.settings.effective import EffectiveSettings, load_settings
from codelaw.settings.model import Settings
from codelaw.settings.workspace import usual_memory


def with_file(tmp_path: Path, text: str, **given: Any) -> EffectiveSettings:
    file = tmp_path / "workspace.toml"
    file.write_text(text)
    return load_settings(**{"environ": {}, "workspace_files": [file], **given})


REFUSED = [
    ("model", 'apiKey = "k"'),
    ("model", 'baseUrl = "http://evil"'),
    ("model", 'provider = "anthropic"'),
    ("model", 'script = "x.json"'),
    ("permissions", 'allow = ["Bash"]'),
    ("permissions", 'default = "allow"'),
    ("embedding", 'provider = "openai"'),
    ("embedding", 'path = "/x"'),
    ("store", 'url = "postgresql://evil"'),
    ("prompts", 'persona = "evil"'),
    ("mcp.servers.evil", 'command = "evil"'),
    ("skills", 'paths = ["/"]'),
    ("hooks", 'Stop = [{command = "evil"}]'),
    ("tools", "webSearch = true"),
    ("tools.bash", 'sandbox = "off"'),
    ("tools.bash", "timeoutSeconds = 600"),
    ("tools.bash", "network = true"),
    ("tools.bash", 'network = ["evil.example"]'),
    ("turn", "maxSteps = 51"),
    ("memory", "enabled = true"),
    ("memory", "timeoutMs = 501"),
    ("law", 'files = ["AGENTS.md", ".env"]'),
]


@pytest.mark.parametrize(("table", "line"), REFUSED)
def test_what_loosens_is_refused_with_the_key_and_why(tmp_path: Path, table: str, line: str) -> None:
    effective = with_file(tmp_path, f"[{table}]\n{line}\n")
    assert effective.value == Settings()
    assert [notice.code for notice in effective.problems] == ["setting_refused"]
    key = "mcp.servers" if table.startswith("mcp") else f"{table}.{line.split(' ', maxsplit=1)[0]}"
    message = effective.problems[0].message
    assert message.startswith(f"{key}: refused in a workspace's settings, ")
    assert "evil" not in message
    assert set(effective.origins.values()) == {"default"}


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("model", 'name = "theirs"'),
        ("model", 'dialect = "native"'),
        ("models.x", "contextWindow = 5"),
        ("context", "keepRounds = 12"),
        ("context", "maxWindow = 100000"),
        ("turn", "maxSteps = 10"),
        ("tools.bash", 'sandbox = "require"'),
        ("tools.bash", "timeoutSeconds = 5"),
        ("memory", "enabled = false"),
        ("retrieval", "topK = 3"),
        ("law", 'files = ["CLAUDE.md"]'),
    ],
)
def test_what_tightens_or_only_shapes_counts(tmp_path: Path, table: str, line: str) -> None:
    effective = with_file(tmp_path, f"[{table}]\n{line}\n")
    assert effective.problems == []
    assert effective.value != Settings()
    assert effective.origins[f"{table}.{line.split(' ', maxsplit=1)[0]}"] == "workspace"


def test_a_limit_is_lowered_from_where_the_user_set_it(tmp_path: Path) -> None:
    user = tmp_path / "user.toml"
    user.write_text("[turn]\nmaxSteps = 20\nmaxTokens = 100\n")
    effective = with_file(tmp_path, "[turn]\nmaxSteps = 30\nmaxTokens = 50\n", user_file=user)
    assert (effective.value.turn.max_steps, effective.value.turn.max_tokens) == (20, 50)
    assert [notice.code for notice in effective.problems] == ["setting_refused"]


def test_memory_that_nobody_limits_is_lowered_from_a_share_of_the_machines(tmp_path: Path) -> None:
    usual = usual_memory()
    assert 64 < usual < 1 << 30
    lower, higher = (with_file(tmp_path, f"[tools.bash]\nmemoryMb = {most}\n") for most in (usual, usual + 1))
    assert (lower.value.tools.bash.memory_mb, lower.problems) == (usual, [])
    assert higher.value.tools.bash.memory_mb is None
    assert [notice.code for notice in higher.problems] == ["setting_refused"]


@pytest.mark.parametrize("others", [{}, {"client": {"permissions": {"deny": ["Edit"]}}}])
def test_deny_rules_are_added_and_stay(tmp_path: Path, others: dict[str, Any]) -> None:
    user = tmp_path / "user.toml"
    user.write_text('[permissions]\ndeny = ["Bash(rm:*)"]\n')
    effective = with_file(tmp_path, '[permissions]\ndeny = ["Write"]\n', user_file=user, **others)
    deny = effective.value.permissions.deny
    assert "Write" in deny
    if not others:
        assert deny == ["Bash(rm:*)", "Write"]


def test_deny_cannot_be_emptied(tmp_path: Path) -> None:
    user = tmp_path / "user.toml"
    user.write_text('[permissions]\ndeny = ["Bash(rm:*)"]\n')
    assert with_file(tmp_path, "[permissions]\ndeny = []\n", user_file=user).value.permissions.deny == ["Bash(rm:*)"]


def test_of_several_folders_the_first_wins_and_limits_take_the_lowest(tmp_path: Path) -> None:
    files = [tmp_path / "a.toml", tmp_path / "b.toml"]
    files[0].write_text('[model]\nname = "a"\n[turn]\nmaxSteps = 20\n')
    files[1].write_text('[model]\nname = "b"\n[turn]\nmaxSteps = 10\n')
    effective = load_settings(environ={}, workspace_files=files)
    assert effective.value.model.name == "a"
    assert effective.value.turn.max_steps == 10


@pytest.mark.parametrize(
    ("below", "theirs", "counts"),
    [
        ("true", '["a.example"]', True),
        ('["a.example"]', "true", False),
        ('["a.example", "*.b.example:8443"]', '["x.b.example:8443"]', True),
        ('["a.example", "*.b.example"]', '["*.x.b.example", "A.Example."]', True),
        ('["a.example"]', '["a.example:22"]', False),
        ('["a.example:443"]', '["a.example"]', False),
        ('["*.b.example"]', '["b.example"]', False),
        ('["b.example"]', '["*.b.example"]', False),
        ('["a.example"]', '["a.example", "evil.example"]', False),
        ('["a.example"]', "false", True),
    ],
)
def test_a_list_of_hosts_may_only_become_shorter(tmp_path: Path, below: str, theirs: str, counts: bool) -> None:
    user = tmp_path / "user.toml"
    user.write_text(f"[tools.bash]\nnetwork = {below}\n")
    alone = load_settings(environ={}, user_file=user).value.tools.bash.network
    effective = with_file(tmp_path, f"[tools.bash]\nnetwork = {theirs}\n", user_file=user)
    assert (effective.problems == []) is counts
    assert effective.origins["tools.bash.network"] == ("workspace" if counts else "user")
    if not counts:
        assert effective.value.tools.bash.network == alone


def test_a_workspace_adds_to_what_commands_may_not_see_or_change(tmp_path: Path) -> None:
    text = '[tools.bash]\nhidden = ["secrets", "~/.x"]\nreadOnly = ["lock"]\n'
    given = {"tools": {"bash": {"hidden": ["/srv/keys"], "readOnly": ["/srv/app"]}}}
    effective = with_file(tmp_path, text, client=given)
    assert effective.value.tools.bash.hidden == ["/srv/keys", "secrets", "~/.x"]
    assert effective.value.tools.bash.read_only == ["/srv/app", "lock"]
    assert effective.problems == []
    restricted = with_file(tmp_path, text, client=given, restricted=True)
    assert restricted.value.tools.bash.hidden == ["/srv/keys", "secrets", "~/.x"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "1 character"),
        ("/", "no file"),
        ("../x", "no file"),
        ("~", "no file"),
        ("~root/x", "by ~/"),
        ("*.pem", "Read(*.pem)"),
    ],
)
def test_a_path_that_is_none_is_told_of(tmp_path: Path, path: str, why: str) -> None:
    effective = load_settings(environ={}, client={"tools": {"bash": {"hidden": [path]}}})
    assert effective.value.tools.bash.hidden == []
    assert why in effective.problems[0].message
