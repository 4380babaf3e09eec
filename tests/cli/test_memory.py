"""`codelaw memory` against the real server (B-6)."""

from __future__ import annotations

import json

import pytest

from tests.cli.test_commands import codelaw


@pytest.fixture
def workspace(tmp_path):
    return tmp_path


def test_an_entry_is_saved_found_changed_and_forgotten(workspace):
    done = codelaw("memory", "save", "The user prefers tabs", "--category", "preference", "--json", workspace=workspace)
    assert done.returncode == 0, done.stderr
    entry = json.loads(done.stdout)
    assert (entry["scope"], entry["category"], entry["confidence"]) == ("user", "preference", 0.8)
    again = codelaw("memory", "save", "User prefers tabs in Python", "--confidence", "0.9", workspace=workspace)
    assert entry["id"] in again.stdout
    assert "An older entry said the same" in again.stderr
    codelaw("memory", "save", "Builds run on Sundays", "--category", "decision", workspace=workspace)

    (found,) = [json.loads(line) for line in codelaw("memory", "search", "tabs", "--limit", "1", "--json", workspace=workspace).stdout.splitlines()]  # fmt: skip
    assert (found["id"], found["text"], found["confidence"]) == (entry["id"], "User prefers tabs in Python", 0.9)
    assert found["score"] > 0.5
    changed = codelaw("memory", "update", entry["id"], "--text", "The user prefers spaces", workspace=workspace)
    assert "The user prefers spaces" in changed.stdout
    listed = codelaw("memory", "list", workspace=workspace).stdout.splitlines()
    assert ["Sundays" in listed[0], "spaces" in listed[1], len(listed)] == [True, True, 2]
    assert "spaces" not in codelaw("memory", "list", "--scope", "project", workspace=workspace).stdout

    assert codelaw("memory", "forget", entry["id"], workspace=workspace).returncode == 0
    assert "spaces" not in codelaw("memory", "list", workspace=workspace).stdout
    gone = codelaw("memory", "forget", entry["id"], workspace=workspace)
    assert gone.returncode == 1
    assert "There is no memory" in gone.stderr
    filled = codelaw("memory", "backfill", "--json", workspace=workspace)
    assert "embedded" in json.loads(filled.stdout)


def test_a_key_is_refused_and_not_repeated(workspace):
    refused = codelaw("memory", "save", "The key is sk-ant-api03-abcDEF123456789", workspace=workspace)
    assert refused.returncode == 1
    assert "secrets are not remembered" in refused.stderr
    assert "abcDEF" not in refused.stdout + refused.stderr
    assert codelaw("memory", "list", workspace=workspace).stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        ["memory"],
        ["memory", "save"],
        ["memory", "save", "x", "--confidence", "2"],
        ["memory", "list", "--scope", "world"],
    ],
)
def test_wrong_usage_is_told(workspace, words):
    assert codelaw(*words, workspace=workspace).returncode == 2
