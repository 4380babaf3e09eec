"""What becomes of a server's words: bounded values, and a line for whatever is left out (S-6)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from codelaw.domain.served import (
    ServedImage,
    ServedInstructions,
    ServedPrompt,
    ServedResource,
    ServedResult,
    ServedTool,
)

TEXT = 1_000_000
"""Characters of one result."""
IMAGES = 8
IMAGE_BYTES = 5_000_000
BLOCKS = 2_000
"""Parts of one result."""
TOOLS = 5_000
"""Of one server; as many prompts and as many resources."""
TOOL_CHARACTERS = 64_000
"""Of a description, and of a schema as JSON."""
LIST_CHARACTERS = 8_000_000
"""Of one list, as JSON; what stands on pages behind that is left out."""
NAME_CHARACTERS = 256
WORDS = 2_000
"""Characters of the description of a prompt or a resource."""
INSTRUCTIONS = 20_000
"""Characters of a server's instructions."""
ARGUMENTS = 50
"""Of one prompt."""
PROBLEM = 2_000
"""Characters of what a server says of its own failure."""


class ToolList(NamedTuple):
    """Tools that are small enough, and how many were not."""

    tools: tuple[ServedTool, ...]
    left_out: int


def tools(server: str, found: Sequence[Mapping[str, Any]]) -> ToolList:
    """Tools as the protocol writes them; of two with one name the first counts."""
    kept: dict[str, ServedTool] = {}
    left_out = 0
    for one in found:
        tool = _tool(server, one)
        if tool is None or len(kept) == TOOLS:
            left_out += 1
        else:
            kept.setdefault(tool.name, tool)
    return ToolList(tuple(sorted(kept.values(), key=lambda tool: tool.name)), left_out)


def is_large(tool: Mapping[str, Any]) -> bool:
    """Whether a tool will be left out for its size, whatever it is."""
    return size([tool.get("description"), tool.get("inputSchema")]) > 2 * TOOL_CHARACTERS


def _tool(server: str, one: Mapping[str, Any]) -> ServedTool | None:
    name, description = str(one.get("name") or ""), str(one.get("description") or "")
    schema = _object(one.get("inputSchema"))
    if not 0 < len(name) <= NAME_CHARACTERS or len(description) > TOOL_CHARACTERS or schema is None:
        return None
    if size(schema) > TOOL_CHARACTERS:
        return None
    hints = _object(one.get("annotations"))
    says_read_only = hints is not None and hints.get("readOnlyHint") is True
    return ServedTool(server, name, description, schema, says_read_only)


def prompts(server: str, found: Sequence[Mapping[str, Any]]) -> tuple[ServedPrompt, ...]:
    """Of two with one name the first counts, as of resources."""
    kept: dict[str, ServedPrompt] = {}
    for one in found[:TOOLS]:
        arguments = [_word(each, "name", NAME_CHARACTERS) for each in objects(one.get("arguments"))][:ARGUMENTS]
        name = _word(one, "name", NAME_CHARACTERS + 1)
        kept.setdefault(name, ServedPrompt(server, name, _word(one, "description"), tuple(arguments)))
    return tuple(kept[name] for name in sorted(kept) if 0 < len(name) <= NAME_CHARACTERS)


def resources(server: str, found: Sequence[Mapping[str, Any]]) -> tuple[ServedResource, ...]:
    kept: dict[str, ServedResource] = {}
    for one in found[:TOOLS]:
        uri, (name, kind) = (
            _word(one, "uri", WORDS + 1),
            (_word(one, key, NAME_CHARACTERS) for key in ("name", "mimeType")),
        )
        kept.setdefault(uri, ServedResource(server, uri, name, _word(one, "description"), kind))
    return tuple(kept[uri] for uri in sorted(kept) if 0 < len(uri) <= WORDS)


def instructions(server: str, said: object) -> tuple[ServedInstructions, ...]:
    """What the server says of its use, if anything."""
    text = said[:INSTRUCTIONS].strip() if isinstance(said, str) else ""
    return (ServedInstructions(server, text),) if text else ()


def objects(found: object) -> list[Mapping[str, Any]]:
    """The objects of a list; whatever else stands there, or instead of it, is left out."""
    listed = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("Mapping[str, Any]", one) for one in listed if isinstance(one, dict)]


def called(answer: Mapping[str, Any]) -> ServedResult:
    """The result of a call."""
    made = _ResultBuilder()
    made.add(answer.get("content") or ())
    structured = _object(answer.get("structuredContent"))
    if structured is not None and size(structured) > TEXT:
        structured = None
        made.leave_out("The structured content is too large and left out.")
    return made.result(structured, failed=answer.get("isError") is True)


def resource(answer: Mapping[str, Any]) -> ServedResult:
    """A resource that was read."""
    made = _ResultBuilder()
    made.add([{"type": "resource", "resource": one} for one in answer.get("contents") or ()], named=False)
    return made.result(None, failed=False)


def prompt(answer: Mapping[str, Any]) -> ServedResult:
    """The text of a prompt's messages, with a line between them; one that the model is to have said says so."""
    made = _ResultBuilder()
    for message in (answer.get("messages") or ())[:BLOCKS]:
        if message.get("role") == "assistant":
            made.say("Assistant:")
        made.add([message.get("content") or {}], named=False)
    return made.result(None, failed=False)


def problem(said: str) -> str:
    """What a server says of its failure."""
    return said if len(said) <= PROBLEM else f"{said[:PROBLEM]} …"


def size(value: object) -> int:
    """Characters of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


class _ResultBuilder:
    def __init__(self) -> None:
        self._texts: list[str] = []
        self._images: list[ServedImage] = []
        self._room = TEXT
        self._cut = False

    def add(self, blocks: Sequence[Mapping[str, Any]], *, named: bool = True) -> None:
        """`named` puts its address before what is embedded."""
        for block in blocks[:BLOCKS]:
            match block.get("type"):
                case "text":
                    self.say(str(block.get("text") or ""))
                case "image":
                    self._image(str(block.get("mimeType") or ""), str(block.get("data") or ""))
                case "resource":
                    self._embedded(block.get("resource") or {}, named=named)
                case "resource_link":
                    described = ", ".join(filter(None, (_word(block, "name"), _word(block, "mimeType"))))
                    self.say(f"Resource {_word(block, 'uri')} ({described})")
                case kind:
                    self.leave_out(f"A part of the kind {_kind(kind, block)} is left out.")
        if len(blocks) > BLOCKS:
            self.leave_out(f"All parts after the first {BLOCKS} are left out.")

    def say(self, text: str) -> None:
        if len(text) > self._room:
            self._cut = True
        self._texts.append(text[: self._room])
        self._room = max(0, self._room - len(text) - 1)

    def leave_out(self, why: str) -> None:
        self._texts.append(f"[{why}]")
        self._cut = True

    def result(self, structured: Mapping[str, Any] | None, *, failed: bool) -> ServedResult:
        text = "\n".join(self._texts)[: TEXT + BLOCKS]
        return ServedResult(text, structured, tuple(self._images), failed, self._cut)

    def _image(self, kind: str, data: str) -> None:
        if len(self._images) == IMAGES:
            self.leave_out(f"An image is left out: a result has at most {IMAGES}.")
        elif len(data) * 3 // 4 > IMAGE_BYTES:
            self.leave_out(f"An image of more than {IMAGE_BYTES // 1_000_000} MB is left out.")
        else:
            try:
                self._images.append(ServedImage(kind[:NAME_CHARACTERS], base64.b64decode(data, validate=True)))
            except ValueError:
                self.leave_out("An image that is not in base64 is left out.")

    def _embedded(self, found: Mapping[str, Any], *, named: bool) -> None:
        kind = _word(found, "mimeType")
        if "text" in found:
            if named:
                self.say(f"Resource {_word(found, 'uri')}:")
            self.say(str(found.get("text") or ""))
        elif kind.startswith("image/"):
            self._image(kind, str(found.get("blob") or ""))
        else:
            self.leave_out(f"The resource {_word(found, 'uri')}, {kind or 'of no known kind'}, is not text: left out.")


def _object(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _word(block: Mapping[str, Any], key: str, most: int = WORDS) -> str:
    return str(block.get(key) or "")[:most]


def _kind(kind: object, block: Mapping[str, Any]) -> str:
    return f"{str(kind)[:NAME_CHARACTERS]} ({_word(block, 'mimeType')})" if block.get("mimeType") else str(kind)[:WORDS]
