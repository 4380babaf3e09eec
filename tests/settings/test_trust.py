"""Whose settings file counts in full (S-3)."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from codelaw.settings.effective import load_settings
from codelaw.settings.trust import FILE, set_trust, trusted_folders

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


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_trusted_file_counts_in_full_and_another_shows_what_waits(tmp_path: Path):
    file, user = tmp_path / "workspace.toml", tmp_path / "user.toml"
    file.write_text(WHOLE)
    user.write_text('[permissions]\nallow = ["Edit"]\ndeny = ["Bash(curl:*)"]\n')
    held = load_settings(environ={}, user_file=user, workspace_files=[file])
    (found,) = held.files
    assert (set(found.held), found.trusted, found.digest) == (KEYS, False, digest(file))
    assert found.held["permissions.allow"] == '["Bash(make:*)"]'
    assert held.value.permissions.allow == ["Edit"]
    assert held.value.model.base_url is None
    assert not held.value.tools.bash.network
    trusted = load_settings(environ={}, user_file=user, workspace_files=[file], trusted={file: digest(file)})
    assert [(one.trusted, set(one.held)) for one in trusted.files] == [(True, KEYS)]
    assert list(trusted.problems) == []
    assert trusted.value.permissions.allow == ["Bash(make:*)"]
    assert trusted.value.model.base_url == "http://127.0.0.1:9"
    assert trusted.value.mcp.servers == {"x": {"command": "x"}}
    assert (trusted.value.tools.bash.network, trusted.value.tools.bash.sandbox) == (True, "off")
    for one in (held, trusted):
        assert one.value.permissions.deny == ["Bash(curl:*)", "Bash(rm:*)"]


def test_trust_is_bound_to_what_was_seen(tmp_path: Path):
    file = tmp_path / "workspace.toml"
    file.write_text(WHOLE)
    seen = {file: digest(file)}
    file.write_text(WHOLE.replace("Bash(make:*)", "Bash(sh:*)"))
    changed = load_settings(environ={}, workspace_files=[file], trusted=seen)
    assert changed.value.permissions.allow == []
    assert changed.files[0].held["permissions.allow"] == '["Bash(sh:*)"]'


def test_values_are_shown_whole_but_for_secrets_and_nothing_in_them_is_hidden(tmp_path: Path):
    file = tmp_path / "workspace.toml"
    file.write_text(
        '[model]\napiKey = "SECRETKEY"\nbaseUrl = "https://user:SECRETKEY@x.example/v1?k=SECRETKEY"\n'
        '[permissions]\nallow = ["Bash(a\\u202Eb\\u200b\\u3164)"]\n'
        '[mcp.servers.x]\ncommand = "sh"\nargs = ["-c", "echo whole"]\nenv = {TOKEN = "SECRETKEY"}\n'
    )
    (found,) = load_settings(environ={}, workspace_files=[file]).files
    shown = "\n".join(f"{key} = {value}" for key, value in found.held.items())
    assert "SECRETKEY" not in shown
    assert "x.example/v1" in shown
    assert "Bash(a⟨U+202E⟩b⟨U+200B⟩⟨U+3164⟩)" in shown
    assert shown.replace("\n", "").isprintable()
    assert '"args": ["-c", "echo whole"]' in shown
    assert "TOKEN" in shown


def test_trust_is_remembered_by_the_real_path(tmp_path: Path):
    home, folder = tmp_path / "home", tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    assert trusted_folders(home) == {}
    set_trust(home, tmp_path / "link", "d1")
    assert trusted_folders(home) == {folder.resolve(): "d1"}
    set_trust(home, folder, "d2")
    set_trust(home, tmp_path / "other", None)
    assert trusted_folders(home) == {folder.resolve(): "d2"}
    set_trust(home, folder, None)
    assert trusted_folders(home) == {}
    assert sorted(path.name for path in home.iterdir()) == [FILE, f"{FILE}.lock"]


@pytest.mark.parametrize(
    "content",
    ["", "null", '{"folders": ["/x"]}', '{"folders": {"x": "d", "/x": 1}}'],
)
def test_a_damaged_or_older_list_trusts_nobody_and_is_written_anew(tmp_path: Path, content: str):
    (tmp_path / FILE).write_text(content)
    assert trusted_folders(tmp_path) == {}
    set_trust(tmp_path, tmp_path / "x", "d")
    assert trusted_folders(tmp_path) == {(tmp_path / "x").resolve(): "d"}


def test_servers_that_write_at_once_lose_nothing(tmp_path: Path):
    folders = [tmp_path / str(number) for number in range(20)]
    threads = [threading.Thread(target=set_trust, args=(tmp_path, one, "d")) for one in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trusted_folders(tmp_path) == dict.fromkeys((folder.resolve() for folder in folders), "d")


def test_trust_is_of_what_a_link_leads_to(tmp_path: Path):
    real, file = tmp_path / "conf/rules.toml", tmp_path / ".codelaw/config.toml"
    real.parent.mkdir()
    file.parent.mkdir()
    file.symlink_to("../conf/rules.toml")
    real.write_text('[permissions]\nallow = ["Bash(make:*)"]\ndeny = ["Read(.env)"]\n')
    seen = {file: digest(file)}
    trusted = load_settings(environ={}, workspace_files=[file], trusted=seen)
    assert trusted.value.permissions.allow == ["Bash(make:*)"]
    real.write_text('[permissions]\nallow = ["Bash"]\ndeny = ["Read(.env)"]\n')
    changed = load_settings(environ={}, workspace_files=[file], trusted=seen)
    assert (changed.value.permissions.allow, changed.value.permissions.deny) == ([], ["Read(.env)"])
