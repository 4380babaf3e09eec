"""The text dialect as a strict reader sees it: every action is followed by its one observation (R-4, R-6).

Written apart from the server's own grammar, so that one can be wrong without the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

OBSERVATION = "[tool] "
_ACTION = re.compile(r"^(?:\*{0,2}Action:\*{0,2} ?(?=[\w.-]+\[)|(?=Finish\[))([\w.-]+)\[", re.MULTILINE)
_HEAD = re.compile(r"[\w.-]+(?: |,|:|\Z)")
_MARKED = re.compile(r" |\d+\t")
_LABELS = {"stdout:", "stderr:", "refused:", "diagnostics:", "data:", "note:"}
_CUT = "[interrupted: "


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """The text blocks of a message; those of other kinds are left out."""
    content = message["content"]
    return [content] if isinstance(content, str) else [block["text"] for block in content if block["type"] == "text"]


def actions(text: str) -> list[tuple[str, bool]]:
    """The tool calls a message spells: name, and whether its arguments are a whole JSON value. Finish is none."""
    found: list[tuple[str, bool]] = []
    place = 0
    while (match := _ACTION.search(text, place)) is not None and match[1] != "Finish":
        try:
            _, place = json.JSONDecoder(strict=False).raw_decode(text, match.end())
        except ValueError:
            return [*found, (match[1], False)]
        found.append((match[1], True))
    return found


def unpaired(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """What is wrong between actions and observations; None when each action has exactly one, right behind it."""
    owed = 0
    for place, message in enumerate(messages):
        if message["role"] == "system":
            continue
        texts = texts_of(message)
        if message["role"] == "assistant":
            spoken = "\n".join(texts)
            owed = 0 if _CUT in spoken else len(actions(spoken))
            continue
        given = 0
        while given < len(texts) and texts[given].startswith(OBSERVATION):
            given += 1
        stray = [text for text in texts[given:] if text.startswith(OBSERVATION)]
        if stray:
            return f"messages.{place}: an observation stands behind other text: {stray[0][:80]}"
        for text in texts[:given]:
            wrong = _observation(text)
            if wrong is not None:
                return f"messages.{place}: {wrong}: {text[:80]}"
        # The last message may ask a reply that was cut to be continued: its action is not whole yet.
        continued = place == len(messages) - 1 and given == 0 and len(texts) == 1
        if given != owed and not continued:
            return f"messages.{place}: {given} observations for {owed} actions: {texts[0][:80]}"
        owed = 0
    return None


def _observation(text: str) -> str | None:
    """What is wrong with an observation: JSON on one line, or a header and marked lines."""
    body = text.removeprefix(OBSERVATION)
    head, *lines = body.splitlines() or [""]
    if head.startswith("{"):
        return _json(body)
    if not _HEAD.match(head):
        return "an observation without a header"
    unmarked = next((line for line in lines if not _MARKED.match(line) and line not in _LABELS), None)
    return None if unmarked is None else f"an observation with an unmarked line {unmarked[:40]!r}"


def _json(body: str) -> str | None:
    if len(body.splitlines()) != 1:
        return "an observation of more than one line"
    try:
        value = json.loads(body)
    except ValueError:
        return "an observation that is not JSON"
    if not isinstance(value, dict) or value.get("status") not in {"success", "partial", "error"}:
        return "an observation without a status"
    return None
