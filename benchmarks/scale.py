"""How it goes on when everything is large: a long chat, many chats, many files, one huge file (L-4, D-2, T-3, T-4).

    .venv/bin/python benchmarks/scale.py [--full] [--turns 1000] [--chats 2000] [--files 20000] [--megabytes 80]

`--full` is 5 000 turns, 10 000 chats, 200 000 files and a file of 223 MB; it takes some minutes and 2 GB of disk. What
is made lies in a temporary folder, or in `--folder`. A size of 0 leaves that part out.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from client import Server, environment, median, table

from codelaw.adapters.stores.opening import open_stores
from codelaw.domain.chats import Chat, StoredTurn
from codelaw.domain.messages import Message
from tests.loopback.long_chat import fill
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

Row = tuple[str, str, str]
FULL = {"turns": 5_000, "chats": 10_000, "files": 200_000, "megabytes": 223}
SMALL = {"turns": 1_000, "chats": 2_000, "files": 20_000, "megabytes": 80}
AT_ONCE = 50
IN_FOLDER = 200
LINE = b"%09d a line of a log that somebody keeps for a rainy day, with a value of %d\n"
FINISH = VendorReply(text="Thought: that is all\nAction: Finish[Done.]", times=0)


def seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 10 else f"{value:.1f} s"


async def timed(work: Awaitable[Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = await work
    return time.perf_counter() - started, result


async def first_byte(server: Server, vendor: LoopbackVendor, text: str, chat: str | None = None) -> float:
    """From `chat/send` to the first byte of whatever request comes first; a summary may be due."""
    vendor.reset([FINISH])
    sending = asyncio.ensure_future(server.turn(text, chat))
    await asyncio.sleep(0)
    sent = server.sent
    await sending
    return vendor.requests[0].first_byte - sent


async def calls(server: Server, vendor: LoopbackVendor, *wanted: tuple[str, dict[str, Any]]) -> list[float]:
    """Our own time for each of these calls: from the answer that asks for it to the request with its result."""
    replies = [VendorReply(text=f"Thought: go\nAction: {name}[{json.dumps(given)}]") for name, given in wanted]
    vendor.reset([*replies, FINISH])
    await server.turn("go")
    pairs = itertools.pairwise(request for request in vendor.messages)
    return [after.first_byte - (before.answer_last_byte or 0.0) for before, after in pairs]


class Place:
    """A home and a workspace of their own, and the settings of a server on them."""

    def __init__(self, folder: Path, name: str, vendor: LoopbackVendor) -> None:
        self.home, self.work = folder / f"{name}-home", folder / f"{name}-work"
        self.home.mkdir(parents=True)
        self.work.mkdir()
        self.vendor = vendor

    async def server(self) -> Server:
        environ = environment(self.home, ANTHROPIC_BASE_URL=self.vendor.url, ANTHROPIC_API_KEY="k")
        return await Server.ready(self.work, environ, {"permissions": {"default": "allow"}})


async def long_chat(place: Place, vendor: LoopbackVendor, turns: int) -> list[Row]:
    made, _ = await timed(fill(place.home, turns))
    server = await place.server()
    page, _ = await timed(server.request("codelaw/chat/read", {"chatId": "long", "turns": 20}))
    await server.stop()
    server = await place.server()
    await first_byte(server, vendor, "warm up")
    warm, _ = await timed(server.request("codelaw/chat/read", {"chatId": "long", "turns": 20}))
    await server.stop()
    server = await place.server()
    await first_byte(server, vendor, "warm up")
    first = await first_byte(server, vendor, "And now?", "long")
    second = await first_byte(server, vendor, "And then?", "long")
    whole, record = await timed(server.request("codelaw/chat/read", {"chatId": "long"}))
    inspected, _ = await timed(server.request("codelaw/context/inspect", {"chatId": "long"}))
    exported, _ = await timed(server.request("codelaw/chat/export", {"chatId": "long", "format": "markdown"}))
    forked, _ = await timed(server.request("codelaw/chat/fork", {"chatId": "long", "turnId": f"turn{turns // 2}"}))
    rows = [
        ("made", seconds(made), ""),
        ("the first page, a server that has just begun", seconds(page), ""),
        ("the first page, a server at work", seconds(warm), "<= 200 ms"),
        ("chat/send to the first byte, a server at work", seconds(first), "<= 500 ms"),
        ("chat/send to the first byte, afterwards", seconds(second), "<= 200 ms"),
        (f"the whole record, {len(record['messages'])} messages", seconds(whole), ""),
        ("context/inspect", seconds(inspected), ""),
        ("export", seconds(exported), ""),
        ("fork in the middle", seconds(forked), ""),
        ("resident memory", f"{server.resident():.0f} MB", ""),
    ]
    await server.stop()
    return rows


async def many_chats(place: Place, vendor: LoopbackVendor, count: int) -> list[Row]:
    store = (await open_stores(None, place.home / "codelaw.db")).chats
    started = time.perf_counter()
    for number in range(count):
        name, at = f"chat{number}", 1e9 + number
        await store.create(Chat(name, f"Chat {number}", "panel", "agent", "claude", "layered", at, at))
        turn = StoredTurn("t", name, "running", store.owner, at)
        await store.begin_turn(turn, Message("m1", "t", "user", f"What does module{number} do? {'words ' * 100}"))
        said = Message("m2", "t", "assistant", f"It keeps value{number}. {'more words ' * 100}")
        await store.end_turn(StoredTurn("t", name, "ended", store.owner, at, stop_reason="finished"), [said])
    made = time.perf_counter() - started
    await store.close()
    server = await place.server()
    await first_byte(server, vendor, "warm up")
    listed, page = await timed(server.request("codelaw/chat/list", {"limit": 50}))
    paged, _ = await timed(server.request("codelaw/chat/list", {"limit": 50, "cursor": page["nextCursor"]}))
    found, _ = await timed(server.request("codelaw/chat/list", {"query": f"value{count // 2}", "limit": 50}))
    nothing, _ = await timed(server.request("codelaw/chat/list", {"query": "nowhere to be found", "limit": 50}))
    search = asyncio.ensure_future(server.request("codelaw/chat/list", {"query": "nowhere at all", "limit": 50}))
    beside = await first_byte(server, vendor, "while a search runs")
    await search
    before = server.resident()
    vendor.reset([FINISH])
    begun, _ = await timed(asyncio.gather(*(server.turn(f"one of many, {n}") for n in range(AT_ONCE))))
    sent = [request.first_byte for request in vendor.messages]
    rows = [
        ("made", seconds(made), ""),
        ("the first page of the list", seconds(listed), "<= 200 ms"),
        ("the second page", seconds(paged), ""),
        ("a search that finds one", seconds(found), ""),
        ("a search that finds none", seconds(nothing), ""),
        ("chat/send to the first byte during a search", seconds(beside), "<= 200 ms"),
        (f"{AT_ONCE} chats begun at once, first request to last", seconds(max(sent) - min(sent)), ""),
        (f"{AT_ONCE} chats begun at once, all answered", seconds(begun), "<= 400 ms"),
        ("resident memory for each of those", f"{(server.resident() - before) * 1024 / AT_ONCE:.0f} kB", ""),
        ("resident memory", f"{server.resident():.0f} MB", ""),
    ]
    await server.stop()
    return rows


async def many_files(place: Place, vendor: LoopbackVendor, count: int) -> list[Row]:
    started = time.perf_counter()
    for number in range(count):
        folder = place.work / f"part{number // IN_FOLDER // 50}" / f"package{number // IN_FOLDER}"
        if number % IN_FOLDER == 0:
            folder.mkdir(parents=True)
        (folder / f"module{number}.py").write_text(f"value = {number}\n")
    made = time.perf_counter() - started
    server = await place.server()
    first = await first_byte(server, vendor, "What is here?")
    second = await first_byte(server, vendor, "And what else?")
    named = await first_byte(server, vendor, f"What of @part0/package1/module{IN_FOLDER + 1}.py?")
    completed, _ = await timed(server.request("codelaw/context/mentions", {"prefix": "module19", "limit": 20}))
    again, _ = await timed(server.request("codelaw/context/mentions", {"prefix": "module199", "limit": 20}))
    wanted = (
        ("LS", {"path": "part0"}),
        ("Glob", {"pattern": "**/*7.py"}),
        ("Grep", {"pattern": f"value = {count - 1}$"}),
        ("Bash", {"command": "true"}),
        ("Bash", {"command": "true"}),
    )
    ls, glob, grep, cold, warm = await calls(server, vendor, *wanted)
    rows = [
        ("made", seconds(made), ""),
        ("the first turn of a server that has just begun", seconds(first), ""),
        ("the second turn, chat/send to the first byte", seconds(second), "<= 200 ms"),
        ("a turn that mentions a file", seconds(named), ""),
        ("completion of a mention", seconds(completed), ""),
        ("completion, afterwards", seconds(again), ""),
        ("LS of a folder", seconds(ls), ""),
        ("Glob", seconds(glob), "<= 2 s, or why not all"),
        ("Grep", seconds(grep), "<= 5 s, or why not all"),
        ("the first command", seconds(cold), ""),
        ("the second command", seconds(warm), ""),
        ("resident memory", f"{server.resident():.0f} MB", ""),
    ]
    await server.stop()
    return rows


async def huge_file(place: Place, vendor: LoopbackVendor, megabytes: int) -> list[Row]:
    lines = 0
    with (place.work / "huge.log").open("wb") as file:
        while file.tell() < megabytes * 1_000_000:
            file.write(b"".join(LINE % (line, line * 7) for line in range(lines + 1, lines + 10_001)))
            lines += 10_000
    server = await place.server()
    await first_byte(server, vendor, "warm up")
    before = server.resident()
    places = (1, lines // 2, lines - 100)
    reads = [("Read", {"path": "huge.log", "start_line": place, "limit": 100}) for place in places]
    times = await calls(server, vendor, *reads, ("Grep", {"pattern": f"^{lines // 2:09d} "}))
    shown = json.dumps(vendor.messages[-1].json["messages"])
    if not all(f"{place:09d} a line" in shown for place in places):
        raise RuntimeError("a slice of the file was not read")
    grown = server.resident() - before
    plain = await first_byte(server, vendor, "What of it?")
    mentioned = await first_byte(server, vendor, "What of @huge.log?")
    rows = [
        (f"Read of 100 of {lines} lines, median of begin, middle and end", seconds(median(times[:3])), ""),
        ("Grep", seconds(times[3]), "<= 5 s"),
        ("a turn that does not mention it, chat/send to the first byte", seconds(plain), ""),
        ("a turn that mentions it, chat/send to the first byte", seconds(mentioned), "<= 200 ms"),
        ("resident memory more than before", f"{grown:.0f} MB", "<= 50 MB"),
    ]
    await server.stop()
    return rows


async def run(folder: Path, sizes: dict[str, int]) -> None:
    parts = (
        ("turns", "A chat of {} turns", long_chat),
        ("chats", "{} chats", many_chats),
        ("files", "{} files", many_files),
        ("megabytes", "A file of {} MB", huge_file),
    )
    for name, title, measure in parts:
        if sizes[name]:
            async with LoopbackVendor(window=1_000_000) as vendor:
                table(title.format(sizes[name]), await measure(Place(folder, name, vendor), vendor, sizes[name]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--folder", type=Path, help="where to put what is made; it stays there")
    for name in SMALL:
        parser.add_argument(f"--{name}", type=int)
    given = parser.parse_args()
    usual = FULL if given.full else SMALL
    sizes = {name: usual[name] if getattr(given, name) is None else getattr(given, name) for name in SMALL}
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(given.folder or Path(folder), sizes))


main()
