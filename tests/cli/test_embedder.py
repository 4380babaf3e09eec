"""Embeddings in the terminal: what the doctor says of the embedder, and the backfill (B-5)."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.adapters.embedders.folders import WIDTH, bert_folder
from tests.cli.test_commands import codelaw


def said(workspace: Path, **environment: str) -> dict[str, str]:
    """The doctor's finding."""
    done = codelaw("doctor", "--json", workspace=workspace, **environment)
    (finding,) = [one for one in json.loads(done.stdout)["findings"] if one["name"] == "embedder"]
    assert (done.returncode == 0) == (finding["state"] == "good"), done.stdout
    return finding


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_the_doctor_tries_a_model_in_a_folder(workspace, tmp_path):
    folder = bert_folder(tmp_path / "model")
    environment = {"CODELAW_EMBEDDING__PROVIDER": "local", "CODELAW_EMBEDDING__PATH": str(folder)}
    assert said(workspace, **environment)["detail"].endswith(f"by provider local: {WIDTH} numbers a text")
    (folder / "tokenizer.json").unlink()
    found = said(workspace, **environment)
    assert (found["state"], "tokenizer.json missing" in found["detail"]) == ("broken", True)


def test_the_doctor_knocks_at_the_endpoint_for_embeddings_and_shows_no_key(workspace):
    environment = {"CODELAW_EMBEDDING__PROVIDER": "openai"}
    assert "set embedding.apiKey" in said(workspace, **environment)["detail"]
    environment["CODELAW_EMBEDDING__API_KEY"] = "sk-very-secret"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        environment["CODELAW_EMBEDDING__BASE_URL"] = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        found = said(workspace, **environment)
    assert found["state"] == "good"
    assert found["detail"].startswith("text-embedding-3-small by provider openai: ")
    done = codelaw("doctor", workspace=workspace, **environment)
    assert "✗ embedder" in done.stdout
    assert "very-secret" not in done.stdout + done.stderr
