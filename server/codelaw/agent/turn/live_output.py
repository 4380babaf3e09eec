"""What a command prints, told while it runs: bounded, a few times a second, without keys (S-5, S-6)."""

from __future__ import annotations

import asyncio
import re
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, get_args

from codelaw.domain.events import ToolOutputEvent
from codelaw.domain.files import OutputStream

if TYPE_CHECKING:
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.domain.safety.redaction import Redaction

INTERVAL = 0.1
"""Seconds that output is gathered before it is told."""
AT_ONCE = 16_000
"""Characters told of a stream at one time; of more the middle is left out."""
IN_ALL = 1_000_000
"""Characters told of a stream; what comes after them stands in the result alone."""
LONGEST_KEY = 20_000
"""Characters of a private key of several lines, of which no part is told before its end."""
_BLANK = re.compile(r"\s(?=\S*\Z)")
_BEGINS = "-----BEGIN "
_ENDS = "-----END "


class LiveOutput:
    """Implements `OutputListener` for one call of a turn.

    What may be the beginning of a key is held back: no more than the last word, and a private key until its end.
    """

    def __init__(self, turn: TurnRecord, call_id: str, redaction: Redaction) -> None:
        self._turn = turn
        self._call_id = call_id
        self._streams = {stream: _Stream(redaction) for stream in get_args(OutputStream)}
        self._timer: asyncio.TimerHandle | None = None
        self._halt = asyncio.Event()

    def halt(self) -> asyncio.Event:
        self._turn.halts[self._call_id] = self._halt
        return self._halt

    def heard(self, stream: OutputStream, data: bytes) -> None:
        self._streams[stream].feed(data)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._report)

    def close(self) -> None:
        """The command has ended: tell what is left."""
        self._turn.halts.pop(self._call_id, None)
        if self._timer is not None:
            self._timer.cancel()
            self._report(ended=True)

    def _report(self, *, ended: bool = False) -> None:
        self._timer = None
        for name, stream in self._streams.items():
            if delta := stream.take(ended=ended):
                self._turn.emit(ToolOutputEvent(self._call_id, name, delta, self._turn.step))


class _Stream:
    """The text of one stream that has not been told yet."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._waiting = ""
        self._left = IN_ALL

    def feed(self, data: bytes) -> None:
        if self._left <= 0:
            return
        self._waiting += self._decoder.decode(data)
        if len(self._waiting) > 4 * AT_ONCE:
            self._waiting = _bounded(self._redaction.text(self._waiting, shapes=True))

    def take(self, *, ended: bool) -> str:
        """What can be told now."""
        cut = len(self._waiting) if ended else self._ready()
        reported, self._waiting = self._waiting[:cut], self._waiting[cut:]
        reported = _bounded(self._redaction.text(reported, shapes=True))
        if not reported or self._left <= 0:
            return ""
        self._left -= len(reported)
        return reported if self._left > 0 else f"{reported}\n… the rest stands in the result …\n"

    def _ready(self) -> int:
        """How far the text can be told: to its last blank, and to no further than a private key that goes on."""
        blank = _BLANK.search(self._waiting)
        cut = len(self._waiting) if len(self._waiting) > LONGEST_KEY else 0 if blank is None else blank.end()
        begins = self._waiting.rfind(_BEGINS, 0, cut)
        goes_on = begins >= 0 and self._waiting.find(_ENDS, begins) < 0 and len(self._waiting) - begins < LONGEST_KEY
        if goes_on:
            return begins
        _, held = self._redaction.ready(self._waiting[:cut])
        return cut - len(held)


def _bounded(text: str) -> str:
    """The ends of a text that is too long."""
    if len(text) <= AT_ONCE:
        return text
    half = AT_ONCE // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters are not shown here …\n{text[-half:]}"
