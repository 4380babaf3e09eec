"""The view as system blocks and alternating messages, with its four cache breakpoints (L-6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from codelaw.context.modules import SCHEMAS
from codelaw.domain.messages import Message
from codelaw.domain.models import ApiMessage, Block, TextBlock

if TYPE_CHECKING:
    from codelaw.context.sections import Section, View

Role = Literal["user", "assistant"]
Spelling = tuple[Role, tuple[Block, ...]]


class Speller:
    """Spells views with one dialect's way of writing a message.

    The spelt history of the last view is kept, because it does not change from step to step of a turn.
    """

    def __init__(self, spell: Callable[[Message], Spelling]) -> None:
        self._spell = spell
        self._history: tuple[Section, tuple[ApiMessage, ...]] | None = None

    def spell(self, view: View, after: Iterable[ApiMessage]) -> tuple[tuple[TextBlock, ...], tuple[ApiMessage, ...]]:
        """System blocks and messages; breakpoints end L1, L2 with summaries, the finished rounds, the scratchpad."""
        messages: list[ApiMessage] = []
        rounds = view.named("history")
        if rounds is not None:
            messages.extend(self._spelt_history(rounds))
        tail: list[Block] = []
        for section in (*view.layer("turn"), *view.layer("tail")):
            if section.layer == "tail":
                tail.append(TextBlock(section.content))
            elif section.messages:
                _extend(messages, map(self._spell, section.messages))
            else:
                _extend(messages, [("user", (TextBlock(section.content),))])
        messages[-1] = _marked(messages[-1])
        if tail:
            _extend(messages, [("user", tuple(tail))])
        _extend(messages, ((message.role, message.blocks) for message in after))
        return _system(view), tuple(messages)

    def _spelt_history(self, rounds: Section) -> tuple[ApiMessage, ...]:
        if self._history is None or self._history[0] is not rounds:
            messages: list[ApiMessage] = []
            _extend(messages, map(self._spell, rounds.messages))
            messages[-1] = _marked(messages[-1])
            self._history = rounds, tuple(messages)
        return self._history[1]


def _system(view: View) -> tuple[TextBlock, ...]:
    static = "\n\n".join(section.text for section in view.layer("L1") if section.name != SCHEMAS)
    later = [section.text for section in view.layer("L2")]
    summaries = view.named("summaries")
    if summaries is not None:
        later.extend(message.content for message in summaries.messages)
    blocks = [TextBlock(static, breakpoint=True), *map(TextBlock, later)]
    blocks[-1] = replace(blocks[-1], breakpoint=True)
    return tuple(blocks)


def _extend(messages: list[ApiMessage], more: Iterable[Spelling]) -> None:
    """Append, merging neighbours of one role, which vendors want alternating."""
    for role, blocks in more:
        if messages and messages[-1].role == role:
            messages[-1] = ApiMessage(role, (*messages[-1].blocks, *blocks))
        else:
            messages.append(ApiMessage(role, blocks))


def _marked(message: ApiMessage) -> ApiMessage:
    return ApiMessage(message.role, (*message.blocks[:-1], replace(message.blocks[-1], breakpoint=True)))
