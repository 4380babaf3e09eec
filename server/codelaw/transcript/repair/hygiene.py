"""A history that a vendor takes, whatever the record holds: all passes, in their order, and its limit (H-1, H-2, H-5).

Every call gets one result, right behind the message that made it, in the order of the calls. Which result is a call's:
one of the same turn that names its id, given to the last such call before it. Where an id is used again in a later
turn, neither call gets the other's result; a result that stands in a later turn by mistake goes back to its call when
that has none. Of several the first one counts whose full text is kept (`metadata.ref`), without any such the first:
what was made up for a crash gives way to what the tool really said.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codelaw.domain.messages import Call, Message, Metadata
from codelaw.transcript.repair.repairs import NOTHING, STOPPED, Ids, Repairs, legal, result_message, unmarked
from codelaw.transcript.repair.sanitise import OMITTED, sanitised, says_nothing

_TOOL_NAME = re.compile(r"[\w.-]+")
"""Wider than what vendors take: the text dialect lets a model write other names, and the native one spells them."""
_ACTION = re.compile(r"^[ \t>*_]*Action[*_]*:", re.MULTILINE)
"""Where the text dialect begins to act."""
_FINISH = re.compile(r"[*_]*\s*(?:```[\w-]*\s*|`)?Finish[ \t]*\[")
MISSING = json.dumps({"status": "error", "data": {}, "error": {"code": "EXECUTION_ERROR", "message": STOPPED}})
"""The result of a call that has none: never a success, whatever became of the call's message."""

Row = tuple[int | None, Message]
"""A message of the repaired history, and where it stood before; None for what was made up."""


def paired(messages: Sequence[Message]) -> tuple[Sequence[Message], Repairs]:
    """Results moved behind their calls, doubles and orphans dropped, missing ones made up as errors.

    Malformed calls (no id, no name, no legal name) go with their results, and so do calls beside an answer. Ids that no
    vendor takes, and ids used by an earlier call, are replaced in call and result alike. Actions that a text still
    spells without their calls are cut off it, so that the text dialect agrees with the native one. All else keeps its
    order: a user's note between a call and its result stands behind the result afterwards. The messages must be
    `sanitised`.
    """
    if _are_paired(messages):
        return messages, NOTHING
    matching = _matched(messages)
    message_ids, call_ids = Ids(message.id for message in messages), Ids()
    told_as_text = {message.turn_id for message in messages if message.metadata.as_text}
    rows: list[Row] = []
    removed = renamed = respelt = empty = 0
    for place, message in enumerate(messages):
        if message.role == "tool":
            continue
        if message.role != "assistant":
            rows.append((place, message))
            continue
        kept = [(number, call) for number, call in enumerate(_calls_of(message)) if _is_well_formed(call)]
        removed += len(message.metadata.calls) - len(kept)
        calls = [_named(call, call_ids.take_for_call(call.id, message.id, number)) for number, call in kept]
        renamed += sum(call.id != old.id for call, (_, old) in zip(calls, kept, strict=True))
        caller = _calling(message, tuple(calls))
        if not calls and says_nothing(caller):
            empty += 1
            continue
        respelt += (caller.content, caller.metadata.interrupted) != (message.content, message.metadata.interrupted)
        rows.append((place, caller))
        for (number, _), call in zip(kept, calls, strict=True):
            answer = matching.results.get((place, number))
            if answer is None:
                made_up = result_message(caller, call, MISSING, as_text=message.turn_id in told_as_text)
                rows.append((None, replace(made_up, id=message_ids.take(made_up.id))))
            else:
                rows.append((answer, _answering(messages[answer], call.id)))
    before = sum(message.role == "tool" for message in messages)
    found = sum(message.role == "tool" for place, message in rows if place is not None)
    repairs = Repairs(
        mended=respelt,
        dropped_empty=empty,
        moved=_moved(messages, rows),
        dropped_duplicate=matching.doubles,
        dropped_orphan=before - found - matching.doubles,
        added=sum(place is None for place, _ in rows),
        removed_calls=removed,
        renamed_calls=renamed,
    )
    return tuple(message for _, message in rows), repairs


@dataclass(frozen=True, slots=True)
class _Matching:
    """Which result belongs to which call. A place is an index of the messages."""

    results: Mapping[tuple[int, int], int]
    """The place of its result, by the place of a call's message and the call's number in it."""
    doubles: int
    """Results of calls that have another one."""


def _are_paired(messages: Sequence[Message]) -> bool:
    used, tools, waiting = set[str](), set[str](), list[str]()
    for message in messages:
        if message.role == "tool":
            if not waiting or waiting.pop() != message.metadata.call_id:
                return False
        elif waiting:
            return False
        elif message.role == "assistant" and message.metadata.calls:
            for call in message.metadata.calls:
                if call.id in used or not legal(call.id):
                    return False
                used.add(call.id)
                tools.add(call.tool)
            if message.metadata.interrupted or message.metadata.answer is not None:
                return False
            waiting = [call.id for call in reversed(message.metadata.calls)]
        elif message.role == "assistant" and _acts_without_call(message):
            return False
    return not waiting and all(map(_TOOL_NAME.fullmatch, tools))


def _matched(messages: Sequence[Message]) -> _Matching:
    callers = _Callers(messages)
    claims: dict[tuple[int, str], list[tuple[bool, bool, int]]] = {}
    for place, message in enumerate(messages):
        if message.role != "tool" or not message.metadata.call_id:
            continue
        home, stranger = callers.home_of(place, message)
        if home is not None:
            claim = (stranger, message.metadata.ref is None, place)
            claims.setdefault((home, message.metadata.call_id), []).append(claim)
    results: dict[tuple[int, int], int] = {}
    doubles = 0
    for (home, call_id), claim in claims.items():
        numbers = [number for number, call in enumerate(messages[home].metadata.calls) if call.id == call_id]
        best = sorted(place for *_, place in sorted(claim)[: len(numbers)])
        doubles += len(claim) - len(best)
        results.update(zip(((home, number) for number in numbers), best, strict=False))
    return _Matching(results, doubles)


class _Callers:
    """Where calls of an id stand."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._anywhere: dict[str, list[int]] = {}
        self._in_turn: dict[tuple[str, str], list[int]] = {}
        for place, message in enumerate(messages):
            if message.role == "assistant":
                for call_id in {call.id for call in message.metadata.calls}:
                    self._anywhere.setdefault(call_id, []).append(place)
                    self._in_turn.setdefault((call_id, message.turn_id), []).append(place)

    def home_of(self, place: int, result: Message) -> tuple[int | None, bool]:
        """The message whose call a result answers, if any, and whether it is of another turn."""
        call_id = result.metadata.call_id or ""
        near = self._in_turn.get((call_id, result.turn_id))
        if near:
            return near[max(0, bisect_left(near, place) - 1)], False
        anywhere = self._anywhere.get(call_id, [])
        behind = bisect_left(anywhere, place)
        if not behind:
            return None, True
        home, tool = anywhere[behind - 1], result.metadata.tool_name
        same = any(call.id == call_id and tool in {None, call.tool} for call in self._messages[home].metadata.calls)
        return (home if same else None), True


def _calls_of(message: Message) -> tuple[Call, ...]:
    """The calls a message can have made: none when it was the answer, which ends a turn (R-1a)."""
    return message.metadata.calls if message.metadata.answer is None else ()


def _is_well_formed(call: Call) -> bool:
    return bool(call.id) and _TOOL_NAME.fullmatch(call.tool) is not None


def _named(call: Call, call_id: str) -> Call:
    return call if call.id == call_id else replace(call, id=call_id)


def _calling(message: Message, calls: tuple[Call, ...]) -> Message:
    """The message with these calls, its text in keeping with them."""
    facts, content = message.metadata, message.content
    if calls and facts.interrupted:
        # A reply that was cut never has its calls run: this one was whole, and its results tell what was not.
        facts, content = replace(facts, interrupted=False), unmarked(content)[0].rstrip()
    if len(calls) < len(facts.calls) or _acts_without_call(message):
        action = _ACTION.search(content)
        if action is not None and not _FINISH.match(content, action.end()):
            content = facts.answer or content[: action.start()].rstrip()
    if (facts, content, calls) == (message.metadata, message.content, facts.calls):
        return message
    kept = facts.kept if len(calls) == len(facts.calls) or facts.kept is None else facts.kept.leading()
    return replace(message, content=content, metadata=replace(facts, calls=calls, kept=kept))


def _acts_without_call(message: Message) -> bool:
    """Whether the text tells of a call that is not there, and was lost: no answer does, nor a reply marked as cut."""
    facts = message.metadata
    if facts.calls or facts.answer is not None or (facts.interrupted and unmarked(message.content)[1]):
        return False
    action = _ACTION.search(message.content)
    return action is not None and not _FINISH.match(message.content, action.end())


def _answering(message: Message, call_id: str) -> Message:
    if message.metadata.call_id == call_id:
        return message
    return replace(message, metadata=replace(message.metadata, call_id=call_id))


def _moved(messages: Sequence[Message], rows: Sequence[Row]) -> int:
    """How many results follow another message than before, apart from what was dropped or made up."""
    now = [place for place, _ in rows if place is not None]
    behind = dict(zip(sorted(now)[1:], sorted(now), strict=False))
    return sum(
        messages[place].role == "tool" and behind.get(place) != previous
        for previous, place in zip([None, *now], now, strict=False)
    )


def hygiene(messages: Sequence[Message], limit: int = 0) -> tuple[Sequence[Message], Repairs]:
    """Sanitised, begun by the user, limited, and every call with its one result (H-1, H-2, H-5).

    Pure, and the same object comes back when nothing had to be done. What was repaired needs no repair again. Pairs are
    made before the limit, so that no result is parted from its call by it, and once more behind it.

    Args:
        messages: the history as its cuts leave it; the fields of a message may hold anything.
        limit: user turns to show, 0 for all.
    """
    messages, mended = sanitised(messages)
    messages, pairs = paired(messages)
    messages, begun = opened(messages)
    messages, cut = limited(messages, limit)
    messages, again = paired(messages) if cut else (messages, NOTHING)
    done = [repairs for repairs in (mended, pairs, begun, cut, again) if repairs is not NOTHING]
    return messages, sum(done, NOTHING)


def opened(messages: Sequence[Message]) -> tuple[Sequence[Message], Repairs]:
    """A history in which the user has the first word, in every turn whose beginning was lost (H-1).

    An ellipsis stands for what was lost, so that the work that followed is not lost too, and does not run together with
    the words of an earlier turn: where a view is spelt, neighbours of one role are merged (H-3). The messages must be
    `paired`.
    """
    lost = _without_question(messages)
    if not lost:
        return messages, NOTHING
    ids = Ids(message.id for message in messages)
    found: list[Message] = []
    for place, message in enumerate(messages):
        if place in lost:
            own = ids.take(f"opening_{message.turn_id}")
            found.append(Message(own, message.turn_id, "user", OMITTED, Metadata(note="hint")))
        found.append(message)
    return tuple(found), Repairs(opened=len(lost))


def _without_question(messages: Sequence[Message]) -> set[int]:
    """The places of assistant's messages that nothing of their turn leads to."""
    lost: set[int] = set()
    previous: Message | None = None
    for place, message in enumerate(messages):
        if message.role == "summary":
            continue
        if message.role == "assistant" and (previous is None or _is_apart(previous, message)):
            lost.add(place)
        previous = message
    return lost


def _is_apart(previous: Message, message: Message) -> bool:
    """Whether an assistant's message cannot go on from the one before, which is the last one of a turn."""
    if previous.role != "assistant":
        return False
    return previous.turn_id != message.turn_id or previous.metadata.interrupted or bool(message.metadata.calls)


def turn_limit(kind: str, chat_id: str, settings: Mapping[str, int]) -> int:
    """User turns to show; 0 for all. What is set for the chat beats what is set for its kind, a 0 included.

    Args:
        kind: `Chat.kind`, with or without what the chat belongs to.
        chat_id: `Chat.id`.
        settings: `context.historyLimits`: user turns by kind, or by the key of a chat.
    """
    general, _, belongs_to = kind.partition(":")
    # A kind that says already what the chat belongs to, such as `inline:file:///a.py`, is its own key.
    keys = (*([kind] if belongs_to else []), f"{general}:{chat_id}", general)
    return next((max(0, settings[key]) for key in keys if key in settings), 0)


def limited(messages: Sequence[Message], turns: int) -> tuple[Sequence[Message], Repairs]:
    """The newest `turns` user turns, and all summaries; the same object when there are no more, or `turns` is 0.

    Steers and reminders begin no turn. What stands before the first user turn belongs to it.
    """
    if turns <= 0:
        return messages, NOTHING
    starts = [at for at, one in enumerate(messages) if one.role == "user" and one.metadata.note is None]
    cut = starts[-turns] if turns < len(starts) else 0
    kept = [message for message in messages[:cut] if message.role == "summary"]
    if len(kept) == cut:
        return messages, NOTHING
    return (*kept, *messages[cut:]), Repairs(limited=cut - len(kept))
