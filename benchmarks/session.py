"""What a long session costs: sixty turns of about five steps over a real source tree, with the real server (C-6, L-6).

    session.py [native] [-v] [--json]

The model is scripted: it searches, reads, edits and runs small commands in the sources of an installed package, file by
file, and comes back to files of earlier turns; `--json` is `context.observations = "json"`. Nothing is chosen by the
result. Units are the price of an input token, by the model in `billing.py`; tokens are counted by o200k_base. Beside
ours stands a plain client that sends the same results as they were shown first, never shortens any, and compacts at
eight tenths of the window.
"""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from billing import READ, Block, Cache, blocks, spelt
from client import Server, environment, table
from prefix import native

from codelaw.adapters.tokenizer import counter
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

TURNS, CALLS = 60, 310
PACKAGE = "_pytest"
WINDOW, FULL = 200_000, 0.8
SUMMARY = 3_050
"""Tokens of a summary, the median of real ones; a token of it costs five units to write."""
LINES = 200
"""Lines of a Read."""

Call = tuple[str, dict[str, Any]]


@dataclass
class Script:
    """What the scripted model does in `folder`; it knows the files' texts, and changes them as its edits do."""

    folder: Path
    edits: int = 0
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def __post_init__(self) -> None:
        for file in sorted(self.folder.rglob("*.py")):
            lines = file.read_text().split("\n")
            if 60 <= len(lines) <= 1_500:
                self.texts[file.relative_to(self.folder).as_posix()] = lines

    def turns(self) -> Iterator[list[Call]]:
        """The calls of each turn: one file of its own, one of some turns before, a search and a command."""
        names = list(self.texts)
        for turn in range(TURNS):
            name, old = names[turn * 7 % len(names)], names[max(0, turn - 4) * 7 % len(names)]
            place, edit = self.edit(name)
            word = next((line.split("(")[0].split()[1] for line in self.texts[name] if line.startswith("def ")), "self")
            calls: list[Call] = [
                ("Grep", {"pattern": word}),
                ("Read", {"path": name, "start_line": max(1, place - LINES // 2), "limit": LINES}),
                ("Edit", {"path": name, **edit}),
                ("Read", {"path": old, "limit": LINES}),
                ("Bash", {"command": f"grep -c '' {name} && tail -n 12 {name}"}),
                ("Glob", {"pattern": f"{name.rpartition('/')[0] or '.'}/*.py"}),
            ]
            more = (turn + 1) * CALLS // TURNS - turn * CALLS // TURNS
            yield calls[:more]

    def edit(self, name: str) -> tuple[int, dict[str, str]]:
        """A change of one line near the middle that stands only once in the file; with its number."""
        lines = self.texts[name]
        middle = sorted(range(len(lines)), key=lambda place: abs(place - len(lines) // 2))
        text = "\n".join(lines)
        place = next(at for at in middle if len(lines[at]) > 20 and text.count(lines[at]) == 1)
        self.edits += 1
        old, new = lines[place], f"{lines[place]}  # seen {self.edits}"
        lines[place] = new
        return place + 1, {"old_string": old, "new_string": new}


def replies(script: Script) -> Iterator[list[VendorReply]]:
    """The model's words, turn by turn."""
    for turn, calls in enumerate(script.turns()):
        thought = "I look at what there is before I change it, so that nothing else breaks."
        yield [
            *(VendorReply(text=f"Thought: {thought}\nAction: {tool}[{json.dumps(given)}]") for tool, given in calls),
            VendorReply(
                text=f"Thought: enough\nAction: Finish[Turn {turn} is done: {calls[2][1]['path']} is changed.]"
            ),
        ]


def question(turn: int) -> str:
    return f"Question {turn}: what does the next file do, who uses it, and can one line of it say so?"


def plain(requests: Sequence[list[Block]], size: Any) -> tuple[Cache, float]:
    """The same session by a client that appends and compacts; and what its summaries cost."""
    spent, bill = 0.0, Cache(size)
    history: list[str] = []
    summary: list[str] = []
    begun: list[str] = []
    system: list[str] = []
    turn = -1
    for parts in requests:
        texts = [text for text, _ in parts]
        asked = max(place for place, text in enumerate(texts) if "Question " in text and ": what does the next" in text)
        number = int(texts[asked].partition("Question ")[2].partition(":")[0])
        if number != turn:
            turn = number
            history += [*begun, *([texts[asked - 1]] if begun else [])]
        begun = texts[asked:]
        system = [text for text in texts if text.startswith('["system"')]
        sent = sum(map(size, [*system, *summary, *history, *begun]))
        if sent > FULL * WINDOW:
            spent += READ * sent + 5 * SUMMARY
            history, summary = [], [spelt("user", {"type": "text", "text": f"{turn} {'word ' * SUMMARY}"})]
        stream = [*system, *summary, *history, *begun]
        ends = {len(system), len(stream) - len(begun), len(stream)}
        bill.take([(text, place in ends) for place, text in enumerate(stream, start=1)])
    return bill, spent


async def session(*, dialect: str, observations: str) -> list[list[Block]]:
    """The blocks of every request."""
    source = importlib.util.find_spec(PACKAGE)
    assert source is not None
    assert source.origin is not None
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "project"
        shutil.copytree(Path(source.origin).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "CODE_LAW.md").write_text("# Law\n\nRun the tests before you finish.\n" * 10)
        said = list(replies(Script(folder)))
        script = list(itertools.chain.from_iterable(said))
        if dialect == "native":
            script = [native(reply) for reply in script]
        async with LoopbackVendor(script) as vendor:
            environ = environment(Path(home) / "home", ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
            settings: dict[str, Any] = {"model": {"dialect": dialect}, "permissions": {"default": "allow"}}
            if observations == "json":
                settings["context"] = {"observations": "json"}
            server = await Server.ready(folder, environ, settings)
            chat = (await server.request("codelaw/chat/create", {}))["id"]
            for turn in range(TURNS):
                await server.turn(question(turn), chat)
            await server.stop()
            return [list(blocks(request.json)) for request in vendor.messages]


async def main() -> None:
    dialect = "native" if "native" in sys.argv else "react"
    requests = await session(dialect=dialect, observations="json" if "--json" in sys.argv else "text")
    size = cache(counter())
    ours = Cache(size)
    for number, parts in enumerate(requests):
        sent, ideal, read = ours.take(parts)
        if "-v" in sys.argv:
            print(f"{number:4} {sent:8} tokens  ideal {ideal:8}  read {read:8}")
    other, summaries = plain(requests, size)

    def units(one: float) -> str:
        return f"{one / 1e6:.3f} M"

    table(
        f"{TURNS} turns, {CALLS} calls over {PACKAGE}, {dialect}, {len(requests)} requests",
        [
            ("units, ideal cache", units(ours.units_ideal), "<= 2.05 M"),
            ("units, as billed", units(ours.units_billed), "<= 2.1 M"),
            ("billed over ideal", f"{ours.units_billed / ours.units_ideal:.3f}", "<= 1.03"),
            ("tokens sent", units(ours.sent), ""),
            ("largest request, tokens", str(ours.largest), f"<= {WINDOW}"),
            ("most breakpoints in a request", str(ours.most_breakpoints), "<= 4"),
            *((f"  of the ideal, {what}", units(spent), "") for what, spent in sorted(ours.spent.items())),
            ("a plain client: units, ideal cache", units(other.units_ideal + summaries), ""),
            ("a plain client: units, as billed", units(other.units_billed + summaries), ""),
            ("a plain client: tokens sent", units(other.sent), ""),
        ],
    )


if __name__ == "__main__":
    asyncio.run(main())
