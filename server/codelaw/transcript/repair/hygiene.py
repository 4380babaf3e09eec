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
from dataclasses import replace
from functools import partial

from codelaw.domain.messages import Call, Message, Metadata
from codelaw.transcript.repair.repairs import (
    OMITTED,
    STOPPED,
    Ids,
    Repairs,
    legal,
    result_message,
    sanitised,
    says_nothing,
    unmarked,
)

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
        return messages, Repairs()
    results, doubles = _matched(messages)
    message_ids, call_ids = Ids(message.id for message in messages), Ids()
    reported_as_text = {message.turn_id for message in messages if message.metadata.as_text}
    rows: list[Row] = []
    done = Repairs()
    for place, message in enumerate(messages):
        if message.role in {"user", "summary"}:
            rows.append((place, message))
        if message.role != "assistant":
            continue
        made = message.metadata.calls if message.metadata.answer is None else ()  # an answer ends a turn (R-1a)
        kept = [(number, call) for number, call in enumerate(made) if call.id and _TOOL_NAME.fullmatch(call.tool)]
        calls = tuple(replace(call, id=call_ids.take_for_call(call.id, message.id, number)) for number, call in kept)
        done["removed_calls"] += len(message.metadata.calls) - len(kept)
        done["renamed_calls"] += sum(call.id != old.id for call, (_, old) in zip(calls, kept, strict=True))
        caller = _calling(message, calls)
        if not calls and says_nothing(caller):
            done["dropped_empty"] += 1
            continue
        done["mended"] += (caller.content, caller.metadata.interrupted) != (
            message.content,
            message.metadata.interrupted,
        )
        rows.append((place, caller))
        for (number, _), call in zip(kept, calls, strict=True):
            answer = results.get((place, number))
            if answer is None:
                made_up = result_message(caller, call, MISSING, as_text=message.turn_id in reported_as_text)
                rows.append((None, replace(made_up, id=message_ids.take(made_up.id))))
            else:
                facts = replace(messages[answer].metadata, call_id=call.id)
                rows.append((answer, replace(messages[answer], metadata=facts)))
    added = sum(place is None for place, _ in rows)
    found = sum(message.role == "tool" for _, message in rows) - added
    orphans = sum(message.role == "tool" for message in messages) - found - doubles
    done += Repairs(moved=_moved(messages, rows), dropped_duplicate=doubles, dropped_orphan=orphans, added=added)
    return tuple(message for _, message in rows), done


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


def _matched(messages: Sequence[Message]) -> tuple[Mapping[tuple[int, int], int], int]:
    """The places of results by the place of their call's message and the call's number there; how many are doubles."""
    callers: dict[tuple[str, str | None], list[int]] = {}
    for place, message in enumerate(messages):
        for call_id in {call.id for call in message.metadata.calls} if message.role == "assistant" else ():
            for turn_id in (message.turn_id, None):
                callers.setdefault((call_id, turn_id), []).append(place)
    claims: dict[tuple[int, str], list[tuple[bool, bool, int]]] = {}
    for place, message in enumerate(messages):
        call_id = message.metadata.call_id
        if message.role != "tool" or not call_id:
            continue
        near = callers.get((call_id, message.turn_id))
        places = near or callers.get((call_id, None), [])
        before = bisect_left(places, place) - 1
        if near or (before >= 0 and _is_answered(messages[places[before]], message)):
            claim = (not near, message.metadata.ref is None, place)
            claims.setdefault((places[max(0, before)], call_id), []).append(claim)
    results: dict[tuple[int, int], int] = {}
    doubles = 0
    for (home, call_id), claim in claims.items():
        numbers = [number for number, call in enumerate(messages[home].metadata.calls) if call.id == call_id]
        best = sorted(place for *_, place in sorted(claim)[: len(numbers)])
        doubles += len(claim) - len(best)
        results.update(zip(((home, number) for number in numbers), best, strict=False))
    return results, doubles


def _is_answered(message: Message, result: Message) -> bool:
    """Whether a result of another turn is that of a call in the message."""
    facts = result.metadata
    return any(call.id == facts.call_id and facts.tool_name in {None, call.tool} for call in message.metadata.calls)


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
    repairs = Repairs()
    steps = (sanitised, paired, opened, partial(limited, turns=limit), paired)
    for step in steps if limit else steps[:3]:
        messages, done = step(messages)
        repairs += done
    return messages, repairs


def opened(messages: Sequence[Message]) -> tuple[Sequence[Message], Repairs]:
    """A history in which the user has the first word, in every turn whose beginning was lost (H-1).

    An ellipsis stands for what was lost, so that the work that followed is not lost too, and does not run together with
    the words of an earlier turn: where a view is spelt, neighbours of one role are merged (H-3). The messages must be
    `paired`.
    """
    found: list[Message] = []
    previous: Message | None = None
    for message in messages:
        if message.role == "assistant" and (previous is None or _is_apart(previous, message)):
            hint = Metadata(note="hint")
            found.append(Message(f"opening_{message.id}", message.turn_id, "user", OMITTED, hint))
        found.append(message)
        previous = previous if message.role == "summary" else message
    repairs = +Repairs(opened=len(found) - len(messages))
    return (tuple(found) if repairs else messages), repairs


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
    starts = [at for at, one in enumerate(messages) if one.role == "user" and one.metadata.note is None]
    cut = starts[-turns] if 0 < turns < len(starts) else 0
    kept = [message for message in messages[:cut] if message.role == "summary"]
    repairs = +Repairs(limited=cut - len(kept))
    return ((*kept, *messages[cut:]) if repairs else messages), repairs
