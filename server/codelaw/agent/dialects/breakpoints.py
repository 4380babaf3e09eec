"""Where a request's cache breakpoints stand (L-6): pure, on numbers of blocks.

A vendor reads its cache only at a breakpoint, or a few blocks in front of one, where an earlier request had one, and
writes to it at breakpoints. So each of the four has to find an entry of the request before, or to leave one that a
later request finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from codelaw.domain.models import ApiMessage, Block, CallBlock, ImageBlock, KeptBlock, ResultBlock, TextBlock, Ttl

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
