"""Our own time in a turn: everything between the model's last byte and the next request's first byte (R-1)."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import tempfile
import threading
import time
from pathlib import Path

from client import Server, environment, median, quantile, table

from tests.loopback.script import VendorReply
from tests.loopback.server import Captured, LoopbackVendor

CHATS = 60
READS = 2
VIEWS = (50, 200, 500, 900)
"""Kilobytes of one question, before which nothing was said."""
PASTED = "All of this was in the log, line after line, and nobody could tell why it was there. " * 400
FINISH = VendorReply(text="Thought: that is all\nAction: Finish[Done.]", times=0)


def answer(request: Captured) -> VendorReply:
    """Read the file as often as the question says, then finish."""
    texts = [block["text"] for message in request.json["messages"] for block in blocks(message)]
    place = max(index for index, text in enumerate(texts) if text.startswith("READ "))
    wanted = int(texts[place].split()[1])
    done = sum(text.startswith("[tool]") for text in texts[place:])
    if done >= wanted:
        return FINISH
    call = json.dumps({"path": f"big{done % 2}.py"})
    return VendorReply(text=f"Thought: look at it, time {done}\nAction: Read[{call}]", times=0)


def blocks(message: dict) -> list[dict]:
    content = message["content"]
    return [{"text": content}] if isinstance(content, str) else content


def gaps(requests: list[Captured]) -> list[float]:
    """Seconds between the end of each answer and the next request, within one turn."""
    found = []
    for before, after in itertools.pairwise(requests):
        assert before.answer_last_byte is not None
        found.append(after.first_byte - before.answer_last_byte)
    return found


async def steps(server: Server, vendor: LoopbackVendor) -> tuple[list[float], list[float], list[int]]:
    """Steps with a Read between, in fresh chats; time from chat/send to the request; tokens of the last views."""
    own, sends, tokens = [], [], []
    for number in range(CHATS):
        vendor.reset([answer])
        await timed(server, vendor, f"READ {READS} times.\n{PASTED}", sends)
        if number:  # the first turn of a process warms it up
            own += gaps(vendor.messages)
            usage = vendor.messages[-1].usage
            tokens.append(sum(usage.values()) - usage["output_tokens"])
    return own, sends[1:], tokens


async def stored(server: Server, vendor: LoopbackVendor, count: int, padding: int) -> tuple[str, int]:
    """A chat with `count` rounds, each padded with so many characters; gives its id and the tokens of its view."""
    vendor.reset([answer])
    chat = (await server.request("codelaw/chat/create", {}))["id"]
    for number in range(count):
        await server.turn(f"READ 0 times. Round {number}. " + "word " * (padding // 5), chat)
    return chat, (await server.request("codelaw/context/inspect", {"chatId": chat, "text": "READ 2 times."}))[
        "totalTokens"
    ]


async def measured(server: Server, vendor: LoopbackVendor, chat: str) -> list[float]:
    """Steps with a Read between, in turns at the end of a chat; the first warms it up."""
    own = []
    for number in range(11):
        vendor.reset([answer])
        await server.turn("READ 2 times.", chat)
        own += gaps(vendor.messages) if number else []
    return own


async def sized(server: Server, vendor: LoopbackVendor, size: int) -> tuple[int, float, float]:
    """Steps at the end of a chat of so many bytes; the bytes of a request, our own time, and the least there can be."""
    vendor.reset([answer])
    chat = (await server.request("codelaw/chat/create", {}))["id"]
    await server.turn(f"READ 0 times. {'word ' * (size // 5)}", chat)
    own = await measured(server, vendor, chat)
    request = vendor.messages[-1].json
    return len(json.dumps(request)), median(own), await asyncio.to_thread(floor, request)


def floor(request: dict) -> float:
    """Seconds of encoding a request as JSON and handing it to a loopback socket; the median of some."""
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_connection(listening.getsockname()) as out:
        taken, _ = listening.accept()
        threading.Thread(target=_drain, args=[taken], daemon=True).start()
        seconds = []
        for _ in range(21):
            started = time.perf_counter()
            out.sendall(json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode())
            seconds.append(time.perf_counter() - started)
    return median(seconds)


def _drain(taken: socket.socket) -> None:
    with taken:
        while taken.recv(1 << 20):
            pass


async def timed(server: Server, vendor: LoopbackVendor, text: str, sends: list[float]) -> None:
    """A turn in a new chat; adds the seconds from chat/send to the request."""
    sending = asyncio.create_task(server.turn(text))
    await asyncio.sleep(0)
    sent = server.sent
    await sending
    sends.append(vendor.messages[0].first_byte - sent)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "project"
        workspace.mkdir()
        for number in range(2):
            lines = [f"value_{line} = compute({line}, {number})  # kept\n" for line in range(500)]
            (workspace / f"big{number}.py").write_text("".join(lines))
        async with LoopbackVendor([answer], window=1_000_000) as vendor:
            environ = environment(Path(folder) / "home", ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
            server = await Server.ready(workspace, environ, {"model": {"contextWindow": 1_000_000}})
            own, sends, tokens = await steps(server, vendor)
            long, size = await stored(server, vendor, 1000, 0)
            empty = (await server.request("codelaw/context/inspect", {"text": "READ 2 times."}))["totalTokens"]
            short, similar = await stored(server, vendor, 10, int((size - empty) / 10 * 2.92) - 400)
            few, many = await measured(server, vendor, short), await measured(server, vendor, long)
            views = [await sized(server, vendor, size * 1000) for size in VIEWS]
            await server.stop()
    milliseconds = "{:.1f} ms".format
    table(
        f"{len(own)} steps with a Read of 500 lines, views up to {max(tokens)} tokens",
        [
            ("own time per step, median", milliseconds(median(own) * 1000), "<= 5 ms"),
            ("own time per step, p99", milliseconds(quantile(own, 0.99) * 1000), "<= 20 ms"),
            ("chat/send to the request's first byte, median", milliseconds(median(sends) * 1000), "<= 15 ms"),
            (f"10 stored rounds, {similar} tokens: own time, median", milliseconds(median(few) * 1000), ""),
            (f"1000 stored rounds, {size} tokens: own time, median", milliseconds(median(many) * 1000), ""),
            ("ratio", f"{median(many) / median(few):.2f} x", "<= 2 x"),
            *(
                row
                for size, own_time, least in views
                for row in (
                    (f"a request of {size // 1000} kB: own time, median", milliseconds(own_time * 1000), ""),
                    ("  to encode and send it alone", milliseconds(least * 1000), ""),
                    ("  ratio", f"{own_time / least:.2f} x", "<= 2 x"),
                )
            ),
        ],
    )


asyncio.run(main())
