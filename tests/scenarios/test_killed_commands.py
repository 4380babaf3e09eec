"""A server that is killed while a command runs: what the command did can be undone, and nothing of it lives on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, act

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc tells which processes live")

REVERT = "codelaw/chat/revert"
TOKEN = f"{27182 + os.getpid()}.81"
"""Of this process of the tests: another one may run the same test meanwhile."""


def running(word: str = TOKEN) -> list[int]:
    """The processes with a word on their command line that still live."""
    found: list[int] = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            state = (file.parent / "stat").read_text().rpartition(")")[2].split()[0]
            if any(word in part for part in file.read_bytes().decode("utf-8", "replace").split("\0")) and state != "Z":
                found.append(int(file.parent.name))
        except OSError:
            continue
    return found


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(150):
        while not done():
            await asyncio.sleep(0.01)


def read(name: str) -> VendorReply:
    return VendorReply(text=act("Read", json.dumps({"path": name})))


def bash(command: str) -> VendorReply:
    return VendorReply(text=act("Bash", json.dumps({"command": command})))


def allowing(command: str, sandbox: str) -> dict[str, Any]:
    return {"tools": {"bash": {"sandbox": sandbox}}, "permissions": {"allow": [f"Bash({command})"]}}


async def killed(client: RawClient) -> None:
    assert client.process is not None
    await client.process.kill()


@pytest.mark.parametrize("sandbox", ["auto", "off"])
async def test_what_it_had_changed_comes_back(start: Start, vendor: LoopbackVendor, root: Path, sandbox: str):
    before = {
        "f.txt": "first\n",
        "keys.txt": "the key is sk-test-SECRET\n",
        "read.txt": "one\ntwo\n",
        "same.txt": "same\n",
    }
    for name, text in before.items():
        (root / name).write_text(text)
    command = f"rm f.txt; echo x > keys.txt; sh change.sh; echo made > made.txt; touch begun; sleep {TOKEN}"
    (root / "change.sh").write_text("sed -i s/two/TWO/ read.txt\n")
    async with start(options=allowing(command, sandbox)) as client:
        vendor.play(*(read(name) for name in ("f.txt", "read.txt", "same.txt")), bash(command))
        await client.start("codelaw/chat/send", {"text": "go"})
        started = await client.event("turn_started")
        await until((root / "begun").exists)
        await killed(client)
    await until(lambda: not running())
    assert not (root / "f.txt").exists()
    async with start() as client:
        ids = {"chatId": started["chatId"], "turnId": started["turnId"]}
        answer = await client.request(REVERT, ids)
        assert answer["conflicts"] == []
        changed = {"f.txt", "keys.txt", "read.txt", "made.txt", "begun"}
        assert set(answer["reverted"]) == {(root / name).as_uri() for name in changed}
        events = (await client.request("codelaw/chat/read", {"chatId": started["chatId"], "sinceSeq": 0}))["events"]
        [reported] = [event["event"] for event in events if event["event"].get("code") == "command_interrupted"]
        assert "f.txt" in reported["message"]
        assert "same.txt" not in reported["message"]
    (root / "change.sh").unlink()
    assert {path.name: path.read_text() for path in root.iterdir() if path.is_file()} == before


async def test_what_was_changed_later_is_left_alone(start: Start, vendor: LoopbackVendor, root: Path, home: Path):
    for name in ("f.txt", "mine.txt"):
        (root / name).write_text("first\n")
    command = f"echo second > f.txt; touch begun; sleep {TOKEN}"
    async with start(options=allowing(command, "auto")) as client:
        vendor.play(read("f.txt"), read("mine.txt"), bash(command))
        await client.start("codelaw/chat/send", {"text": "go"})
        started = await client.event("turn_started")
        await until((root / "begun").exists)
        await killed(client)
    # The person comes back an hour later, as far as the disk can tell.
    [listing] = (home / "running").glob("*/calls/*")
    died = (root / "f.txt").stat().st_ctime - 3600
    os.utime(listing, (died, died))
    (root / "mine.txt").write_text("an hour of work\n")
    async with start() as client:
        answer = await client.request(REVERT, {"chatId": started["chatId"], "turnId": started["turnId"]})
        conflicts = {Path(conflict["uri"]).name: conflict["reason"] for conflict in answer["conflicts"]}
        assert "whose change it is cannot be told" in conflicts["mine.txt"]
    assert (root / "mine.txt").read_text() == "an hour of work\n"


@pytest.mark.parametrize("guarded", [True, False])
async def test_nothing_of_it_lives_on_without_a_sandbox(
    start: Start, vendor: LoopbackVendor, root: Path, guarded: bool
):
    hidden = f"(setsid sleep {TOKEN} &); (trap '' TERM HUP; sleep {TOKEN}) & env -i sleep {TOKEN} & "
    command = f"{hidden} touch begun; sleep {TOKEN}"
    async with start(options=allowing(command, "off")) as client:
        vendor.play(bash(command))
        await client.start("codelaw/chat/send", {"text": "go"})
        await until((root / "begun").exists)
        await until(lambda: len(running()) >= 4)
        if not guarded:
            for guardian in running("guardian_child.py"):
                if f"CODELAW_CALL={server_of(running()[0])}" in Path(f"/proc/{guardian}/cmdline").read_text():
                    os.kill(guardian, signal.SIGKILL)
        await killed(client)
    if guarded:
        await until(lambda: not running())
        return
    left = running()
    assert left, "nobody was there to end them"
    async with start() as client:
        await until(lambda: len(running()) <= 1)
        await client.until(lambda message: "Ended what a command had left running" in str(message.get("params")))
    for pid in running():  # that one had no mark any more: it cannot be told from anybody else's
        os.kill(pid, signal.SIGKILL)


def server_of(pid: int) -> str:
    """The mark of the server that started a process."""
    for candidate in (pid, *running()):
        for entry in Path(f"/proc/{candidate}/environ").read_bytes().split(b"\0"):
            if entry.startswith(b"CODELAW_CALL="):
                return entry.partition(b"=")[2].decode().partition("-")[0]
    raise AssertionError("no process has a mark")
