"""What a tool gives back, without keys; and calls that would write a mark where a key was (S-5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.domain.safety.key_files import KEEPS_SECRETS
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.domain.messages import Call
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.workspace import Workspace
    from codelaw.tools.base import Effect


def redacted(result: ToolResult, effect: Effect, named: Any, redaction: Redaction) -> ToolResult:
    """A result without known keys; without whatever has the shape of one, too, where it is not a source.

    `named` is the call's `path`: an error may show text of that file.

    That is what a command prints, and what stands in files that are made to hold keys. Anywhere else a shape may be
    part of the code: hidden from the model, it could not be edited.
    """
    data = result.data
    if effect == "execute" or KEEPS_SECRETS.fullmatch(_name(data.get("path", named))):
        return cast("ToolResult", redaction.value(result, shapes=True))
    matches: Any = data.get("matches")
    if isinstance(matches, list):
        found = cast("list[Any]", matches)
        clean = [redaction.value(match, shapes=True) if _of_secrets(match) else match for match in found]
        result = result if clean == found else replace(result, data={**data, "matches": clean})
    return cast("ToolResult", redaction.value(result))


async def refuse_marks(
    call: Call, effect: Effect, path: str | None, workspace: Workspace, redaction: Redaction
) -> None:
    """Nothing, for a call that holds no mark of a redacted key, or only those that stand in its file as they are.

    Raises:
        ToolFailure: INVALID_PARAM: it would write or run the mark instead of the key.
    """
    marks = redaction.marks(call.arguments) if effect in {"write", "execute"} else set[str]()
    if not marks or (path is not None and effect == "write" and await _stand_in(marks, path, workspace)):
        return
    shown = ", ".join(sorted(marks))
    if effect == "execute":
        hint = "Let the command take the key from where it is kept, or ask the user to run it."
    else:
        hint = "Change other lines with Edit, with an old_string that leaves the key out, or ask the user to do it."
    raise ToolFailure(
        "INVALID_PARAM",
        f"{shown} stands for a key that you are not shown: it is not text that can be written or run. {hint}",
    )


async def _stand_in(marks: set[str], path: str, workspace: Workspace) -> bool:
    """Whether all of these marks are part of the file itself, as in documentation about them."""
    try:
        text = (await workspace.read(await located(workspace, path))).text
    except ToolFailure:
        return False
    return all(mark in text for mark in marks)


def _of_secrets(match: Any) -> bool:
    return isinstance(match, dict) and bool(KEEPS_SECRETS.fullmatch(_name(cast("dict[str, Any]", match).get("file"))))


def _name(path: Any) -> str:
    return path.rpartition("/")[2] if isinstance(path, str) else ""
