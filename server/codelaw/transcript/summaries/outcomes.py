"""Calls with what became of them, read from a record that may be damaged; nothing here raises."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from codelaw.domain.messages import Call, Message


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call and the result that history keeps of it (C-4)."""

    call: Call
    status: str
    """`success`, `partial` or `error`; empty for a result that cannot be read."""
    data: Mapping[str, Any]
    code: str = ""
    """Of the error, when there is one."""
    message: str = ""

    def text(self, name: str) -> str:
        """A text that the call was given or, failing that, that the result names; empty when neither has one."""
        for values in (self.call.arguments, self.data):
            value = as_object(values).get(name)
            if isinstance(value, str) and value.strip():
                return value
        return ""


def outcomes(messages: Sequence[Message]) -> Iterator[Outcome]:
    """Every call that has a result, in the order of the calls; of several results the first counts."""
    results: dict[str, str] = {}
    for message in messages:
        if message.role == "tool" and message.metadata.call_id is not None:
            results.setdefault(message.metadata.call_id, message.content)
    for message in messages:
        for call in message.metadata.calls if message.role == "assistant" else ():
            if call.id in results:
                yield _outcome(call, parsed(results[call.id]))


def parsed(content: str) -> Mapping[str, Any]:
    """The JSON object of a tool message; empty for anything else."""
    try:
        value: object = json.loads(content)
    except (ValueError, TypeError, RecursionError):
        return {}
    return as_object(value)


def as_object(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[object]:
    """The value if it is a list, else an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def _outcome(call: Call, result: Mapping[str, Any]) -> Outcome:
    error = result.get("error")
    fields = as_object(error)
    return Outcome(
        call,
        as_text(result.get("status")),
        as_object(result.get("data")),
        as_text(fields.get("code")) or ("ERROR" if error else ""),
        as_text(fields.get("message")) or as_text(error),
    )
