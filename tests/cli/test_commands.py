"""The commands against the real server with its offline model."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from codelaw.app.health import providers
from codelaw.cli.main import main
from codelaw.cli.usage import CATEGORIES, STRATEGIES
from codelaw.domain.chats import Strategy
from codelaw.domain.memories import Category
from codelaw.settings.providers import ModelGroup
from tests.cli.driving import FORKED, INSTALLED
from tests.loopback.lists import Serving, ollama
from tests.loopback.server import LoopbackVendor


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
        (["chat", "--workspace", "nowhere", "hi"], "--workspace: 'nowhere' is not a folder"),
        (["serve", "--tcp", "8080"], "'8080' is not HOST:PORT"),
    ],
)
def test_wrong_arguments_are_told_in_plain_words(workspace, arguments, reported):
    done = codelaw(*arguments, workspace=workspace)
    assert done.returncode == 2
    assert reported in done.stderr


def test_what_the_server_takes_is_offered():
    assert "|".join(get_args(Strategy)) == STRATEGIES
    assert "|".join(get_args(Category)) == CATEGORIES


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


def test_the_doctor_finds_a_store_that_does_not_open(workspace, home):
    (home / "codelaw.db").mkdir()
    done = codelaw("doctor", workspace=workspace)
    assert done.returncode == 1
    assert "✗ store" in done.stdout
    assert str(home / "codelaw.db") in done.stdout


@pytest.mark.parametrize(
    ("key", "models", "name", "reported"),
    [
        ("another", [], "", ("broken", "refuses the key")),
        ("", ["claude-sonnet-5-5"], "gpt-5", ("lacking", "does not list the model gpt-5")),
        ("", None, "", ("lacking", "has no list of models")),
    ],
)
async def test_the_doctor_says_what_an_endpoint_lacks(workspace, key, models, name, reported):
    async with LoopbackVendor(**({"key": key} if key else {})) as vendor:
        if models is not None:
            vendor.models = models
        chosen = {"CODELAW_MODEL__NAME": name} if name else {}
        found = await doctor(workspace, ANTHROPIC_BASE_URL=vendor.url, **chosen)
    ((state, detail),) = found["endpoint"]
    assert (state, reported[1] in detail) == (reported[0], True)
    assert not name or "gpt-5 is a model of openai, and not every endpoint passes it on" in str(found["model"])


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


def test_a_data_folder_that_is_not_there_yet_is_no_fault(workspace, home):
    elsewhere = {"CODELAW_HOME": str(home / "new"), "CODELAW_STORE__URL": "postgresql://x@127.0.0.1:1/x"}
    done = codelaw("doctor", workspace=workspace, **elsewhere)
    assert f"✓ data folder  {home / 'new'}" in done.stdout
    assert "✗ store" in done.stdout


@pytest.mark.parametrize(
    ("url", "reported"),
    [("http://127.0.0.1:9", "nothing listens there"), ("localhost", "is not an address")],
)
def test_the_doctor_says_what_is_wrong_with_an_endpoint(workspace, url, reported):
    done = codelaw("doctor", workspace=workspace, ANTHROPIC_BASE_URL=url)
    assert done.returncode == 1
    assert reported in done.stdout


async def test_the_doctor_says_which_keys_there_are_and_who_is_asked(workspace):
    async with LoopbackVendor() as vendor:
        found = await doctor(workspace, ANTHROPIC_BASE_URL=vendor.url, DEEPSEEK_API_KEY="d", MISTRAL_API_KEY="m")
        (said,) = found["keys"]
        keys = "found ANTHROPIC_API_KEY, MISTRAL_API_KEY, DEEPSEEK_API_KEY"
        assert said == ("good", f"{keys}; auto asks anthropic, since there is an address of your own")
        found = await doctor(
            workspace, CODELAW_MODEL__PROVIDER="deepseek", DEEPSEEK_API_KEY="d", DEEPSEEK_BASE_URL=vendor.url
        )
        assert found["keys"] == [("good", "found ANTHROPIC_API_KEY, DEEPSEEK_API_KEY; model.provider names deepseek")]


def test_the_doctor_says_how_to_start_without_any_key(workspace):
    found = findings(codelaw("doctor", "--json", workspace=workspace))
    ((state, said),) = found["keys"]
    assert state == "lacking"
    for name in ("ANTHROPIC", "OPENAI", "OPENROUTER", "GEMINI", "MISTRAL", "DEEPSEEK"):
        assert f"{name}_API_KEY" in said


async def test_the_doctor_finds_local_servers_and_asks_no_model(workspace):
    async with Serving(ollama("qwen3:8b", "llama4")) as local:
        found = await doctor(workspace, ANTHROPIC_API_KEY="", OLLAMA_BASE_URL=local.url)
        assert ("good", f"Ollama at {local.url} has qwen3:8b, llama4; choose ollama/qwen3:8b") in found["local"]
        assert local.messages == []


@pytest.mark.parametrize(
    ("platform", "given", "reported"),
    [
        ("bedrock", {}, ["AWS_REGION or AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK"]),
        ("bedrock", {"AWS_REGION": "eu-central-1", "AWS_BEARER_TOKEN_BEDROCK": "b"}, []),
        ("vertex", {"CLOUD_ML_REGION": "global"}, ["ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS"]),
        ("foundry", {}, ["ANTHROPIC_FOUNDRY_RESOURCE or ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_API_KEY"]),
        ("aws", {"AWS_REGION": "x", "ANTHROPIC_AWS_API_KEY": "k"}, ["ANTHROPIC_AWS_WORKSPACE_ID"]),
        ("aws", {"AWS_REGION": "x", "ANTHROPIC_AWS_API_KEY": "k", "ANTHROPIC_AWS_WORKSPACE_ID": "w"}, []),
    ],
)
def test_a_cloud_is_told_with_what_it_lacks(platform, given, reported):
    said = providers.cloud(ModelGroup(platform=platform), given)
    assert said[0].state == "good"
    assert len(said) == 1 + len(reported)
    assert all(word in one.detail for word, one in zip(reported, said[1:], strict=True))


def test_the_page_on_models_names_what_each_cloud_needs():
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    for name, cloud in providers.CLOUDS.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        assert all(f"`{names[0]}`" in row for names in cloud.needs)
        assert cloud.differs.split(", ")[0].replace("`", "") in row.replace("`", "")


def test_the_doctor_looks_for_the_script(workspace):
    environment = {"CODELAW_MODEL__PROVIDER": "scripted", "CODELAW_MODEL__SCRIPT": str(workspace / "script.json")}
    done = codelaw("doctor", workspace=workspace, **environment)
    assert done.returncode == 1
    assert "script.json is not a file" in done.stdout
    (workspace / "script.json").write_text("[]")
    assert codelaw("doctor", workspace=workspace, **environment).returncode == 0


def test_on_windows_one_sentence_says_that_it_is_not_supported(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["chat", "hi"]) == 1
    shown = capsys.readouterr()
    assert shown.err == "codelaw: Windows is not supported. Install and run codelaw inside WSL 2, which is Linux.\n"
    assert shown.out == ""
    assert main(["--version"]) == 0


def test_serve_takes_what_editors_append(workspace):
    arguments = ["--stdio", f"--clientProcessId={os.getpid()}"]
    assert installed("serve", *arguments, workspace=workspace).returncode == 1  # its input ended without a good-bye
