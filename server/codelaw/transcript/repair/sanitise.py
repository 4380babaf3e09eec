"""Messages of damaged or foreign records become sendable ones; nothing that a user wrote is lost (H-1)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from codelaw.domain.messages import Call, Fragment, Message, Metadata, Role
from codelaw.transcript.repair.repairs import NOTHING, Ids, Repairs, digest

OMITTED = "…"
"""Stands where something was, and no words are left."""
MAX_DEPTH = 64
"""Levels of nesting that the arguments of a call may have."""
_MAX_BITS = 14_000
"""Of an integer that Python still writes as decimal digits."""
_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "summary": "summary",
}
_NOTES = (None, "steer", "reminder", "hint")
_STATUSES = ("success", "partial", "error")
_BEGINNINGS = tuple(f'{{"status":{gap}"{status}"' for status in _STATUSES for gap in (" ", ""))
_WIDE_BREAKS = "\x85\u2028\u2029"
_ESCAPES = {mark: f"\\u{ord(mark):04x}" for mark in "\x7f<" + _WIDE_BREAKS}
"""What some reader takes for the end of a line, and what could open a tag of ours."""


def sanitised(messages: Sequence[Message]) -> tuple[Sequence[Message], Repairs]:
    """Every message with the types that the vocabulary promises, something to say, and an id of its own.

    The fields of a message may hold anything. Ids and names of calls are only made texts here: which of them are good
    is for `pairing` to say, which knows their results.
    """
    sound = [_is_sound(message) for message in messages]
    if all(sound) and len({message.id for message in messages}) == len(messages):
        return messages, NOTHING
    ids, kept, seen = Ids(), list[Message](), dict[tuple[str, str], list[Message]]()
    mended = dropped = 0
    for message, fine in zip(messages, sound, strict=True):
        good = message if fine else _mended(message)
        if good is None:
            dropped += 1
            continue
        same = seen.setdefault((good.id, good.content), [])
        if good in same and good.role != "tool":
            dropped += 1
            continue
        same.append(good)
        own = ids.take(good.id)
        if own != good.id:
            good = replace(good, id=own)
        mended += good is not message
        kept.append(good)
    return tuple(kept), Repairs(mended=mended, dropped_empty=dropped)


def says_nothing(message: Message) -> bool:
    """Whether an assistant's message, without its calls, tells the model nothing."""
    facts = message.metadata
    return facts.answer is None and not facts.interrupted and not message.content.strip()


def _is_sound(message: Any) -> bool:
    """Whether a message can be sent as it is."""
    content, facts, role = message.content, message.metadata, message.role
    if not (
        type(content) is type(message.id) is type(message.turn_id) is type(role) is str
        and type(facts) is Metadata
        and _are_sound(facts)
        and (facts.calls == () or all(map(_is_sound_call, facts.calls)))
    ):
        return False
    if facts.calls:
        return role == "assistant"
    match role:
        case "tool":
            return is_observation(content)
        case "user" if facts.fragments:
            return not content.isspace()
        case "assistant" if facts.interrupted or (facts.answer is not None and not facts.answer.strip()):
            return True
        case "user" | "summary" | "assistant":
            return bool(content) and not content.isspace()
        case _:
            return False


def _are_sound(facts: Any) -> bool:
    """Whether the fields of metadata have their types."""
    return (
        (facts.step is None or type(facts.step) is int)
        and (facts.tool_name is None or type(facts.tool_name) is str)
        and (facts.call_id is None or type(facts.call_id) is str)
        and (facts.mtime is None or type(facts.mtime) is float or type(facts.mtime) is int)
        and (facts.answer is None or type(facts.answer) is str)
        and (facts.ref is None or type(facts.ref) is str)
        and (facts.note is None or (type(facts.note) is str and facts.note in _NOTES))
        and (facts.parent is None or type(facts.parent) is str)
        and type(facts.whole) is bool
        and type(facts.interrupted) is bool
        and type(facts.native) is bool
        and type(facts.calls) is type(facts.fragments) is type(facts.asides) is tuple
        and (facts.fragments == () or all(map(_is_sound_fragment, facts.fragments)))
        and (facts.asides == () or all(map(_is_sound_fragment, facts.asides)))
    )


def _is_sound_call(call: Any) -> bool:
    return type(call) is Call and type(call.id) is type(call.tool) is str and _fit_arguments(call.arguments)


def _is_sound_fragment(part: Any) -> bool:
    return type(part) is Fragment and type(part.name) is type(part.text) is str and bool(part.text.strip())


def _mended(message: Any) -> Message | None:
    """The sound message that an odd one comes closest to; None when nothing is in it."""
    given = message.metadata
    facts = _facts(given) if isinstance(given, Metadata) else Metadata()
    role = _ROLES.get(message.role.strip().lower()) if isinstance(message.role, str) else None
    if role is None:
        spoken = facts.calls or facts.answer is not None
        role = "assistant" if spoken else "user" if facts.call_id is None else "tool"
        # Whoever speaks here, it is not the user with a turn of their own.
        facts = replace(facts, note=facts.note or "hint") if role == "user" else facts
    if role != "assistant" and facts.calls:
        facts = replace(facts, calls=())
    said = message.content
    content = text_of(said)
    if role == "tool":
        content = said if isinstance(said, str) and is_observation(said) else observation(said)
    elif not content.strip():
        content = _instead(role, facts)
        if content is None:
            return None
    turn_id = text_of(message.turn_id)
    own = text_of(message.id) or f"{role}_{digest(role, turn_id, content)}"
    return Message(own, turn_id, role, content, facts)


def _instead(role: Role, facts: Metadata) -> str | None:
    """The content of a message that has none; None for one that can go."""
    if role == "user":
        return "" if facts.fragments else OMITTED
    if role == "assistant" and (facts.calls or facts.interrupted or facts.answer is not None):
        return facts.answer or ""
    return None


def _facts(odd: Any) -> Metadata:
    """Metadata with every field of its type; what cannot be understood is left out."""
    return Metadata(
        step=odd.step if type(odd.step) is int else None,
        tool_name=_name(odd.tool_name),
        call_id=_name(odd.call_id),
        mtime=odd.mtime if type(odd.mtime) in (int, float) else None,
        answer=None if odd.answer is None else text_of(odd.answer),
        calls=tuple(map(_call, _items(odd.calls))),
        fragments=tuple(filter(_is_sound_fragment, map(_fragment, _items(odd.fragments)))),
        asides=tuple(filter(_is_sound_fragment, map(_fragment, _items(odd.asides)))),
        note=odd.note if odd.note in _NOTES else "hint",
        ref=_name(odd.ref),
        whole=bool(odd.whole),
        interrupted=bool(odd.interrupted),
        native=bool(odd.native),
        as_text=bool(odd.as_text),
        parent=_name(odd.parent),
    )


def _items(value: Any) -> tuple[Any, ...]:
    return tuple(cast("list[Any]", value)) if isinstance(value, list | tuple) else ()


def _name(value: Any) -> str | None:
    """An id or a name; numbers are written out."""
    if isinstance(value, str):
        return str(value)
    return str(value) if type(value) is int else None


def _call(odd: Any) -> Call:
    if isinstance(odd, dict):
        fields = cast("dict[str, Any]", odd)
        given = (fields.get("id"), fields.get("tool", fields.get("name")), fields.get("arguments", fields.get("input")))
    else:
        given = (getattr(odd, "id", None), getattr(odd, "tool", None), getattr(odd, "arguments", None))
    call_id, tool, arguments = given
    return Call(_name(call_id) or "", tool if isinstance(tool, str) else "", arguments_of(arguments))


def _fragment(odd: Any) -> Fragment:
    if isinstance(odd, Fragment):
        given = cast("Any", odd)
        return Fragment(_name(given.name) or "fragment", text_of(given.text))
    return Fragment("fragment", text_of(odd))


# ------------------------------------------- odd values, as the text or the JSON they come closest to; nothing raises


def text_of(value: Any) -> str:
    """The words in a value: a text as it is, the texts of a list of blocks, of anything else its JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, list | tuple):
        texts = (_json(None) if item is None else text_of(item) for item in cast("list[Any]", value))
        return "\n\n".join(filter(None, texts))
    block: Mapping[Any, Any] = cast("Mapping[Any, Any]", value) if isinstance(value, Mapping) else {}
    is_text = isinstance(block.get("text"), str) and block.keys() <= {"type", "text"}
    return block["text"] if is_text else _json(value)


def is_observation(content: str) -> bool:
    """Whether it is what a tool's result is kept as: one JSON object on one line, with a status (R-5)."""
    # What some reader takes for the end of a line: looked for one by one, which is quickest by far.
    for mark in "\n\r\v\f\x1c\x1d\x1e" if content.isascii() else "\n\r\v\f\x1c\x1d\x1e" + _WIDE_BREAKS:
        if mark in content:
            return False
    return (content.startswith(_BEGINNINGS) and content.endswith("}")) or _has_status(_read(content))


def observation(value: Any) -> str:
    """A result's content as one line of JSON; what has no status of its own is data, as with any foreign tool."""
    if isinstance(value, str):
        value = _read(value)
    fit = _fit(value, 0)
    body = value if fit and _has_status(value) else {"status": "success", "data": value if fit else text_of(value)}
    text = _json(body)
    for mark, escape in _ESCAPES.items():
        text = text.replace(mark, escape)
    return text


def _has_status(value: Any) -> bool:
    return isinstance(value, dict) and cast("dict[str, Any]", value).get("status") in _STATUSES


def arguments_of(value: Any) -> Mapping[str, Any]:
    """A call's arguments, also where they were kept as JSON text; none where they are not a JSON object."""
    if isinstance(value, str):
        value = _read(value)
    found = dict(cast("Mapping[Any, Any]", value)) if isinstance(value, Mapping) else {}
    return found if _fit_arguments(found) else {}


def _fit_arguments(value: Any) -> bool:
    """Whether a value can be sent as the arguments of a call: a plain object of JSON values, not too deep."""
    if type(value) is not dict:
        return False
    for key, item in cast("dict[Any, Any]", value).items():
        if type(key) is not str or not (type(item) is str or _fit(item, 1)):
            return False
    return True


def _fit(value: Any, depth: int) -> bool:
    """Whether a value is plain JSON, and not nested too deeply."""
    kind = cast("type[Any]", type(value))
    if kind is int:
        return value.bit_length() <= _MAX_BITS
    if kind is str or kind is bool or value is None:
        return True
    if kind is float:
        return math.isfinite(value)
    if depth > MAX_DEPTH:
        return False
    if kind is list or kind is tuple:
        return all(_fit(item, depth + 1) for item in value)
    return kind is dict and all(type(key) is str and _fit(item, depth + 1) for key, item in value.items())


def _read(text: str) -> Any:
    """The JSON object in a text, or the text itself."""
    try:
        value = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return cast("Any", value) if isinstance(value, dict) else text


def _json(value: Any) -> str:
    """JSON of a value; of what JSON cannot hold, the name of its type, so that equal records give equal bytes."""
    try:
        return json.dumps(value, ensure_ascii=False, skipkeys=True, default=_unlisted)
    except (ValueError, RecursionError):
        return json.dumps(OMITTED, ensure_ascii=False)


def _unlisted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else type(value).__name__
