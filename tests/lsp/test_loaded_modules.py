"""Which modules the process has loaded when `initialize` is answered, and when the rest comes (V-1)."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from codelaw.adapters.loading import load
from tests.lsp.raw import RawClient, stdio

MOST = 550
"""Modules by then; the vendor's SDK alone has more than three times as many."""
_IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)
_SDK = {"anthropic", "httpx2", "anyio"}


def modules(client: RawClient) -> set[str]:
    assert client.process is not None
    return set(_IMPORTED.findall(client.process.stderr))


async def test_the_sdk_is_loaded_behind_the_answer_to_initialize(tmp_path: Path) -> None:
    environ = {**os.environ, "CODELAW_HOME": str(tmp_path), "ANTHROPIC_API_KEY": "k"}
    command = [sys.executable, "-X", "importtime", "-m", "codelaw", "serve"]
    async with stdio(command, env=environ) as client:
        params = {"processId": None, "rootUri": None, "capabilities": {}, "workspaceFolders": None}
        await client.request("initialize", params)
        for _ in range(20):  # what stands in the pipe by now is read
            await asyncio.sleep(0)
        loaded = modules(client)
        assert "codelaw.lsp.server.server" in loaded
        assert len(loaded) <= MOST
        assert {name.split(".")[0] for name in loaded} & _SDK == set()
        await client.notify("initialized")
        async with asyncio.timeout(150):
            while "anthropic" not in modules(client):
                await asyncio.sleep(0.05)


async def test_the_collector_waits_while_something_is_loaded() -> None:
    import gc

    assert gc.isenabled()
    assert await load(gc.isenabled) is False
    assert gc.isenabled()
