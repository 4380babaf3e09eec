"""The commands against the real server with its offline model."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "README.md").write_text("# Sample\n\nThe frobnicator lives in `frob.py`.\n")
    (tmp_path / "frob.py").write_text("def frobnicator():\n    return 1\n")
    (tmp_path / "asyncio.py").write_text("raise SystemExit('the workspace is no place for modules')\n")
    return tmp_path


def codelaw(*arguments, workspace, **environment):
    return subprocess.run(
        [sys.executable, "-P", "-m", "codelaw", *arguments],
        cwd=workspace,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path if path)}  # noqa: PTH100
        | environment,
    )


def test_a_turn_is_listed_and_goes_on(workspace):
    done = codelaw("chat", "Where is the frobnicator? @README.md", "--json", workspace=workspace)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert "frob.py:1" in result["answer"]
    deltas = [json.loads(line)["event"] for line in done.stdout.splitlines()[:-1]]
    assert "".join(event["delta"] for event in deltas if event["kind"] == "answer") == result["answer"]
    again = codelaw("chat", "And frob.py?", "--chat", result["chatId"], "--json", workspace=workspace)
    assert json.loads(again.stdout.splitlines()[-1])["chatId"] == result["chatId"]
    (chat,) = [json.loads(line) for line in codelaw("chats", "--json", workspace=workspace).stdout.splitlines()]
    assert (chat["id"], chat["turns"], chat["kind"]) == (result["chatId"], 2, "headless")
    assert result["chatId"] in codelaw("chats", "frobnicator", workspace=workspace).stdout
    assert codelaw("chats", "nothing-like-it", workspace=workspace).stdout == ""


def test_the_context_is_shown_by_section(workspace):
    done = codelaw("context", "What is @frob.py?", workspace=workspace)
    assert done.returncode == 0, done.stderr
    assert "question" in done.stdout
    assert "What is @frob.py?" in done.stdout
    report = json.loads(codelaw("context", "--json", workspace=workspace).stdout)
    assert report["sections"][0]["layer"] == "L1"


def test_the_doctor_tells_what_works_and_where_from(workspace):
    done = codelaw("doctor", workspace=workspace, CODELAW_TURN__MAX_STEPS="7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "turn.maxSteps = 7  (environment, CODELAW_TURN__MAX_STEPS)" in done.stdout
    assert "offline" in done.stdout
    assert "Commands run" in done.stdout
    assert "is not trusted" in done.stdout


def test_the_doctor_masks_keys_and_knocks_at_the_endpoint(workspace):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        environment = {"ANTHROPIC_API_KEY": "sk-very-secret", "ANTHROPIC_BASE_URL": url}
        done = codelaw("doctor", "--json", workspace=workspace, **environment)
    report = json.loads(done.stdout)
    states = {finding["name"]: finding["state"] for finding in report["findings"]}
    assert report["ok"]
    assert states["endpoint"] == "good"
    assert "very-secret" not in done.stdout + done.stderr
    done = codelaw("doctor", workspace=workspace, **environment)
    assert done.returncode == 1
    assert "✗ endpoint" in done.stdout
    assert "very-secret" not in done.stdout + done.stderr


def test_the_doctor_finds_a_store_that_does_not_open(workspace, home):
    (home / "codelaw.db").mkdir()
    done = codelaw("doctor", workspace=workspace)
    assert done.returncode == 1
    assert "✗ store" in done.stdout
    assert str(home / "codelaw.db") in done.stdout


def test_the_doctor_tells_of_a_damaged_store_that_was_set_aside(workspace, home):
    (home / "codelaw.db").write_bytes(b"not a database at all" * 100)
    done = codelaw("doctor", workspace=workspace)
    assert done.returncode == 0
    assert "✓ store" in done.stdout
    assert f"! damaged store {home / 'codelaw.db'}.damaged-" in done.stdout


def test_the_doctor_tells_problems_of_the_settings(workspace, home):
    (home / "config.toml").write_text("model = [")
    done = codelaw("doctor", workspace=workspace, CODELAW_MODEL__NMAE="x")
    assert "! settings" in done.stdout
    assert str(home / "config.toml") in done.stdout
    assert "did you mean model.name?" in done.stdout
    (home / "config.toml").unlink()
    assert "✓ settings" in codelaw("doctor", workspace=workspace).stdout


@pytest.mark.parametrize(
    ("url", "told"),
    [("http://127.0.0.1:9", "nothing listens on port 9"), ("localhost", "is no address"), ("http://x:y", "Port")],
)
def test_the_doctor_says_what_is_wrong_with_an_endpoint(workspace, url, told):
    done = codelaw("doctor", workspace=workspace, ANTHROPIC_BASE_URL=url)
    assert done.returncode == 1
    assert told in done.stdout


def test_the_doctor_looks_for_the_script(workspace):
    environment = {"CODELAW_MODEL__PROVIDER": "scripted", "CODELAW_MODEL__SCRIPT": str(workspace / "script.json")}
    done = codelaw("doctor", workspace=workspace, **environment)
    assert done.returncode == 1
    assert "script.json is no file" in done.stdout
    (workspace / "script.json").write_text("[]")
    assert codelaw("doctor", workspace=workspace, **environment).returncode == 0


def test_without_a_command_the_commands_are_told(workspace):
    done = codelaw(workspace=workspace)
    assert done.returncode == 2
    assert "doctor" in done.stderr


@pytest.mark.parametrize("limit", ["0", "-1", "x"])
def test_a_limit_is_a_number_from_1(workspace, limit):
    done = codelaw("chats", f"--limit={limit}", workspace=workspace)
    assert done.returncode == 2
    assert limit in done.stderr


def test_the_schema_is_json(workspace):
    assert "codelaw/chat/send" in json.loads(codelaw("schema", workspace=workspace).stdout)["methods"]


@pytest.mark.parametrize("arguments", [["--stdio"], ["--stdio", f"--clientProcessId={os.getpid()}"], []])
def test_serve_takes_what_editors_append(workspace, arguments):
    assert codelaw("serve", *arguments, workspace=workspace).returncode == 1  # its input ended without a good-bye


def test_serve_refuses_an_address_that_is_none(workspace):
    done = codelaw("serve", "--tcp", "nonsense", workspace=workspace)
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_an_empty_message_is_refused_and_leaves_no_chat(workspace):
    assert codelaw("chat", "  ", workspace=workspace).returncode == 1
    assert codelaw("chats", workspace=workspace).stdout == ""
