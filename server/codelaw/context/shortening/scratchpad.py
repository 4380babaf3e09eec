"""What gives way in the running turn when its view nears the window (C-5, W-6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codelaw.context.escaping import json_line
from codelaw.context.pictures import without_pictures
from codelaw.context.sections import message_tokens
from codelaw.context.shortening.compressor import bounded, middle_out
from codelaw.context.shortening.demotion import demotable, demoted
from codelaw.domain.checkpoints import Aside, Demotion
from codelaw.domain.listing import as_object, parsed, with_texts
from codelaw.domain.messages import Message

SHORTEST = 200
"""Characters that are left of a string that is cut."""


def shrink_scratchpad(
    scratchpad: Sequence[Message], record: Sequence[Message], *, to_free: int, all_of_it: bool = False
) -> Sequence[Message]:
    """The scratchpad with its oldest observations shortened, in one step, until `to_free` tokens are free (C-5).

    `record` holds the same messages as the history will have them. The oldest observations fall back to that form
    first; then they and the large arguments of their calls become one line each (C-6). The newest step is the last to
    give way, its results to their cut, and only with `all_of_it` to one line. The same object when nothing helps.
    """
    whole = list(map(without_pictures, record if len(record) == len(scratchpad) else scratchpad))
    lines = demoted(whole, frozenset(what for message in whole if (what := demotable(message)) is not None))
    newest = max((message.metadata.step or 0 for message in scratchpad if message.role == "tool"), default=0)
    spoken = [place for place, message in enumerate(scratchpad) if message.role in {"tool", "assistant"}]
    old = [place for place in spoken if (scratchpad[place].metadata.step or 0) < newest]
    last = spoken[len(old) :]
    shown = list(scratchpad)
    freed = 0
    for places, forms in ((old, whole), (old, lines), (last, whole), (last if all_of_it else [], lines)):
        for place in places:
            if freed >= to_free:
                break
            gain = message_tokens(shown[place]) - message_tokens(forms[place])
            if gain > 0 and forms[place].id == shown[place].id:
                shown[place] = forms[place]
                freed += gain
    return shown if freed else scratchpad


def given_way(
    scratchpad: Sequence[Message], record: Sequence[Message], reported: Mapping[str, str], asides: Sequence[Aside] = ()
) -> tuple[Demotion, ...]:
    """What of a turn was shortened while it ran, so that its round goes on as it was shown last (C-5, C-6).

    `record` holds the same messages as the history has them, `reported` the whole contents of results by ref, `asides`
    what is kept of the texts behind them. A result that was truncated counts as cut: the history has no other form
    between the whole and the line.
    """
    kept = {message.id: message for message in record}
    beside = {aside.message_id for aside in asides}
    found: list[Demotion] = []
    for message in scratchpad:
        own, ref = kept.get(message.id, message), message.metadata.ref
        if message.role == "assistant" and message.metadata.calls != own.metadata.calls:
            found.append(Demotion(message.id, "arguments"))
        elif message.role == "tool" and ref is not None and message.content not in {own.content, reported.get(ref)}:
            line = Demotion(message.id, "result")
            if demoted([own], {line})[0].content == message.content:
                found.append(line)
            elif own.metadata.whole:
                found.append(Demotion(message.id, "cut"))
        elif own.metadata.whole and message.content != reported.get(ref or ""):
            found.append(Demotion(message.id, "cut"))
        if message.id in beside and not message.metadata.asides:
            found.append(Demotion(message.id, "aside"))
    return tuple(found)


def truncate(messages: Sequence[Message], *, bound: int) -> Sequence[Message]:
    """The messages with every result of more than `bound` tokens cut to head and tail, and a word on how to read all.

    That is W-6's last measure. The same object when no result is that large, or none can be made smaller.
    """
    shown = [_truncated(message, bound) for message in messages]
    return messages if all(one is other for one, other in zip(shown, messages, strict=True)) else shown


def _truncated(message: Message, bound: int) -> Message:
    """The message with its long strings cut, or, where that is not enough, with head and tail of all its data."""
    if message.role != "tool" or message_tokens(message) <= bound:
        return message
    message = without_pictures(message)
    if message_tokens(message) <= bound:
        return message
    given, ref = parsed(message.content), message.metadata.ref
    if "data" not in given:
        return message
    smallest = message
    where = f", Read result:{ref} has them" if ref else ""
    for by_string in (True, False):  # data of many small parts lose their middle
        limit = len(message.content) // 2
        while limit >= SHORTEST and message_tokens(smallest) > bound:
            head, tail = limit * 3 // 5, limit * 2 // 5
            kept = bounded(given["data"], limit)
            if by_string:
                kept = with_texts(given["data"], lambda text, head=head, tail=tail: middle_out(text, head, tail, where))
            data = {
                **(as_object(kept) or {"text": kept}),
                "truncated": True,
                **({"whole": f"result:{ref}"} if ref else {}),
            }
            shorter = replace(message, content=json_line({**given, "data": data}))
            smallest = shorter if message_tokens(shorter) < message_tokens(smallest) else smallest
            limit //= 2
    return smallest
