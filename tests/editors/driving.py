"""Real editors that play a script against the real server, whose model is scripted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SERVER = [sys.executable, "-m", "codelaw", "serve"]
RECIPES = {
    ".lua": ROOT / "editor-client" / "neovim" / "codelaw.lua",
    ".el": ROOT / "editor-client" / "emacs" / "codelaw.el",
}
PATIENT = "(with-eval-after-load 'jsonrpc (setq jsonrpc-default-request-timeout 150))"
NEOVIM = ("nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n")
EMACS = ("emacs", "--batch", "-q", "--eval", PATIENT)

Replies = list[dict[str, Any]]


def act(tool: str, **arguments: Any) -> dict[str, Any]:
    """A reply that calls a tool."""
    return {"text": f"Thought: next\nAction: {tool}[{json.dumps(arguments)}]", "chunk": 1000}


def finish(answer: str) -> dict[str, Any]:
    """A reply that answers."""
    return {"text": f"Thought: done\nAction: Finish[{answer}]", "chunk": 1000}


def ended(*command: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL, **more
    )


def environment(
    tmp_path: Path,
    name: str,
    replies: Replies,
    *,
    again: Replies | None = None,
    settings: dict[str, Any] | None = None,
    **more: str,
) -> dict[str, str]:
    """The variables of a script. A second server plays `again`: it would begin the first one's script anew."""

    def scripted(file: str, said: Replies) -> str:
        path = tmp_path / file
        path.write_text(json.dumps({"replies": said}))
        return json.dumps({"model": {"provider": "scripted", "script": str(path)}, **(settings or {})})

    return os.environ | {
        "PYTHONPATH": str(ROOT / "server"),
        "DRIVE_OUT": str(tmp_path / "told.jsonl"),
        "DRIVE_RECIPE": str(RECIPES[Path(name).suffix]),
        "DRIVE_SERVER": json.dumps(SERVER),
        "DRIVE_SETTINGS": scripted("script.json", replies),
        "DRIVE_SETTINGS_AGAIN": scripted("again.json", again or []),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        **more,
    }


def drive(name: str, tmp_path: Path, workspace: Path, replies: Replies, **more: Any) -> dict[str, list[Any]]:
    """Play a script of this folder in its editor; gives what it told, by name, in order."""
    variables = environment(tmp_path, name, replies, DRIVE_WORKSPACE=str(workspace), **more)
    script = HERE / name
    command = (*NEOVIM, "-c", f"luafile {script}") if script.suffix == ".lua" else (*EMACS, "-l", str(script))
    done = ended(*command, cwd=workspace, env=variables)
    reported: dict[str, list[Any]] = {}
    for line in (tmp_path / "told.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        reported.setdefault(entry["name"], []).append(entry["value"])
    assert "error" not in reported, (
        reported["error"],
        reported.get("messages"),
        reported.get("chat"),
        done.stderr[-2000:],
    )
    if script.suffix == ".el":
        assert done.returncode == 0, done.stderr[-2000:]
    return reported
