"""`@problems:`, what the editor's diagnostics say, and `@terminal:`, what its terminal shows (M-8)."""

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
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.domain.messages import Message
    from codelaw.ports.editor import LanguageServices
    from codelaw.ports.workspace import Workspace

MOST_PROBLEMS = 100
MESSAGE_CHARACTERS = 500
SECONDS = 5.0
_RANK = {"error": 0, "warning": 1, "information": 2, "hint": 3}


async def problems(workspace: Workspace, services: LanguageServices | None) -> Fragment | str:
    """The problems of the workspace as a fragment; a sentence that says why there is none.

    Those of files that a rule denies, or that lie outside the workspace, are left out and not counted.
    """
    if services is None or "diagnostics" not in services.offered:
        return "this editor does not lend its diagnostics."
    try:
        documents = await services.diagnostics(seconds=SECONDS)
    except ToolFailure as failure:
        return failure.message
    rows: list[tuple[int, str, int, str]] = []
    for document in documents:
        try:
            shown = (await located(workspace, document.path)).shown
        except ToolFailure:
            continue
        for one in document.findings:
            said = " ".join(one.message.split())[:MESSAGE_CHARACTERS]
            origin = " ".join(filter(None, (one.source, one.code)))
            line = one.span.start.line + 1
            reported = f"{shown}:{line}: {one.severity}: {said}" + (f" ({origin})" if origin else "")
            rows.append((_RANK[one.severity], shown, line, reported))
    rows.sort()
    lines: list[str] = []
    room = LONGEST
    for *_, reported in rows[:MOST_PROBLEMS]:
        room -= len(reported) + 1
        if room < 0:
            break
        lines.append(reported)
    text = "\n".join(foreign(line) for line in lines)
    return Fragment("problems", render("problems", text=text, total=len(rows), left_out=len(rows) - len(lines)))


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
    reported = cast("Mapping[str, Any]", data)
    output = "\n".join(str(reported[name]) for name in ("stdout", "stderr") if reported.get(name))
    code = reported.get("exit_code")
    command = commands.get(found.metadata.call_id or "", "")
    return TerminalOutput(output, "", command, code if isinstance(code, int) else None)
