"""What a request says of the running turn, read as any model reads it, in either dialect."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from codelaw.adapters.models.offline_observations import json_object, read_observation
from codelaw.domain.models import ApiMessage, CallBlock, ImageBlock, KeptBlock, ModelRequest, ResultBlock, TextBlock

_OBSERVATION = "[tool] "
_ACTION = re.compile(r"^Action: (\w+)\[(\{.*\})\]\s*\Z", re.MULTILINE | re.DOTALL)
_REMINDER = re.compile(r"<system-reminder>(.*?)</system-reminder>", re.DOTALL)
_MENTION = re.compile(r'(?<![a-zA-Z0-9._-])@(?:"([^"\n]+)"|([a-zA-Z0-9/._-]+))')
_OFFERED = "search_code[{"
_RECAP = ("[", "<")


@dataclass(frozen=True, slots=True)
class Step:
    """A call of this turn and what came back."""

    tool: str
    arguments: Mapping[str, Any]
    data: Mapping[str, Any]
    """What the result shows of the envelope's data; empty when there is none."""
    error: str = ""
    """`CODE: message`, for an error."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The running turn."""

    question: str
    """What the user typed, without reminders and mentions; steering is part of it."""
    mentioned: tuple[str, ...]
    """The paths the reminder orders to be read."""
    folders_named: bool
    """The reminder speaks of folders."""
    files_named: bool
    steps: tuple[Step, ...]
    indexed: bool = False
    """The tool search_code is offered."""


def read_turn(request: ModelRequest) -> Turn:
    """The turn that begins with the last user message that answers no call."""
    start = max((at for at, message in enumerate(request.messages) if _begins(message)), default=0)
    typed: list[str] = []
    calls: list[tuple[str, str, Mapping[str, Any]]] = []
    results: dict[str, str] = {}
    for at, message in enumerate(request.messages[start:]):
        for place, block in enumerate(message.blocks):
            match block:
                case CallBlock(call):
                    calls.append((call.id, call.tool, call.arguments))
                case ResultBlock(call_id, text):
                    results[call_id] = text
                case TextBlock(text) if message.role == "assistant":
                    if action := _ACTION.search(text):
                        calls.append((str(len(calls)), action[1], json_object(action[2])))
                case TextBlock(text) if text.startswith(_OBSERVATION):
                    results[str(len(calls) - 1)] = text.removeprefix(_OBSERVATION)
                case ImageBlock() | KeptBlock():
                    pass  # it sees none, and keeps none
                case TextBlock(text):
                    # Only what was typed: fragments follow the first block, the recap follows an observation.
                    if (at == 0 and place == 0) or (at > 0 and not text.startswith(_RECAP)):
                        typed.append(text)
    whole = "\n".join(typed)
    reminders = " ".join(_REMINDER.findall(whole))
    mentioned = dict.fromkeys(quoted or plain.rstrip(".") for quoted, plain in _MENTION.findall(reminders))
    return Turn(
        question=_MENTION.sub(lambda found: _unmentioned(found, mentioned), _REMINDER.sub(" ", whole)).strip(),
        mentioned=tuple(mentioned),
        folders_named=" LS tool" in reminders,
        files_named=" Read tool" in reminders,
        steps=tuple(_step(tool, arguments, results.get(key, "")) for key, tool, arguments in calls),
        indexed=any(tool.name == "search_code" for tool in request.tools)
        or any(_OFFERED in block.text for block in request.system),
    )


def _unmentioned(found: re.Match[str], mentioned: Container[str]) -> str:
    """What is left of an `@word` of the question: nothing where it is mentioned, else its word (M-2)."""
    word = found[1] or found[2]
    is_kind = found.string[found.end() : found.end() + 1] == ":"  # `@symbol:NAME` and the like (M-8)
    return " " if is_kind or word.rstrip(".") in mentioned else f" {word} "


def _begins(message: ApiMessage) -> bool:
    if message.role != "user":
        return False
    return not any(
        isinstance(block, ResultBlock) or (isinstance(block, TextBlock) and block.text.startswith(_OBSERVATION))
        for block in message.blocks
    )


def _step(tool: str, arguments: Mapping[str, Any], observation: str) -> Step:
    data, error = read_observation(tool, observation)
    return Step(tool, arguments, data, error)
