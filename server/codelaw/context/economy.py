"""Which messages are shown as one line, and when that pays (C-6, K-8).

A vendor's cache gives back what a request shares with the one before at a tenth of the price, so that any change in
the history costs the writing of all that follows it. Messages are demoted in batches, or where the cache is rebuilt
anyway; a demotion stays, so each message is demoted once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet

from codelaw.context.demotion import demotable, demoted
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Call, Message

Size = Callable[[Message], int]

DEMOTE_TOKENS = 25_000
"""Tokens that a batch must free."""
FLOOR = 40_000
"""Tokens of context below which nothing is demoted."""
NEWEST = 10
"""Newest results that stay when a turn begins."""
NEWEST_IN_TURN = 20
"""Newest results that stay while a turn runs: what it reads, it still works with."""
LATELY = 20
"""Steps for which a file that was read or changed belongs to the working set."""
WORKING_SET = 32_000
"""Tokens that the working set may have; in a small context a third of it."""
WORTH = 30
"""Tokens that the demotion of one message must free."""

_READS = frozenset({"Read"})
_CHANGES = frozenset({"Edit", "MultiEdit", "Write"})


def plan(
    messages: Sequence[Message],
    already: AbstractSet[Demotion],
    *,
    size: Size,
    context_tokens: int,
    demote_tokens: int = DEMOTE_TOKENS,
    cold: bool = False,
    floor: int = FLOOR,
) -> tuple[Demotion, ...]:
    """What to demote when a turn begins, oldest first; often nothing (C-6).

    `messages` are the finished rounds as recorded, `already` what is demoted of them. `size` gives a message's
    tokens, `context_tokens` those of the whole view. All that is old goes when that frees `demote_tokens`, or when
    the vendor's cache is `cold`. Otherwise only what is old in the newest round: its results have just fallen back to
    their cut, so that from there on the cache is rebuilt anyway.
    """
    if context_tokens < floor or not messages:
        return ()
    stays = _working_set(messages, size, NEWEST, context_tokens)
    # A line is shorter than its message, so that what is open bounds the gain: at most turns no line is made at all.
    whole = cold or sum(size(message) for message in _open(messages, already, stays)) >= demote_tokens
    last = messages[-1].turn_id
    scope = messages if whole else [message for message in messages if message.turn_id == last]
    gains = _gains(scope, scope, already, size, keep=stays)
    if cold or not whole or sum(gains.values()) >= demote_tokens:
        return tuple(gains)
    fresh = {message.id for message in messages if message.turn_id == last}
    return tuple(what for what in gains if what.message_id in fresh)


def plan_in_turn(
    past: Sequence[Message],
    scratchpad: Sequence[Message],
    already: AbstractSet[Demotion],
    *,
    size: Size,
    context_tokens: int,
    demote_tokens: int = DEMOTE_TOKENS,
    mark: int,
) -> tuple[Demotion, ...]:
    """What to demote of the finished rounds before a later step of a long turn: one whole batch, or nothing (C-6).

    Only under pressure: from `mark` tokens of context on, and where it frees `demote_tokens`. The running turn itself,
    `scratchpad`, stays as it is (R-2); what it touches belongs to the working set.
    """
    if context_tokens < mark:
        return ()
    stays = _working_set([*past, *scratchpad], size, NEWEST_IN_TURN, context_tokens)
    # The lines are made only when a batch is in sight: most steps end here.
    if sum(size(message) for message in _open(past, already, stays)) < demote_tokens:
        return ()
    gains = _gains(past, past, already, size, keep=stays)
    return tuple(gains) if sum(gains.values()) >= demote_tokens else ()


def thin(
    messages: Sequence[Message], already: AbstractSet[Demotion], *, size: Size, to_free: int
) -> tuple[Demotion, ...]:
    """One batch, oldest first, that frees `to_free` tokens, or all that can be freed (K-8)."""
    chosen: list[Demotion] = []
    freed = 0
    for what, gain in _gains(messages, messages, already, size).items():
        if freed >= to_free:
            break
        chosen.append(what)
        freed += gain
    return tuple(chosen)


def _open(messages: Sequence[Message], already: AbstractSet[Demotion], stays: AbstractSet[str]) -> Iterable[Message]:
    """The messages that could be demoted."""
    return (
        message
        for message in messages
        if message.id not in stays and (what := demotable(message)) is not None and what not in already
    )


def _gains(
    shown: Sequence[Message],
    kept: Sequence[Message],
    already: AbstractSet[Demotion],
    size: Size,
    *,
    keep: AbstractSet[str] = frozenset(),
) -> dict[Demotion, int]:
    """The demotions that are worth something, in order, with the tokens each frees."""
    possible = {
        message.id: what
        for message in kept
        if message.id not in keep and (what := demotable(message)) is not None and what not in already
    }
    lines = demoted(kept, frozenset(possible.values()))
    gains = {
        possible[message.id]: size(message) - size(line)
        for message, line, before in zip(shown, lines, kept, strict=True)
        if line is not before
    }
    return {what: gain for what, gain in gains.items() if gain >= WORTH}


def _working_set(messages: Sequence[Message], size: Size, newest: int, context_tokens: int) -> frozenset[str]:
    """The messages that stay: the newest results, and what shows the files that were touched lately (C-6).

    Of such a file that is its newest Read and the results of its changes, newest first, up to a bound.
    """
    results = [message for message in messages if message.role == "tool"]
    stays = {message.id for message in results[len(results) - newest if len(results) > newest else 0 :]}
    calls: dict[str, tuple[Call, int]] = {}
    touched: dict[str, int] = {}
    now = 0
    for message in messages:
        now += message.role == "assistant"
        for call in message.metadata.calls:
            calls[call.id] = call, now
            if call.tool in _READS | _CHANGES:
                touched[_path(call)] = now
    read: set[str] = set()
    room = min(WORKING_SET, context_tokens // 3)
    for message, call, step in _answered(reversed(results), calls):
        path = _path(call)
        if touched.get(path, -LATELY) <= now - LATELY or _failed(message):
            continue
        if call.tool in _READS and path not in read:
            read.add(path)
        elif call.tool not in _CHANGES or step <= now - 2 * LATELY:
            continue
        tokens = size(message)
        if tokens <= room:
            room -= tokens
            stays.add(message.id)
    return frozenset(stays)


def _answered(results: Iterable[Message], calls: dict[str, tuple[Call, int]]) -> Iterable[tuple[Message, Call, int]]:
    """The results with their calls, and the steps that made them."""
    return ((message, *calls[name]) for message in results if (name := message.metadata.call_id or "") in calls)


def _path(call: Call) -> str:
    value = call.arguments.get("path")
    return value if isinstance(value, str) else ""


def _failed(message: Message) -> bool:
    return message.content.startswith('{"status": "error"')
