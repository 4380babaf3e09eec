"""The disk fills up in the middle of everything, and has room again: each time a clear error, and nothing lost (D-1).

What RLIMIT_FSIZE does to a store, which needs no mount, is in `tests/scenarios/test_bad_stores.py`.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.breakers.harness import LONG, Life, seeds, texts, whole
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root mounts a small file system"
)


@contextmanager
def small(folder: Path, size: str) -> Iterator[None]:
    """A file system of that size in the folder's place."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "codelaw-test", folder],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> Path:
    """Take every byte that is left."""
    filler = folder / "filler"
    with filler.open("ab", buffering=0) as file:
        for piece in (1 << 16, 1 << 12, 512, 1):
            try:
                while True:
                    file.write(b"x" * piece)
            except OSError:
                continue
    return filler


async def outcome(life: Life, asked: Any) -> dict[str, Any] | None:
    """The error of a turn or of its refusal; None when it finished all the same."""
    response = await life.client.wait_for(asked.answer)
    if "error" in response:
        assert response["error"]["code"] == -32803, response
        return response["error"]["data"]
    return response["result"].get("error")


@pytest.mark.parametrize("seed", seeds(1, 40))
async def test_a_home_that_is_full_for_a_while(start: Start, vendor: LoopbackVendor, root: Path, home: Path, seed: int):
    """The same server goes on once there is room; a turn that could not be stored is told as such."""
    (root / "a.txt").write_text(whole("a.txt", 0))
    with small(home, "6m"):
        async with Life(start, vendor, root, seed=seed) as life:
            await life.talk()
            for number in range(4 if LONG else 2):
                before = texts(root)
                plan = [
                    ("Read", {"path": "a.txt"}),
                    ("Write", {"path": "a.txt", "content": whole("a.txt", number + 1, 200)}),
                    ("Read", {"path": "a.txt", "start_line": 100}),
                ]
                asked = await life.ask(plan, answer=4_000, pace=0.002)
                await asyncio.sleep(life.chance.random() ** 2 * 0.4)
                filler = fill(home)
                error = await outcome(life, asked)
                assert error is None or (error["code"], bool(error["hint"])) == ("store_unavailable", True), error
                found = texts(root)
                assert found in (before, {"a.txt": whole("a.txt", number + 1, 200)}), "half a file, or litter"
                refused = await life.client.response("codelaw/chat/send", {"chatId": life.chat, "text": "no room"})
                reported = refused.get("error", {}).get("data") or refused["result"].get("error")
                if reported is None:  # it found room in what the store's files already have
                    stored = (await life.record())["messages"]
                    assert "no room" in [one["content"] for one in stored if one["role"] == "user"][-1]
                else:
                    assert reported["code"] == "store_unavailable"
                assert (await life.client.request("codelaw/model/list", {}))["models"]
                filler.unlink()
                await life.idle()
                await life.talk()
                await life.holds("no room")
            await life.die()
            await life.boot()
            await life.holds("no room")
            await life.talk()
        assert not [path for path in home.rglob("*") if "damaged" in path.name]
