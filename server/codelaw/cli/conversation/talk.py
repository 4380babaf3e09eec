"""A chat as the terminal has it: its client, its turn, and how Ctrl-C ends that."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from codelaw.cli.approvals import TerminalApprover
from codelaw.cli.client import CANCELLED as REQUEST_CANCELLED
from codelaw.cli.client import RemoteError, TerminalClient
from codelaw.cli.conversation.hangup import LEAVE_SECONDS, Hangup
from codelaw.cli.conversation.printing import TurnPrinter
from codelaw.cli.exits import CANCELLED, FAILED, FINISHED
from codelaw.cli.privileges import ROOT, is_root
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, YELLOW, Screen, one_line

Json = dict[str, Any]

NEWEST = 2**63 - 1
"""Above the number of every event: none are read."""


class Talk:
    """A chat as the terminal has it: where it is, and the turn that runs."""

    def __init__(self, server: Server, arguments: argparse.Namespace, screen: Screen) -> None:
        self.client = TerminalClient(server)
        self.chat_id: str | None = arguments.chat
        self.mode: str | None = arguments.mode
        self.effort: str | None = arguments.effort
        self.workspace = Path(arguments.workspace).resolve()
        self.hangup = Hangup()
        self._arguments = arguments
        self._screen = screen
        self._asking = TerminalApprover(screen, yes=arguments.yes)
        self._kind = "panel"
        self._interrupts = 0
        self._held: list[str] = []
        """Errors that the server has told before a turn; what that is refused for, the refusal says."""
        self._planned: str | None = None
        """The chat that is known to have a plan."""

    async def begin(self, kind: str) -> None:
        """Connect; new chats will be of `kind` (H-5)."""
        self._kind = kind
        self.client.on_approval = self._asking.answer
        self.client.on_message = self._message
        await self.client.connect(Path(self._arguments.workspace), ignore_settings=self._arguments.ignore_settings)
        if kind == "panel" and is_root():
            self._screen.line(ROOT, style=YELLOW)
        if vars(self._arguments)["continue"]:
            await self._take_newest()

    async def _take_newest(self) -> None:
        """Go on with the newest chat of this workspace, or begin the first one.

        Those that an editor's actions have begun, as for the message of a commit, are not meant (E-3, H-5).
        """
        found = (await self.client.request("codelaw/chat/list", {"limit": 500, "here": True}))["chats"]
        chat = next((one for one in found if one["kind"] != "inline"), None)
        if chat is None:
            self._screen.line("No chat was begun in this folder yet; this is a new one.", style=YELLOW)
            return
        self.chat_id = chat["id"]
        self._screen.line(one_line(f"Going on with chat {self.chat_id}: {chat['title']}"), style=DIM)

    async def turn(self, text: str) -> int:
        """One turn; gives the exit status it stands for.

        Raises:
            RemoteError: the server refused it.
            ServerDiedError: the server is gone.
        """
        chosen = {name: getattr(self._arguments, name) for name in ("model", "strategy")} | {
            "mode": self.mode,
            "effort": self.effort,
        }
        chosen = {name: value for name, value in chosen.items() if value is not None}
        is_new = self.chat_id is None
        if is_new:
            made = await self.client.request("codelaw/chat/create", {"kind": self._kind} | chosen)
            self.chat_id = made["id"]
        printer = None if self._arguments.json else TurnPrinter(self._screen, talking=self._kind == "panel")
        self.client.on_event = self._asking.shown_by(lambda params: self._show(printer, params))
        try:
            result = await self._interruptible("codelaw/chat/send", {"chatId": self.chat_id, "text": text} | chosen)
        except RemoteError as error:
            if is_new:  # nothing was said in it
                await self.client.request("codelaw/chat/delete", {"chatId": self.chat_id})
                self.chat_id = None
            if error.code != REQUEST_CANCELLED:
                raise
            self._screen.line("Cancelled before it was sent.", style=YELLOW)
            return CANCELLED
        if self.mode == "plan":
            self._planned = self.chat_id
        self._asking.release()
        if printer is None:
            _print_json(result)
        else:
            printer.result(result)
        return {"finished": FINISHED, "cancelled": CANCELLED}.get(result["stopReason"], FAILED)

    async def has_plan(self) -> bool:
        """Whether a turn has planned in the chat: one of this conversation, or the newest one.

        Raises:
            RemoteError: the server cannot read the chat.
            ServerDiedError: the server is gone.
        """
        if self.chat_id is not None and self._planned != self.chat_id:
            none_of_it = {"chatId": self.chat_id, "limit": 0, "sinceSeq": NEWEST}
            read = await self.client.request("codelaw/chat/read", none_of_it)
            if read["chat"]["mode"] == "plan":
                self._planned = self.chat_id
        return self.chat_id is not None and self._planned == self.chat_id

    async def called(self) -> list[Json]:
        """What a message can call: the commands of the user's, and skills whose names are not taken by one."""
        commands: list[Json] = (await self.client.request("codelaw/command/list", {}))["commands"]
        names = {one["name"] for one in commands}
        skills: list[Json] = (await self.client.request("codelaw/skill/list", {}))["skills"]
        return [
            *commands,
            *(one for one in skills if one["name"] not in names and not {"shadowed", "unreadable"} & {*one}),
        ]

    async def compact(self) -> None:
        """Compact the chat, and show its progress and how it went.

        Raises:
            RemoteError: the server refused it.
            ServerDiedError: the server is gone.
        """
        printer = TurnPrinter(self._screen, talking=True)
        self.client.on_event = lambda params: self._show(printer, params)
        report = await self._interruptible("codelaw/context/compact", {"chatId": self.chat_id})
        if not printer.compacted:
            printer.report(report)

    async def _interruptible(self, method: str, params: Json) -> Json:
        """A long request, which Ctrl-C cancels; it still has its result."""
        request, answer = self.client.begin(method, params)
        self._interrupts = 0
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt, request)
        self.hangup.stop = lambda: loop.call_soon_threadsafe(self._leave, request)
        try:
            return await answer
        except RemoteError as error:
            if error.data.get("code") == "settings_unreadable":
                self._held.clear()
            raise
        finally:
            self._say_held()
            self.hangup.stop = None
            loop.remove_signal_handler(signal.SIGINT)

    def _show(self, printer: TurnPrinter | None, params: Json) -> None:
        if params.get("chatId") != self.chat_id:
            return
        self._say_held()
        if printer is None:
            _print_json(params)
        else:
            printer.event(params["event"])

    def _message(self, params: Json) -> None:
        kind, text = params.get("type", 4), str(params.get("message", ""))
        if kind == 1:
            self._held.append(text)
        elif kind <= 2:  # errors and warnings
            self._screen.line(text, style=YELLOW)

    def _say_held(self) -> None:
        for text in self._held:
            self._screen.line(text, style=YELLOW)
        self._held.clear()

    def _interrupt(self, request: int) -> None:
        """Ctrl-C: cancel what runs; once more: leave at once."""
        self._interrupts += 1
        if self._interrupts > 1:
            self._screen.end_line()
            os._exit(CANCELLED)  # the end of its input ends the server too
        self._screen.line("Cancelling… (Ctrl-C again leaves)", style=YELLOW)
        self.client.cancel(request)

    def _leave(self, request: int) -> None:
        """The terminal is gone: the turn ends as with Ctrl-C, and then the process."""
        self.client.cancel(request)
        asyncio.get_running_loop().call_later(LEAVE_SECONDS, os._exit, CANCELLED)


def _print_json(value: Json) -> None:
    # ASCII, so that neither an encoding nor a terminal can break a line.
    sys.stdout.write(json.dumps(value, separators=(",", ":")) + "\n")
    sys.stdout.flush()
