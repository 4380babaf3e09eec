"""Approvals on the terminal (S-2)."""

from __future__ import annotations

import asyncio
import os
import sys
import termios
from collections.abc import Callable
from typing import Any

from codelaw.cli.terminal import BOLD, DIM, GREEN, RED, YELLOW, Screen, one_line, rows
from codelaw.cli.verdicts import KEYS, STAY, single_yes, verdict, without_keys
from codelaw.domain.safety.unseen import visible

Json = dict[str, Any]

Row = tuple[str, str]
"""A row of the terminal and its style."""

SHOWN_ROWS = 60
"""Of a diff or command at once; `d` shows more, and nothing can be allowed before the end was shown."""
SHOWN_TITLE = 1000
"""Columns of an answer: what it would allow is seen whole, whatever the terminal's width."""
TOGETHER_SECONDS = 0.05
"""Lines that come within this time of each other were pasted."""
ANNOUNCED_SECONDS = 1.0
"""How long a question may wait for the event that announces it."""
_MARGIN = "… "
_DIFF = {"+": GREEN, "-": RED, "@": DIM}
_HEADLESS = {"by": "headless"}
_NOBODY = "Nobody can be asked: codelaw runs without a terminal and without --yes."
_EVERY_TIME = "--yes does not answer what is asked every time"


class TerminalApprover:
    """Answers approval requests: by `--yes`, by the person at the terminal, or with a refusal.

    While a question stands, events are kept back, so that nothing is printed behind its prompt.
    """

    def __init__(self, screen: Screen, *, yes: bool) -> None:
        self._screen = screen
        self._yes = yes
        self._turn = asyncio.Lock()
        self._show: Callable[[Json], None] = lambda _params: None
        self._open = False
        self._kept: list[Json] = []
        self._announced: dict[str, asyncio.Event] = {}

    def shown_by(self, show: Callable[[Json], None]) -> Callable[[Json], None]:
        """A way for the params of events that leads to `show`, at once or when the question is answered."""
        self._show = show
        return self._event

    def release(self) -> None:
        """Show what was kept back."""
        kept, self._kept = self._kept, []
        for params in kept:
            self._show(params)

    async def answer(self, request: Json) -> Json:
        """The result of `codelaw/approval/request`."""
        always_asked = request.get("alwaysAsked") is True
        if self._yes and not always_asked:
            chosen = _option(request, "allow_once")
            return _HEADLESS | ({"optionId": chosen["id"]} if chosen else {"cancelled": True})
        await self._announcement(str(request["callId"]))
        if self._yes and not self._screen.interactive:
            why = one_line(visible(str(request.get("why") or "")))
            self._screen.line(f"Refused, since {_EVERY_TIME}: {one_line(request['title'])}. {why}", style=YELLOW)
            return _HEADLESS | _rejection(request, f"Nobody can be asked, and {_EVERY_TIME}.")
        if not self._screen.interactive:
            self._screen.line(f"Refused, since nobody can be asked: {one_line(request['title'])}", style=YELLOW)
            return _HEADLESS | _rejection(request, _NOBODY)
        async with self._turn:  # one question at a time
            self._open = True
            try:
                return await self._ask(request)
            finally:
                self._open = False
                self.release()

    def _event(self, params: Json) -> None:
        if self._open:
            self._kept.append(params)
        else:
            self._show(params)
        event: Json = params["event"]
        if event.get("status") == "awaiting_approval":
            self._announced.setdefault(str(event.get("callId")), asyncio.Event()).set()

    async def _announcement(self, call: str) -> None:
        """Let what led to the call be shown first: requests overtake events on their way."""
        announced = self._announced.setdefault(call, asyncio.Event())
        try:
            async with asyncio.timeout(ANNOUNCED_SECONDS):
                await announced.wait()
        except TimeoutError:
            return  # a server that does not announce its questions

    async def _ask(self, request: Json) -> Json:
        screen = self._screen
        screen.line(f"\n{one_line(visible(_question(request)), _room(request))}", style=BOLD)
        offered = {kind: option for kind in KEYS if (option := _option(request, kind))}
        hidden = self._rows(_previewed(request))
        self._choices(request, offered, hidden)
        while True:
            _drop_typed_ahead()
            screen.stream("? ", aside=True, style=BOLD)
            typed = await read_line()
            screen.answered()
            if typed is None:
                return _rejection(request, "")
            if without_keys(typed).lower() == "d" and hidden:
                hidden = self._rows(hidden)
                self._choices(request, offered, hidden)
            elif await _more_is_typed():
                screen.line("  Several lines at once are not an answer.", style=DIM)
            elif (chosen := verdict(typed, offered)) is None:
                screen.line(f"  Please answer {_choices(_open(offered, hidden), more=bool(hidden))}.", style=DIM)
            elif chosen[0] == "reject":
                return _rejection(request, chosen[1])
            elif hidden and offered[chosen[0]]["kind"] != "reject":
                screen.line(f"  {len(hidden)} more rows come first: d shows them.", style=DIM)
            else:
                return {"optionId": offered[chosen[0]]["id"]}

    def _rows(self, preview: list[Row]) -> list[Row]:
        """Show so much of a preview as a person looks through at once; gives the rest."""
        for row, style in preview[:SHOWN_ROWS]:
            self._screen.line(row, style=style)
        return preview[SHOWN_ROWS:]

    def _choices(self, request: Json, offered: dict[str, Json], hidden: list[Row]) -> None:
        """What there is to know beside what would be done, and the answers; none that allows what was not shown."""
        screen = self._screen
        if description := request.get("description"):
            screen.line(f"  The model's words for it: “{one_line(visible(str(description)))}”", style=DIM)
        if request.get("alwaysAsked"):
            screen.line(f"  This is asked every time. {one_line(visible(str(request.get('why') or '')))}", style=YELLOW)
        if hidden:
            screen.line(f"  … {len(hidden)} more rows. d shows them; only then it can be allowed.", style=YELLOW)
        for kind, option in _open(offered, hidden).items():
            screen.line(f"  {KEYS[kind]}  {one_line(visible(option['title']), SHOWN_TITLE)}")
        if not single_yes(offered):
            screen.line("  n: REASON rejects this and says what to do instead", style=DIM)


async def agreed(screen: Screen, question: str) -> bool:
    """Whether the person at the terminal, who has seen what it is about, says yes; where nobody can be asked, no."""
    if not screen.interactive:
        screen.line("Nobody can be asked here: look at what it is about, then say --yes.", style=RED)
        return False
    _drop_typed_ahead()
    screen.stream(f"{question} [y/N] ", aside=True, style=BOLD)
    return (await read_line() or "").strip().lower() in {"y", "yes"}


async def read_line() -> str | None:
    """A line from the terminal, None at its end. Cancelling it gives the terminal back."""
    await _readable()
    try:
        data = os.read(sys.stdin.fileno(), 1 << 16)
    except OSError:  # the terminal is gone
        return None
    return data.decode(errors="replace").rstrip("\n") if data else None


async def _readable() -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


def _choices(offered: dict[str, Json], *, more: bool) -> str:
    names = {"allow_once": "y (yes)", "reject": "n (no)"}
    if single_yes(offered):
        return ", ".join((names | {"allow_chat": "a (yes)"}).get(kind, KEYS[kind]) for kind in offered)
    keys = (["d (shows the rest)"] if more else []) + [names.get(kind, KEYS[kind]) for kind in offered]
    return f"{', '.join(keys)}, or n: and what to do instead"


def _open(offered: dict[str, Json], hidden: list[Row]) -> dict[str, Json]:
    """The options that can be chosen now."""
    return {kind: option for kind, option in offered.items() if not hidden or option["kind"] == "reject"}


def _previewed(request: Json) -> list[Row]:
    """What would be done, in rows of the terminal, nothing in it unseen; a row that goes on has a mark."""
    preview: Json = request.get("preview") or {}
    diff: str = preview.get("diff") or ""
    text = visible(str(preview.get("command") or diff or preview.get("text") or ""))
    styles = _DIFF if diff and not preview.get("command") else {}
    return [
        (f"{_MARGIN if number else '  '}{piece}", styles.get(line[:1], ""))
        for line in (text.removesuffix("\n").split("\n") if text else [])
        for number, piece in enumerate(rows(line, len(_MARGIN)))
    ]


def _room(request: Json) -> int:
    """Columns of the question itself: where there is no preview, it says all there is."""
    return 0 if _previewed(request) else SHOWN_TITLE


def _question(request: Json) -> str:
    """The tool and what it is about; a command stands in the preview, and titles like `Edit a.py` name the tool."""
    tool, title = str(request["tool"]), str(request["title"])
    preview: Json = request.get("preview") or {}
    command = str(preview.get("command") or "")
    about = " ".join(title.removeprefix("$").removesuffix("…").split())
    if about and " ".join(command.split()).startswith(about):
        return f"{tool}:"
    return title if title.startswith(f"{tool} ") else f"{tool}: {title}"


def _option(request: Json, kind: str) -> Json | None:
    options: list[Json] = request.get("options", [])
    field = "id" if kind == STAY else "kind"
    return next((option for option in options if option.get(field) == kind), None)


def _rejection(request: Json, comment: str) -> Json:
    chosen = _option(request, "reject")
    if chosen is None:
        return {"cancelled": True}
    return {"optionId": chosen["id"], "comment": comment[:10_000]} if comment else {"optionId": chosen["id"]}


def _drop_typed_ahead() -> None:
    """What was typed before the question was seen is not an answer to it."""
    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except termios.error:
        return  # the terminal is gone, and reading says so


async def _more_is_typed() -> bool:
    """Whether another line follows at once, as in a paste."""
    try:
        async with asyncio.timeout(TOGETHER_SECONDS):
            await _readable()
    except TimeoutError:
        return False
    return True
