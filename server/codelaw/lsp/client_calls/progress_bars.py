"""Progress bars in the editor: `window/workDoneProgress`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types

from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc

log = logging.getLogger(__name__)

MAX_LINE = 120


@dataclass(slots=True)
class Bar:
    """One bar. What is said before the client has made it waits."""

    token: str
    cancel: Callable[[], None]
    made: bool = False
    waiting: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    shown: str = ""


class Bars:
    """The bars of one client, each under a key of its owner's choice. A key without a bar is passed over."""

    def __init__(self, rpc: Rpc) -> None:
        self._rpc = rpc
        self._bars: dict[str, Bar] = {}
        self._making: set[asyncio.Task[None]] = set()

    def begin(self, key: str, token: str, title: str, message: str, cancel: Callable[[], None]) -> None:
        """Show a new bar; its button calls `cancel`. `token` is never used twice."""
        self.end(key, "")  # one whose end was never told
        bar = Bar(token, cancel)
        self._bars[key] = bar
        self._say(bar, {"kind": "begin", "title": _line(title), "cancellable": True, "message": message})
        task = asyncio.get_running_loop().create_task(self._make(key, bar))
        self._making.add(task)
        task.add_done_callback(self._making.discard)

    def report(self, key: str, message: str) -> None:
        """Say what is done now; the same twice is said once."""
        bar = self._bars.get(key)
        line = _line(message)
        if bar is not None and bar.shown != line:
            bar.shown = line
            self._say(bar, {"kind": "report", "message": line})

    def end(self, key: str, message: str) -> None:
        """Take the bar away, with a last word."""
        bar = self._bars.pop(key, None)
        if bar is not None:
            self._say(bar, {"kind": "end", "message": _line(message)})

    def cancelled(self, token: object) -> None:
        """The user pressed cancel; an unknown token is ignored."""
        for bar in list(self._bars.values()):
            if bar.token == token:
                bar.cancel()

    async def _make(self, key: str, bar: Bar) -> None:
        try:
            await self._rpc.request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": bar.token})
        except (ClientError, Disconnected) as error:
            log.info("No progress is shown: %s", error)
            if self._bars.get(key) is bar:
                del self._bars[key]
            return
        bar.made = True
        for value in bar.waiting:
            self._rpc.tell(types.PROGRESS, {"token": bar.token, "value": value})
        bar.waiting.clear()

    def _say(self, bar: Bar, value: dict[str, Any]) -> None:
        if bar.made:
            self._rpc.tell(types.PROGRESS, {"token": bar.token, "value": value})
        else:
            # Until the client has answered only the beginning, the latest state and the end matter.
            del bar.waiting[1:]
            bar.waiting.append(value)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"
