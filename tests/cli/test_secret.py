"""A listening server's token is taken from where no other user can see it (V-3, S-5)."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from codelaw.cli.main import main
from codelaw.cli.secret import LONGEST, chosen_token
from tests.lsp.raw import PATIENCE, spawn, tcp

TOKEN = "a-token-of-some-length"


def test_the_argument_wins_and_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text(f"  {TOKEN}-file \r\nmore\n")
    monkeypatch.setenv("CODELAW_TOKEN", f"{TOKEN}-env\n")
    assert chosen_token(TOKEN, None) == TOKEN
    reported = capsys.readouterr().err
    assert "--token-file" in reported
    assert TOKEN not in reported
    assert chosen_token(None, str(tmp_path / "file")) == f"{TOKEN}-file"
    assert chosen_token(None, None) == f"{TOKEN}-env"
    monkeypatch.delenv("CODELAW_TOKEN")
    assert chosen_token(None, None) is None
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("text", ["\n", "a b", "ä" * 20, "x" * (LONGEST + 1)])
def test_what_is_no_token_is_refused_and_not_shown(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    assert main(["serve", "--tcp", "127.0.0.1:0", "--token-file", str(tmp_path / "file")]) == 2
    reported = capsys.readouterr().err
    assert "not a token" in reported
    assert not text.strip() or text.strip() not in reported


@pytest.mark.parametrize("name", ["missing", "bytes"])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    assert main(["serve", "--ws", "127.0.0.1:0", "--token-file", str(tmp_path / name)]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("way", ["file", "variable"])
async def test_the_token_is_seen_nowhere(tmp_path: Path, way: str) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    own = {"CODELAW_HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    environment = own | ({"CODELAW_TOKEN": TOKEN} if way == "variable" else {})
    arguments = ["--token-file", str(file)] if way == "file" else []
    command = [sys.executable, "-m", "codelaw", "serve", "--tcp", "127.0.0.1:0", *arguments]
    process = await spawn(command, env=environment)
    try:
        async with asyncio.timeout(PATIENCE):
            while (found := re.search(r"listening tcp 127.0.0.1:(\d+)", process.stderr)) is None:
                await asyncio.sleep(0.01)
        seen = await asyncio.to_thread(Path(f"/proc/{process.process.pid}/cmdline").read_bytes)
        assert TOKEN.encode() not in seen
        async with tcp("127.0.0.1", int(found[1])) as client:
            await client.initialize(options={"token": TOKEN})
            read = await client.request("codelaw/settings/read", {})
            assert read["problems"] == []
            assert TOKEN not in str(read)
        assert TOKEN not in process.stderr
    finally:
        await process.kill()
