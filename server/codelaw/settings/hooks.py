"""The settings of hooks (X-7)."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field, WithJsonSchema

from codelaw.domain.events import HookMoment
from codelaw.hooks.matching import LONGEST_MATCHER, LONGEST_SECONDS, misread
from codelaw.settings.group import Group

MOST_HOOKS = 20
"""Of one moment; each is a process (S-6)."""
LONGEST_COMMAND = 10_000
"""Characters."""
_KEYS = {"matcher", "command", "timeoutSeconds"}


def _hooks(value: object) -> object:
    entries = cast("list[object]", value) if isinstance(value, list) else []
    if not isinstance(value, list):
        message = 'expected is a list such as [{"matcher": "Bash", "command": "./check.sh"}]'
        raise ValueError(message)  # noqa: TRY004 - what pydantic makes a notice of
    if len(entries) > MOST_HOOKS:
        message = f"at most {MOST_HOOKS} hooks can be listed"
        raise ValueError(message)
    for entry in entries:
        if problem := _problem(entry):
            raise ValueError(problem)
    return entries


def _problem(given: object) -> str:
    """What is wrong with one hook; empty where nothing is."""
    if not isinstance(given, dict):
        return "each hook is a table with a `command`"
    entry = cast("dict[str, object]", given)
    if unknown := sorted(set(map(str, entry)) - _KEYS):
        return f"a hook has `matcher`, `command` and `timeoutSeconds`, and no `{unknown[0][:40]}`"
    command, matcher, seconds = entry.get("command"), entry.get("matcher", ""), entry.get("timeoutSeconds", 1)
    if not isinstance(command, str) or not command.strip() or "\0" in command or len(command) > LONGEST_COMMAND:
        return f"`command` is a line for the shell, of at most {LONGEST_COMMAND} characters"
    if not isinstance(matcher, str):
        return "`matcher` is a text"
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 1 <= seconds <= LONGEST_SECONDS:
        return f"`timeoutSeconds` is a number from 1 to {LONGEST_SECONDS:g}"
    return misread(matcher)


_ENTRY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "matcher": {"type": "string", "maxLength": LONGEST_MATCHER},
        "command": {"type": "string", "minLength": 1, "maxLength": LONGEST_COMMAND},
        "timeoutSeconds": {"type": "number", "minimum": 1, "maximum": LONGEST_SECONDS},
    },
    "required": ["command"],
    "additionalProperties": False,
}
HookList = Annotated[
    list[dict[str, Any]],
    BeforeValidator(_hooks),
    WithJsonSchema({"type": "array", "items": _ENTRY, "maxItems": MOST_HOOKS}),
]


def _field(moment: HookMoment, when: str) -> Any:
    return Field(default_factory=list[dict[str, Any]], alias=moment, description=when)


class HooksGroup(Group):
    """Commands of your own that run at certain moments (X-7)."""

    pre_tool_use: HookList = _field(
        "PreToolUse",
        "Commands that run before a tool does and may refuse it: `matcher` names tools (`Bash`, `Edit|Write`,"
        " `mcp__*`), `command` is a line for the shell, `timeoutSeconds` is 60 where it is not said.",
    )
    post_tool_use: HookList = _field(
        "PostToolUse", "Commands that run when a tool has run and may comment on its result."
    )
    user_prompt_submit: HookList = _field(
        "UserPromptSubmit", "Commands that run before a message is taken, and may refuse it or add to it."
    )
    stop: HookList = _field("Stop", "Commands that run when the answer stands, and may let the turn go on instead.")
    subagent_stop: HookList = _field(
        "SubagentStop",
        "Commands that run when a subagent's report stands, and may let it go on instead: `matcher` names its kind.",
    )
    session_start: HookList = _field(
        "SessionStart", "Commands that run before the first turn of a chat, and may add to its message."
    )
    pre_compact: HookList = _field("PreCompact", "Commands that run before a chat is compacted.")
    post_compact: HookList = _field("PostCompact", "Commands that run after a chat was compacted.")
