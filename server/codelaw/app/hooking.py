"""The hooks of a chat, and what they make of a message before it is stored (X-7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from codelaw.agent.hooks.running import Hooks, fragments
from codelaw.domain.errors import Refusal
from codelaw.hooks.matching import DEFAULT_SECONDS, Hook

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.inputs.gathering import UserMessage
    from codelaw.domain.chats import Mode
    from codelaw.domain.events import HookMoment
    from codelaw.domain.messages import Fragment
    from codelaw.hooks.answers import Merged
    from codelaw.ports.workspace import Processes
    from codelaw.settings.hooks import HooksGroup
    from codelaw.settings.model import Settings


def hooks_of(
    agent: AgentChat, settings: Settings, mode: Mode, processes: Processes, *, restricted: bool, path: str
) -> Hooks | None:
    """The hooks in force in a chat; None without any, without a folder, and where the editor trusts none (S-7).

    `path` is the PATH that they have.
    """
    found, folders = declared(settings.hooks), agent.house.workspace.folders
    if restricted or not found or not folders:
        return None
    house = agent.house
    return Hooks(
        found,
        processes,
        folders[0].root,
        agent.chat.id,
        mode,
        outbox=agent.outbox,
        redaction=house.redaction,
        recorder=house.recorder,
        obeyed=house.workspace.obeyed,
        folders=tuple(folder.root for folder in folders),
        path=path,
        told=agent.noticed,
    )


async def heard_out(agent: AgentChat, question: UserMessage, text: str) -> UserMessage:
    """The question with what hooks add to it: those of the session at its first turn here, and those of the message.

    Raises:
        Refusal: `hook_blocked`: one refuses the message.
    """
    hooks = agent.house.hooks
    if hooks is None:
        return question
    added: tuple[Fragment, ...] = ()
    try:
        if not agent.greeted:
            source = "resume" if agent.chat.turns else "startup"
            greeting = await hooks.run("SessionStart", source, {"source": source})
            added += fragments("SessionStart", greeting)
            agent.greeted = True
        added += fragments("UserPromptSubmit", await _asked(hooks, text))
    except Refusal:
        await agent.outbox.drain()
        raise
    return added_to(question, added)


def added_to(question: UserMessage, added: Sequence[Fragment]) -> UserMessage:
    """The question with what hooks add to it."""
    return replace(question, fragments=(*question.fragments, *added)) if added else question


async def let_through(agent: AgentChat, text: str) -> tuple[Fragment, ...]:
    """Ask the hooks about a message to a running turn; gives what they add to it.

    Raises:
        Refusal: `hook_blocked`.
    """
    if agent.house.hooks is None:
        return ()
    return fragments("UserPromptSubmit", await _asked(agent.house.hooks, text))


async def _asked(hooks: Hooks, text: str) -> Merged:
    said = await hooks.run("UserPromptSubmit", "", {"prompt": text})
    if said.verdict == "deny":
        message = f"A hook refused the message: {said.reason}"
        raise Refusal("hook_blocked", message, "Change the message, or the hooks in the settings.")
    return said


def taken_back(settings: Settings) -> None:
    """A message was cancelled before hooks had let it through: it is kept only where there is none to ask.

    Raises:
        Refusal: `hook_blocked`.
    """
    if any(hook.event == "UserPromptSubmit" for hook in declared(settings.hooks)):
        message = "The message was taken back before its hooks had ended."
        raise Refusal("hook_blocked", message, "Send it again.")


def declared(hooks: HooksGroup) -> tuple[Hook, ...]:
    """All of them, by moment."""
    lists = cast("dict[HookMoment, list[dict[str, Any]]]", hooks.model_dump(by_alias=True))
    return tuple(
        Hook(moment, entry["command"], entry.get("matcher", ""), float(entry.get("timeoutSeconds", DEFAULT_SECONDS)))
        for moment, entries in lists.items()
        for entry in entries
    )
