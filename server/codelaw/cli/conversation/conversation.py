"""A conversation at the prompt.

The event loop runs only while a turn does; in between the line editor has the terminal.
"""

from __future__ import annotations

import asyncio
from typing import Any

from codelaw.cli.client import RemoteError
from codelaw.cli.commands.chats import undo
from codelaw.cli.commands.context import print_report
from codelaw.cli.conversation import slash
from codelaw.cli.conversation.printing import show_archive
from codelaw.cli.conversation.prompting import Prompt
from codelaw.cli.conversation.talk import Talk
from codelaw.cli.exits import CANCELLED, FINISHED
from codelaw.cli.terminal import DIM, RED, YELLOW, Screen, one_line
from codelaw.domain.safety.unseen import visible_line
from codelaw.settings.places import home, process_environment

Json = dict[str, Any]


def converse(runner: asyncio.Runner, talk: Talk, screen: Screen) -> int:
    """Read messages and answer them until the end of input, or of the terminal."""
    prompt = Prompt(home(process_environment()) / "history")
    screen.line("/help lists the commands, Ctrl-D ends.", style=DIM)
    interrupted = False
    while not talk.hangup.came:
        try:
            text = prompt.ask(talk.mode or "agent")
        except EOFError as end:
            screen.line(str(end), style=DIM)
            return FINISHED
        except KeyboardInterrupt:
            screen.line("")
            if interrupted:
                return CANCELLED
            screen.line("Ctrl-C again leaves.", style=DIM)
            interrupted = True
            continue
        interrupted = False
        if slash.read(text) == slash.Command("quit"):
            return FINISHED
        try:
            if text.strip():
                runner.run(_answer(talk, screen, text))
        except RemoteError as error:
            screen.line(str(error), style=RED)
    return CANCELLED


async def _answer(talk: Talk, screen: Screen, text: str) -> None:
    """Do what one line says."""
    match slash.read(text):
        case slash.Command(name, argument):
            await _obey(talk, screen, name, argument)
        case slash.Mistake(hint, name):
            if name and name in {one["name"] for one in await talk.called()}:
                await talk.turn(text)
            else:
                screen.line(hint, style=YELLOW)
        case message:
            await talk.turn(message)
            if talk.mode == "plan":
                screen.line("/go carries out the plan.", style=DIM)


async def _obey(talk: Talk, screen: Screen, command: str, argument: str | None) -> None:
    chat = {"chatId": talk.chat_id} if talk.chat_id else {}
    match command:
        case "new":
            talk.chat_id = None
            screen.line("A new chat.", style=DIM)
        case "mode" | "effort" if argument is not None:
            setattr(talk, command, argument)
            screen.line(f"The {command} of the next turns is {argument}.", style=DIM)
        case "mode" | "effort":
            now = getattr(talk, command) or ("agent" if command == "mode" else "as it was")
            screen.line(f"The {command} is {now}; there are {', '.join(slash.CHOICES[command])}.", style=DIM)
        case "go":
            if await talk.has_plan():
                talk.mode = "agent"
                await talk.turn(slash.CARRY_OUT)
            else:
                screen.line("There is no plan in this chat: /mode plan makes the next turns plan.", style=DIM)
        case "help":
            screen.line(slash.HELP, style=DIM)
            for one in await talk.called():
                called = f"/{one['name']} {one.get('arguments', '')}".rstrip()
                screen.line(one_line(f"{called:<15} {one['description']}"), style=DIM)
        case "context":
            print_report(screen, await talk.client.request("codelaw/context/inspect", chat))
        case "agents":
            _show_agents(screen, await talk.client.request("codelaw/agent/list", {}))
        case _ if not chat:
            screen.line("There is no chat yet.", style=DIM)
        case "compact":
            await talk.compact()
        case "undo":
            await undo(talk.client, screen, chat["chatId"], talk.workspace)
        case "restore":
            which = {"checkpointId": argument} if argument else {}
            await talk.client.request("codelaw/context/restore", chat | which)
            undone = f"Undone back to {argument}" if argument else "The newest compaction is undone"
            screen.line(f"{undone}: what it had archived is in the context again.", style=DIM)
        case _:
            show_archive(screen, await talk.client.request("codelaw/context/archive", chat))


def _show_agents(screen: Screen, found: Json) -> None:
    """What each is called by and meant for; below it where it comes from, what it may use, and what is wrong."""
    if not found["enabled"]:
        screen.line("agents.enabled is off: no turn begins a subagent.", style=YELLOW)
    for one in found["agents"]:
        screen.line(visible_line(f"{one['name']:<15} {one['description']}".rstrip()), style=DIM)
        screen.line(visible_line(f"    {' · '.join([one.get('source', 'built in'), *_limits(one)])}"), style=DIM)
        if "problem" in one:
            refused = "does not count: " if one.get("refused") else ""
            screen.line(visible_line(f"    {refused}{one['problem']}"), style=YELLOW)


def _limits(one: Json) -> list[str]:
    """What its file asks for; of a built-in kind the mode whose tools it has."""
    if "source" not in one:
        return [f"tools of the mode {one['mode']}" if "mode" in one else "all tools of the chat's mode"]
    named = {"tools": one.get("tools"), "without": one.get("disallowedTools")}
    reported = [f"{word}: {', '.join(listed) or 'none'}" for word, listed in named.items() if listed is not None]
    said = {"model: {}": "model", "effort: {}": "effort", "at most {} steps": "maxTurns"}
    return [*reported, *(form.format(one[key]) for form, key in said.items() if key in one)]
