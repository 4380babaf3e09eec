"""`@problems:`: the diagnostics that the editor lends, errors first (M-8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.app.referring.bounds import LONGEST, foreign
from codelaw.domain.errors import ToolFailure
from codelaw.domain.messages import Fragment
from codelaw.templates.render import render
from codelaw.tools.paths import located

if TYPE_CHECKING:
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
            told = f"{shown}:{line}: {one.severity}: {said}" + (f" ({origin})" if origin else "")
            rows.append((_RANK[one.severity], shown, line, told))
    rows.sort()
    lines: list[str] = []
    room = LONGEST
    for *_, told in rows[:MOST_PROBLEMS]:
        room -= len(told) + 1
        if room < 0:
            break
        lines.append(told)
    text = "\n".join(foreign(line) for line in lines)
    return Fragment("problems", render("problems", text=text, total=len(rows), left_out=len(rows) - len(lines)))
