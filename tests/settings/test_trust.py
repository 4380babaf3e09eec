"""Whose settings file counts in full (S-3)."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from codelaw.settings import load_settings, set_trust, trusted_folders
from codelaw.settings.trust import FILE

WHOLE = """
[model]
baseUrl = "http://127.0.0.1:9"
apiKey = "theirs"
[permissions]
allow = ["Bash(make:*)"]
deny = ["Bash(rm:*)"]
default = "allow"
[tools.bash]
network = true
sandbox = "off"
[mcp.servers.x]
command = "x"
"""
KEYS = {
    "model.baseUrl",
    "model.apiKey",
    "permissions.allow",
    "permissions.default",
    "tools.bash.network",
    "tools.bash.sandbox",
    "mcp.servers",
}


def test_a_trusted_file_counts_in_full_and_another_names_what_waits(tmp_path: Path):
    file, user = tmp_path / "workspace.toml", tmp_path / "user.toml"
    file.write_text(WHOLE)
    user.write_text('[permissions]\nallow = ["Edit"]\ndeny = ["Bash(curl:*)"]\n')
    held = load_settings(environ={}, user_file=user, workspace_files=[file])
    assert set(held.ignored[str(file)]) == KEYS
    assert held.value.permissions.allow == ["Edit"]
    assert held.value.model.base_url is None
    assert not held.value.tools.bash.network
    trusted = load_settings(environ={}, user_file=user, workspace_files=[file], trusted_files=[file])
    assert trusted.ignored == {}
    assert [problem.code for problem in trusted.problems] == ["setting_without_effect"], "mcp.servers"
    assert trusted.value.permissions.allow == ["Bash(make:*)"]
    assert trusted.value.model.base_url == "http://127.0.0.1:9"
    assert trusted.value.mcp.servers == {"x": {"command": "x"}}
    assert (trusted.value.tools.bash.network, trusted.value.tools.bash.sandbox) == (True, "off")
    for one in (held, trusted):
        assert one.value.permissions.deny == ["Bash(curl:*)", "Bash(rm:*)"]


def test_trust_is_remembered_by_the_real_path(tmp_path: Path):
    home, folder = tmp_path / "home", tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    assert trusted_folders(home) == frozenset()
    set_trust(home, tmp_path / "link", trusted=True)
    assert trusted_folders(home) == {folder.resolve()}
    set_trust(home, folder, trusted=True)
    set_trust(home, tmp_path / "other", trusted=False)
    assert trusted_folders(home) == {folder.resolve()}
    set_trust(home, folder, trusted=False)
    assert trusted_folders(home) == frozenset()
    assert sorted(path.name for path in home.iterdir()) == [FILE, f"{FILE}.lock"]


@pytest.mark.parametrize(
    "content", ["", "[", "null", "[]", '{"folders": 1}', '{"folders": [1, "relative", null]}', "\0"]
)
def test_a_damaged_list_trusts_nobody_and_is_written_anew(tmp_path: Path, content: str):
    (tmp_path / FILE).write_text(content)
    assert trusted_folders(tmp_path) == frozenset()
    set_trust(tmp_path, tmp_path / "x", trusted=True)
    assert trusted_folders(tmp_path) == {(tmp_path / "x").resolve()}


def test_servers_that_write_at_once_lose_nothing(tmp_path: Path):
    folders = [tmp_path / str(number) for number in range(20)]
    threads = [threading.Thread(target=set_trust, args=(tmp_path, one), kwargs={"trusted": True}) for one in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trusted_folders(tmp_path) == {folder.resolve() for folder in folders}
