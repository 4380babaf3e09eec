"""Bash as text: how it ended in the header, below it what it said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from codelaw.context.observations.layout import REFUSED, STDERR, STDOUT, Told, block, items, listed, number, row, text


def bash(data: Mapping[str, Any]) -> Told | None:
    """Standard output, then the rest below labels of ours."""
    if not isinstance(data.get("stdout"), str) or not isinstance(data.get("stderr"), str):
        return None
    stdout, stderr = data["stdout"], data["stderr"]
    code, seconds = number(data, "exit_code"), data.get("seconds")
    facts = [
        "" if code is None else f"exit {code}",
        f"{seconds:g} s" if isinstance(seconds, int | float) else "",
        "its middle left out" if data.get("truncated") is True else "",
        "" if stdout or stderr else "no output",
    ]
    body = [block(stdout)] if stdout else []
    if stderr:
        body += [STDERR, block(stderr)]
    if refused := items(data, "refused"):
        body += [REFUSED, *map(row, refused)]
    notes: list[str] = []
    unsaved, changed = items(data, "unsaved"), items(data, "changed")
    named = ""
    if unsaved:
        notes.append(f"Unsaved in the editor, so that the command saw the older text: {listed(unsaved, 5)}.")
        named = re.escape(", ".join(map(str, unsaved[:5])))
    if changed:
        notes.append(f"Changed since you read them: {listed(changed, 20)}.")
    more = rf"(?: The editor has unsaved changes in {named}: the command saw the older text on the disk\.)?"
    ended = rf"(?:Exit code 0\.|The command ended with exit code {code}\.)"
    said = rf"{ended}(?: The middle of the output is left out\.)?{more}"
    return Told(
        target=text(data, "command"),
        facts=tuple(facts),
        body=tuple(body),
        notes=tuple(notes),
        said=said,
        opening=STDOUT,
    )
