"""`codelaw commit-message` against the real server (E-3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import codelaw
from tests.scenarios.conftest import finish
from tests.scenarios.test_proposing import git


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    (work / "a.py").write_text("count = 1\n")
    git(work, "add", ".")
    return work


def scripted(folder: Path, answer: str) -> dict[str, str]:
    script = folder / "script.json"
    script.write_text(json.dumps({"replies": [{"text": finish(answer)}]}))
    return {"CODELAW_MODEL__PROVIDER": "scripted", "CODELAW_MODEL__SCRIPT": str(script)}


def test_the_message_is_printed_alone_and_nothing_is_committed(work: Path, tmp_path: Path) -> None:
    environment = scripted(tmp_path, "```\nCount to one\n\nIt begins \x1b[31mthere.\n```")
    done = codelaw("commit-message", workspace=work, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Count to one\n\nIt begins ")
    assert "\x1b" not in done.stdout
    assert git(work, "diff", "--cached", "--name-only") == "a.py"


def test_its_chat_is_not_what_a_conversation_goes_on_with(work: Path, tmp_path: Path) -> None:
    def ask(*arguments: str) -> str:
        done = codelaw("chat", "a.py?", "--json", *arguments, workspace=work)
        return json.loads(done.stdout.splitlines()[-1])["chatId"]

    talked = ask()
    done = codelaw("commit-message", workspace=work, **scripted(tmp_path, "```\nCount\n```"))
    assert done.returncode == 0, done.stderr
    assert ask("--continue") == talked


def test_where_there_is_no_message_it_is_said_why(work: Path, tmp_path: Path) -> None:
    environment = scripted(tmp_path, "```\nUnused\n```")
    git(work, "commit", "-qm", "Count")
    done = codelaw("commit-message", workspace=work, **environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Nothing is changed since the last commit." in done.stderr
    (work / "a.py").write_text("count = 2\n")
    (tmp_path / "script.json").write_text('{"replies": []}')
    done = codelaw("commit-message", workspace=work, **environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip()


def test_the_offline_model_writes_none(work: Path) -> None:
    done = codelaw("commit-message", workspace=work, CODELAW_MODEL__PROVIDER="offline")
    assert (done.returncode, done.stdout) == (1, "")
    assert "The offline model is not a language model: it proposes nothing." in done.stderr
    assert "Set an API key" in done.stderr
