"""`@terminal:last`: what a terminal of the editor has printed last, else what the chat's last command did (M-8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from codelaw.app.referring.bounds import LONGEST, attribute, foreign
from codelaw.domain.code import TerminalOutput
from codelaw.domain.errors import ToolFailure
from codelaw.domain.messages import Fragment
from codelaw.templates.render import render
from codelaw.tools.bounds import cut_middle

if TYPE_CHECKING:
    from codelaw.domain.messages import Message
    from codelaw.ports.editor import LanguageServices

LAST = "last"
NOTHING = "no terminal of the editor has printed anything yet, and no command has run in this chat."
_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
"""Colours, titles and marks of a terminal."""


async def last_output(services: LanguageServices | None, said: Sequence[Message]) -> Fragment | str:
    """The last output as a fragment, the editor's before that of what was `said`; a sentence where there is none."""
    shown = None
    if services is not None and "terminal" in services.offered:
        try:
            shown = await services.terminal()
        except ToolFailure:
            shown = None  # it hangs, or failed: the chat's own counts
    shown = shown or last_command(said)
    if shown is None:
        return NOTHING
    plain = _CONTROL.sub("", shown.output).replace("\r\n", "\n").rstrip()
    text = cut_middle(plain, LONGEST)
    return Fragment(
        "terminal",
        render(
            "terminal",
            label=attribute(shown.name),
            command=attribute(" ".join(shown.command.split())),
            exit_code=shown.exit_code,
            text=foreign(text),
            cut=text != plain,
        ),
    )


def last_command(messages: Iterable[Message]) -> TerminalOutput | None:
    """What the newest Bash call among these has printed, as the chat keeps it."""
    found = None
    commands: dict[str, str] = {}
    for message in messages:
        commands |= {call.id: str(call.arguments.get("command", "")) for call in message.metadata.calls}
        if message.role == "tool" and message.metadata.tool_name == "Bash":
            found = message
    if found is None:
        return None
    try:
        body: Any = json.loads(found.content)
    except ValueError:
        return None  # the disk has altered it
    data = cast("Mapping[str, Any]", body).get("data") if isinstance(body, Mapping) else None
    if not isinstance(data, Mapping):
        return None
    told = cast("Mapping[str, Any]", data)
    output = "\n".join(str(told[name]) for name in ("stdout", "stderr") if told.get(name))
    code = told.get("exit_code")
    command = commands.get(found.metadata.call_id or "", "")
    return TerminalOutput(output, "", command, code if isinstance(code, int) else None)
