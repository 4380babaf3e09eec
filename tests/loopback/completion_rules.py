"""The vendors of Chat Completions: how each streams, and what each refuses in its words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from tests.loopback.scripted import Refusal

_FIELDS = frozenset({
    "model", "messages", "max_tokens", "stream", "stream_options", "tools", "tool_choice", "reasoning_effort", "stop",
})  # fmt: skip
_SAID = frozenset({"role", "content", "tool_calls"})
_CALLED = frozenset({"id", "type", "function"})
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SKIP = "skip_thought_signature_validator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavour:
    """How one vendor differs from the others."""

    thinks: Literal["", "reasoning_content", "reasoning", "details", "parts", "tag"] = ""
    """Where its thinking stands."""
    signed: bool = False
    """The first of parallel calls is signed, and refused without."""
    wants_thinking: bool = False
    """A turn with calls is refused without the thinking."""
    index: bool = True
    """Calls have an index."""
    pieces: bool = True
    """Arguments come in pieces; else each call comes whole, beside the reason to stop."""
    called: str = "tool_calls"
    """Why it stops for calls."""
    usage: Literal["asked", "always", "choice", "x_groq"] = "asked"
    beside: bool = False
    """What it thinks is counted in the total alone."""
    done: bool = True
    fields: frozenset[str] = _FIELDS
    said: frozenset[str] = _SAID
    """Fields of what an assistant has said."""
    unknown: Literal["400", "422", "groq", "google"] = "400"
    """How it refuses a field."""
    errors: Literal["wrapped", "list", "flat", "number"] = "wrapped"
    user_behind_tool: bool = True
    ids: str = r".{1,64}"
    lists: bool = True
    """Text may be a list of parts."""


FLAVOURS: Mapping[str, Flavour] = {
    "openai": Flavour(),
    "newer": Flavour(fields=_FIELDS - {"max_tokens"} | {"max_completion_tokens"}),
    "gemini": Flavour(signed=True, beside=True, index=False, pieces=False, called="stop", usage="always", done=False,
                      unknown="google", errors="list"),
    "mistral": Flavour(thinks="parts", pieces=False, usage="always", unknown="422", errors="flat", ids="[a-zA-Z0-9]{9}",
                       user_behind_tool=False, fields=_FIELDS - {"stream_options", "reasoning_effort"}),
    "deepseek": Flavour(thinks="reasoning_content", wants_thinking=True, said=_SAID | {"reasoning_content"},
                        lists=False),
    "openrouter": Flavour(thinks="details", said=_SAID | {"reasoning", "reasoning_details"}, errors="number"),
    "groq": Flavour(thinks="reasoning", usage="x_groq", unknown="groq", pieces=False),
    "xai": Flavour(thinks="reasoning_content", said=_SAID | {"reasoning_content"}, pieces=False, beside=True),
    "moonshot": Flavour(thinks="reasoning_content", said=_SAID | {"reasoning_content"}, usage="choice"),
    "ollama": Flavour(thinks="reasoning", said=_SAID | {"reasoning"}, index=False, pieces=False),
    "plain400": Flavour(thinks="tag", fields=_FIELDS - {"stream_options", "reasoning_effort"}, lists=False),
    "plain422": Flavour(fields=_FIELDS - {"stream_options", "reasoning_effort"}, unknown="422", done=False),
}  # fmt: skip


def signature_of(model: str, function: Mapping[str, Any]) -> str:
    """What the vendor seals a call with."""
    try:
        arguments = json.dumps(json.loads(function["arguments"]), sort_keys=True)
    except ValueError:
        arguments = "{}"
    return sha256(f"{model}|{function['name']}|{arguments}".encode()).hexdigest()[:24]


def refusals(how: Flavour, body: Mapping[str, Any]) -> Iterator[Refusal]:
    """What the vendor says of a request that it does not take."""
    if "max_tokens" in body and "max_tokens" not in how.fields:
        said = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        yield 400, said, "unsupported_parameter"
    yield from (_unknown(how, "body", name) for name in sorted(body.keys() - how.fields))
    if not body.get("stream"):
        yield 400, "This fake wants `stream`.", None
    for tool in body.get("tools", ()):
        function = tool["function"]
        if tool.keys() != {"type", "function"} or function.keys() != {"name", "description", "parameters"}:
            yield 400, "Invalid value for 'tools'.", None
        if not _NAME.fullmatch(function["name"]):
            yield 400, "Invalid 'tools[0].function.name': string does not match pattern.", None
    yield from _in_messages(how, body["model"], body["messages"])


def _unknown(how: Flavour, place: str, name: str) -> Refusal:
    match how.unknown:
        case "422":
            return 422, f"{place if place == 'body' else f'body.{place}'}.{name}: Extra inputs are not permitted", None
        case "groq":
            return 400, f"'{place}' : property '{name}' is unsupported", None
        case "google":
            said = f"Invalid JSON payload received. Unknown name \"{name}\" at '{place}': Cannot find field."
            return 400, said, None
        case "400":
            return 400, f"Unrecognized request argument supplied: {name}", None


def _in_messages(how: Flavour, model: str, messages: Sequence[Mapping[str, Any]]) -> Iterator[Refusal]:
    open_calls: list[str] = []
    before = ""
    for place, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        if role != "tool" and open_calls:
            said = ("An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                    f"'tool_call_id'. The following tool_call_ids did not have response messages: {open_calls}")  # fmt: skip
            yield 400, said, None
        if role == "user" and before == "tool" and not how.user_behind_tool:
            yield 400, "Unexpected role 'user' after role 'tool'", "invalid_request_message_order"
        match role:
            case "system" | "user":
                yield from _content(how, place, message, {"role", "content"}, {"text", "image_url"})
                if not content:
                    yield 400, f"messages[{place}] has no content.", None
            case "tool":
                yield from _content(how, place, message, {"role", "content", "tool_call_id"}, {"text"})
                if message["tool_call_id"] not in open_calls:
                    said = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
                    yield 400, f"Invalid parameter: {said}", None
                else:
                    open_calls.remove(message["tool_call_id"])
            case "assistant":
                known = {"text", "thinking"} if how.thinks == "parts" else {"text"}
                yield from _content(how, place, message, how.said, known)
                calls = message.get("tool_calls", [])
                if not content and not calls:
                    yield 400, "Assistant message must have either content or tool_calls, but not none of both.", None
                yield from _in_calls(how, model, place, message)
                open_calls = [call["id"] for call in calls]
                if len(open_calls) != len(set(open_calls)):
                    yield 400, f"Duplicate value for 'tool_call_id' in messages[{place}].", None
            case _:
                yield 400, f"Invalid value: '{role}'.", None
        before = role
    if before not in {"user", "tool"}:
        yield 400, f"Expected last role User or Tool for serving but got {before}", None


def _in_calls(how: Flavour, model: str, place: int, message: Mapping[str, Any]) -> Iterator[Refusal]:
    calls = message.get("tool_calls", [])
    if calls and how.wants_thinking and "reasoning_content" not in message:
        yield 400, "The `reasoning_content` in the thinking mode must be passed back to the API.", None
    for number, call in enumerate(calls):
        function = call["function"]
        for name in call.keys() - _CALLED - ({"extra_content"} if how.signed else set()):
            yield _unknown(how, f"messages.{place}.tool_calls.{number}", name)
        if not re.fullmatch(how.ids, call["id"]):
            yield 400, f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9.", None
        if not _NAME.fullmatch(function["name"]) or not isinstance(json.loads(function["arguments"]), dict):
            yield 400, f"Invalid 'messages[{place}].tool_calls[{number}].function'.", None
        if how.signed and not number:
            given = call.get("extra_content", {}).get("google", {}).get("thought_signature")
            if given is None:
                said = (f"Function call is missing a thought_signature in functionCall parts. This is required for "
                        f"tools to work correctly. Additional data, function call `{function['name']}`.")  # fmt: skip
                yield 400, said, None
            elif given not in {signature_of(model, function), SKIP}:
                yield 400, "Thought signature is not valid.", None


def _content(
    how: Flavour, place: int, message: Mapping[str, Any], fields: set[str] | frozenset[str], parts: set[str]
) -> Iterator[Refusal]:
    for name in sorted(message.keys() - fields):
        yield _unknown(how, f"messages.{place}", name)
    if isinstance(content := message.get("content"), list):
        if not how.lists and {part["type"] for part in content} == {"text"}:
            yield 400, f"messages[{place}]: content: invalid type: sequence, expected a string", None
        for part in content:
            if part["type"] not in parts:
                yield 400, f"Invalid value: '{part['type']}' in messages[{place}].", None
