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
from codelaw.cli.conversation.history import History
from codelaw.cli.conversation.printing import show_archive
from codelaw.cli.conversation.prompting import EndedMeanwhileError, Prompt
from codelaw.cli.conversation.talk import Talk
from codelaw.cli.exits import CANCELLED, FINISHED
from codelaw.cli.terminal import DIM, RED, YELLOW, Screen, one_line
from codelaw.domain.safety.unseen import visible_line

Json = dict[str, Any]


def show_agents(screen: Screen, found: Json) -> None:
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
    named = {"tools": one.get("tools"), "without": one.get("disallowedTools")}
    reported = [f"{word}: {', '.join(listed) or 'none'}" for word, listed in named.items() if listed is not None]
    if "source" not in one:
        reported = [f"tools of the mode {one['mode']}" if "mode" in one else "all tools of the chat's mode"]
    if "model" in one:
        reported.append(f"model: {one['model']}")
    if "effort" in one:
        reported.append(f"effort: {one['effort']}")
    if "maxTurns" in one:
        reported.append(f"at most {one['maxTurns']} steps")
    return reported


def converse(runner: asyncio.Runner, talk: Talk, screen: Screen) -> int:
    """Read messages and answer them until the end of input, or of the terminal."""
    from codelaw.settings.places import home, process_environment  # noqa: PLC0415 - after the prompt's other imports

    prompt = Prompt(History(home(process_environment()) / "history"))
    screen.line("/help lists the commands, Ctrl-D ends.", style=DIM)
    interrupted = False
    while not talk.hangup.came:
        try:
            text = prompt.ask(talk.mode or "agent")
        except EndedMeanwhileError:
            screen.line("Ctrl-D was typed meanwhile: leaving.", style=DIM)
            return FINISHED
        except EOFError:
            screen.line("")
            return FINISHED
        except KeyboardInterrupt:
            screen.line("")
            if interrupted:
                return CANCELLED
            screen.line("Ctrl-C again leaves.", style=DIM)
            interrupted = True
            continue
        interrupted = False
        if not text.strip():
            continue
        match slash.read(text):
            case slash.Command("quit"):
                return FINISHED
            case slash.Command(name, argument):
                _obey(runner, talk, screen, name, argument)
            case slash.Mistake(hint, name):
                try:
                    if name and name in {one["name"] for one in runner.run(talk.called())}:
                        runner.run(talk.turn(text))
                    else:
                        screen.line(hint, style=YELLOW)
                except RemoteError as error:
                    screen.line(error.reported(), style=RED)
            case message:
                _say(runner, talk, screen, message)
                if talk.mode == "plan":
                    screen.line("/go carries out the plan.", style=DIM)
    return CANCELLED


def _say(runner: asyncio.Runner, talk: Talk, screen: Screen, message: str) -> None:
    try:
        runner.run(talk.turn(message))
    except RemoteError as error:
        screen.line(error.reported(), style=RED)


def _obey(runner: asyncio.Runner, talk: Talk, screen: Screen, command: str, argument: str | None) -> None:
    if command == "new":
        talk.chat_id = None
        screen.line("A new chat.", style=DIM)
    elif command == "mode" and argument is not None:
        talk.mode = argument
        screen.line(f"The next turns run in mode {argument}.", style=DIM)
    elif command == "mode":
        screen.line(f"The mode is {talk.mode or 'agent'}; there are {', '.join(slash.MODES)}.", style=DIM)
    elif command == "effort" and argument is not None:
        talk.effort = argument
        screen.line(f"The next turns have the effort {argument}.", style=DIM)
    elif command == "effort":
        screen.line(f"The effort is {talk.effort or 'as it was'}; there are {', '.join(slash.EFFORTS)}.", style=DIM)
    elif command == "go":
        _carry_out(runner, talk, screen)
    else:
        try:
            runner.run(_ask(talk, screen, command, argument))
        except RemoteError as error:
            screen.line(error.reported(), style=RED)


def _carry_out(runner: asyncio.Runner, talk: Talk, screen: Screen) -> None:
    try:
        planned = runner.run(talk.has_plan())
    except RemoteError as error:
        screen.line(error.reported(), style=RED)
        return
    if not planned:
        screen.line("There is no plan in this chat: /mode plan makes the next turns plan.", style=DIM)
        return
    talk.mode = "agent"
    _say(runner, talk, screen, slash.CARRY_OUT)


async def _ask(talk: Talk, screen: Screen, command: str, argument: str | None) -> None:
    """A command that asks the server."""
    chat = {"chatId": talk.chat_id} if talk.chat_id else {}
    if command == "help":
        screen.line(slash.HELP, style=DIM)
        for one in await talk.called():
            called = f"/{one['name']} {one.get('arguments', '')}".rstrip()
            screen.line(one_line(f"{called:<15} {one['description']}"), style=DIM)
    elif command == "context":
        print_report(screen, await talk.client.request("codelaw/context/inspect", chat))
    elif command == "agents":
        show_agents(screen, await talk.client.request("codelaw/agent/list", {}))
    elif not chat:
        screen.line("There is no chat yet.", style=DIM)
    elif command == "compact":
        await talk.compact()
    elif command == "undo":
        await undo(talk.client, screen, chat["chatId"], talk.workspace)
    elif command == "restore":
        which = {"checkpointId": argument} if argument else {}
        await talk.client.request("codelaw/context/restore", chat | which)
        undone = f"Undone back to {argument}" if argument else "The newest compaction is undone"
        screen.line(f"{undone}: what it had archived is in the context again.", style=DIM)
    else:
        show_archive(screen, await talk.client.request("codelaw/context/archive", chat))
