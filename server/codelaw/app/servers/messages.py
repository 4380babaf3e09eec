"""What a message calls and mentions of the user's servers: prompts as `/mcp__server__prompt`, `@server:uri` (X-3)."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from codelaw.agent.inputs.gathering import Called
from codelaw.context.escaping import one_name
from codelaw.context.mentions import can_be_mentioned, resources_named
from codelaw.context.observations.layout import foreign
from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.events import Mention
from codelaw.domain.extensions import Sheet, UserCommand
from codelaw.domain.messages import Fragment
from codelaw.domain.reports import MentionItem
from codelaw.skills.commands import call
from codelaw.templates.render import render
from codelaw.tools.bounds import cut_middle
from codelaw.tools.served.names import tool_name
from codelaw.tools.served.schemas import words

if TYPE_CHECKING:
    from codelaw.domain.served import ServedPrompt, ServedResult
    from codelaw.ports.servers import ToolServers

LONGEST_TEXT = 60_000
"""Characters of a prompt, or of a resource, that go along with a message."""
MOST_RESOURCES = 5
"""Read for one message."""
PATIENCE = 20.0
"""Seconds for what a message needs of servers; the rest is left out."""
DESCRIBED = 200
LEFT_OUT = "resource_left_out"


def prompt_commands(servers: ToolServers) -> list[UserCommand]:
    """The prompts of servers as commands."""
    found: dict[str, UserCommand] = {}
    for prompt in servers.offer().prompts:
        name = tool_name(prompt.server, prompt.name)
        sheet = Sheet(name, f"the server {prompt.server}", f"mcp:{prompt.server}", own=True)
        arguments = " ".join(f"[{words(argument, 40)}]" for argument in prompt.arguments[:20])
        described = " ".join(words(prompt.description, DESCRIBED).split())
        found.setdefault(name, UserCommand(sheet, described, arguments, ""))
    return list(found.values())


async def gathered(text: str, called: Called, servers: ToolServers) -> Called:
    """With the prompt that the message calls, and the resources that it mentions."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await _with_resources(text, await _with_prompt(text, called, servers), servers)
    except TimeoutError:
        said = f"What the message names of servers was left out: there was no answer within {PATIENCE:g} seconds."
        return replace(called, notices=(*called.notices, Notice("warning", LEFT_OUT, said)))


async def _with_prompt(text: str, called: Called, servers: ToolServers) -> Called:
    wanted = call(text)
    if wanted is None or called != Called():
        return called
    offered = servers.offer().prompts
    prompt = next((one for one in offered if tool_name(one.server, one.name) == wanted.name), None)
    if prompt is None:
        return called
    try:
        made = await servers.prompt(prompt.server, prompt.name, _arguments(prompt, wanted.arguments))
    except ToolFailure as failure:
        said = f"/{wanted.name} was not called: {failure.message}"
        return Called(notices=(Notice("warning", "command_left_out", said),))
    shown = foreign(cut_middle(made, LONGEST_TEXT))
    fragment = render("served_prompt", label=wanted.name, server=prompt.server, text=shown)
    return Called("", (Fragment("command", fragment),))


def _arguments(prompt: ServedPrompt, typed: str) -> dict[str, str]:
    """What was typed as the prompt's arguments in their order, the last of which takes all that is left."""
    names = prompt.arguments
    try:
        parts = shlex.split(typed)
    except ValueError:  # a quote that is not closed
        parts = typed.split()
    if not names or not parts:
        return {}
    if len(names) == 1:
        return {names[0]: typed}
    given = dict(zip(names[:-1], parts, strict=False))
    rest = parts[len(names) - 1 :]
    return given | ({names[-1]: " ".join(rest)} if rest else {})


async def _with_resources(text: str, called: Called, servers: ToolServers) -> Called:
    known = {state.name for state in servers.states()}
    named = resources_named(text, known)
    read = await asyncio.gather(*(_read(server, uri, servers) for server, uri in named[:MOST_RESOURCES]))
    fragments = tuple(one for one in read if isinstance(one, Fragment))
    mentions = tuple(
        Mention(f"{server}:{uri}", "resource" if isinstance(one, Fragment) else "unresolved")
        for (server, uri), one in zip_longest(named, read)
    )
    notices = [one for one in read if isinstance(one, Notice)]
    if len(named) > MOST_RESOURCES:
        said = f"Only the first {MOST_RESOURCES} of {len(named)} resources were read."
        notices.append(Notice("warning", LEFT_OUT, said))
    return replace(
        called,
        fragments=(*called.fragments, *fragments),
        notices=(*called.notices, *notices),
        mentions=(*called.mentions, *mentions),
    )


async def _read(server: str, uri: str, servers: ToolServers) -> Fragment | Notice:
    shown = one_name(uri)[:DESCRIBED]
    try:
        result = await servers.read(server, uri)
    except ToolFailure as failure:
        return Notice("warning", LEFT_OUT, f"@{server}:{shown} was left out: {failure.message}")
    if result.failed or not result.text:
        return Notice("warning", LEFT_OUT, f"@{server}:{shown} was left out: {_why(result)}")
    text = cut_middle(result.text, LONGEST_TEXT)
    cut = result.cut or text != result.text
    resource = shown.replace('"', "'")
    return Fragment("resource", render("resource", server=server, uri=resource, text=foreign(text), cut=cut))


def _why(result: ServedResult) -> str:
    if result.failed:
        return words(result.text, DESCRIBED) or "the server says that it cannot be read."
    return "it has no text."


def resource_items(prefix: str, servers: ToolServers, limit: int) -> Sequence[MentionItem]:
    """Completions of an `@server:uri`, by any part of server, address and name."""
    typed = prefix.removeprefix("@").removeprefix('"').casefold()
    found = [
        MentionItem(f"{one.server}:{one.uri}", "resource", " ".join(words(one.name, DESCRIBED).split()) or None)
        for one in servers.offer().resources
        if typed and typed in f"{one.server}:{one.uri}\n{one.name}".casefold() and can_be_mentioned(one.uri)
    ]
    return found[:limit]
