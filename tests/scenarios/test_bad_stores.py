"""A store that is damaged, newer, read-only, full or gone, through the real server: a clear error, and nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient, stdio
from tests.scenarios.conftest import SERVER, Start, finish

LIMITED = "import os, resource, sys; n = {}; resource.setrlimit(resource.RLIMIT_FSIZE, (n, n)); "
BOUND = "import ctypes, os, sys; libc = ctypes.CDLL(None); [libc.prctl(24, n, 0, 0, 0) for n in (1, 2, 3)]; "
"""Takes from root the right to write where the permission bits forbid it."""
RUN = "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"


@asynccontextmanager
async def bound(vendor: LoopbackVendor, root: Path, home: Path, before: str) -> AsyncIterator[RawClient]:
    """The real server, started by a program that limits it first."""
    model = {"baseUrl": vendor.url, "apiKey": "sk-test-SECRET", "name": "claude-sonnet-4-5"}
    command = [sys.executable, "-c", before + RUN, *SERVER[1:]]
    async with stdio(command, env={**os.environ, "CODELAW_HOME": str(home)}) as client:
        await client.initialize(None, folders=[root], options={"model": model})
        yield client


async def a_chat(start: Start, vendor: LoopbackVendor) -> str:
    vendor.reset([VendorReply(text=finish("FIRSTANSWER"))])
    async with start() as client:
        return (await client.request("codelaw/chat/send", {"text": "FIRSTMARK"}))["chatId"]


async def refused(client: RawClient, method: str, params: dict[str, Any]) -> dict[str, Any]:
    error = await client.error(method, params)
    assert error.code == -32803
    assert error.data is not None
    assert error.data["code"] == "store_unavailable"
    assert error.data["hint"]
    assert "codelaw.db" in error.data["message"]
    return error.data


async def listed(client: RawClient) -> list[str]:
    return [chat["id"] for chat in (await client.request("codelaw/chat/list", {}))["chats"]]


def answered(record: dict[str, Any]) -> int:
    return [message["metadata"].get("answer") for message in record["messages"]].count("short")


def doctor(root: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "codelaw", "doctor", "--json"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=150)
    return {finding["name"]: finding for finding in json.loads(done.stdout)["findings"]}


async def test_a_damaged_store_is_set_aside_and_the_user_is_told(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path
):
    chat_id = await a_chat(start, vendor)
    file = home / "codelaw.db"
    connection = sqlite3.connect(file)
    root_page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'results'").fetchone()[0]
    connection.close()
    content = bytearray(file.read_bytes())
    content[(root_page - 1) * 4096 : root_page * 4096] = b"\xa5" * 4096
    file.write_bytes(content)
    vendor.reset([VendorReply(text=finish("it goes on"))])
    async with start() as client:
        reported = await client.method("window/showMessage")
        assert reported["type"] == 2
        assert "was damaged" in reported["message"]
        assert "1 chat with 2 messages" in reported["message"]
        aside = next(item for item in home.iterdir() if ".damaged-" in item.name and item.name[-4] != "-")
        assert str(aside) in reported["message"]
        assert aside.read_bytes() == content
        answer = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "and?"})
        assert answer["answer"] == "it goes on"
        assert "FIRSTMARK" in json.dumps(vendor.messages[-1].json)
    async with start() as client:
        assert await listed(client) == [chat_id]
        assert client.params("window/showMessage") == [], "it is told once"


async def test_a_store_of_a_newer_codelaw_is_refused_and_untouched(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path
):
    chat_id = await a_chat(start, vendor)
    connection = sqlite3.connect(home / "codelaw.db")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = (home / "codelaw.db").read_bytes()
    async with start() as client:
        said = await refused(client, "codelaw/chat/list", {})
        assert "newer" in said["message"]
        assert "Update" in said["hint"]
        await refused(client, "codelaw/chat/send", {"text": "go"})
        assert (await client.request("codelaw/model/list"))["models"], "what needs no store works"
    assert (home / "codelaw.db").read_bytes() == before
    connection = sqlite3.connect(home / "codelaw.db")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    async with start() as client:
        assert await listed(client) == [chat_id]


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities")
@pytest.mark.parametrize("what", ["file", "folder", "both"])
async def test_a_store_that_cannot_be_written_is_read_and_untouched(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path, what: str
):
    chat_id = await a_chat(start, vendor)
    file = home / "codelaw.db"
    # Where the disk stalled, the server has ended without moving the log; the last to close the file does it.
    with closing(sqlite3.connect(file, timeout=150)) as connection:
        connection.execute("SELECT 1 FROM chats").fetchone()
    before = file.read_bytes()
    shutil.rmtree(home / "owners")
    if what != "folder":
        file.chmod(0o400)
    if what != "file":
        home.chmod(0o500)
    try:
        async with bound(vendor, root, home, BOUND) as client:
            error = await client.error("codelaw/chat/send", {"text": "go"})
            assert (error.code, error.data["code"]) == (-32803, "store_unavailable")
            assert "permissions" in error.data["hint"]
            assert str(home) in error.data["message"]
            assert await listed(client) == [chat_id]
            found = await client.request("codelaw/chat/list", {"query": "firstmark"})
            assert [chat["id"] for chat in found["chats"]] == [chat_id]
            record = await client.request("codelaw/chat/read", {"chatId": chat_id})
            assert "FIRSTANSWER" in json.dumps(record["messages"])
            page = await client.request("codelaw/chat/read", {"chatId": chat_id, "turns": 5})
            assert page["messages"] == record["messages"]
            exported = await client.request("codelaw/chat/export", {"chatId": chat_id, "format": "markdown"})
            assert "FIRSTMARK" in json.dumps(exported)
            error = await client.error("codelaw/chat/send", {"chatId": chat_id, "text": "go"})
            assert (error.code, error.data["code"]) == (-32803, "store_unavailable")
            assert "permissions" in error.data["hint"]
            if what != "file":
                reported = await client.method("window/showMessage")
                assert "Chats can be read" in reported["message"]
    finally:
        home.chmod(0o700)
        file.chmod(0o600)
    assert file.read_bytes() == before
    assert not [item for item in home.iterdir() if "damaged" in item.name]
    async with start() as client:
        assert await listed(client) == [chat_id]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
async def test_a_full_disk_refuses_what_is_too_much_and_keeps_the_rest(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path
):
    chat_id = await a_chat(start, vendor)
    long = "LONGMARK " * 10_000
    vendor.reset([VendorReply(text=finish("short"), times=0)])
    stored = 1
    async with bound(vendor, root, home, LIMITED.format(400_000)) as client:
        for _ in range(10):
            response = await client.response("codelaw/chat/send", {"chatId": chat_id, "text": long})
            error = response["error"]["data"] if "error" in response else response["result"].get("error")
            if error is not None:
                break
            stored += 1
        assert error is not None
        assert error["code"] == "store_unavailable"
        assert error["hint"]
        assert await listed(client) == [chat_id], "the server lives"
        record = await client.request("codelaw/chat/read", {"chatId": chat_id})
        assert answered(record) == stored - 1
        assert "FIRSTMARK" in json.dumps(record)
    async with start() as client:
        record = await client.request("codelaw/chat/read", {"chatId": chat_id})
        assert answered(record) == stored - 1
        answer = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": long})
        assert answer["stopReason"] == "finished"
    assert not [item for item in home.iterdir() if "damaged" in item.name]


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be moved")
async def test_a_store_deleted_under_a_running_server_is_noticed_at_once(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path
):
    vendor.reset([VendorReply(text=finish("one")), VendorReply(text=finish("two"))])
    away = home / "away"
    async with start() as client:
        chat_id = (await client.request("codelaw/chat/send", {"text": "go"}))["chatId"]
        away.mkdir()
        files = [item for item in home.iterdir() if item.name.startswith("codelaw.db")]
        for item in files:
            item.rename(away / item.name)
        said = await refused(client, "codelaw/chat/send", {"chatId": chat_id, "text": "into the void"})
        assert "deleted, moved or replaced" in said["message"]
        assert "restart" in said["hint"]
        assert not (home / "codelaw.db").exists()
        for item in files:
            (away / item.name).rename(item)
        assert (await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "back"}))["answer"] == "two"
