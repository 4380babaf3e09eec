"""Which messages are shown as one line, and when that pays (C-6, K-8).

A vendor's cache gives back what a request shares with the one before at a tenth of the price, so that any change in
the history costs the writing of all that follows it. Messages are demoted in batches, or where the cache is rebuilt
anyway; a demotion stays, so each message is demoted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from codelaw.context.sections import message_tokens
from codelaw.context.shortening.demotion import demotable, demoted
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Call, Message

DEMOTE_TOKENS = 1_000
"""Tokens that a batch must free."""
FLOOR = 20_000
"""Tokens of context below which nothing is demoted."""
NEWEST = 1
"""Newest results that stay when a turn begins."""
LATELY = 17
"""Steps for which a file that was read or changed belongs to the working set."""
WORKING_SET = 24_000
"""Tokens that the working set may have; in a small context a third of it."""
BEHIND = 20
"""Messages behind the last one that a batch has shortened, most of which were there already when it did."""
LARGEST = 8_000
"""Tokens of a result that is too large for the working set."""
BEFORE = 40
"""Messages in front of the last one that a batch has shortened, in which the next one begins as a rule."""
APART = 8
"""Messages between such places: an entry in the cache serves those that follow it closely too."""
SHORT = 300
"""Characters of a body that no batch would make shorter."""
WORTH = 30
"""Tokens that the demotion of one message must free."""
REWRITTEN = 1.15
"""What a token costs more that is written to the cache (1.25) than one that is read from it (0.1)."""
CARRIED = 0.1 * 17.25
"""What a token is taken to cost that stays: it is read so many times more, by the requests of real sessions."""

PROFILE = "profile"
"""What is told of the user and the project (B-7)."""

_READS = frozenset({"Read"})
_CHANGES = frozenset({"Edit", "MultiEdit", "Write"})


def plan(
    messages: Sequence[Message],
    already: AbstractSet[Demotion],
    *,
    context_tokens: int,
    demote_tokens: int = DEMOTE_TOKENS,
    cold: bool = False,
    floor: int = FLOOR,
    lasting: AbstractSet[str] = frozenset(),
) -> tuple[Demotion, ...]:
    """What to demote when a turn begins, oldest first; often nothing (C-6).

    `messages` are the finished rounds as shown, `already` what is demoted of them, `context_tokens` those of the whole
    view. What is neither new nor of the working set is stale. All of it goes when the vendor's cache is `cold`, and
    when carrying it would cost at least what writing again all that follows the first of it costs; else as much of its
    newer part as pays in that way. A batch frees at least `demote_tokens`. Messages of `lasting` are left alone.
    """
    if context_tokens < floor or not messages:
        return ()
    stays = _working_set(messages, NEWEST, context_tokens) | lasting | _said_again(messages)
    # A line is shorter than its message, so that what is open bounds the gain: at most turns no line is made at all.
    least = 1 if cold else max(1, demote_tokens)
    if sum(message_tokens(message) for message in _open(messages, already, stays)) < least:
        return ()
    gains = _gains(messages, messages, already, keep=stays)
    chosen = tuple(gains) if cold else _paying(messages, gains)
    return chosen if sum(gains[what] for what in chosen) >= least else ()


def _paying(messages: Sequence[Message], gains: Mapping[Demotion, int]) -> tuple[Demotion, ...]:
    """All of the gains when that pays, else those from the one on from which on it pays most."""
    by_message = {what.message_id: gain for what, gain in gains.items()}
    freed = behind = 0
    best: tuple[float, int] = (-1.0, 0)
    count = 0
    for message in reversed(messages):
        gain = by_message.get(message.id, 0)
        behind += message_tokens(message)
        if not gain:
            continue
        freed += gain
        count += 1
        surplus = CARRIED * freed - REWRITTEN * (behind - freed)
        if surplus >= 0 and (surplus > best[0] or count == len(by_message)):
            best = surplus, count
    return tuple(gains)[len(gains) - best[1] :]


def anchors(messages: Sequence[Message], demotions: AbstractSet[Demotion]) -> tuple[int, ...]:
    """Where the next batch may begin: messages in front of those that it may still shorten, rising, at least one (L-6).

    The first says how much is settled. The others stand where the last batch has ended, and closely behind: there the
    requests before it have left nothing in the vendor's cache that could be read again. Further in front there is only
    what no batch was worth writing all the rest for.
    """
    stays = _said_again(messages)
    places = [place for place, one in enumerate(messages) if one.id not in stays and opened(one, demotions)]
    if not places:
        return (len(messages),)
    ids = {what.message_id for what in demotions}
    last = max((place for place, message in enumerate(messages) if message.id in ids), default=-BEHIND)
    found = [places[0]]
    for place in places[1:]:
        if last - BEFORE <= place <= last + BEHIND and (len(found) == 1 or place >= found[-1] + APART):
            found.append(place)
    return tuple(found)


def opened(message: Message, demotions: AbstractSet[Demotion]) -> bool:
    """Whether a batch may still shorten a message that is shown with these demotions; what is short stays (C-6)."""
    what = demotable(message)
    if what is None or what in demotions:
        return False
    if message.metadata.asides:
        return True
    if what.part == "result":
        return len(message.content) > SHORT
    return any(_is_long(value) for call in message.metadata.calls for value in call.arguments.values())


def _is_long(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > SHORT
    return not isinstance(value, int | float | None) and len(str(value)) > SHORT


def thin(
    messages: Sequence[Message],
    already: AbstractSet[Demotion],
    *,
    to_free: int,
    lasting: AbstractSet[str] = frozenset(),
) -> tuple[Demotion, ...]:
    """One batch, oldest first, that frees `to_free` tokens, or all that can be freed beside `lasting` (K-8)."""
    chosen: list[Demotion] = []
    freed = 0
    for what, gain in _gains(messages, messages, already, keep=lasting).items():
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
        possible[message.id]: message_tokens(message) - message_tokens(line)
        for message, line, before in zip(shown, lines, kept, strict=True)
        if line is not before
    }
    return {what: gain for what, gain in gains.items() if gain >= WORTH}


def _working_set(messages: Sequence[Message], newest: int, context_tokens: int) -> frozenset[str]:
    """The messages that stay: the newest results, and what shows the files that were touched lately (C-6).

    Of such a file that is its newest Read and the results of its changes, newest first, up to a bound. One large result
    costs more than reading that file again where it is needed.
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
        tokens = message_tokens(message)
        if tokens <= min(room, LARGEST):
            room -= tokens
            stays.add(message.id)
    return frozenset(stays)


def _said_again(messages: Sequence[Message]) -> frozenset[str]:
    """The question behind which the profile stands, which would only be said again (B-7)."""
    found = (one.id for one in reversed(messages) if any(part.name == PROFILE for part in one.metadata.asides))
    return frozenset([next(found, "")])


def _answered(results: Iterable[Message], calls: dict[str, tuple[Call, int]]) -> Iterable[tuple[Message, Call, int]]:
    """The results with their calls, and the steps that made them."""
    return ((message, *calls[name]) for message in results if (name := message.metadata.call_id or "") in calls)


def _path(call: Call) -> str:
    value = call.arguments.get("path")
    return value if isinstance(value, str) else ""


def _failed(message: Message) -> bool:
    return message.content.startswith('{"status": "error"')
