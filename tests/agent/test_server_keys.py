"""The keys of servers are known, so that nothing tells them (S-5, X-3)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from codelaw.app.known_keys import known_keys
from codelaw.app.servers.looking import variables_around
from codelaw.settings.effective import load_settings
from codelaw.settings.servers.filling import NotFilled, filled
from codelaw.settings.servers.written import SETTINGS, read_table

SERVERS = {
    "a": {
        "command": "x",
        "env": {"A_TOKEN": "env-key-000001", "PLAIN": "something-else-1", "B_KEY": "${B_KEY}", "TOKEN_FILE": "/x/y1"},
    },
    "b": {"url": "https://b.example", "headers": {"Authorization": "Bearer header-key-0002", "X-Api-Key": "key-0003"}},
}


def test_what_stands_in_variables_and_headers_is_known() -> None:
    settings = load_settings(environ={}, client={"mcp": {"servers": SERVERS}}).value
    assert known_keys(settings, {}) == {
        "env-key-000001": "A_TOKEN of the server a",
        "header-key-0002": "Authorization of the server b",
        "key-0003": "X-Api-Key of the server b",
    }


@pytest.mark.parametrize("place", ["user", "workspace"])
def test_only_the_users_own_settings_give_a_server_a_key_of_the_models(tmp_path: Path, place: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[mcp.servers.a]\ncommand = "x"\nenv = { K = "${ANTHROPIC_API_KEY}" }\n')
    own = file if place == "user" else None
    trusted = {} if own else {file: hashlib.sha256(file.read_bytes()).hexdigest()}
    effective = load_settings(environ={}, user_file=own, workspace_files=[*trusted], trusted=trusted)
    around = variables_around(effective, {"ANTHROPIC_API_KEY": "sk-ant-0123"}, tmp_path, [])
    (server,) = read_table(effective.value.mcp.servers, SETTINGS).servers
    if place == "user":
        assert "sk-ant-0123" in str(filled(server, around).way)
    else:
        with pytest.raises(NotFilled, match="ANTHROPIC_API_KEY, a key that codelaw uses itself"):
            filled(server, around)
