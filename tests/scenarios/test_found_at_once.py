"""What has changed is found by the next search, whoever changed it, with watchers and without (X-5)."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, act, finish

WATCHES: dict[str, Any] = {
    "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True}}
}
COMMAND = "sed -i s/first_one/sedded_one/ first_one.py && mv first_one.py renamed.py"
ALLOWED = {"permissions": {"default": "allow", "allow": [f"Bash({COMMAND})", "Write", "Edit"]}}
"""By its words: a blanket rule does not count where there is no sandbox."""


def body(name: str) -> str:
    return f"def {name}(basket):\n    return basket.items\n"


async def found(client: RawClient, name: str) -> list[str]:
    """The files in which a function of that name is defined, as the index has it."""
    reply: dict[str, Any] = {"indexed": {"fresh": False}}
    while not reply["indexed"]["fresh"]:  # a disk that stalls keeps it from being made in time
        reply = await client.request("codelaw/search", {"query": name, "kind": "definition"})
    return sorted(place["path"] for place in reply["places"] if place.get("symbol") == name)


async def git(root: Path, *words: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    process = await asyncio.create_subprocess_exec(
        "git", *who, *words, cwd=root, env=env, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    assert await process.wait() == 0


@pytest.fixture(params=["watches", "watches nothing"])
async def client(request: pytest.FixtureRequest, start: Start, root: Path):
    for name in ("first_one", "second_one"):
        (root / f"{name}.py").write_text(body(name))
    async with start(WATCHES if request.param == "watches" else None, ALLOWED) as client:
        assert await found(client, "first_one") == ["first_one.py"]
        yield client


async def test_what_another_program_writes(client: RawClient, root: Path) -> None:
    (root / "first_one.py").write_text(body("other_one"))  # in place, and of the same size
    assert (await found(client, "other_one"), await found(client, "first_one")) == (["first_one.py"], [])
    (root / "deep/er").mkdir(parents=True)
    (root / "deep/er/third.py").write_text(body("third_one"))
    assert await found(client, "third_one") == ["deep/er/third.py"]
    (root / "deep").rename(root / "moved")
    assert await found(client, "third_one") == ["moved/er/third.py"]
    (root / "moved/er/third.py").unlink()
    assert await found(client, "third_one") == []
    (root / ".gitignore").write_text("second*\n")
    assert await found(client, "second_one") == []


async def test_what_git_checks_out(client: RawClient, root: Path) -> None:
    await git(root, "init", "-q", "-b", "main")
    await git(root, "add", ".")
    await git(root, "commit", "-qm", "one")
    await git(root, "checkout", "-qb", "side")
    (root / "first_one.py").write_text(body("aside_one"))
    (root / "second_one.py").unlink()
    (root / "new").mkdir()
    (root / "new/file.py").write_text(body("new_one"))
    await git(root, "add", "-A")
    await git(root, "commit", "-qm", "two")
    for _ in range(3):
        await git(root, "checkout", "-q", "main")
        names = [await found(client, name) for name in ("first_one", "second_one", "aside_one", "new_one")]
        assert names == [["first_one.py"], ["second_one.py"], [], []]
        await git(root, "checkout", "-q", "side")
        names = [await found(client, name) for name in ("first_one", "second_one", "aside_one", "new_one")]
        assert names == [[], [], ["first_one.py"], ["new/file.py"]]


async def test_what_the_agent_does(client: RawClient, root: Path, vendor: LoopbackVendor) -> None:
    """A search in the step right after the command or the edit."""
    rename = json.dumps({"command": COMMAND})
    write = json.dumps({"file_path": "made/by_it.py", "content": body("made_one")})
    edit = json.dumps({"file_path": "made/by_it.py", "old_string": "made_one", "new_string": "edited_one"})
    steps = [("Bash", rename, "sedded_one"), ("Write", write, "made_one"), ("Edit", edit, "edited_one")]
    replies = [
        VendorReply(text=text)
        for tool, arguments, name in steps
        for text in (act(tool, arguments), act("search_code", json.dumps({"query": name})))
    ]
    vendor.reset([*replies, VendorReply(text=finish("ok"))])
    await client.request("codelaw/chat/send", {"text": "go"})
    seen = vendor.requests[-1].body.decode()
    for file, name in (("renamed.py", "sedded_one"), ("made/by_it.py", "made_one"), ("made/by_it.py", "edited_one")):
        assert f" {file} 1-2 function {name} (defines: {name})" in seen
    assert await found(client, "sedded_one") == ["renamed.py"]
    assert await found(client, "edited_one") == ["made/by_it.py"]
    assert await found(client, "made_one") == []
