"""A server that watches its own event loop, for `stalls.py`.

    python benchmarks/probe.py FILE serve

runs `codelaw serve`, and at every SIGUSR1 writes to FILE what it has seen since the last one, in seconds: the longest
time between two heartbeats of the loop, and the most processor time of the whole process between two; the longest
callback, in wall and processor time of the loop's thread; and the processor time of the process. A heartbeat is due
every 2 ms.
"""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

BEAT = 0.002


class Probe:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._beating: asyncio.AbstractEventLoop | None = None
        self._clear()

    def _clear(self) -> None:
        self._gap = self._busy = self._wall = self._own = self._collected = 0.0
        self._what = ""
        self._last = time.perf_counter()
        self._begun = self._worked = time.process_time()

    def watch(self) -> None:
        """Time every callback of the event loop from now on."""
        run = asyncio.Handle._run  # noqa: SLF001 - the only place that all callbacks go through

        def timed(handle: asyncio.Handle) -> None:
            if self._beating is None:
                self._beating = handle._loop  # noqa: SLF001 # pyright: ignore[reportAttributeAccessIssue]
                self._beat()
            wall, own = time.perf_counter(), time.thread_time()
            run(handle)
            wall, own = time.perf_counter() - wall, time.thread_time() - own
            self._own = max(self._own, own)
            if wall > self._wall:
                self._wall, self._what = wall, repr(handle)[:300]

        asyncio.Handle._run = timed  # noqa: SLF001 # pyright: ignore[reportAttributeAccessIssue]
        gc.callbacks.append(self._collecting)
        signal.signal(signal.SIGUSR1, self._report)

    def _beat(self) -> None:
        now = time.perf_counter()
        self._gap, self._last = max(self._gap, now - self._last - BEAT), now
        worked = time.process_time()
        self._busy, self._worked = max(self._busy, worked - self._worked), worked
        if self._beating is not None:
            self._beating.call_later(BEAT, self._beat)

    def _collecting(self, phase: str, _info: Any) -> None:
        if phase == "start":
            self._collecting_since = time.perf_counter()
        else:
            self._collected = max(self._collected, time.perf_counter() - self._collecting_since)

    def _report(self, *_: object) -> None:
        seen = {
            "gap": max(self._gap, time.perf_counter() - self._last - BEAT),
            "busy": max(self._busy, time.process_time() - self._worked),
            "wall": self._wall,
            "own": self._own,
            "collected": self._collected,
            "what": self._what,
            "cpu": time.process_time() - self._begun,
        }
        made = self._file.with_suffix(".new")
        made.write_text(json.dumps(seen))
        made.replace(self._file)
        self._clear()


if __name__ == "__main__":
    Probe(Path(sys.argv[1])).watch()
    sys.argv[1:] = sys.argv[2:]
    from codelaw.cli.main import main

    sys.exit(main())
