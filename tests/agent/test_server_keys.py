"""The keys of servers are known, so that nothing tells them (S-5, X-3)."""

from __future__ import annotations

from codelaw.app.known_keys import known_keys
from codelaw.settings.effective import load_settings

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
