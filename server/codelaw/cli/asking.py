"""Approvals on the terminal (S-2)."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from codelaw.cli.terminal import BOLD, DIM, GREEN, RED, YELLOW, Screen, one_line

Json = dict[str, Any]

SHOWN_LINES = 60
"""Of a diff or command; `d` shows the rest."""
_KEYS = {"y": "allow_once", "a": "allow_chat", "p": "allow_always", "n": "reject"}
_DIFF = {"+": GREEN, "-": RED, "@": DIM}
_NOBODY = "Nobody can be asked: codelaw runs without a terminal and without --yes."


class Asking:
    """Answers approval requests: by `--yes`, by the person at the terminal, or with a refusal."""

    def __init__(self, screen: Screen, *, yes: bool) -> None:
        self._screen = screen
        self._yes = yes
        self._turn = asyncio.Lock()

    async def answer(self, request: Json) -> Json:
        """The result of `codelaw/approval/request`."""
        if self._yes:
            chosen = _option(request, "allow_once")
            return {"optionId": chosen["id"]} if chosen else {"cancelled": True}
        if not self._screen.interactive:
            self._screen.line(f"Refused, since nobody can be asked: {one_line(request['title'])}", style=YELLOW)
            return _rejection(request, _NOBODY)
        async with self._turn:  # one question at a time
            return await self._ask(request)

    async def _ask(self, request: Json) -> Json:
        screen = self._screen
        screen.line(f"\n{one_line(_question(request))}", style=BOLD)
        preview: Json = request.get("preview") or {}
        command: str = preview.get("command") or ""
        lines = (command or preview.get("diff") or "").splitlines()
        styles = {} if command else _DIFF
        for line in lines[:SHOWN_LINES]:
            screen.line(f"  {line}", style=styles.get(line[:1], ""))
        hidden = lines[SHOWN_LINES:]
        if hidden:
            screen.line(f"  … {len(hidden)} more lines (d shows them)", style=DIM)
        offered = {key: option for key, kind in _KEYS.items() if (option := _option(request, kind))}
        for key, option in offered.items():
            screen.line(f"  {key}  {one_line(option['title'])}")
        screen.line("  or say what to do instead, which rejects this", style=DIM)
        _drop_typed_ahead()
        while True:
            screen.stream("? ", aside=True, style=BOLD)
            typed = await read_line()
            screen.answered()
            if typed is None:
                return _rejection(request, "")
            word = typed.strip()
            if word.lower() == "d" and hidden:
                for line in hidden:
                    screen.line(f"  {line}", style=styles.get(line[:1], ""))
            elif word.lower() in offered:
                return {"optionId": offered[word.lower()]["id"]}
            elif len(word) > 1:
                return _rejection(request, word)
            else:
                screen.line(f"  {', '.join(offered)} or a few words", style=DIM)


async def read_line() -> str | None:
    """A line from the terminal, None at its end. Cancelling it gives the terminal back."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[bytes] = loop.create_future()
    descriptor = sys.stdin.fileno()

    def readable() -> None:
        loop.remove_reader(descriptor)
        if not ready.done():
            ready.set_result(os.read(descriptor, 1 << 16))

    loop.add_reader(descriptor, readable)
    try:
        data = await ready
    finally:
        loop.remove_reader(descriptor)
    return data.decode(errors="replace").rstrip("\n") if data else None


def _question(request: Json) -> str:
    """The tool and what it is about; titles like `Edit a.py` name the tool themselves."""
    tool, title = str(request["tool"]), str(request["title"])
    return title if title.startswith(f"{tool} ") else f"{tool}: {title}"


def _option(request: Json, kind: str) -> Json | None:
    options: list[Json] = request.get("options", [])
    return next((option for option in options if option.get("kind") == kind), None)


def _rejection(request: Json, comment: str) -> Json:
    chosen = _option(request, "reject")
    if chosen is None:
        return {"cancelled": True}
    return {"optionId": chosen["id"], "comment": comment[:10_000]} if comment else {"optionId": chosen["id"]}


def _drop_typed_ahead() -> None:
    """What was typed before the question was seen is no answer to it."""
    if sys.platform != "win32":
        import termios  # noqa: PLC0415 - not there on Windows

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
