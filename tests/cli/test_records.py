"""`codelaw chats --export`, `--fork` and `--delete`, the first two against the real server with its offline model (D-2)."""

from __future__ import annotations

import json

import pytest

from tests.cli.driving import Terminal, received, run
from tests.cli.test_commands import codelaw


@pytest.fixture
def asked(tmp_path):
    """A chat of two turns: their results."""
    (tmp_path / "frob.py").write_text("def frobnicator():\n    return 1\n")
    first = codelaw("chat", "Where is the frobnicator? @frob.py", "--json", workspace=tmp_path)
    assert first.returncode == 0, first.stderr
    result = json.loads(first.stdout.splitlines()[-1])
    second = codelaw("chat", "And now?", "--chat", result["chatId"], "--json", workspace=tmp_path)
    return result, json.loads(second.stdout.splitlines()[-1])


def test_a_chat_is_exported_and_forked(asked, tmp_path):
    first, second = asked
    chat_id = first["chatId"]
    reported = codelaw("chats", "--export", chat_id, workspace=tmp_path)
    assert reported.returncode == 0, reported.stderr
    assert reported.stdout.startswith(f"<!-- codelaw chat {chat_id} -->\n")
    assert "Where is the frobnicator?" in reported.stdout
    document = json.loads(codelaw("chats", "--export", chat_id, "--format", "json", workspace=tmp_path).stdout)
    assert (document["version"], document["chat"]["id"]) == (1, chat_id)
    assert [turn["id"] for turn in document["turns"]] == [first["turnId"], second["turnId"]]

    fork = json.loads(codelaw("chats", "--fork", chat_id, "--json", workspace=tmp_path).stdout)
    assert (fork["turns"], fork["title"]) == (2, f"{document['chat']['title']} (fork)")
    part = codelaw("chats", "--fork", chat_id, "--turn", first["turnId"], workspace=tmp_path)
    assert "1 turn " in part.stdout
    assert "(fork)" in part.stdout
    assert len(codelaw("chats", "--json", workspace=tmp_path).stdout.splitlines()) == 3

    for wrong, code in [(("--fork", "nope"), "no chat"), (("--fork", chat_id, "--turn", "nope"), "no turn")]:
        refused = codelaw("chats", *wrong, workspace=tmp_path)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert code in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--export", "c1", "--fork", "c1"],
        ["--export", "c1", "--json"],
        ["--fork", "c1", "--format", "json"],
        ["words", "--export", "c1"],
    ],
)
def test_usage_errors(arguments, tmp_path):
    done = codelaw("chats", *arguments, workspace=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage:" in done.stderr


@pytest.mark.parametrize(("typed", "status"), [("y\n", 0), ("\n", 1), ("maybe\n", 1), ("\x03", 130)])
def test_a_chat_is_deleted_after_a_yes(log, typed, status):
    terminal = Terminal("plain", log, "chats", "--delete", "c1")
    terminal.until("The chat")
    terminal.until("[y/N] ")
    terminal.type(typed)
    assert terminal.status() == status
    assert received(log, "codelaw/chat/delete") == ([] if status else [{"chatId": "c1"}])


def test_without_a_terminal_a_chat_is_deleted_with_yes_alone(log):
    done = run("plain", log, "chats", "--delete", "c1")
    assert (done.returncode, received(log, "codelaw/chat/delete")) == (1, [])
    assert "--yes" in done.stderr
    done = run("plain", log, "chats", "--delete", "c1", "--yes", "--json")
    assert json.loads(done.stdout) == {"id": "c1", "deleted": True}
    assert received(log, "codelaw/chat/delete") == [{"chatId": "c1"}]
