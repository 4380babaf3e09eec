"""Grep, and what the editor's services find, as text: lines of files, grouped by file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from codelaw.context.observations.layout import (
    SKILLS,
    Told,
    amount,
    block,
    counted,
    grouped,
    items,
    listed,
    number,
    objects,
    one,
    places,
    row,
    text,
)


def grep(data: Mapping[str, Any]) -> Told | None:
    """The matching lines below their files."""
    matches = places(data, "matches")
    if matches is None:
        return None
    reason, files = text(data, "reason"), number(data, "files")
    facts = [
        counted(number(data, "total"), len(matches), "lines"),
        "" if files is None else f"in {amount(files, 'files')}",
        one(reason),
    ]
    if buffers := items(data, "buffers"):
        facts.append(f"as open in the editor: {listed(buffers, 1)}")
    if data.get("fallback") is True:
        facts.append("without rg")
    said = rf"\d+ matching lines in \d+ files(?: \({re.escape(reason)}\))?"
    return Told(text(data, "pattern"), tuple(facts), grouped(matches), _withheld(data), said)


def symbols(data: Mapping[str, Any]) -> Told | None:
    """Definitions and references below their files."""
    found = places(data, "places")
    if found is None:
        return None
    symbol = text(data, "symbol")
    said = rf"\d+ \w+ of {re.escape(symbol)}(?:, the first \d+ shown)?\."
    facts = (counted(number(data, "total"), len(found), "places"),)
    return Told(symbol, facts, grouped(found), _withheld(data), said)


def diagnostics(data: Mapping[str, Any]) -> Told | None:
    """What is found wrong, below its files."""
    found = places(data, "diagnostics")
    if found is None:
        return None
    errors = number(data, "errors")
    facts = [
        counted(number(data, "total"), len(found), "diagnostics"),
        "" if errors is None else amount(errors, "errors"),
    ]
    if data.get("unversioned") is True:
        facts.append("of which text is not known")
    said = r"\d+ diagnostics, \d+ of them errors\.|Nothing is found wrong\."
    return Told(text(data, "path"), tuple(facts), findings(found), _withheld(data), said)


def tools(data: Mapping[str, Any]) -> Told | None:
    """Found tools by their manuals, or by their names where these were cut; found skills below them (X-11)."""
    found, skills = objects(data, "tools"), objects(data, "skills") or []
    if found is None:
        return None
    total = number(data, "total")
    fact = f"{len(found)} of {total} tools" if total is not None else amount(len(found), "tools")
    manuals = [block(text(entry, "manual") or one(entry.get("name", ""))) for entry in found]
    lines = [row(": ".join(filter(None, (one(entry.get("name", "")), text(entry, "description"))))) for entry in skills]
    said = r"\d+ tools and \d+ skills found\."
    return Told(text(data, "query"), (fact,), (*manuals, *([SKILLS, *lines] if lines else [])), said=said)


def findings(found: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Diagnostics as lines: severity, message, and who says so."""
    return grouped({**entry, "text": _finding(entry)} for entry in found)


def _finding(entry: Mapping[str, Any]) -> str:
    source = " ".join(one(entry[name]) for name in ("source", "code") if name in entry)
    words = f"{one(entry.get('severity', 'error'))}: {one(entry.get('message', ''))}"
    return f"{words} ({source})" if source else words


def _withheld(data: Mapping[str, Any]) -> tuple[str, ...]:
    withheld = text(data, "withheld")
    return (one(withheld),) if withheld else ()
