"""How fast the server is there, and how much memory it holds (V-1)."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from client import SERVE, Server, environment, median, table

BARE = "from pygls.lsp.server import LanguageServer; LanguageServer('bare', '1').start_io()"
CHAT = [sys.executable, "-m", "codelaw", "chat", "--json"]
ROUNDS = 9


async def main() -> None:
    from tests.loopback.script import VendorReply
    from tests.loopback.server import LoopbackVendor

    with tempfile.TemporaryDirectory() as folder:
        home, workspace = Path(folder) / "home", Path(folder) / "project"
        workspace.mkdir()
        (workspace / "README.md").write_text("# A project\n\nHistory is compressed in `compressor.py`.\n")
        async with LoopbackVendor(fallback=VendorReply(text="Thought: easy\nAction: Finish[yes]", times=0)) as vendor:
            model = {"ANTHROPIC_BASE_URL": vendor.url, "ANTHROPIC_API_KEY": "k"}
            plain, vendored = environment(home), environment(home, **model)
            ours, bare, first, after = [], [], [], []
            for _ in range(ROUNDS):
                bare.append(await initialized([sys.executable, "-c", BARE], workspace, plain))
                ours.append(await initialized(SERVE, workspace, vendored, first, after))
            events = [await first_line(workspace, plain) for _ in range(ROUNDS)]
            requests = []
            for _ in range(ROUNDS):
                vendor.reset()
                started = time.monotonic()
                await first_line(workspace, vendored)
                requests.append(vendor.messages[0].first_byte - started)
    table(
        f"Startup, medians of {ROUNDS}",
        [
            ("bare pygls: spawn to initialize reply", f"{median(bare) * 1000:.0f} ms", ""),
            ("codelaw: spawn to initialize reply", f"{median(ours) * 1000:.0f} ms", ""),
            ("ratio", f"{median(ours) / median(bare):.2f} x", "<= 1.3 x"),
            ("resident at the initialize reply", f"{median(first):.0f} MB", "<= 70 MB"),
            ("resident after the first turn, through the SDK", f"{median(after):.0f} MB", "<= 140 MB"),
            ("`codelaw chat` to the first event, offline model", f"{median(events):.2f} s", "<= 0.9 s"),
            ("`codelaw chat` to the request's first byte", f"{median(requests):.2f} s", "<= 1.9 s"),
        ],
    )


async def initialized(
    command: list[str],
    workspace: Path,
    environ: dict[str, str],
    first: list[float] | None = None,
    after: list[float] | None = None,
) -> float:
    """Seconds from spawn to the initialize reply; memory goes into the lists."""
    started = time.monotonic()
    server = await Server.spawn(command, environ)
    await server.initialize(workspace)
    seconds = time.monotonic() - started
    if first is not None and after is not None:
        first.append(server.resident())
        await server.turn("Is it so?")
        after.append(server.resident())
    await server.stop()
    return seconds


async def first_line(workspace: Path, environ: dict[str, str]) -> float:
    """Seconds from the start of `codelaw chat` to its first event; the turn is let run to its end."""
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *CHAT, "Where is history compressed? @README.md", "--workspace", str(workspace),
        env=environ, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, limit=1 << 24,
    )  # fmt: skip
    assert process.stdout is not None
    line = await process.stdout.readline()
    seconds = time.monotonic() - started
    if not line:
        raise RuntimeError("codelaw chat printed nothing")
    await process.communicate()
    return seconds


asyncio.run(main())
