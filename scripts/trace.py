# ruff: noqa: INP001
"""Trace which files of the server a first question, an edit and a compaction enter at run time.

    python3 scripts/trace.py [--files]

Each runs on a fresh server over stdio, with a model on loopback. A file is entered when one of its functions is called
between the request and its answer; what a module runs while it is imported does not count. `--files` names them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parents[1]
SERVER = ROOT / "server" / "codelaw"
sys.path[:0] = [str(ROOT), str(ROOT / "server"), str(ROOT / "benchmarks")]
FUNCTION = 1
"""The flag of code that is a function's, as that of a module or class is not (`inspect.CO_OPTIMIZED`)."""


def serve(out: Path) -> None:
    """Serve as `codelaw serve` does; write what was called since SIGUSR1 when SIGUSR2 comes."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and (frame.f_back is None or frame.f_back.f_code.co_flags & FUNCTION):
            called.add(frame.f_code)

    def write(*_: object) -> None:
        found = Counter(
            str(Path(code.co_filename).relative_to(SERVER))
            for code in set(called)
            if code.co_flags & FUNCTION and code.co_filename.startswith(str(SERVER))
        )
        part = out.with_suffix(".part")
        part.write_text(json.dumps(found), "utf-8")
        part.replace(out)

    from codelaw.cli.main import entry  # noqa: PLC0415 - imported before anything is traced

    signal.signal(signal.SIGUSR1, lambda *_: called.clear())
    signal.signal(signal.SIGUSR2, write)
    threading.setprofile(note)
    sys.setprofile(note)
    sys.argv = ["codelaw", "serve"]
    entry()


async def traced(folder: Path, asked: Callable[..., Awaitable[None]]) -> dict[str, int]:
    """How many functions of each file `asked` enters on a server of its own."""
    from client import Server, environment  # noqa: PLC0415 # pyright: ignore[reportMissingImports]

    from tests.loopback.server import LoopbackVendor  # noqa: PLC0415

    workspace, out = folder / "project", folder / "called.json"
    workspace.mkdir(parents=True)
    (workspace / "a.py").write_text("value = 1\n", "utf-8")
    (workspace / "CODE_LAW.md").write_text("# Law\n\nRun the tests before you finish.\n", "utf-8")
    async with LoopbackVendor() as vendor:
        environ = environment(folder / "home", ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
        server = await Server.spawn([sys.executable, str(Path(__file__)), "--serve", str(out)], environ)
        try:
            await server.initialize(workspace, {"permissions": {"default": "allow"}})
            await asyncio.sleep(4)
            used = 0.0
            while used + 0.03 < (used := server.processor_seconds()):  # noqa: ASYNC110 - what began by itself goes on
                await asyncio.sleep(2)

            async def begin() -> None:
                server.signal(signal.SIGUSR1)
                await asyncio.sleep(0.2)

            await asked(server, vendor, begin)
            server.signal(signal.SIGUSR2)
            while not out.exists():  # noqa: ASYNC110 - it is another process that writes
                await asyncio.sleep(0.05)
        finally:
            await server.stop()
    return json.loads(out.read_text("utf-8"))


async def question(server, vendor, begin) -> None:  # noqa: ANN001
    """A first question, which the model answers."""
    vendor.play(reply("Finish", "Done."))
    await begin()
    await server.turn("What does @a.py hold?")


async def edit(server, vendor, begin) -> None:  # noqa: ANN001
    """A turn that reads a file and changes it, in a chat's second question."""
    vendor.play(reply("Finish", "Done."))
    chat = (await server.turn("Hello"))["chatId"]
    vendor.play(
        reply("Read", '{"path": "a.py"}'),
        reply("Edit", '{"path": "a.py", "old_string": "value = 1", "new_string": "value = 2"}'),
        reply("Finish", "Done."),
    )
    await begin()
    await server.turn("Change it.", chat)


async def compaction(server, vendor, begin) -> None:  # noqa: ANN001
    """A compaction that somebody asks for, of a chat of a dozen rounds."""
    chat = None
    for number in range(12):
        vendor.play(reply("Finish", "It computes the next one from the last. " * 30))
        chat = (await server.turn(f"Question {number}: what comes next?", chat))["chatId"]
    await begin()
    report = await server.request("codelaw/context/compact", {"chatId": chat})
    if not report["compacted"]:
        raise RuntimeError(str(report))


def reply(action: str, argument: str):  # noqa: ANN201
    """One reply in the text dialect."""
    from tests.loopback.script import VendorReply  # noqa: PLC0415

    return VendorReply(text=f"Thought: so\nAction: {action}[{argument}]")


async def report(*, files: bool) -> None:
    """Print files and functions of each, and with `files` the files of the first."""
    with tempfile.TemporaryDirectory() as folder:
        for asked in (question, edit, compaction):
            found = await traced(Path(folder) / asked.__name__, asked)
            print(f"{asked.__name__:12} {len(found):4} files {sum(found.values()):5} functions", flush=True)  # noqa: T201
            for name, functions in sorted(found.items()) if files else ():
                print(f"    {functions:4} {name}")  # noqa: T201


def main() -> None:
    """Serve, or report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
    else:
        asyncio.run(report(files=arguments.files))


if __name__ == "__main__":
    main()
