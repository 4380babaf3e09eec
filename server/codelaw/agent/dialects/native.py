"""The native dialect: the vendor's own tool use, parallel calls included (R-4)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import asdict, replace

from codelaw.agent.dialects import grammar
from codelaw.agent.dialects.base import Binding, Channel, Dialect, InvalidCall, ParsedReply, ReplyStream, call_id
from codelaw.agent.dialects.scanning import find
from codelaw.agent.dialects.spelling import Spelling, user_blocks
from codelaw.context.observations.text import tool_texts
from codelaw.domain.chats import Dialect as DialectName
from codelaw.domain.messages import Call, Message
from codelaw.domain.models import (
    WEB_SEARCH,
    Block,
    CallBlock,
    KeptBlock,
    ModelReply,
    ModelRequest,
    ResultBlock,
    TextBlock,
)
from codelaw.templates.render import render
from codelaw.tools.finding.find_tools import BROUGHT, CALL_TOOL
from codelaw.tools.toolbox import Toolbox
from codelaw.transcript.repair.repairs import unmarked

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


class Native(Dialect):
    """Reads and writes the vendor's tool use."""

    name: DialectName = "native"

    def __init__(
        self, *, searching: bool = False, binding: Binding | None = None, system_messages: bool = False
    ) -> None:
        """With `searching` the vendor may search the web by its own tool; `binding` says which kept items go back.

        With `system_messages` where the model takes them between the others.
        """
        super().__init__(system_messages=system_messages)
        self._searching = searching
        self.binding = binding

    def declare(self, toolbox: Toolbox) -> None:
        """Spell for a request that declares these tools: others are called through `call_tool`."""
        self._tools = frozenset(toolbox.names)

    def description(self, toolbox: Toolbox) -> str:
        """Only the names: the schemas travel beside the messages and are not paid for twice."""
        names = (*toolbox.names, *(("web_search",) if self._searching else ()))
        return "Tools: " + ", ".join(names) + "."

    def schemas(self, toolbox: Toolbox) -> str:
        """The vendor's tool definitions, as they are sent."""
        rows = [*map(asdict, toolbox.schemas()), *([WEB_SEARCH] if self._searching else [])]
        return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))

    def with_tools(self, request: ModelRequest, toolbox: Toolbox) -> ModelRequest:
        """The request with the tools, and with those kept items alone that go back."""
        made = replace(request, tools=toolbox.schemas(), searching=self._searching)
        return made if self.binding is None else self.binding.bound(made)

    def message(self, message: Message) -> Spelling:
        """One message of the view as the vendor's blocks; text-dialect messages are translated.

        The calls of found tools are spelt as the model can make them, through `call_tool`, where that is declared
        (X-11).
        """
        match message.role:
            case "user":
                return "user", user_blocks(message)
            case "assistant":
                said = tuple(_said(message, self._tools))
                # Vendors take no message that is empty, or that thinking ends.
                return "assistant", said if said and not isinstance(said[-1], KeptBlock) else (*said, TextBlock("…"))
            case "tool":
                failed = message.content.startswith('{"status": "error"')
                # In one block: vendors take no text between the results of parallel calls.
                text = "\n\n".join(tool_texts(message))
                images = message.metadata.images
                instead = render("image_unseen") if images else ""
                block = ResultBlock(
                    message.metadata.call_id or "", text, is_error=failed, images=images, instead=instead
                )
                return "user", (block,)
            case "summary":
                return "user", (TextBlock(message.content),)

    def read(self, reply: ModelReply, step: str) -> ParsedReply:
        """The calls of a reply; without any, its text is the answer.

        Calls get ids of ours: some vendors use an id again in a later turn, and one chat must not hold it twice.
        """
        calls, broken = _renamed(reply, step)
        if not calls and not broken:
            return ParsedReply(kept=reply.text, answer=reply.text if reply.text.strip() else None, native=True)
        problem = "The arguments are not valid JSON, or no JSON object."
        read = (*map(_fit, calls), *(InvalidCall(call, problem) for call in broken))
        return ParsedReply(kept=reply.text, thought=reply.text.strip(), calls=read, native=True)

    def cut(self, reply: ModelReply, step: str) -> ParsedReply | None:
        """Of a cut reply no call is run; plain text is continued."""
        calls = tuple(call for group in _renamed(reply, step) for call in group)
        if not calls:
            return None
        problem = "Your reply was cut off by the output limit, so none of its calls was run. Write smaller pieces."
        invalid = tuple(InvalidCall(call, problem) for call in calls)
        return ParsedReply(kept=reply.text, thought=reply.text.strip(), calls=invalid, native=True)

    def whole(self, reply: ModelReply) -> bool | None:
        """Calls are; of plain text nobody can tell."""
        return True if reply.calls or reply.broken_calls else None

    def stream(self) -> NativeStream:
        """A fresh reader of one reply."""
        return NativeStream()


def _said(message: Message, declared: AbstractSet[str]) -> Iterator[Block]:
    """Text and calls of the model, with its kept items where they stood (P-5)."""
    kept, calls = message.metadata.kept, message.metadata.calls
    items = kept.items if kept is not None else ()
    text = message.content if any(item.text for item in items) else _plain(message)
    reported = made = 0
    for item in items:
        if text[reported : item.text].strip():
            yield TextBlock(text[reported : item.text])
        yield from (CallBlock(_spelt(call, declared)) for call in calls[made : item.calls])
        reported, made = max(reported, item.text), max(made, item.calls)
        if kept is not None and item.body:
            yield KeptBlock(item, kept)
    if text[reported:].strip():
        yield TextBlock(text[reported:])
    yield from (CallBlock(_spelt(call, declared)) for call in calls[made:])


def _fit(call: Call) -> Call | InvalidCall:
    """The call, unless its arguments could not be sent back to the vendor."""
    unfit = grammar.unfit_arguments(call.arguments)
    return call if unfit is None else InvalidCall(replace(call, arguments={}), unfit)


def _spelt(call: Call, declared: AbstractSet[str]) -> Call:
    """A call as vendors take it.

    Which tools are declared changes only with the whole prefix, so that this breaks no cached one (L-6).
    """
    if CALL_TOOL in declared and call.tool not in declared and call.tool.startswith(BROUGHT):
        return replace(call, tool=CALL_TOOL, arguments={"name": call.tool, "arguments": call.arguments})
    # The text dialect lets a model write names that vendors do not take.
    return replace(call, tool=_ILLEGAL.sub("_", call.tool)[:128] or "unknown")


def _renamed(reply: ModelReply, step: str) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
    calls = tuple(replace(call, id=call_id(step, number)) for number, call in enumerate(reply.calls))
    broken = tuple(
        Call(call_id(step, number), call.tool, {}) for number, call in enumerate(reply.broken_calls, start=len(calls))
    )
    return calls, broken


def _plain(message: Message) -> str:
    """An assistant message's text without the labels and actions of the text dialect."""
    facts = message.metadata
    said, mark = unmarked(message.content) if facts.interrupted else (message.content, "")
    acted = (bool(facts.calls) or facts.answer is not None or facts.interrupted) and not facts.native
    if acted and facts.answer is not None:
        said = facts.answer
    elif acted and (action := find(said, {call.tool for call in facts.calls})) is not None and action.name:
        said = grammar.thought_of(said[: action.start])
    return f"{said.rstrip()}\n{mark}".strip()


class NativeStream(ReplyStream):
    """Shows text as a thought while it arrives.

    Whether it was the answer is known only when the reply has ended without a call: then it follows as the answer.
    """

    def __init__(self) -> None:
        self._shown = False

    def feed(self, text: str) -> Iterator[tuple[Channel, str]]:
        """More text."""
        self._shown = self._shown or bool(text)
        yield "thought", text

    def finish(self, reading: ParsedReply) -> Iterator[tuple[Channel, str]]:
        """The answer, or a thought that did not arrive in pieces."""
        if reading.thought and not self._shown:
            yield "thought", reading.thought
        if reading.answer is not None:
            yield "answer", reading.answer
