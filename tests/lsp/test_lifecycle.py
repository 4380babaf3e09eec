"""From initialize to exit, and every other way to end (V-1 to V-3)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.lsp.conftest import FAKE_SERVER
from tests.lsp.raw import Ended, RawClient, spawn, stdio

BOUND = 120.0
"""Seconds: many times the 2 s of V-3, as a busy machine takes its time; what is held would never end."""


async def test_initialize_tells_what_the_server_can(fresh: RawClient) -> None:
    result = await fresh.initialize()
    assert result["serverInfo"]["name"] == "codelaw"
    capabilities = result["capabilities"]
    assert capabilities["experimental"]["codelaw"]["version"] == 1
    methods = capabilities["experimental"]["codelaw"]["methods"]
    assert "codelaw/chat/send" in methods
    commands = capabilities["executeCommandProvider"]["commands"]
    assert commands[: len(methods)] == [name.replace("/", ".") for name in methods]
    assert all(name.startswith("codelaw.") for name in commands)
    assert capabilities["textDocumentSync"] == {
        "openClose": True,
        "change": 2,
        "willSave": True,
        "save": {"includeText": False},
    }
    assert capabilities["workspace"]["workspaceFolders"] == {"supported": True, "changeNotifications": True}


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [(["utf-8", "utf-16"], "utf-8"), (["utf-32"], "utf-32"), (["utf-16"], "utf-16"), (None, "utf-16")],
)
async def test_the_position_encoding_is_the_clients_choice(fresh: RawClient, offered: list | None, chosen: str) -> None:
    result = await fresh.initialize({"general": {"positionEncodings": offered}} if offered else {})
    assert result["capabilities"]["positionEncoding"] == chosen
    units = {"utf-8": 4, "utf-16": 2, "utf-32": 1}[chosen]
    uri = await fresh.open("untitled:a", "😀b")
    change = {
        "range": {"start": {"line": 0, "character": units}, "end": {"line": 0, "character": units + 1}},
        "text": "X",
    }
    await fresh.notify(
        "textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}
    )
    result = await fresh.request("codelaw/chat/send", {"text": "documents"})
    assert "\\ud83d\\ude00X" in result["answer"]


async def test_before_initialize_everything_is_refused(fresh: RawClient) -> None:
    for method in ("codelaw/model/list", "workspace/executeCommand", "shutdown", "nothing"):
        assert (await fresh.error(method, {})).code == -32002
    await fresh.notify("textDocument/didOpen", {})
    await fresh.initialize()
    assert await fresh.request("codelaw/chat/list", {}) == {"chats": []}


async def test_bad_params_of_initialize_leave_it_open(fresh: RawClient) -> None:
    error = await fresh.error("initialize", {"processId": "x", "capabilities": 7})
    assert error.code == -32602
    assert {item["path"] for item in error.data["errors"]} == {"capabilities", "processId"}
    assert (await fresh.error("codelaw/model/list", {})).code == -32002
    await fresh.initialize()


async def test_a_second_initialize_is_refused_and_changes_nothing(client: RawClient) -> None:
    error = await client.error("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert error.code == -32600
    assert await client.request("codelaw/chat/list", {}) == {"chats": []}


async def test_a_client_that_does_not_wait_for_answers(fresh: RawClient) -> None:
    params = {"processId": None, "rootUri": None, "capabilities": {}}
    _, first = await fresh.start("initialize", params)
    await fresh.notify("initialized")
    _, second = await fresh.start("codelaw/chat/send", {"text": "hello"})
    assert "result" in await fresh.wait_for(first)
    assert (await fresh.wait_for(second))["result"]["answer"] == "you said hello"


async def test_requests_are_served_without_initialized(fresh: RawClient) -> None:
    await fresh.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert await fresh.request("codelaw/chat/list", {}) == {"chats": []}


async def test_after_shutdown_requests_are_refused_and_exit_is_clean(client: RawClient) -> None:
    assert await client.request("shutdown") is None
    for method in ("codelaw/model/list", "shutdown", "initialize", "nothing"):
        assert (await client.error(method, {})).code == -32600
    await client.notify("textDocument/didOpen", {})
    await client.notify("exit")
    assert await client.process.wait() == 0


async def test_exit_without_shutdown_is_an_error(client: RawClient) -> None:
    await client.notify("exit")
    assert await client.process.wait() == 1


@pytest.mark.parametrize("params", ["", ', "params": null', ', "params": []', ', "params": {}'])
async def test_params_that_mean_nothing_may_be_spelt_in_any_way(fresh: RawClient, params: str) -> None:
    await fresh.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    await fresh.send_body('{"jsonrpc": "2.0", "method": "initialized"' + params + "}")
    assert await fresh.request("codelaw/chat/list", {}) == {"chats": []}
    future = fresh.expect("s")
    await fresh.send_body('{"jsonrpc": "2.0", "id": "s", "method": "shutdown"' + params + "}")
    assert (await fresh.wait_for(future))["result"] is None
    await fresh.send_body('{"jsonrpc": "2.0", "method": "exit"' + params + "}")
    assert await fresh.process.wait() == 0


async def test_exit_before_initialize_ends(fresh: RawClient) -> None:
    await fresh.notify("exit")
    assert await fresh.process.wait() == 1


async def test_shutdown_ends_running_turns_with_their_result(client: RawClient) -> None:
    _, turn = await client.start("codelaw/chat/send", {"text": "wait"})
    await client.event("tool_call")
    _, slow = await client.start("codelaw/chat/list", {"query": "slow"})
    assert await client.request("shutdown") is None
    assert (await client.wait_for(turn))["result"]["stopReason"] == "cancelled"
    assert (await client.wait_for(slow))["error"]["code"] == -32800
    await client.notify("exit")
    assert await client.process.wait() == 0


async def test_the_end_of_input_ends_the_process_in_mid_turn(client: RawClient) -> None:
    await client.start("codelaw/chat/send", {"text": "wait"})
    await client.event("tool_call")
    began = time.monotonic()
    client.writer.close()
    assert await client.process.wait() == 1
    assert time.monotonic() - began < BOUND


async def test_the_end_of_input_in_the_middle_of_a_message(client: RawClient) -> None:
    await client.send_bytes(b'Content-Length: 100\r\n\r\n{"jsonrpc"')
    client.writer.close()
    assert await client.process.wait() == 1


async def test_sigterm_ends_the_process(client: RawClient) -> None:
    os.kill(client.process.pid, signal.SIGTERM)
    assert await client.process.wait() == 128 + signal.SIGTERM


async def test_ctrl_c_is_left_to_the_client(client: RawClient) -> None:
    os.kill(client.process.pid, signal.SIGINT)
    assert await client.request("codelaw/chat/list", {}) == {"chats": []}


@pytest.mark.parametrize(
    ("held", "end"),
    [
        ("thread", "signal"),
        ("thread", "input"),
        ("thread", "exit"),
        ("loop", "signal"),
        ("loop", "input"),
        ("computing", "signal"),
    ],
)
async def test_what_does_not_end_is_not_waited_for(client: RawClient, held: str, end: str) -> None:
    """A worker thread that never ends, and an event loop that hears of nothing any more."""
    await client.start("codelaw/chat/send", {"text": held})
    await client.event("tool_call")
    began = time.monotonic()
    if end == "signal":
        os.kill(client.process.pid, signal.SIGTERM)
    elif end == "input":
        client.writer.close()
    else:
        await client.notify("exit")
    assert await client.process.wait() == (128 + signal.SIGTERM if end == "signal" else 1)
    assert time.monotonic() - began < BOUND


async def sleeper() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(60)")


@pytest.mark.parametrize("reported", ["initialize", "--clientProcessId"])
async def test_the_parents_death_ends_the_process(reported: str) -> None:
    """The parent dies while somebody else still holds our input open."""
    parent = await sleeper()
    command = [*FAKE_SERVER, f"--clientProcessId={parent.pid}"] if reported != "initialize" else FAKE_SERVER
    async with stdio([*command, "--stdio"]) as client:
        await client.initialize(process_id=parent.pid if reported == "initialize" else None)
        await client.start("codelaw/chat/send", {"text": "wait"})
        await client.event("tool_call")
        began = time.monotonic()
        parent.kill()
        await parent.wait()
        assert await client.process.wait() == 1
        assert time.monotonic() - began < BOUND


async def test_a_parent_that_is_already_dead() -> None:
    parent = await sleeper()
    parent.kill()
    await parent.wait()
    async with stdio(FAKE_SERVER) as client:
        with suppress(Ended, ConnectionError):
            await client.initialize(process_id=parent.pid)
        assert await client.process.wait() == 1


async def test_nothing_heavy_is_loaded_when_initialize_is_answered() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from codelaw.lsp.server.serve import serve;"
        "import codelaw.lsp.server;"
        "heavy = [name for name in ('pydantic', 'sqlite3', 'anthropic', 'tiktoken', 'websockets', 'jinja2',"
        " 'platformdirs', 'codelaw.app', 'codelaw.settings', 'codelaw.agent') if name in sys.modules];"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    process = await spawn([sys.executable, "-c", program, str(Path(__file__).parents[2] / "server")])
    assert await process.wait() == 0, process.stderr


async def test_logs_hold_no_bodies(client: RawClient) -> None:
    await client.request("codelaw/chat/send", {"text": "a very private sentence"})
    await client.error("codelaw/chat/send", {"text": "another private sentence", "x": 1})
    await client.notify("textDocument/didOpen", {"private": "sentence"})
    assert await client.shut_down() == 0
    assert "private" not in client.process.stderr


async def test_what_is_loaded_is_not_looked_through_by_the_garbage_collector_again() -> None:
    async with stdio(FAKE_SERVER) as client:
        await client.initialize()
        async with asyncio.timeout(150):
            kept = [int((await client.request("codelaw/chat/send", {"text": "kept"}))["answer"])]
            while kept[-1] < 10_000:
                await asyncio.sleep(0.05)
                kept.append(int((await client.request("codelaw/chat/send", {"text": "kept"}))["answer"]))
        # Once: what is made by the chats of another client is not kept.
        again = await client.request("codelaw/chat/send", {"text": "kept"})
    assert int(again["answer"]) <= kept[-1]
