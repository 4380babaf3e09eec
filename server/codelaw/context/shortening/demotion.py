"""How a demoted message looks: one line that says what it was and how to get it back (C-6).

A result becomes `{"status": …, "error"?: …, "shortened": "Read src/a.py 1-240, 9812 characters", "names"?: "…",
"whole": "result:r12"}`. A name that an earlier line or message tells is not said again. Reading `result:r12` brings
back what the tool had answered, and with it the arguments of the call (C-4). In a call the long strings are replaced by
their first words and a mark; what the model thought, and all short arguments, stay as they were written. What stood
behind a result goes with it (L-3).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from codelaw.context.escaping import json_line
from codelaw.context.pictures import count_pictures, without_pictures
from codelaw.context.tokens import Memo
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.listing import as_list, as_object, as_text, parsed, texts_of, with_texts
from codelaw.domain.messages import Call, Message

LONG = 100
"""Characters of an argument that is shortened; shorter ones stay."""
HEAD = 30
"""Characters that are left of it."""
TARGET = 40
"""Characters of a path, pattern or command in the line of a result: the end of a path, the beginning of others."""
NAMES = (0.04, 500)
"""Characters for names out of a body: the share of its length, and at most so many."""

_MOST_NAMES = 200
"""Names of a body among which a line chooses."""
_KEPT = 4_000_000
"""Characters of results whose lines are kept: a view is made often, and its results stay the same."""

_LABEL = re.compile(r"^[ \t>*_]*Action[*_]*:[*_]*[ \t]*", re.MULTILINE)
_OPENING = re.compile(r"(?:\s*```[\w-]*[ \t]*\n|[ \t]*`)?\s*([A-Za-z_][\w.-]*)[ \t]*\[\s*")
_DECODER = json.JSONDecoder(strict=False)
_NAME = re.compile(r"[A-Za-z_][\w./-]{6,}\w")
_TELLING = re.compile(r"[_/.\d]|[a-z][A-Z]")


def demoted(
    messages: Sequence[Message], demotions: AbstractSet[Demotion], record: Mapping[str, Message] | None = None
) -> Sequence[Message]:
    """The messages with those demotions applied; the same object when none of them changes anything.

    `record` has those messages as the history has them, by id, that are given as their turns showed them. Never longer
    than before: what would not become shorter stays as it was. Never raises.
    """
    if not demotions:
        return messages
    if record:
        cuts = {what.message_id for what in demotions if what.part in {"cut", "result"}} & record.keys()
        given, messages = messages, [without_pictures(record[one.id]) if one.id in cuts else one for one in messages]
    else:
        given = messages
    refs = {message.metadata.call_id: message.metadata.ref for message in messages if message.role == "tool"}
    reported = set[str]()
    shown: list[Message] = []
    for message in messages:
        shown.append(_shown(message, demotions, refs, reported))
        reported.update(_reported(shown[-1]))
    return given if all(one is other for one, other in zip(shown, given, strict=True)) else shown


def demotable(message: Message) -> Demotion | None:
    """The demotion that a message of this kind can take: its result, its arguments, or what stands behind it, or None.

    That of a result takes away what stands behind it.
    """
    if message.role == "tool" and message.metadata.ref is not None:
        return Demotion(message.id, "result")
    if message.metadata.asides:
        return Demotion(message.id, "aside")
    if message.role == "assistant" and message.metadata.calls:
        return Demotion(message.id, "arguments")
    return None


def _reported(message: Message) -> Sequence[str]:
    """The names that a message goes on to tell: those of a result only once it is one line."""
    if message.role == "tool" and '"shortened": "' not in message.content:
        return ()
    return _found.get(message.content, _distinct)


def _shown(
    message: Message,
    demotions: AbstractSet[Demotion],
    refs: Mapping[str | None, str | None],
    reported: AbstractSet[str],
) -> Message:
    if message.metadata.kept is not None and Demotion(message.id, "thinking") in demotions:
        message = replace(message, metadata=replace(message.metadata, kept=None))
    possible = demotable(message)
    if possible is None or possible not in demotions:
        return message
    if message.metadata.asides:
        message = replace(message, metadata=replace(message.metadata, asides=()))
    try:
        if possible.part == "result":
            return _short_result(message, reported)
        return _short_call(message, refs) if possible.part == "arguments" else message
    except RecursionError:
        return message  # nested as deeply as JSON may be: there is nothing in it worth a line


# ------------------------------------------------------------------------------------------------------------- results


@dataclass(frozen=True, slots=True)
class _Line:
    """What one line can say of a result."""

    facts: str
    """JSON of what comes before the names, without its end."""
    names: tuple[str, ...]
    """Of the body, those first that are worth most; nothing in them needs an escape."""
    room: int
    """Characters that names may have."""
    whole: str
    """The end of the JSON, which says where the whole is."""

    def spelt(self, reported: AbstractSet[str]) -> str:
        """The line; names that stand in front of it are not said again."""
        kept: list[str] = []
        room = self.room
        for name in self.names:
            if len(name) < room and name not in reported:
                kept.append(name)
                room -= len(name) + 1
        names = f', "names": "{" ".join(kept)}"' if kept else ""
        return f"{self.facts}{names}, {self.whole}"


def _short_result(message: Message, reported: AbstractSet[str]) -> Message:
    facts = message.metadata
    key = (facts.tool_name or "Result", facts.ref or "", message.content)
    line = _lines.get(key, _line)
    content = line.spelt(reported) if line is not None else message.content
    if facts.images:
        message = without_pictures(message)
        facts = message.metadata
    if len(content) >= len(message.content):
        return message
    return Message(message.id, message.turn_id, message.role, content, facts)  # quicker than `replace`


def _line(key: tuple[str, ...]) -> _Line | None:
    """The line for a result of a tool with a ref and a content; None when it holds no data."""
    tool, ref, content = key
    body = parsed(content)
    if "data" not in body:
        return None
    data = body["data"]
    facts: dict[str, Any] = {"status": body.get("status", "success")}
    if "error" in body:
        facts["error"] = body["error"]
    count = count_pictures(data)
    pictures = f", {count} image{'s' if count > 1 else ''} not shown any more" if count else ""
    facts["shortened"] = f"{tool}{_target(as_object(data))}, {len(content)} characters{pictures}"
    reported = json_line(facts).removesuffix("}")
    whole = json_line({"whole": f"result:{ref}"}).removeprefix("{")
    if tool == "find_tools":
        # By these they can be called.
        found = [as_text(as_object(one).get("name")) for one in as_list(as_object(data).get("tools"))]
        return _Line(reported, tuple(filter(None, found)), sum(map(len, found)) + len(found) + 1, whole)
    share, most = NAMES
    texts = list(texts_of(data))
    return _Line(reported, _names(texts), min(most, int(share * sum(map(len, texts)))), whole)


_lines = Memo[tuple[str, ...], _Line | None](_KEPT)


def _target(facts: Mapping[str, Any]) -> str:
    """What the call was about, with a space in front: a path with its lines, a pattern, a command."""
    name = next((name for name in ("command", "pattern", "path") if isinstance(facts.get(name), str)), "")
    text = " ".join(str(facts.get(name, "")).split())
    if len(text) > TARGET:
        text = f"…{text[-TARGET:]}" if name == "path" else f"{text[:TARGET]}…"
    first, last = facts.get("start_line"), facts.get("end_line")
    lines = f" {first}-{last}" if isinstance(first, int) and isinstance(last, int) else ""
    return f" {text}{lines}" if text else ""


def _names(texts: Sequence[str]) -> tuple[str, ...]:
    """Names that a body holds, first those that are short for how often they are said; as many as a line can hold."""
    counted = Counter(name for text in texts for name in _telling(text))
    return tuple(sorted(counted, key=lambda name: (-math.sqrt(counted[name]) / len(name), name))[:_MOST_NAMES])


def _telling(text: str) -> list[str]:
    return [name for name in _NAME.findall(text) if _TELLING.search(name)]


def _distinct(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_telling(text)))


_found = Memo[str, tuple[str, ...]](_KEPT)


# --------------------------------------------------------------------------------------------------------------- calls


def _short_call(message: Message, refs: Mapping[str | None, str | None]) -> Message:
    facts = message.metadata
    calls = tuple(_shortened(call, refs.get(call.id)) for call in facts.calls)
    changed = next((at for at, call in enumerate(calls) if call is not facts.calls[at]), None)
    if changed is None:
        return message
    content = _respelt(message.content, facts.calls, calls)
    kept = None if facts.kept is None else facts.kept.before(changed)
    return replace(message, content=content, metadata=replace(facts, calls=calls, kept=kept))


def _shortened(call: Call, ref: str | None) -> Call:
    left = [ref] if ref is not None else []

    def short(text: str) -> str:
        if len(text) <= LONG:
            return text
        where = f": result:{left.pop()}" if left else ""  # the first of them takes it
        return f"{text.strip().partition(chr(10))[0][:HEAD].rstrip()}… [{len(text)} characters, shortened{where}]"

    shorter = with_texts(dict(call.arguments), short)
    return call if shorter == call.arguments else replace(call, arguments=shorter)


def _respelt(content: str, before: Sequence[Call], after: Sequence[Call]) -> str:
    """The text with its one action spelt anew; as it is when it holds no such action (native dialect)."""
    if len(before) != 1:
        return content
    for label in _LABEL.finditer(content):
        name = _OPENING.match(content, label.end())
        if name is None:
            continue
        if name[1] != before[0].tool:
            return content
        try:
            written, _ = _DECODER.raw_decode(content, name.end())
        except ValueError:
            return content
        # The text may have other names for a call's arguments (T-11).
        if list(texts_of(written)) != list(texts_of(before[0].arguments)):
            return content
        spelt = json.dumps(after[0].arguments, ensure_ascii=False)
        return f"{content[: label.start()]}Action: {after[0].tool}[{spelt}]"
    return content
