"""Finds what people bring along: the commands of a workspace and of its user (X-7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.agent.inputs.gathering import NOTHING_CALLED, Called
from codelaw.app.extensions.finding import markdown_files, text_of
from codelaw.context.escaping import one_name, quoted
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.extensions import Sheet, UserCommand
from codelaw.domain.messages import Fragment
from codelaw.skills.commands import LONGEST_COMMAND, PLACES, call, command, expanded, name_of
from codelaw.templates.render import render

if TYPE_CHECKING:
    from codelaw.ports.workspace import Workspace

MOST_FILES = 500
"""Of commands, in one place."""
LONGEST_EXPANDED = 1_000_000
"""Characters of a command with its arguments, as of a message (S-6)."""


class Bringing:
    """Looks anew each time that it is asked, and only then: a message that begins with a slash, a list.

    Of two commands with one name the workspace's counts, in the order of `PLACES`; then the user's.
    """

    def __init__(self, own: Sequence[Path]) -> None:
        self._own = tuple(own)

    async def commands(self, workspace: Workspace, *, restricted: bool) -> list[UserCommand]:
        """All that can be called, sorted by name; `workspace` is what the rules let be read.

        Where the editor does not trust the folder its commands do not count (S-7).
        """
        sheets = await self._sheets(workspace, restricted=restricted)
        found = [await self._read(workspace, sheet) for sheet in sheets.values()]
        return sorted((one for one in found if one is not None), key=lambda one: one.sheet.name.casefold())

    async def called(self, text: str, workspace: Workspace, *, restricted: bool) -> Called:
        """What a message calls; nothing where it calls no command, as it is a message like any other then.

        Raises:
            Refusal: `invalid_text`: with its arguments the command is too long.
        """
        wanted = call(text)
        if wanted is None:
            return NOTHING_CALLED
        sheets = await self._sheets(workspace, restricted=False)
        sheet = sheets.get(wanted.name)
        if sheet is None:
            return NOTHING_CALLED
        if restricted and not sheet.own:
            said = f"/{sheet.name} was not called: the editor does not trust the folder that brings {sheet.shown}."
            return Called(notices=(Notice("warning", "command_left_out", said),))
        read = await self._read(workspace, sheet)
        if read is None:
            said = f"/{sheet.name} was not called: {sheet.shown} cannot be read."
            return Called(notices=(Notice("warning", "command_left_out", said),))
        made = expanded(read.body, wanted.arguments, LONGEST_EXPANDED)
        if made is None:
            message = f"With these arguments {sheet.shown} has more than {LONGEST_EXPANDED} characters."
            raise Refusal("invalid_text", message, "Put the text into a file of the workspace and mention it with @.")
        notices = (Notice("warning", "command_problem", f"{sheet.shown}: {read.problem}"),) if read.problem else ()
        label, path = (one_name(name).replace('"', "'") for name in (sheet.name, sheet.shown))
        text = render("command", label=label, path=path, text=quoted(made))
        return Called(made, (Fragment("command", text),), notices, effort=read.effort)

    async def _sheets(self, workspace: Workspace, *, restricted: bool) -> dict[str, Sheet]:
        """The files by what they are called by; none of them is read."""
        found: dict[str, Sheet] = {}
        files = await markdown_files(workspace, PLACES, self._own, most=MOST_FILES, restricted=restricted)
        for path, ending, sheet in files:
            if name := name_of(path, ending):
                found.setdefault(name, replace(sheet, name=name))
        return found

    async def _read(self, workspace: Workspace, sheet: Sheet) -> UserCommand | None:
        try:
            return command(sheet, await text_of(workspace, sheet, 4 * LONGEST_COMMAND))
        except ToolFailure:
            return None
