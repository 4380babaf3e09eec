"""The view as system blocks and alternating messages, with its four cache breakpoints (L-6)."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, TypeGuard

from codelaw.context.sections import NEWS, Section, View, asked_texts
from codelaw.context.system.modules import SCHEMAS
from codelaw.domain.media.images import Image
from codelaw.domain.messages import Fragment, Message
from codelaw.domain.models import ApiMessage, Block, CallBlock, ImageBlock, KeptBlock, ResultBlock, TextBlock, Ttl
from codelaw.templates.render import render
from codelaw.tools.toolbox import Toolbox

Role = Literal["user", "assistant", "system"]
Spelling = tuple[Role, tuple[Block, ...]]


@dataclass(frozen=True, slots=True)
class _Spelt:
    """Finished rounds, spelt once."""

    section: Section
    messages: tuple[ApiMessage, ...]
    ends: tuple[int, ...]
    """Blocks behind each message of the section, from none of them on."""
    newest_round: int
    """Blocks in front of the round that ended last."""
    telling: bool
    """With system messages."""


class Speller(ABC):
    """Spells views; a dialect says how a message is written.

    The spelt history of the last view is kept, because it does not change from step to step of a turn.
    """

    def __init__(self, *, system_messages: bool = False) -> None:
        self.system_messages = system_messages
        """Whether our own words stand between the others as such (L-6)."""
        self._tools: AbstractSet[str] = frozenset()
        """The names that a call may have, by the last request."""
        self._history: _Spelt | None = None

    def declare(self, toolbox: Toolbox) -> None:
        """Spell for a request with these tools."""
        self._tools = toolbox.callable

    @abstractmethod
    def message(self, message: Message) -> Spelling:
        """One message of the view."""

    def spellings(self, message: Message) -> tuple[Spelling, ...]:
        """The same with our own words behind it as a message of their own, where the model takes that (L-6)."""
        facts = message.metadata
        reported = tuple(TextBlock(part.text) for part in facts.asides if part.name in NEWS)
        if not reported or not self.system_messages:
            return (self.message(message),)
        others = tuple(part for part in facts.asides if part.name not in NEWS)
        return self.message(replace(message, metadata=replace(facts, asides=others))), ("system", reported)

    def texts(self, view: View, toolbox: Toolbox) -> list[str]:
        """Each section as a request holds it: its blocks as they are, a blank line between them (L-5).

        In front of a message stands its role; a call is its tool's name and its arguments as JSON, a picture is named.
        """
        self.declare(toolbox)
        shown = [(section.content, "\n\n".join(map(self._text, section.messages))) for section in view.sections]
        return [messages or content for content, messages in shown]

    def _text(self, message: Message) -> str:
        (_, blocks), *reported = self.spellings(message)
        # The text dialect writes the role of a result itself.
        labelled = message.role == "summary" or (message.role == "tool" and isinstance(blocks[0], TextBlock))
        text = ("" if labelled else f"[{message.role}] ") + "\n\n".join(_shown(blocks))
        return "\n\n".join((text, *(f"[{role}] " + "\n\n".join(_shown(blocks)) for role, blocks in reported)))

    def spell(
        self, view: View, after: Iterable[ApiMessage], lasting: int = 0
    ) -> tuple[tuple[TextBlock, ...], tuple[ApiMessage, ...]]:
        """System blocks and messages, with the breakpoints of `breakpoints.places` behind that of L1.

        The first `lasting` of them are kept for an hour, but none behind the finished rounds.
        """
        messages: list[ApiMessage] = []
        rounds = view.named("history")
        first = rounds is None or self._history is None or self._history.section is not rounds
        spelt = self._spelt_history(rounds) if rounds is not None else None
        if spelt is not None:
            messages.extend(spelt.messages)
        known = len(messages) - 1  # its last message may yet be joined by the question
        past = spelt.ends[-1] if spelt is not None else 0
        step, before = past, past - _blocks(messages[known:]) if messages else 0
        asked = view.named("question")
        beside = [Fragment(one.name, one.content) for one in view.layer("turn") if not one.messages]
        if asked is not None or beside:
            _extend(messages, self.spellings(_surrounded(asked, beside)))
        if (scratchpad := view.named("scratchpad")) is not None:
            said = [place for place, message in enumerate(scratchpad.messages) if message.role == "assistant"]
            newest = said[-1] if said else 0
            _extend(messages, self._all(scratchpad.messages[:newest]))
            step = before + _blocks(messages[max(0, known) :])
            _extend(messages, self._all(scratchpad.messages[newest:]))
        layout = Layout(
            settled=0,
            reused=(),
            newest_round=past,
            rounds=past,
            step=step,
            end=before + _blocks(messages[max(0, known) :]),
        )
        if spelt is not None:
            of = spelt.section
            reused = tuple(spelt.ends[count] for count in of.reused)
            # In turn, so that each leaves an entry in the cache before a batch comes.
            steps = sum(message.role == "assistant" for section in view.sections for message in section.messages)
            anchor = of.anchors[steps % len(of.anchors)]
            layout = replace(layout, settled=spelt.ends[anchor], reused=reused, newest_round=spelt.newest_round)
        ends = places(layout, first=first, hour=lasting > 0)
        static = "\n\n".join(section.content for section in view.layer("L1") if section.name != SCHEMAS)
        summaries = [
            message.content for section in view.layer("L3") for message in section.messages if message.role == "summary"
        ]
        system = [*map(TextBlock, (static, *(section.content for section in view.layer("L2")), *summaries))]
        own = [0, len(system) - 1] if len(system) > 1 and len(ends) < MOST - 1 else [0]
        hours = [number < lasting and (number < len(own) or end <= past) for number, end in enumerate((*own, *ends))]
        ttls: list[Ttl] = ["1h" if hour else "5m" for hour in hours]
        for place, ttl in zip(own, ttls, strict=False):
            system[place] = replace(system[place], breakpoint=ttl)
        marked(messages, ends, ttls[len(own) :])
        _extend(messages, ((message.role, message.blocks) for message in after))
        return tuple(system), tuple(messages)

    def _all(self, messages: Iterable[Message]) -> Iterator[Spelling]:
        return chain.from_iterable(map(self.spellings, messages))

    def _spelt_history(self, rounds: Section) -> _Spelt:
        known = self._history
        if known is None or known.section is not rounds or known.telling is not self.system_messages:
            messages: list[ApiMessage] = []
            ends = [0]
            for message in rounds.messages:
                spellings = self.spellings(message)
                _extend(messages, spellings)
                ends.append(ends[-1] + sum(len(blocks) for _, blocks in spellings))
            begun = next(at for at, one in enumerate(rounds.messages) if one.turn_id == rounds.messages[-1].turn_id)
            self._history = known = _Spelt(rounds, tuple(messages), tuple(ends), ends[begun], self.system_messages)
        return known


def _shown(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case TextBlock():
                yield block.text
            case CallBlock(call):
                yield f"{call.tool} {json.dumps(dict(call.arguments), ensure_ascii=False, separators=(',', ':'))}"
            case ResultBlock():
                yield block.text
                yield from map(_named, block.images)
            case ImageBlock(image):
                yield _named(image)
            case KeptBlock(item):
                yield f"[thinking, sealed: {len(item.body)} characters]"


def _named(image: Image) -> str:
    return f"[{image.media_type}, {image.width}×{image.height}]"


def _surrounded(asked: Section | None, beside: Sequence[Fragment]) -> Message:
    """The question with what stands beside it."""
    question = Message("", "", "user", "") if asked is None else asked.messages[0]
    facts = question.metadata
    return replace(question, metadata=replace(facts, asides=(*facts.asides, *beside)))


def user_blocks(message: Message) -> tuple[Block, ...]:
    """A message of the user: what was typed with its fragments, its pictures, and what stands behind it."""
    behind = (TextBlock(part.text) for part in message.metadata.asides if part.text)
    return (*map(TextBlock, asked_texts(message)), *picture_blocks(message), *behind)


def picture_blocks(message: Message) -> tuple[ImageBlock, ...]:
    """The pictures of a message."""
    return tuple(ImageBlock(image, render("image_unseen")) for image in message.metadata.images)


def _blocks(messages: Iterable[ApiMessage]) -> int:
    return sum(len(message.blocks) for message in messages)


def _extend(messages: list[ApiMessage], more: Iterable[Spelling]) -> None:
    """Append, merging neighbours of one role, which vendors want alternating.

    What the user says next takes in the system message in front of it, which vendors want in front of an answer.
    """
    for role, blocks in more:
        if role == "user" and messages and messages[-1].role == "system":
            _extend(messages, [("user", messages.pop().blocks)])
        if messages and messages[-1].role == role:
            messages[-1] = ApiMessage(role, (*messages[-1].blocks, *blocks))
        else:
            messages.append(ApiMessage(role, blocks))


LOOKBACK = 20
"""Blocks, the one with the breakpoint included, among which the vendor looks for an entry.

Not all of its clouds count a run of calls, or of results, as one, as the vendor itself does.
"""
MOST = 4
"""Breakpoints that a request may have."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands where among the messages: numbers of blocks in front of it."""

    settled: int
    """A message that a batch may still shorten, and may begin with; 0 when nothing stands in front of it."""
    reused: tuple[int, ...]
    """In the first request after a batch: what was settled before it, and the first message that it has changed."""
    newest_round: int
    """The round that ended last."""
    rounds: int
    """The running turn: the end of the finished rounds."""
    step: int
    """The newest step of the running turn: the end of the request before; the end of the rounds without a step."""
    end: int
    """Behind all that later requests repeat."""


def places(layout: Layout, *, first: bool, hour: bool = False) -> tuple[int, ...]:
    """At most three ends of blocks for breakpoints, rising; that of L1 stands in front of them.

    `first` is said of the first request over these finished rounds. Its last breakpoint is near the end of the rounds
    and finds what the last turn has left there, so that another one is free: for what a batch has left as it was, or
    for the beginning of the newest round, which is another where results are cut when their turn ends.
    """
    near = layout.end - layout.rounds < LOOKBACK // 2
    if first and any(layout.reused):
        between = (*layout.reused,)
    elif layout.end - layout.step >= LOOKBACK:
        between = (layout.settled, layout.step)
    elif first and near and layout.rounds - layout.newest_round >= LOOKBACK // 2:
        # What was kept for an hour is found where that round began, and kept on at its end, which is new now.
        between = (layout.newest_round, layout.rounds) if hour else (layout.settled, layout.newest_round)
    else:
        between = (layout.settled, layout.rounds)
    return tuple(sorted({place for place in (*between[: MOST - 2], layout.end) if place > 0}))


def marked(messages: list[ApiMessage], ends: Sequence[int], ttls: Sequence[Ttl]) -> None:
    """Put breakpoints at these numbers of blocks, rising, each with its ttl."""
    wanted = list(zip(ends, ttls, strict=True))[::-1]
    behind = 0
    for place, message in enumerate(messages):
        begin, behind = behind, behind + len(message.blocks)
        blocks = list(message.blocks)
        while wanted and wanted[-1][0] <= behind:
            end, ttl = wanted.pop()
            # Of thinking and of empty text the vendor takes none.
            for at in range(end - begin - 1, -1, -1):
                if _takes_one(block := blocks[at]):
                    blocks[at] = replace(block, breakpoint=ttl)
                    break
            messages[place] = ApiMessage(message.role, tuple(blocks))
        if not wanted:
            break


def _takes_one(block: Block) -> TypeGuard[TextBlock | CallBlock | ResultBlock | ImageBlock]:
    return not isinstance(block, KeptBlock) and (not isinstance(block, TextBlock) or bool(block.text.strip()))
