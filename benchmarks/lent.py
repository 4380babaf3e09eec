"""What a model that the editor lends adds to a step, beside a vendor on loopback (P-7).

Both play the same replies in the same pieces, by turns in one server: the vendor over HTTP through the SDK, the lent
model over the connection of the editor, which is this program. Our own time is that from a reply's end to the next
request; for the lent model the reading of that request's JSON here is in it. A step is all of it, the reply's pieces
included. What an editor needs to ask its model is not measured.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from client import Server, environment, median, quantile, table

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

TURNS = 60
READS = 4
PIECE = 12
"""Characters of a piece of a reply."""
NAME = "bench/model"
PASTED = "All of this was in the log, line after line, and nobody could tell why it was there. " * 400
THOUGHT = "Thought: " + "the next file may say more about it, so I look at that one as well; " * 6


def said(step: int) -> str:
    """The model's words in a step of a turn."""
    return f'{THOUGHT}\nAction: Read[{{"path": "big{step % 2}.py"}}]' if step < READS else "Action: Finish[Done.]"


class Editor(Server):
    """An editor that lends one model, which reads `READS` files in a turn."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__(process)
        self.lends = {"model": {}, "models": {}}
        self.arrived: list[float] = []
        """When each request of the turn came, on the monotonic clock, in seconds."""
        self.answered: list[float] = []

    def _handle(self, message: dict[str, Any]) -> None:
        match message.get("method"):
            case "codelaw/editor/models":
                facts = {"id": NAME, "name": "Bench", "family": "bench", "maxInputTokens": 1_000_000}
                self._write({"id": message["id"], "result": {"models": [facts]}})
            case "codelaw/editor/model":
                self.arrived.append(time.monotonic())
                self._reply(message["id"], message["params"]["partialResultToken"])
            case _:
                super()._handle(message)

    def _reply(self, request: str, token: str) -> None:
        words = said(len(self.answered))
        for start in range(0, len(words), PIECE):
            part = {"kind": "text", "text": words[start : start + PIECE]}
            self._write({"method": "$/progress", "params": {"token": token, "value": part}})
        self._write({"id": request, "result": {"stop": "end_turn"}})
        self.answered.append(time.monotonic())


def vendor_turn(vendor: LoopbackVendor) -> Callable[[], tuple[list[float], list[float]]]:
    """Have the vendor play a turn; gives what tells when its requests came, and when its replies had ended."""
    vendor.reset([VendorReply(text=said(step), chunk=PIECE) for step in range(READS + 1)])
    return lambda: (
        [one.first_byte for one in vendor.messages],
        [one.answer_last_byte or 0.0 for one in vendor.messages],
    )


def lent_turn(editor: Editor) -> Callable[[], tuple[list[float], list[float]]]:
    """The same for the lent model."""
    editor.arrived, editor.answered = [], []
    return lambda: (editor.arrived, editor.answered)


async def main() -> None:
    own: dict[str, list[float]] = {"vendor": [], "lent": []}
    steps: dict[str, list[float]] = {"vendor": [], "lent": []}
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "project"
        workspace.mkdir()
        for number in range(2):
            lines = [f"value_{line} = compute({line}, {number})  # kept\n" for line in range(500)]
            (workspace / f"big{number}.py").write_text("".join(lines))
        async with LoopbackVendor(window=1_000_000) as vendor:
            environ = environment(Path(folder) / "home", ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
            editor = await Editor.ready(workspace, environ, {"model": {"contextWindow": 1_000_000}})
            for turn in range(2 * TURNS):
                kind = ("vendor", "lent")[turn % 2]
                times = vendor_turn(vendor) if kind == "vendor" else lent_turn(editor)
                await editor.turn(PASTED, **({} if kind == "vendor" else {"model": f"editor/{NAME}"}))
                arrived, answered = times()
                assert len(arrived) == READS + 1
                if turn > 1:  # the first turn of each warms it up
                    own[kind] += [after - before for before, after in zip(answered, arrived[1:], strict=False)]
                    steps[kind] += [after - before for before, after in itertools.pairwise(arrived)]
            await editor.stop()
    table(
        f"{len(own['lent'])} steps with a Read of 500 lines in {len(said(0)) // PIECE + 1} pieces each, by turns",
        [*rows("own time", own), *rows("a whole step", steps)],
    )


def rows(what: str, seconds: dict[str, list[float]]) -> list[tuple[str, str, str]]:
    vendor, lent = median(seconds["vendor"]) * 1000, median(seconds["lent"]) * 1000
    late = quantile(seconds["lent"], 0.99) * 1000
    return [
        (f"{what} with the vendor, median", f"{vendor:.1f} ms", ""),
        (f"{what} with the lent model, median", f"{lent:.1f} ms", ""),
        ("  added", f"{lent - vendor:.1f} ms", "<= 10 ms"),
        ("  ratio", f"{lent / vendor:.2f} x", ""),
        ("  p99 with the lent model", f"{late:.1f} ms", ""),
    ]


asyncio.run(main())
