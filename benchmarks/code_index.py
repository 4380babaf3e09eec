"""The index of the code (X-5): `python benchmarks/code_index.py [--lines N] [--repository DIR]`.

Builds a tree of N lines of Python (100 000 by default), or takes DIR, and measures through the index that the server
uses: the first search, which reads every file; the same by a second server, which finds the index kept; searches with
nothing changed, and the ranking alone; and from an edit of an open document to the answer that holds it. The longest
time that the event loop was held up meanwhile is measured by a task that sleeps a millisecond at a time. Goals: built
in 15 s on two cores, ranked in 20 ms, an edit found in 100 ms; of a million lines in 3 minutes and 400 MB, ranked in
60 ms, and an edit found in 100 ms all the same. On a busy machine what was spent on the processor says more.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from client import SERVE, Server, environment  # which makes the server's modules known

if TYPE_CHECKING:
    from codelaw.adapters.code.index import WorkspaceIndex
    from codelaw.ports.workspace import Workspace

T = TypeVar("T")

WORDS = """
    account basket cache chunk client config context cursor editor event factory field filter folder
    format frame handler header index input layer limit line list loader manager message model name node
    option order page parser path place plan policy query queue range reader record region request
    result route rule scope screen section server session setting shape source stage state step store
    stream symbol table task text token tool trace turn type unit user value view walker window worker
    writer zone
""".split()  # noqa: SIM905 - a list of quoted words is nothing to read
ROUNDS, TURNS = 20, 9


def build(root: Path, lines: int) -> int:
    """Write a tree of about so many lines; gives how many there are."""
    chance = random.Random(1)
    written = at = 0
    while written < lines:
        one, two, three = chance.sample(WORDS, 3)
        text = [f'"""The {one} of a {two}, {at}."""', "", f"from package.{three} import {three}_{two}", ""]
        for _ in range(chance.randint(3, 16)):
            first, second, third, fourth = chance.sample(WORDS, 4)
            text += ["", f"def {first}_{second}_{chance.randrange(10_000)}({third}, {fourth}):"]
            text.append(f'    """{first.title()} the {second} by its {third}."""')
            for _ in range(chance.randint(2, 14)):
                left, right = chance.sample(WORDS, 2)
                text.append(f"    {left} = {third}.{right}({fourth}, {chance.choice(WORDS)}={chance.randrange(100)})")
            text.append(f"    return {third}_{second}({first})")
        place = root / f"package_{at % 40}" / f"{one}_{two}_{at}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join(text) + "\n")
        written, at = written + len(text), at + 1
    return written


async def held_up(longest: list[float]) -> None:
    """Notes how much later than asked for the event loop came back, and the processor's part in that, in ms."""
    while True:
        began, spent = time.perf_counter(), time.process_time()
        await asyncio.sleep(0.001)
        late = (time.perf_counter() - began) * 1000 - 1
        longest[:] = max(longest[0], late), max(longest[1], min(late, (time.process_time() - spent) * 1000))


async def timed(work: Awaitable[T]) -> tuple[T, float]:
    began = time.perf_counter()
    done = await work
    return done, (time.perf_counter() - began) * 1000


async def built(index: WorkspaceIndex, workspace: Workspace, question: str) -> None:
    """Search until the index is whole; a search gives up waiting for a large one."""
    await index.search(workspace, question)
    while index.state().status == "building":
        await index.search(workspace, question)


async def measure(root: Path, lines: int) -> None:
    from codelaw.adapters.code.index import WorkspaceIndex
    from codelaw.ranking.code.question import asked
    from codelaw.ranking.code.scoring import places
    from tests.fakes.desk import folder, make_desk

    chance = random.Random(2)
    questions = [" ".join(chance.sample(WORDS, 4)) for _ in range(ROUNDS)]
    with tempfile.TemporaryDirectory() as kept:
        desk, index = make_desk(folder(root)), WorkspaceIndex(Path(kept))
        longest = [0.0, 0.0]
        watching = asyncio.create_task(held_up(longest))
        began = time.process_time()
        _, first = await timed(built(index, desk.workspace, questions[0]))
        spent = time.process_time() - began
        watching.cancel()
        state = index.state()
        print(f"{lines} lines, {state.files} files, {state.chunks} chunks")
        print(f"{'built at the first search':44}{first / 1000:8.2f} s   ({spent:.2f} s of processor)")
        print(f"{'event loop held up meanwhile, at most':44}{longest[0]:8.1f} ms   ({longest[1]:.1f} ms of processor)")
        again: list[float] = []
        busy: list[float] = []
        for question in questions:
            began = time.process_time()
            again.append((await timed(index.search(desk.workspace, question)))[1])
            busy.append((time.process_time() - began) * 1000)
        print(f"{'a search with nothing changed, median':44}{statistics.median(again):8.1f} ms")
        print(f"{'  of that on the processor':44}{statistics.median(busy):8.1f} ms")
        frame = index._frame  # noqa: SLF001 - the ranking alone
        if frame is not None:
            alone: list[float] = []
            for question in questions:
                began = time.perf_counter()
                places(frame, asked(question), limit=10)
                alone.append((time.perf_counter() - began) * 1000)
            print(f"{'the ranking alone, median':44}{statistics.median(alone):8.1f} ms")
        path = min(root.rglob("*.py"))  # noqa: ASYNC240 - nothing else runs
        edits: list[float] = []
        busy = []
        for number in range(5):
            name = f"quagga_number_{number}"
            desk.documents.open(path, f"def {name}():\n    return {number}\n", version=number + 1)
            began = time.process_time()
            found, took = await timed(index.search(desk.workspace, name))
            edits.append(took)
            busy.append((time.process_time() - began) * 1000)
            if not found.places or found.places[0].symbol != name:
                raise SystemExit("the edit was not found")
        print(f"{'from an edit of a buffer to its answer':44}{statistics.median(edits):8.1f} ms")
        print(f"{'  of that on the processor':44}{statistics.median(busy):8.1f} ms")
        await index.close()
        other = WorkspaceIndex(Path(kept))
        _, second = await timed(other.search(desk.workspace, questions[0]))
        print(f"{'the first search of the next server':44}{second / 1000:8.2f} s")
        await other.close()
    print(f"{'most memory of the process':44}{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MB")


async def first_requests(root: Path) -> None:
    """How long a turn takes to its first request, with no index under way and beside one."""
    from tests.loopback.script import VendorReply
    from tests.loopback.server import LoopbackVendor

    with tempfile.TemporaryDirectory() as home:
        async with LoopbackVendor(fallback=VendorReply(text="Thought: easy\nAction: Finish[yes]", times=0)) as vendor:
            environ = environment(Path(home), ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
            server = await Server.spawn(SERVE, environ)
            _, took = await timed(server.initialize(root))
            print(f"{'initialize in this workspace':44}{took:8.1f} ms")

            async def turn() -> float:
                vendor.reset()
                sending = asyncio.create_task(server.request("codelaw/chat/send", {"text": "go"}))
                await asyncio.sleep(0)
                began = server.sent
                await sending
                return (vendor.messages[0].first_byte - began) * 1000

            await turn()
            alone = [await turn() for _ in range(TURNS)]
            print(f"{'a first request with no index, median':44}{statistics.median(alone):8.1f} ms")
            await server.request("codelaw/index/rebuild", {})
            beside: list[float] = []
            while (await server.request("codelaw/index/status", {}))["state"] == "building" and len(beside) < TURNS:
                beside.append(await turn())
            if beside:
                print(
                    f"{'the same beside an index under way':44}{statistics.median(beside):8.1f} ms   "
                    f"(of {len(beside)}, at most {max(beside):.1f} ms)"
                )
            await server.stop()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--repository", type=Path)
    arguments = parser.parse_args()
    if arguments.repository is not None:
        asyncio.run(measure(arguments.repository, 0))
        asyncio.run(first_requests(arguments.repository))
        return
    with tempfile.TemporaryDirectory() as root:
        lines = build(Path(root), arguments.lines)
        asyncio.run(measure(Path(root), lines))
        asyncio.run(first_requests(Path(root)))


if __name__ == "__main__":
    main()
