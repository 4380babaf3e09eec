"""Where a request's cache breakpoints stand (L-6): pure, on numbers of blocks.

A vendor reads its cache only at a breakpoint, or a few blocks in front of one, where an earlier request had one, and
writes to it at breakpoints. So each of the four has to find an entry of the request before, or to leave one that a
later request finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codelaw.domain.models import ApiMessage, KeptBlock, Ttl

LOOKBACK = 20
"""Blocks, the one with the breakpoint included, among which the vendor looks for an entry."""
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
    for the beginning of the newest round, which may have been sent with words beside it that are gone now.
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


def marked(messages: Sequence[ApiMessage], ends: Mapping[int, Ttl]) -> dict[int, ApiMessage]:
    """The messages in which these numbers of blocks end, by their places, with a breakpoint at each end."""
    wanted = sorted(ends, reverse=True)
    found: dict[int, ApiMessage] = {}
    behind = 0
    for place, message in enumerate(messages):
        begin, behind = behind, behind + len(message.blocks)
        while wanted and wanted[-1] <= behind:
            blocks = list(found.get(place, message).blocks)
            last = (end := wanted.pop()) - begin - 1
            while last > 0 and isinstance(blocks[last], KeptBlock):
                last -= 1  # the vendor takes no breakpoint there
            if not isinstance(block := blocks[last], KeptBlock):
                blocks[last] = replace(block, breakpoint=ends[end])
            found[place] = ApiMessage(message.role, tuple(blocks))
        if not wanted:
            break
    return found
