"""Edit, MultiEdit, Write, Rename and QuickFix as text: what became of the files, and the diff."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from codelaw.context.observations.layout import (
    DIAGNOSTICS,
    REFUSED,
    Told,
    amount,
    block,
    items,
    number,
    objects,
    one,
    places,
    row,
    text,
)
from codelaw.context.observations.searches import findings

_NAMES = re.compile(r"--- (?:a/.*|/dev/null)\n\+\+\+ b/.*(?:\n|\Z)")
"""The lines above a diff that name its file, which the header does."""
_RANGES = 3


def change(data: Mapping[str, Any]) -> Told | None:
    """A change of one file."""
    if not isinstance(data.get("path"), str) or not isinstance(data.get("diff", ""), str):
        return None
    path = data["path"]
    said = (
        r"(?:Dry run, nothing written|Written|Changed in the editor, not saved yet): "
        rf"\+\d+ -\d+ lines in {re.escape(path)}\."
        r"(?: The user looked at it and refused the part under `refused`: leave it so, unless they ask for it\.)?"
    )
    return Told(path, _facts(data), _body(data), _left(data), said)


def changes(data: Mapping[str, Any]) -> Told | None:
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
        told = cast("Mapping[str, Any]", failed)
        body.append(row(f"{text(told, 'path')}: {text(told, 'code')}: {text(told, 'message')}"))
    left = [f"Left alone: {', '.join(map(one, named))}." for named in [items(data, "left")] if named]
    target = text(data, "title") or " to ".join(filter(None, (text(data, "symbol"), text(data, "new_name"))))
    facts = (amount(len(files), "files"), "dry run, nothing written" if data.get("dry_run") is True else "")
    return Told(target, facts, tuple(body), tuple(left))


def _facts(data: Mapping[str, Any]) -> tuple[str, ...]:
    operation, lines = text(data, "operation"), number(data, "lines")
    edits, replaced = number(data, "edits"), number(data, "replacements")
    dry = data.get("dry_run") is True
    cut = data.get("diff_truncated") is True
    return (
        operation,
        "" if lines is None else amount(lines, "lines"),
        "" if edits is None else amount(edits, "edits"),
        "" if replaced is None else f"{replaced} replaced",
        "dry run, nothing written" if dry else "not applied" if data.get("applied") is False else "",
        "not saved yet" if data.get("unsaved") is True else "",
        f"diff cut{_where(data)}" if cut else "",
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
