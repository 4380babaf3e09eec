"""Servers as people write them down: read leniently, filled in, shown whole, and let start as they were seen (X-3)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codelaw.domain.errors import Refusal
from codelaw.domain.served import Address, Program
from codelaw.settings.servers.answers import FILE, answer, decline, read_answers
from codelaw.settings.servers.filling import NotFilled, Variables, env_file, filled, variables
from codelaw.settings.servers.written import (
    WrittenServer,
    in_force,
    lenient_json,
    read_file,
    read_table,
    safe_name,
    shown,
    with_env_file,
)

ROOT = Path("/w/project")
HOME = Path("/home/me")


def around(**environment: str) -> Variables:
    return Variables(environment, HOME)


def one(table: dict[str, object], folder: Path | None = ROOT) -> WrittenServer:
    reading = read_table({"it": table}, ".mcp.json" if folder else "settings", folder)
    assert not reading.notices
    return reading.servers[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, /* why */ "b": [1, 2,], }', {"a": 1, "b": [1, 2]}),
        ('\ufeff// first\n{"a": "// no comment, ]", "b": "\\"/*", // last\n}', {"a": "// no comment, ]", "b": '"/*'}),
        ('{"a": ",}"}', {"a": ",}"}),
        ('{"a": 1 /* not closed', None),
        ('{"a": "not closed\n}', None),
        ("[" * 100_000, None),
        ("", None),
        ('{"a" 1}', None),
    ],
)
def test_json_may_have_comments_and_last_commas_and_nothing_else(text: str, value: object) -> None:
    if value is None:
        with pytest.raises(ValueError, match=r"."):
            lenient_json(text)
    else:
        assert lenient_json(text) == value


def test_both_files_name_servers_each_below_its_own_key() -> None:
    program = {"command": "npx", "args": ["-y", "thing", 3], "env": {"A": "1", "PORT": 80, "GONE": None}}
    address = {"type": "http", "url": "https://a.example/mcp", "headers": {"X": "${KEY}"}}
    reading = read_file(json.dumps({"mcpServers": {"a": program}}), "mcpServers", ".mcp.json", ROOT)
    assert reading.servers[0].table == {
        "command": "npx",
        "args": ["-y", "thing", "3"],
        "env": {"A": "1", "PORT": "80"},
    }
    text = json.dumps({"servers": {"b": address}, "inputs": [{"id": "k"}]})
    reading = read_file(text, "servers", ".vscode/mcp.json", ROOT)
    assert reading.servers[0].table == {"url": "https://a.example/mcp", "headers": {"X": "${KEY}"}}
    assert not reading.notices


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({}, "neither"),
        ({"command": ["npx"]}, "`command`"),
        ({"command": "a", "args": "b"}, "`args`"),
        ({"command": "a\0b"}, "`command`"),
        ({"command": "a", "env": {"A=B": "1"}}, "`env`"),
        ({"type": "sse", "url": "https://a.example"}, "'sse'"),
        ({"url": "file:///etc/passwd"}, "`url`"),
        ("npx", "an object"),
    ],
)
def test_what_is_no_server_is_left_out_and_told(entry: object, why: str) -> None:
    reading = read_table({"bad": entry, "good": {"command": "a"}}, ".mcp.json", ROOT)
    assert [server.name for server in reading.servers] == ["good"]
    assert len(reading.notices) == 1
    assert why in reading.notices[0].message
    assert "bad" in reading.notices[0].message


def test_a_field_that_nobody_knows_is_told_and_the_server_counts() -> None:
    reading = read_table({"a": {"command": "a", "alwaysAllow": ["*"], "x\u202e": 1}}, ".mcp.json", ROOT)
    assert reading.servers
    assert "`alwaysAllow`, `x⟨U+202E⟩`" in reading.notices[0].message


@pytest.mark.parametrize("text", ["[]", "{", '{"mcpServers": []}', None])
def test_a_file_that_cannot_be_read_is_a_notice(text: str | None) -> None:
    reading = read_file(text, "mcpServers", ".mcp.json", ROOT)
    assert not reading.servers
    assert [notice.code for notice in reading.notices] == ["mcp_problem"]


def test_of_two_servers_with_one_name_the_first_source_counts() -> None:
    mine = read_table({"git hub": {"command": "mine"}}, "settings")
    theirs = read_table({"git_hub": {"command": "theirs"}, "b": {"command": "b"}}, ".mcp.json", ROOT)
    both = in_force([mine, theirs])
    assert [(server.name, server.source) for server in both.servers] == [("b", ".mcp.json"), ("git_hub", "settings")]
    assert "git_hub of .mcp.json is left out: settings names it too" in both.notices[0].message


def test_names_become_what_vendors_take() -> None:
    assert safe_name("git-hub_2") == "git-hub_2"
    assert safe_name("my server/é") == "my_server"
    assert safe_name("a__b") == "a_b", "nobody can tell where the server's name ends otherwise"
    long = safe_name("x" * 60)
    assert len(long) == 24
    assert long != safe_name("x" * 61)
    assert safe_name("日本") != safe_name("日")
    assert safe_name("日本").isascii()
    assert safe_name("日本")
    assert safe_name("") not in {"", safe_name("..")}


def test_variables_are_filled_in() -> None:
    server = one(
        {
            "command": "${BIN:-run}",
            "args": ["${workspaceFolder}/a", "${env:KEY}", "$KEY ${EMPTY:-other}", "${NONE:-}"],
            "env": {"TOKEN": "${KEY}"},
        }
    )
    spec = filled(server, around(KEY="k", EMPTY=""))
    assert spec.way == Program("run", ("/w/project/a", "k", "$KEY other", ""), {"TOKEN": "k"}, ROOT)
    spec = filled(one({"url": "https://${HOST}/x", "headers": {"A": "Bearer ${KEY}"}}), around(HOST="h", KEY="k"))
    assert spec.way == Address("https://h/x", {"A": "Bearer k"})
    assert filled(one({"command": "a", "cwd": "sub"}), around()).way == Program("a", cwd=ROOT / "sub")


def test_a_program_of_the_users_own_runs_where_no_workspaces_files_are_found() -> None:
    own = one({"command": "a", "args": ["${workspaceFolder}"]}, None)
    assert filled(own, Variables({}, HOME, ROOT)).way == Program("a", (str(ROOT),), {}, HOME)
    with pytest.raises(NotFilled, match="workspaceFolder is not set"):
        filled(own, around())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("${NOT_SET}", "NOT_SET is not set"),
        ("${input:token}", "'token' would have to be asked for"),
        ("${config:a.b}", "not known here"),
        ("${A}" * 101, "more than 100"),
    ],
)
def test_what_cannot_be_filled_in_keeps_the_server_from_starting(text: str, why: str) -> None:
    with pytest.raises(NotFilled, match=why):
        filled(one({"command": "a", "args": [text]}), around(A="a"))


def test_an_env_file_is_read_below_what_the_entry_says_and_only_inside_the_folder(tmp_path: Path) -> None:
    server = one({"command": "a", "envFile": "${workspaceFolder}/.env", "env": {"A": "entry"}}, tmp_path)
    assert env_file(server, around()) == tmp_path.resolve() / ".env"
    assert env_file(one({"command": "a", "envFile": "../other"}, tmp_path), around()) is None
    merged = with_env_file(server, "# first\nexport A=file\nB='two words' \nC=3 # why\nno line\n")
    assert merged.table["env"] == {"A": "entry", "B": "two words", "C": "3"}
    assert merged.digest != server.digest, "what it is started with has changed"


def test_what_would_be_started_is_shown_whole_and_without_secrets() -> None:
    server = one(
        {
            "command": "npx",
            "args": ["-y", "a b", "x\u202ey", "it's"],
            "env": {"A": "--require ./x.js", "KEY": "s3cret-value", "MODE": "a\u202eb", "T": "a${TOKEN}"},
            "cwd": "/w",
        }
    )
    assert shown(server) == (
        "npx -y 'a b' 'x⟨U+202E⟩y' 'it'\"'\"'s' in /w with 'A=--require ./x.js', 'KEY=[redacted: KEY]', "
        "'MODE=a⟨U+202E⟩b', T=a${TOKEN}"
    )
    named = {
        "DB": "postgres://app:pw0rd-x@db/x",
        "PROXY": "http://proxy:8080",
        "TO": "http://a:${PW}@b",
        "\\g": "x://a:pw0rd-x@b",
    }
    assert shown(one({"command": "a", "env": named})) == (
        "a with 'DB=postgres://app:[redacted: DB]@db/x', PROXY=http://proxy:8080, TO=http://a:${PW}@b, '\\g=x://a:[redacted: \\g]@b'"
    )
    headers = {"A": "b", "Authorization": "Bearer abc-def-012", "X-Key": "${KEY}"}
    assert shown(one({"url": "https://a.example", "headers": headers})) == (
        "https://a.example with the headers 'A: b', 'Authorization: Bearer [redacted: Authorization]', 'X-Key: ${KEY}'"
    )


def test_what_variables_stand_for_counts_as_seen_but_for_secrets() -> None:
    server = one({"command": "${BIN:-run}", "args": ["${workspaceFolder}"], "env": {"T": "${A_TOKEN}", "N": "${NONE}"}})

    def digest(**environment: str) -> str:
        return replace(server, variables=variables(server, around(**environment))).digest

    known = digest(BIN="run", A_TOKEN="one")
    assert known == digest(A_TOKEN="two")
    assert known == digest()
    assert known != digest(BIN="evil")
    assert known != digest(NONE="x")


def test_a_workspaces_server_starts_only_as_it_was_seen(tmp_path: Path) -> None:
    server, changed = one({"command": "a"}), one({"command": "a", "args": ["-rf"]})
    assert not read_answers(tmp_path).lets(server)
    answer(tmp_path, server, enabled=True)
    assert read_answers(tmp_path).lets(server)
    assert not read_answers(tmp_path).lets(changed)
    elsewhere = WrittenServer(server.name, server.table, server.source, Path("/w/other"))
    assert not read_answers(tmp_path).lets(elsewhere)
    assert read_answers(tmp_path).lets(one({"command": "a"}, None)), "the user's own settings need no answer"
    answer(tmp_path, server, enabled=False)
    assert read_answers(tmp_path).off == {server.key}
    assert answer(tmp_path, server, enabled=True).off == frozenset()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"allowed": [], "off": {}}', '{"allowed": {"a": 1}, "off": [1]}'])
def test_a_damaged_list_of_answers_lets_nothing_start(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    answers = read_answers(tmp_path)
    assert not answers.allowed
    assert not answers.off
    assert not answers.lets(one({"command": "a"}))
    assert not answers.lets(one({"command": "a"}, None)), "one of the user's own may have been switched off (S-1)"
    for change in (
        lambda: answer(tmp_path, one({"command": "a"}), enabled=True),
        lambda: decline(tmp_path, one({"command": "a"})),
    ):
        with pytest.raises(Refusal, match="cannot be read"):
            change()
    assert (tmp_path / FILE).read_text(encoding="utf-8") == text, "what can be mended is left as it is"
