"""Which messages are shown shorter, and when that pays (C-6, K-8).

A vendor's cache gives back what a request shares with the one before for little, so that any change in the history
costs the writing of all that follows it, and the thinking behind it. So messages are shortened in batches, or where the
cache is rebuilt anyway. What is shortened stays so: a result is cut once and becomes a line once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from codelaw.context.sections import message_tokens
from codelaw.context.shortening.demotion import demotable, demoted
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Call, Message
from codelaw.domain.models import Effort, Prices, Ttl

TYPICAL = Prices(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25, cache_write_1h=2.0)
"""What vendors ask as a rule, in parts of the price of input: for models whose prices nobody knows."""
FLOOR = 0.3
"""The part of the window below which nothing is shortened."""
STEP = 0.9
"""The part of a model's first step of price that is always used."""
NEWEST = 5
"""Newest results that stay when a turn begins."""
LATELY = 20
"""Steps for which a file that was read or changed belongs to the working set."""
BESIDE = 34
"""Steps for which what else was read of it, and what was changed in it, belongs to it too."""
LARGE = 4_000
"""Tokens of a Read that belongs to it only while its file is being changed: parts of it are cheaper read again."""
CHANGING = 8
"""Steps for which a file is being changed."""
WORKING_SET = 4
"""The part of the window that the working set may have."""
CARRIED = 17
"""Requests of real sessions by which a token is sent again that stays."""
MISSED = 0.033
"""The share of these that find no cache, so that it is written again."""
READ_AGAIN = 0.05
"""The chance that what was shortened has to be read again."""
ASKING = 150
"""Tokens of output that reading it again takes."""
TURN = 4_000
"""Tokens of output of a turn, about half of them thought."""
THOUGHT_ANEW: Mapping[Effort, float] = {"low": 0.025, "medium": 0.039, "high": 0.045, "xhigh": 0.201, "max": 0.201}
"""The share of a turn's output that it takes more once what was thought before is lost, as the vendor measured it."""
BEHIND = 20
"""Messages behind the last one that a batch has shortened, most of which were there already when it did."""
BEFORE = 40
"""Messages in front of the last one that a batch has shortened, in which the next one begins as a rule."""
APART = 8
"""Messages between such places: an entry in the cache serves those that follow it closely too."""
SHORT = 300
"""Characters of a body that no batch would make shorter."""
WORTH = 30
"""Tokens that shortening one message must free."""
BETWEEN = 500
"""Tokens that a cut form may have to stand between the whole and the line; a longer one would save little."""

PROFILE = "profile"
"""What is told of the user and the project (B-7)."""

_READS = frozenset({"Read"})
_CHANGES = frozenset({"Edit", "MultiEdit", "Write"})
_ALL = range(1 << 60)
_RANGE = re.compile(r'"start_line": (\d+), "end_line": (\d+)')


@dataclass(frozen=True, slots=True)
class Terms:
    """By what a batch is weighed (C-6)."""

    window: int
    """Tokens."""
    prices: Prices = TYPICAL
    ttl: Ttl = "5m"
    """How long what is written to the cache lasts."""
    cold: bool = False
    """The cache has to be written in any case."""
    effort: Effort | None = None
    """With which the model thinks whose kept items an edit costs (P-5); None where it costs none."""

    @property
    def floor(self) -> int:
        """Tokens of context below which nothing is shortened."""
        steps = [int(step.above * STEP) for step in self.prices.steps[:1]]
        return min(int(self.window * FLOOR), *steps) if steps else int(self.window * FLOOR)

    def writing(self, tokens: int) -> Prices:
        """The prices of a request of so many tokens, with that of what is written as `cache_write`."""
        now = self.prices.at(tokens)
        hour = now.cache_write_1h if self.ttl == "1h" else None
        return now if hour is None else replace(now, cache_write=hour)


def plan(
    messages: Sequence[Message],
    already: AbstractSet[Demotion],
    record: Mapping[str, Message],
    *,
    tokens: int,
    terms: Terms,
    lasting: AbstractSet[str] = frozenset(),
) -> tuple[Demotion, ...]:
    """What to shorten when a turn begins, oldest first; often nothing (C-6).

    `messages` are the finished rounds as shown, `already` what is shortened of them, `record` the same messages as the
    history has them, by id; `tokens` are those of the whole view. What is neither new nor of the working set is stale:
    a result that is shown whole takes its cut form, one that has it becomes a line. All of it goes when that pays, else
    as much of its newer part as pays most. Messages of `lasting` are left alone.
    """
    if tokens < terms.floor or not messages:
        return ()
    stays = _working_set(messages, terms.window // WORKING_SET) | lasting | _said_again(messages)
    gains = _gains(messages, already, record, keep=stays)
    return _paying(messages, gains, tokens, terms)


def _paying(
    messages: Sequence[Message], gains: Mapping[Demotion, int], tokens: int, terms: Terms
) -> tuple[Demotion, ...]:
    """All of the gains when that pays, else those from the one on from which on it pays most."""
    by_message = {what.message_id: gain for what, gain in gains.items()}
    before = terms.writing(int(tokens / STEP))  # soon the view is so large
    carried = _carrying(before) * tokens
    again = before.cache_read * tokens + before.output * ASKING
    rethought = before.output * TURN * THOUGHT_ANEW[terms.effort] if terms.effort else 0.0
    freed = behind = count = risk = 0
    thought = False
    best: tuple[float, int] = (-1.0, 0)
    for message in reversed(messages):
        gain = by_message.get(message.id, 0)
        behind += message_tokens(message)
        if gain:
            freed += gain
            count += 1
            if message.role == "tool":
                risk += READ_AGAIN * (again + before.cache_write * gain)
            after = terms.writing(tokens - freed)
            rewritten = (
                -after.cache_write * freed if terms.cold else (after.cache_write - after.cache_read) * (behind - freed)
            )
            saved = CARRIED * (carried - _carrying(after) * (tokens - freed))
            surplus = saved - rewritten - risk - (rethought if thought else 0.0)
            if surplus >= 0 and (surplus > best[0] or count == len(by_message)):
                best = surplus, count
        thought = thought or message.metadata.kept is not None
    return tuple(gains)[len(gains) - best[1] :]


def _carrying(prices: Prices) -> float:
    """What a request costs by each token that it sends again."""
    return prices.cache_read + MISSED * prices.cache_write


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
    return any(len(str(value)) > SHORT for call in message.metadata.calls for value in call.arguments.values())


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
    for what, gain in _gains(messages, already, {}, keep=lasting).items():
        if freed >= to_free:
            break
        chosen.append(what)
        freed += gain
    return tuple(chosen)


def _gains(
    messages: Sequence[Message],
    already: AbstractSet[Demotion],
    record: Mapping[str, Message],
    *,
    keep: AbstractSet[str],
) -> dict[Demotion, int]:
    """The next form of each message that is worth something, in order, with the tokens it frees."""
    chosen: list[Demotion] = []
    for message in messages:
        what = None if message.id in keep else demotable(message)
        if what is None or what in already:
            continue
        cut = Demotion(message.id, "cut")
        if what.part == "result" and cut not in already and (own := record.get(message.id)) is not None:
            size = message_tokens(own)
            if size <= BETWEEN and message_tokens(message) - size >= WORTH:
                what = cut
        chosen.append(what)
    sizes = {
        before.id: message_tokens(before) - message_tokens(after)
        for before, after in zip(messages, demoted(messages, frozenset(chosen), record), strict=True)
        if after is not before
    }
    return {what: gain for what in chosen if (gain := sizes.get(what.message_id, 0)) >= WORTH}


def _working_set(messages: Sequence[Message], room: int) -> frozenset[str]:
    """The messages that stay: the newest results, and what shows the files that were touched lately (C-6).

    Of such a file that is its newest Read, unless it is large, and what was not long before read beside that or changed
    in it: newest first, in `room` tokens.
    """
    results = [message for message in messages if message.role == "tool"]
    stays = {message.id for message in results[-NEWEST:]}
    calls: dict[str, tuple[Call, int]] = {}
    touched: dict[str, int] = {}
    changed: dict[str, int] = {}
    now = 0
    for message in messages:
        now += message.role == "assistant"
        for call in message.metadata.calls:
            calls[call.id] = call, now
            if call.tool in _READS | _CHANGES:
                touched[_path(call)] = now
            if call.tool in _CHANGES:
                changed[_path(call)] = now
    read: dict[str, list[range]] = {}
    for message in reversed(results):
        call, step = calls.get(message.metadata.call_id or "", (None, 0))
        if call is None or message.content.startswith('{"status": "error"'):
            continue
        path, tokens = _path(call), message_tokens(message)
        if touched.get(path, -LATELY) <= now - LATELY:
            continue
        if call.tool in _READS:
            lines, known = _lines(message), read.setdefault(path, [])
            if known and (
                step <= now - BESIDE or any(lines.start >= one.start and lines.stop <= one.stop for one in known)
            ):
                continue
            known.append(lines)
            if tokens > LARGE and changed.get(path, -CHANGING) <= now - CHANGING:
                continue
        elif call.tool not in _CHANGES or step <= now - BESIDE:
            continue
        if tokens <= room:
            room -= tokens
            stays.add(message.id)
    return frozenset(stays)


def _lines(message: Message) -> range:
    """The lines that a Read has brought; all there may be where it does not say."""
    found = _RANGE.search(message.content)
    return range(int(found[1]), int(found[2]) + 1) if found is not None else _ALL


def _said_again(messages: Sequence[Message]) -> frozenset[str]:
    """The question behind which the profile stands, which would only be said again (B-7)."""
    found = (one.id for one in reversed(messages) if any(part.name == PROFILE for part in one.metadata.asides))
    return frozenset([next(found, "")])


def _path(call: Call) -> str:
    value = call.arguments.get("path")
    return value if isinstance(value, str) else ""
