"""What becomes of a server's words: bounded values, and a line for whatever is left out (S-6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import mcp_types as types

from codelaw.domain.served import (
    ServedInstructions,
    ServedPrompt,
    ServedResource,
    ServedResult,
    ServedTool,
)
from codelaw.tools.served.limits import BLOCKS, NAME_CHARACTERS, TEXT, TOOLS, ResultBuilder, size

_Served = TypeVar("_Served")

LIST_CHARACTERS = 8_000_000
"""Of one list, as JSON; what stands on pages behind that is left out."""
WORDS = 2_000
"""Characters of the description of a prompt or a resource."""
INSTRUCTIONS = 20_000
"""Characters of a server's instructions."""
ARGUMENTS = 50
"""Of one prompt."""
PROBLEM = 2_000
"""Characters of what a server says of its own failure."""


def tools(server: str, found: Sequence[types.Tool]) -> tuple[tuple[ServedTool, ...], int]:
    """Those that have a name, and how many are left out."""
    kept = [one for one in found if one.name][:TOOLS]
    made = [
        ServedTool(
            server,
            one.name,
            one.description or "",
            one.input_schema,
            one.annotations is not None and one.annotations.read_only_hint is True,
        )
        for one in kept
    ]
    return _firsts(made, lambda tool: tool.name), len(found) - len(kept)


def prompts(server: str, found: Sequence[types.Prompt]) -> tuple[ServedPrompt, ...]:
    named = [one for one in found[:TOOLS] if 0 < len(one.name) <= NAME_CHARACTERS]
    arguments = [tuple(each.name[:NAME_CHARACTERS] for each in (one.arguments or ())[:ARGUMENTS]) for one in named]
    made = [
        ServedPrompt(server, one.name, _words(one.description), its) for one, its in zip(named, arguments, strict=True)
    ]
    return _firsts(made, lambda prompt: prompt.name)


def resources(server: str, found: Sequence[types.Resource]) -> tuple[ServedResource, ...]:
    made = [
        ServedResource(
            server,
            one.uri,
            one.name[:NAME_CHARACTERS],
            _words(one.description),
            (one.mime_type or "")[:NAME_CHARACTERS],
        )
        for one in found[:TOOLS]
        if 0 < len(one.uri) <= WORDS
    ]
    return _firsts(made, lambda resource: resource.uri)


def instructions(server: str, said: str | None) -> tuple[ServedInstructions, ...]:
    """What the server says of its use, if anything."""
    text = (said or "")[:INSTRUCTIONS].strip()
    return (ServedInstructions(server, text),) if text else ()


def called(answer: types.CallToolResult) -> ServedResult:
    """The result of a call."""
    made = _ResultBuilder()
    made.add(answer.content)
    values: object = answer.structured_content
    structured = cast("dict[str, Any]", values) if isinstance(values, dict) else None
    if structured is not None and size(structured) > TEXT:
        structured = None
        made.leave_out("The structured content is too large and left out.")
    return made.result(structured, failed=answer.is_error)


def resource(answer: types.ReadResourceResult) -> ServedResult:
    """A resource that was read."""
    made = _ResultBuilder()
    made.add([types.EmbeddedResource(resource=one) for one in answer.contents], named=False)
    return made.result()


def prompt(answer: types.GetPromptResult) -> ServedResult:
    """The text of a prompt's messages, with a line between them; one that the model is to have said says so."""
    made = _ResultBuilder()
    for message in answer.messages[:BLOCKS]:
        if message.role == "assistant":
            made.say("Assistant:")
        made.add([message.content], named=False)
    return made.result()


def problem(said: str) -> str:
    """What a server says of its failure."""
    return said if len(said) <= PROBLEM else f"{said[:PROBLEM]} …"


class _ResultBuilder(ResultBuilder):
    """Takes the protocol's parts."""

    def add(self, blocks: Sequence[types.ContentBlock], *, named: bool = True) -> None:
        """`named` puts its address before what is embedded."""
        for block in blocks[:BLOCKS]:
            match block:
                case types.TextContent():
                    self.say(block.text)
                case types.ImageContent():
                    self.image(block.mime_type, block.data)
                case types.EmbeddedResource():
                    self._embedded(block.resource, named=named)
                case types.ResourceLink():
                    described = ", ".join(filter(None, (_words(block.name), _words(block.mime_type))))
                    self.say(f"Resource {_words(block.uri)} ({described})")
                case _:
                    self.leave_out(f"A part of the kind {block.type} ({_words(block.mime_type)}) is left out.")
        if len(blocks) > BLOCKS:
            self.leave_out(f"All parts after the first {BLOCKS} are left out.")

    def _embedded(self, found: types.TextResourceContents | types.BlobResourceContents, *, named: bool) -> None:
        kind = _words(found.mime_type)
        if isinstance(found, types.TextResourceContents):
            if named:
                self.say(f"Resource {_words(found.uri)}:")
            self.say(found.text)
        elif kind.startswith("image/"):
            self.image(kind, found.blob)
        else:
            self.leave_out(f"The resource {_words(found.uri)}, {kind or 'of no known kind'}, is not text: left out.")


def _firsts(made: Sequence[_Served], name: Callable[[_Served], str]) -> tuple[_Served, ...]:
    """Sorted; of two with one name the first counts."""
    kept = {name(one): one for one in reversed(made)}
    return tuple(kept[each] for each in sorted(kept))


def _words(said: str | None) -> str:
    return (said or "")[:WORDS]
