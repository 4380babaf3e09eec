"""A large ignore file does not count as a whole, and the user is told of it once (S-6)."""

from __future__ import annotations

from pathlib import Path

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, finish

CODE = "ignore_file_too_large"


async def test_it_is_said_once(start: Start, vendor: LoopbackVendor, root: Path):
    (root / ".gitignore").write_text("".join(f"folder{number}/\n" for number in range(200_000)))
    vendor.script = [VendorReply(text=finish("ok")), VendorReply(text=finish("ok"))]
    async with start() as client:
        first = await client.request("codelaw/chat/send", {"text": "go"})
        second = await client.request("codelaw/chat/send", {"chatId": first["chatId"], "text": "on"})
    reported = [notice["message"] for notice in first["notices"] if notice["code"] == CODE]
    assert len(reported) == 1
    assert str(root / ".gitignore") in reported[0]
    assert [notice for notice in second["notices"] if notice["code"] == CODE] == []
