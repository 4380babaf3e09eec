"""The commands against the real server with its offline model."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from typing import get_args

import pytest

from codelaw.app.health import endpoint
from codelaw.cli.main import STRATEGIES, main
from codelaw.domain.chats import Strategy
from codelaw.settings.model import ModelGroup
from tests.cli.driving import FORKED, INSTALLED
from tests.loopback.server import LoopbackVendor

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "README.md").write_text("# Sample\n\nThe frobnicator lives in `frob.py`.\n")
    (tmp_path / "frob.py").write_text("def frobnicator():\n    return 1\n")
    (tmp_path / "asyncio.py").write_text("raise SystemExit('the workspace is not a place for modules')\n")
    return tmp_path


def codelaw(*arguments, workspace, **environment):
    """Run a command in a process that is forked, as its server is."""
    return begun(FORKED, arguments, workspace, environment)


def installed(*arguments, workspace, **environment):
    """Run a command as whoever has installed it does."""
    return begun(INSTALLED, arguments, workspace, environment)


def begun(command, arguments, workspace, environment):
    return subprocess.run(
        [*command, *arguments],
        cwd=workspace,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path if path)}  # noqa: PTH100
        | environment,
    )


def test_a_turn_is_listed_and_goes_on(workspace):
    done = installed("chat", "Where is the frobnicator? @README.md", "--json", workspace=workspace)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert "frob.py:1" in result["answer"]
    deltas = [json.loads(line)["event"] for line in done.stdout.splitlines()[:-1]]
    assert "".join(event["delta"] for event in deltas if event["kind"] == "answer") == result["answer"]
    again = codelaw("chat", "And frob.py?", "--chat", result["chatId"], "--json", workspace=workspace)
    assert json.loads(again.stdout.splitlines()[-1])["chatId"] == result["chatId"]
    (chat,) = [json.loads(line) for line in installed("chats", "--json", workspace=workspace).stdout.splitlines()]
    assert (chat["id"], chat["turns"], chat["kind"]) == (result["chatId"], 2, "headless")
    assert result["chatId"] in codelaw("chats", "frobnicator", workspace=workspace).stdout
    assert codelaw("chats", "nothing-like-it", workspace=workspace).stdout == ""


def test_the_newest_chat_of_a_workspace_goes_on(workspace, tmp_path_factory):
    def ask(folder, *arguments):
        done = codelaw("chat", "frob.py?", "--json", *arguments, workspace=folder)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])["chatId"], done.stderr

    other = tmp_path_factory.mktemp("other")
    first, reported = ask(workspace, "--continue")
    assert "No chat was begun in this folder yet" in reported
    newest, _ = ask(workspace)
    elsewhere, _ = ask(other)
    again, reported = ask(workspace, "--continue")
    assert again == newest
    assert f"Going on with chat {newest}" in reported
    fork = json.loads(codelaw("chats", "--fork", first, "--json", workspace=other).stdout)["id"]
    assert ask(workspace, "--continue")[0] == fork, "a fork belongs where its chat does"
    assert ask(other, "--continue")[0] == elsewhere
    assert codelaw("chat", "x", "--continue", "--chat", first, workspace=workspace).returncode == 2


def test_the_context_is_shown_by_section(workspace):
    done = installed("context", "What is @frob.py?", workspace=workspace)
    assert done.returncode == 0, done.stderr
    assert "question" in done.stdout
    assert "What is @frob.py?" in done.stdout
    assert "vendor" not in done.stdout
    assert "; strategy layered; dialect react\n" in done.stdout
    report = json.loads(codelaw("context", "--json", workspace=workspace).stdout)
    assert report["sections"][0]["layer"] == "L1"
    exact = codelaw("context", "What is @frob.py?", "--exact", workspace=workspace)
    assert exact.returncode == 0, exact.stderr
    assert "Nobody counts tokens where this model is asked." in exact.stdout


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["chats", "--limit", "0"], "argument --limit: '0' is not a whole number above 0"),
        (["memory", "save", "x", "--confidence", "2"], "argument --confidence: '2' is not a number from 0 to 1"),
        (["memory", "save", " "], "argument TEXT: it is empty"),
        (["chat", "--workspace", "nowhere", "hi"], "--workspace: 'nowhere' is not a folder"),
        (["trust", "nowhere"], "'nowhere' is not a folder"),
        (["serve", "--tcp", "8080"], "'8080' is not HOST:PORT"),
        (["chat", "--strategy", "best", "hi"], "argument --strategy: invalid choice: 'best'"),
    ],
)
def test_wrong_arguments_are_told_in_plain_words(workspace, arguments, reported):
    done = codelaw(*arguments, workspace=workspace)
    assert done.returncode == 2
    assert reported in done.stderr


def test_every_strategy_of_the_server_is_offered():
    assert list(get_args(Strategy)) == STRATEGIES


def test_the_doctor_tells_what_works_and_where_from(workspace):
    done = installed("doctor", workspace=workspace, CODELAW_TURN__MAX_STEPS="7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "turn.maxSteps = 7  (environment, CODELAW_TURN__MAX_STEPS)" in done.stdout
    assert "offline" in done.stdout
    assert "Commands run" in done.stdout
    assert "has no .codelaw/config.toml" in done.stdout


def findings(done):
    """By name, the states and details of the doctor's report."""
    report = json.loads(done.stdout)
    assert done.returncode == (0 if report["ok"] else 1)
    found = {}
    for finding in report["findings"]:
        found.setdefault(finding["name"], []).append((finding["state"], finding["detail"]))
    return found


async def doctor(workspace, **environment):
    """With a key, in a thread, since the vendor lives on this one's loop."""
    environment = {"ANTHROPIC_API_KEY": "sk-very-secret", **environment}
    done = await asyncio.to_thread(codelaw, "doctor", "--json", workspace=workspace, **environment)
    assert "very-secret" not in done.stdout + done.stderr
    return findings(done)


async def test_the_doctor_tries_the_endpoint_and_bills_nothing(workspace):
    async with LoopbackVendor(key="sk-very-secret") as vendor:
        vendor.models = ["claude-sonnet-5-5"]
        found = await doctor(workspace, ANTHROPIC_BASE_URL=vendor.url)
        assert found["endpoint"] == [
            ("good", f"{vendor.url} answers, takes the key, and has the model claude-sonnet-5-5")
        ]
        assert [state for state, _ in found["model"]] == ["good"]
        assert vendor.messages == []
        assert [request.method for request in vendor.requests] == ["GET"]


async def test_the_doctor_finds_a_key_that_is_refused(workspace):
    async with LoopbackVendor(key="another") as vendor:
        vendor.models = []
        ((state, detail),) = (await doctor(workspace, ANTHROPIC_BASE_URL=vendor.url))["endpoint"]
    assert state == "broken"
    assert "refuses the key" in detail
    assert "401 authentication_error" in detail


async def test_the_doctor_finds_a_model_that_the_endpoint_does_not_have(workspace):
    async with LoopbackVendor() as vendor:
        vendor.models = ["claude-sonnet-5-5"]
        found = await doctor(workspace, ANTHROPIC_BASE_URL=vendor.url, CODELAW_MODEL__NAME="gpt-5")
    assert found["endpoint"][0][0] == "lacking"
    assert "does not list the model gpt-5" in found["endpoint"][0][1]
    assert (
        "lacking",
        "gpt-5 is a model of openai, and not every endpoint passes it on; set model.name or model.baseUrl",
    ) in found["model"]


async def test_an_endpoint_without_a_list_of_models_is_reported_as_that(workspace):
    async with LoopbackVendor() as vendor:
        ((state, detail),) = (await doctor(workspace, ANTHROPIC_BASE_URL=vendor.url))["endpoint"]
    assert state == "lacking"
    assert "has no list of models" in detail


async def test_what_answers_but_is_no_endpoint_is_broken(workspace):
    async def page(reader, writer):
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError):  # one only looks in
            await reader.readuntil(b"\r\n\r\n")
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\nconnection: close\r\n\r\n<hi>"
            )

    async with await asyncio.start_server(page, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ((state, detail),) = (await doctor(workspace, ANTHROPIC_BASE_URL=url))["endpoint"]
    assert state == "broken"
    assert "does not speak the Messages API" in detail


async def test_an_endpoint_that_never_answers_is_broken(monkeypatch):
    monkeypatch.setattr(endpoint, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        answer = await endpoint.knock(ModelGroup(api_key="k", base_url=url))
    assert answer.state == "broken"
    assert "no answer within" in answer.detail


@pytest.mark.parametrize(
    ("name", "url", "reported"),
    [
        ("gpt-5", None, "the endpoint is Anthropic's"),
        ("gpt-5", "http://127.0.0.1:1", "not every endpoint passes it on"),
        ("claude-sonnet-5-5", None, None),
        ("my-local-model", "http://127.0.0.1:1", None),
    ],
)
def test_a_model_of_another_vendor_is_known(name, url, reported):
    found = endpoint.of_another_vendor(ModelGroup(name=name, base_url=url))
    assert found is None if reported is None else reported in found


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


async def test_the_doctor_tells_which_programs_lie_in_the_workspace(workspace):
    for name in ("git", "bwrap"):
        program = workspace / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    found = await doctor(workspace, PATH=str(workspace / "bin"))
    for name in ("git", "bwrap"):
        ((state, detail),) = found[name]
        assert state == "lacking"
        assert detail.startswith(f"{workspace}/bin/{name} lies in the workspace, and so is not used; ")


def test_the_doctor_tells_problems_of_the_settings(workspace, home):
    (home / "config.toml").write_text("model = [")
    done = codelaw("doctor", workspace=workspace, CODELAW_MODEL__NMAE="x")
    assert "! settings" in done.stdout
    assert str(home / "config.toml") in done.stdout
    assert "did you mean model.name?" in done.stdout
    (home / "config.toml").unlink()
    assert "✓ settings" in codelaw("doctor", workspace=workspace).stdout


@pytest.mark.parametrize(
    ("url", "reported"),
    [("http://127.0.0.1:9", "nothing listens there"), ("localhost", "is not an address"), ("http://x:y", "Port")],
)
def test_the_doctor_says_what_is_wrong_with_an_endpoint(workspace, url, reported):
    done = codelaw("doctor", workspace=workspace, ANTHROPIC_BASE_URL=url)
    assert done.returncode == 1
    assert reported in done.stdout


def test_the_doctor_looks_for_the_script(workspace):
    environment = {"CODELAW_MODEL__PROVIDER": "scripted", "CODELAW_MODEL__SCRIPT": str(workspace / "script.json")}
    done = codelaw("doctor", workspace=workspace, **environment)
    assert done.returncode == 1
    assert "script.json is not a file" in done.stdout
    (workspace / "script.json").write_text("[]")
    assert codelaw("doctor", workspace=workspace, **environment).returncode == 0


@pytest.mark.parametrize("arguments", [["doctor"], ["chat", "hi"], ["serve"], ["schema"], ["memory", "list"]])
def test_on_windows_one_sentence_says_that_it_is_not_supported(monkeypatch, capsys, arguments):
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(arguments) == 1
    shown = capsys.readouterr()
    assert shown.err == "codelaw: Windows is not supported. Install and run codelaw inside WSL 2, which is Linux.\n"
    assert shown.out == ""
    assert main(["--version"]) == 0


def test_the_command_line_imports_nothing_that_windows_lacks():
    code = "import sys, codelaw.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENV)
    assert {"fcntl", "termios", "readline", "pwd", "asyncio"}.isdisjoint(done.stdout.split())


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
    assert "codelaw/chat/send" in json.loads(installed("schema", workspace=workspace).stdout)["methods"]


@pytest.mark.parametrize("arguments", [["--stdio"], ["--stdio", f"--clientProcessId={os.getpid()}"], []])
def test_serve_takes_what_editors_append(workspace, arguments):
    assert installed("serve", *arguments, workspace=workspace).returncode == 1  # its input ended without a good-bye


def test_serve_refuses_an_address_that_is_none(workspace):
    done = installed("serve", "--tcp", "nonsense", workspace=workspace)
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_an_empty_message_is_refused_and_leaves_no_chat(workspace):
    assert codelaw("chat", "  ", workspace=workspace).returncode == 1
    assert codelaw("chats", workspace=workspace).stdout == ""
