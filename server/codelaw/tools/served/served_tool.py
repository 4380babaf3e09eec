"""A tool that a server brings along, as a tool of ours (X-3)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic import ConfigDict

from codelaw.domain.media.images import MOST_PICTURE_BYTES, MOST_PICTURES, NoImage, Picture, image_of
from codelaw.domain.results import ToolError, ToolResult
from codelaw.domain.safety.unseen import visible_line
from codelaw.domain.served import Offer, ServedImage, ServedResult, ServedTool, ServerAnswer, ServerQuestion
from codelaw.ports.servers import ToolCaller
from codelaw.tools.base import Arguments, Tool, ToolEnvironment
from codelaw.tools.bounds import bounded, cut_middle
from codelaw.tools.served.names import tool_name
from codelaw.tools.served.schemas import problems, reported, words

if TYPE_CHECKING:
    from codelaw.ports.servers import Asking
    from codelaw.ports.workspace import OutputListener


@dataclass(frozen=True, slots=True)
class CallAsking:
    """Implements `Asking` for a call: progress is shown as what a command prints is; without anybody it declines."""

    asking: Asking | None
    listener: OutputListener | None

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        """See `Asking.ask`."""
        return ServerAnswer("decline") if self.asking is None else await self.asking.ask(question)

    def reported(self, line: str) -> None:
        """See `Asking.reported`."""
        if self.listener is not None:
            self.listener.heard("stdout", f"{visible_line(line)}\n".encode())


LONGEST_DESCRIPTION = 2_000
"""Characters."""
LONGEST_TEXT = 36_000
"""Characters of a result's text."""
LONGEST_VALUES = 18_000
"""Characters of a result's values as JSON."""
SHOWN_ARGUMENTS = 120
"""Characters of the arguments in a call's title."""
UNSEEN = "You cannot be shown its images."
TOO_MANY = f"at most {MOST_PICTURES} are shown, of {MOST_PICTURE_BYTES >> 20} MiB together: ask for fewer."
WRAPPED = "result"
"""The key under which servers wrap what is no object."""
NO_DESCRIPTION = "A tool of the server {server}, which says nothing about it."


class ServedArguments(Arguments):
    """Whatever a call names: the server's own schema says what may be in it."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class Served(Tool[ServedArguments]):
    """Data: `server, tool, text`, and what there is of `structured, images, truncated`.

    Args:
        tool: What the server says of it.
        caller: It is called through this.
        believed: The user has allowed the tool by a rule, so that its word counts that it only reads.
    """

    arguments = ServedArguments

    def __init__(self, tool: ServedTool, caller: ToolCaller, *, believed: bool) -> None:
        self.name = tool_name(tool.server, tool.name)
        self.description = _description(tool)
        self.effect = "read" if believed and tool.says_read_only else "execute"
        self.digest = tool.digest
        self._tool = tool
        self._caller = caller
        self._schema = reported(tool.schema)

    def schema(self) -> Mapping[str, Any]:
        """Without what may hide in the server's own."""
        return self._schema

    def invalid(self, args: ServedArguments) -> Sequence[str]:
        return problems(self._tool.schema, _values(args))

    def title(self, args: ServedArguments) -> str:
        given = json.dumps(_values(args), ensure_ascii=False, default=str)
        more = given if len(given) <= SHOWN_ARGUMENTS else given[: SHOWN_ARGUMENTS - 1] + "…"
        return f"{self.name} {more}" if given != "{}" else self.name

    def asks(self, args: ServedArguments) -> str:  # noqa: ARG002
        """It reads by its own word alone, which counts for as long as a rule allows the tool."""
        return "The server says that it only reads, and no rule allows it any more."

    async def run(self, args: ServedArguments, env: ToolEnvironment) -> ToolResult:
        asking = CallAsking(env.asking, env.listener)
        result = await self._caller.call(self._tool.server, self._tool.name, _values(args), asking)
        if not result.images:
            return served_result(self._tool, result)
        return await asyncio.to_thread(served_result, self._tool, result, sees=env.sees)


def tools_of(offer: Offer, caller: ToolCaller, believed: Collection[str]) -> tuple[Served, ...]:
    """The tools of an offer in its order, the first of each name; `believed` are names that rules allow."""
    found: dict[str, Served] = {}
    for tool in offer.tools:
        name = tool_name(tool.server, tool.name)
        if name not in found:
            found[name] = Served(tool, caller, believed=name in believed)
    return tuple(found.values())


def served_result(tool: ServedTool, result: ServedResult, *, sees: bool = False) -> ToolResult:
    """What a model is told of a server's result; pictures are named, and shown to one that sees.

    Those of a failed call are not: vendors take text alone with an error.
    """
    text = cut_middle(result.text, LONGEST_TEXT)
    data: dict[str, Any] = {"server": tool.server, "tool": tool.name, "text": text}
    if result.structured is not None and not _says(result.text, result.structured):
        data["structured"] = values = _values_kept(result.structured)
        if isinstance(values, str):
            data["truncated"] = True
    pictures: tuple[Picture, ...] = ()
    if result.images:
        data["images"], pictures = _pictures(result.images, sees=sees and not result.failed)
    if result.cut or text != result.text:
        data["truncated"] = True
    if result.failed:
        error = ToolError("EXECUTION_ERROR", f"The server {tool.server} says that the call went wrong.")
        return bounded(ToolResult("error", data, "", error))
    note = UNSEEN if result.images and not sees else ""
    return bounded(ToolResult("partial" if "truncated" in data else "success", data, note, pictures=pictures))


def _pictures(images: Sequence[ServedImage], *, sees: bool) -> tuple[list[dict[str, Any]], tuple[Picture, ...]]:
    """What is said of each image, and those that can be shown, the first of them (M-6)."""
    reported: list[dict[str, Any]] = []
    shown: list[Picture] = []
    room = MOST_PICTURE_BYTES
    for one in images:
        about: dict[str, Any] = {"media_type": one.media_type[:80], "bytes": len(one.data)}
        reported.append(about)
        if not sees:
            continue
        try:
            image = image_of(one.data)
        except NoImage as why:
            about["unseen"] = str(why)
            continue
        if len(shown) == MOST_PICTURES or image.size > room:
            about["unseen"] = TOO_MANY
            continue
        room -= image.size
        shown.append(Picture(image, one.data))
        about |= {"media_type": image.media_type, "size": f"{image.width}×{image.height}", "sent": True}
    return reported, tuple(shown)


def _values_kept(values: Mapping[str, Any]) -> Any:
    """The values, or what is left of their JSON where that is long."""
    spelt = json.dumps(values, ensure_ascii=False, default=str)
    return dict(values) if len(spelt) <= LONGEST_VALUES else cut_middle(spelt, LONGEST_VALUES)


def _says(text: str, structured: Mapping[str, Any]) -> bool:
    """Whether the text is the structured result, spelt out: nobody pays for it twice.

    What is no object many servers wrap into one, as `{"result": …}`, and spell as it is.
    """
    values = [structured, *(structured.values() if set(structured) == {WRAPPED} else ())]
    return any(_is_spelt(text.strip(), value) for value in values)


def _is_spelt(text: str, value: Any) -> bool:
    try:
        return _spelt(text, value, 0) == len(text)
    except (ValueError, RecursionError):
        return False


def _spelt(text: str, value: Any, at: int) -> int:
    """Where the value ends that is spelt from `at` on: as JSON, a text as it is, a list also as one part after another.

    Raises:
        ValueError: it is not the value that stands there.
    """
    if isinstance(value, str) and text.startswith(value.strip(), at):
        return at + len(value.strip())
    try:
        found, end = json.JSONDecoder().raw_decode(text, at)
    except ValueError:
        found, end = None, -1
    if end > 0 and type(found) is type(value) and found == value:
        return end
    if isinstance(value, list):
        for number, one in enumerate(cast("list[Any]", value)):
            at = _spelt(text, one, _behind_blanks(text, at) if number else at)
        return at
    raise ValueError(at)


def _behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _description(tool: ServedTool) -> str:
    """The server's words, each line behind a space, so that none of them can be a label of ours (R-5)."""
    said = words(tool.description, LONGEST_DESCRIPTION) or NO_DESCRIPTION.format(server=tool.server)
    return "\n".join(f" {line.rstrip()}" for line in said.split("\n") if line.strip())


def _values(args: ServedArguments) -> dict[str, Any]:
    return args.model_dump(exclude_unset=True)
