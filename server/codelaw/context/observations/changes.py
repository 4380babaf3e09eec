"""What acts as text: changes of files, Bash, Task (X-4), load_skill, and the tools of servers (X-3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from codelaw.context.observations.layout import (
    DATA,
    DIAGNOSTICS,
    REFUSED,
    STDERR,
    STDOUT,
    ResultLayout,
    amount,
    block,
    flag,
    items,
    listed,
    number,
    objects,
    one,
    places,
    row,
    text,
)
from codelaw.context.observations.searches import findings
from codelaw.context.pictures import GONE, SHOWN
from codelaw.domain.listing import plain_lines

_NAMES = re.compile(r"--- (?:a/.*|/dev/null)\n\+\+\+ b/.*(?:\n|\Z)")
"""The lines above a diff that name its file, which the header does."""
_RANGES = 3


def change(data: Mapping[str, Any]) -> ResultLayout | None:
    """A change of one file."""
    if not isinstance(data.get("path"), str) or not isinstance(data.get("diff", ""), str):
        return None
    path = data["path"]
    said = (
        r"(?:Dry run, nothing written|Written|Changed in the editor, not saved yet): "
        rf"\+\d+ -\d+ lines in {re.escape(path)}\."
        r"(?: The user looked at it and refused the part under `refused`: leave it so, unless they ask for it\.)?"
    )
    return ResultLayout(path, _facts(data), _body(data), _left(data), said)


def changes(data: Mapping[str, Any]) -> ResultLayout | None:
    """A change of several files, each below its name."""
    files = objects(data, "files")
    if files is None or not all(isinstance(file.get("path"), str) for file in files):
        return None
    body: list[str] = []
    for file in files:
        body += [row("; ".join(filter(None, (file["path"], *_facts(file)))))]
        body += _body(file)
    body += [row(path) for path in items(data, "also") or ()]
    failed = data.get("failed")
    if isinstance(failed, Mapping):
        reported = cast("Mapping[str, Any]", failed)
        body.append(row(f"{text(reported, 'path')}: {text(reported, 'code')}: {text(reported, 'message')}"))
    left = [f"Left alone: {', '.join(map(one, named))}." for named in [items(data, "left")] if named]
    target = text(data, "title") or " to ".join(filter(None, (text(data, "symbol"), text(data, "new_name"))))
    facts = (amount(len(files), "files"), flag(data, "dry_run", "dry run, nothing written"))
    return ResultLayout(target, facts, tuple(body), tuple(left))


def _facts(data: Mapping[str, Any]) -> tuple[str, ...]:
    operation, lines = text(data, "operation"), number(data, "lines")
    edits, replaced = number(data, "edits"), number(data, "replacements")
    return (
        operation,
        "" if lines is None else amount(lines, "lines"),
        "" if edits is None else amount(edits, "edits"),
        "" if replaced is None else f"{replaced} replaced",
        flag(data, "dry_run", "dry run, nothing written") or flag(data, "applied", "not applied", value=False),
        flag(data, "unsaved", "not saved yet"),
        flag(data, "diff_truncated", f"diff cut{_where(data)}"),
    )


def _where(data: Mapping[str, Any]) -> str:
    """The lines that changed, which the whole diff would tell."""
    pairs = cast("list[list[Any]]", [pair for pair in items(data, "changed_lines") or () if isinstance(pair, list)])
    named = ["-".join(map(one, pair)) for pair in pairs]
    more = ", …" if len(named) > _RANGES else ""
    return f", changed lines {', '.join(named[:_RANGES])}{more}" if named else ""


def _body(data: Mapping[str, Any]) -> tuple[str, ...]:
    body: list[str] = []
    diff = _NAMES.sub("", text(data, "diff"), count=1)
    if diff:
        body.append(block(diff))
    if refused := text(data, "refused"):
        body += [REFUSED, block(_NAMES.sub("", refused, count=1))]
    if found := places(data, "diagnostics"):
        body += [DIAGNOSTICS, *findings(found)]
    return tuple(body)


def _left(data: Mapping[str, Any]) -> tuple[str, ...]:
    if not text(data, "refused"):
        return ()
    return ("The user looked at it and refused the part under `refused`: leave it so, unless they ask for it.",)


def bash(data: Mapping[str, Any]) -> ResultLayout | None:
    """Standard output, then the rest below labels of ours."""
    if not isinstance(data.get("stdout"), str) or not isinstance(data.get("stderr"), str):
        return None
    stdout, stderr = data["stdout"], data["stderr"]
    code, seconds = number(data, "exit_code"), data.get("seconds")
    facts = [
        "" if code is None else f"exit {code}",
        f"{seconds:g} s" if isinstance(seconds, int | float) else "",
        flag(data, "truncated", "its middle left out"),
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
    return ResultLayout(
        target=text(data, "command"),
        facts=tuple(facts),
        body=tuple(body),
        notes=tuple(notes),
        said=said,
        opening=STDOUT,
    )


_CHANGED = 20
"""Files that are named."""


def reported(data: Mapping[str, Any]) -> ResultLayout | None:
    """The report below how the subagent ended and what it took; None where there is none."""
    said = data.get("report")
    if not isinstance(said, str):
        return None
    changed, steps, tokens = items(data, "changed"), number(data, "steps"), number(data, "tokens")
    facts = (
        text(data, "ended"),
        "" if steps is None else amount(steps, "steps"),
        "" if tokens is None else amount(tokens, "tokens"),
        flag(data, "truncated", "cut"),
    )
    notes = (f"It has changed {listed(changed, _CHANGED)}: read them again before you edit them.",) if changed else ()
    finished = r"The subagent has finished\."
    return ResultLayout(text(data, "kind"), facts, (block(said),) if said else (), notes, finished)


def loaded(data: Mapping[str, Any]) -> ResultLayout | None:
    """The text of a skill or of one of its files."""
    body = data.get("body")
    if not isinstance(body, str):
        return None
    name, file = text(data, "name"), text(data, "file")
    files, by = items(data, "files"), text(data, "by")
    notes = (f"Files of the skill, which {by} brings: {listed(files, len(files))}.",) if files else ()
    facts = (f"in {text(data, 'folder')}", flag(data, "truncated", "cut"))
    return ResultLayout(f"{name}/{file}" if file else name, facts, (block(body),) if body else (), notes)


SERVED = "mcp__"
"""What the names of their tools begin with."""
FIELDS = frozenset({"server", "tool", "text", "structured", "images", "truncated", "head", "tail"})
_IMAGES = 8


def served(data: Mapping[str, Any]) -> ResultLayout | None:
    """The server's text, below it what it gave as values where that is something else."""
    if not isinstance(data.get("text"), str):
        return None
    said, values = text(data, "text"), data.get("structured")
    images = objects(data, "images") or []
    facts = (
        flag(data, "truncated", "its middle left out"),
        "" if not images else amount(len(images), "images"),
        "" if said or values else "no text",
    )
    body = [block(said)] if said else []
    if values:
        body += [DATA, block(values if isinstance(values, str) else "\n".join(plain_lines(values)))]
    body += [row(_image(image)) for image in images[:_IMAGES]]
    return ResultLayout("", facts, tuple(body))


def _image(image: Mapping[str, Any]) -> str:
    """What is said of an image, and whether it is shown with the result."""
    if image.get(SHOWN) is True:
        seen = "shown with this result"
    elif image.get(GONE) is True:
        seen = "not shown any more"
    else:
        seen = f"not shown: {text(image, 'unseen')}" if text(image, "unseen") else ""
    size = f"{image.get('bytes')} bytes"
    return ", ".join(filter(None, (text(image, "media_type"), text(image, "size"), size, seen)))
