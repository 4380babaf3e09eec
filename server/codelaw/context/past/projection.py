"""The view of a transcript: archived rounds left out, demoted bodies as one line, each call with its result (H-1).

What is shown of that, and what stands for the rest, the chat's strategy decides (B-1). The bodies of loaded skills go
on counting: no batch shortens their results, and they stand behind the summaries when their rounds have left (X-2).
When the window is in danger they give way like any other result (C-5, W-6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from codelaw.context.builder import History
from codelaw.context.escaping import escaped, one_name, quoted
from codelaw.context.past.strategies import Material, Selection, choose, cut_to, reported, thread_message
from codelaw.context.pictures import with_those_of
from codelaw.context.sections import message_tokens
from codelaw.context.shortening.demotion import demoted
from codelaw.context.shortening.economy import anchors
from codelaw.domain.extensions import LoadedSkill
from codelaw.domain.listing import as_list, as_object, parsed
from codelaw.domain.messages import Fragment, Message
from codelaw.domain.reports import Dropped
from codelaw.templates.render import render
from codelaw.transcript.repair.hygiene import hygiene
from codelaw.transcript.transcript import Transcript, newest_fitting, rounds

LOADER = "load_skill"
"""The tool whose results hold them."""
EACH = 5_000
"""Tokens of one body that outlive a compaction."""
TOGETHER = 25_000
"""Tokens of all of them."""
_SHARE = 8
"""The part of the window that they may take at most."""
_BESIDE = 1_000
"""Tokens of a result beside its body."""


def body_of(message: Message) -> Mapping[str, Any] | None:
    """The data of a result that loaded a skill; None for all other messages, and for one of a skill's files."""
    if message.role != "tool" or message.metadata.tool_name != LOADER:
        return None
    found = as_object(parsed(message.content).get("data"))
    named = all(isinstance(found.get(name), str) for name in ("name", "body"))
    return found if named and not found.get("file") else None


def together(window: int) -> int:
    """Tokens that all bodies may take in a window of that size."""
    return min(TOGETHER, window // _SHARE)


def lasting(messages: Sequence[Message], window: int) -> frozenset[str]:
    """The results that stay as they are: of each skill the newest, the newest skills first, within the bounds."""
    stays, seen, room = set[str](), set[str](), together(window)
    for message in reversed(messages):
        data = body_of(message)
        if data is None or data["name"] in seen:
            continue
        seen.add(data["name"])
        tokens = message_tokens(message)
        if tokens <= min(room, EACH + _BESIDE):
            room -= tokens
            stays.add(message.id)
    return frozenset(stays)


_FRAGMENT = "skill:"
_SUMMARY_SHARE = 5 / 8
"""Of the room for summaries, behind which the bodies stand."""


def loaded_fragment(loaded: LoadedSkill) -> Fragment:
    """A skill that a message loads."""
    text = _text(loaded.name, loaded.folder, loaded.body, loaded.paths, loaded.by)
    return Fragment(f"{_FRAGMENT}{loaded.name}", text)


def body_room(summary_room: int | None, taken: int = 0) -> int:
    """Tokens for all bodies, where summaries have `summary_room`, of which they have `taken`.

    Nothing is taken where the view has room for bodies beside its summaries.
    """
    return (
        TOGETHER
        if summary_room is None
        else max(0, min(TOGETHER, int(summary_room * _SUMMARY_SHARE), summary_room - taken))
    )


def carried(messages: Sequence[Message], room: int) -> tuple[list[Message], list[str]]:
    """The bodies of skills that were loaded in these messages, which the view no longer shows, oldest first.

    Of each skill the newest counts. The newest skills come first into the `room`, in tokens; the names of those that
    found none are the second value.
    """
    newest = dict[str, tuple[str, str]]()
    for message in reversed(messages):
        for name, text in _loaded(message):
            newest.setdefault(name, (message.id, text))
    each = min(EACH, room)
    kept: list[Message] = []
    gone: list[str] = []
    for name, (id_, text) in newest.items():
        shown = Message(f"{_FRAGMENT}{name}:{id_}", "", "summary", _again(text, each))
        tokens = message_tokens(shown)
        if tokens > room:
            gone.append(name)
            continue
        room -= tokens
        kept.append(shown)
    return kept[::-1], gone


def _loaded(message: Message) -> Iterator[tuple[str, str]]:
    """The skills that a message loaded, by name, newest first."""
    data = body_of(message)
    if data is not None:
        files = list(map(str, as_list(data.get("files"))))
        folder = str(data.get("folder", ""))
        yield data["name"], _text(data["name"], folder, data["body"], files, str(data.get("by", "")))
    for fragment in reversed(message.metadata.fragments):
        if fragment.name.startswith(_FRAGMENT):
            yield fragment.name.removeprefix(_FRAGMENT), fragment.text


def _text(name: str, folder: str, body: str, files: Sequence[str], by: str) -> str:
    label, where = (one_name(one).replace('"', "'") for one in (name, folder))
    named = [one_name(file) for file in files]
    return render("skill", skill=label, folder=where, files=named, by=by, body=quoted(escaped(body)))


def _again(text: str, room: int) -> str:
    """The text of a skill, in so many tokens, with other words in the place of those that ask for it now."""
    head, _, rest = text.partition("\n")
    _, _, rest = rest.partition("\n")
    body, _, foot = rest.rpartition("\n")
    frame = "\n".join([head, render("skill_again")])
    space = max(0, room - message_tokens(Message("", "", "summary", f"{frame}\n\n{foot}")))
    return "\n".join([frame, cut_to(body, space), foot])


ARCHIVE = "archive:"
"""With a number, from 1: the path under which the Read tool gives a summary that the view leaves out."""

LASTING = frozenset({"profile", "memories", "spans"})
"""Of what stands beside a question that which is not about its turn alone."""

_LAYERED = Selection()


def project(transcript: Transcript, selection: Selection = _LAYERED) -> History:
    """L3 as the model sees it; the record behind it is untouched.

    Of the archive's summaries the newest that fit into `summary_room` tokens stand verbatim; one line tells of older
    ones and how to read them, so that a chat of hundreds of turns does not drown in its own archive.
    """
    dropped: list[Dropped] = []
    archived = () if selection.ignores_cuts else transcript.messages[: transcript.cut]
    kept = transcript.unwithdrawn if selection.ignores_cuts else transcript.shown
    clean, _ = hygiene(kept, selection.limit)
    if archived:
        turns = len({message.turn_id for message in archived})
        dropped.append(Dropped("archived rounds", f"{turns} older rounds were archived by compaction"))
    withdrawn = _turns([message for message in transcript.messages if message.turn_id in transcript.withdrawn])
    if withdrawn:
        dropped.append(Dropped("withdrawn rounds", f"{withdrawn} rounds were taken out of the context by a revert"))
    shown = as_shown(clean, transcript) if selection.keeps_bytes else clean
    if selection.keeps_bytes:
        beside = transcript.beside
        shown = [
            replace(one, metadata=replace(one.metadata, asides=tuple(beside[one.id]))) if one.id in beside else one
            for one in shown
        ]
    refs = transcript.whole.keys() & transcript.reported.keys() if selection.keeps_bytes else frozenset[str]()
    shown = with_those_of(shown, refs)
    shown = shown if selection.ignores_cuts else demoted(shown, transcript.demoted)
    shown = [
        one
        if one.metadata.kept is None or one.metadata.kept.maker == selection.maker
        else replace(one, metadata=replace(one.metadata, kept=None))  # for its maker alone (P-5)
        for one in shown
    ]
    left_out = _turns(kept) - _turns(clean)
    if left_out > 0:
        reason = f"context.historyLimits shows the newest {selection.limit} user turns"
        dropped.append(Dropped("older rounds", reason))
    material = _material(transcript, shown, selection)
    chosen = choose(material, selection)
    if archived and chosen.summaries == material.archived and len(material.archived) < len(transcript.summaries):
        dropped.append(Dropped("older summaries", "the archive's share of the window is full; Read brings them back"))
    messages = (
        shown
        if len(chosen.rounds) == len(material.rounds)
        else [message for round_ in chosen.rounds for message in round_.messages]
    )
    standing = {message.turn_id for message in messages}
    away = [message for message in transcript.unwithdrawn if message.turn_id not in standing]
    # Where the parts of the view are measured, bodies have what the summaries leave of their share.
    taken = 0 if selection.room is None else sum(map(message_tokens, chosen.summaries))
    skills, gone = carried(away, body_room(selection.summary_room, taken))
    if gone:
        reason = f"{', '.join(gone)}: no room beside the skills that were loaded later; load_skill brings them back"
        dropped.append(Dropped("loaded skills", reason))
    history = History.of(
        [*chosen.summaries, *skills, *messages], [*dropped, *chosen.dropped], reported(selection, material, chosen)
    )
    if history.rounds is None or selection.strategy != "layered":
        return history
    return replace(history, rounds=replace(history.rounds, anchors=anchors(messages, transcript.demoted)))


def as_shown(messages: Sequence[Message], transcript: Transcript) -> Sequence[Message]:
    """The messages with those results as their turns showed them that no batch has shortened yet (C-6).

    The same object when there are none. One whose full result is lost stands as the history has it.
    """
    if not transcript.reported:
        return messages
    reported = {own: transcript.reported[ref] for ref, own in transcript.whole.items() if ref in transcript.reported}
    return [replace(one, content=reported[one.id]) if one.id in reported else one for one in messages]


def standing(messages: Sequence[Message]) -> Mapping[str, str]:
    """Of what stands behind these messages of a view the newest text of each name."""
    return {part.name: part.text for message in messages for part in message.metadata.asides}


def deduplicate(fragments: Sequence[Fragment], history: History) -> tuple[Fragment, ...]:
    """Those that are about their turn alone, or not what the newest of their name in the view says already (B-7)."""
    said = standing(history.rounds.messages if history.rounds is not None else ())
    return tuple(one for one in fragments if one.name not in LASTING or said.get(one.name) != one.text)


def in_turn(question: Message, scratchpad: Sequence[Message]) -> Sequence[Message]:
    """The running turn's own messages, repaired (H-1); the same object when nothing was wrong."""
    whole = (question, *scratchpad)
    clean, _ = hygiene(whole)
    return scratchpad if clean is whole else [message for message in clean if message.id != question.id]


def _material(transcript: Transcript, shown: Sequence[Message], selection: Selection) -> Material:
    """What the strategy chooses from."""
    whole = rounds(shown)
    if selection.ignores_cuts:
        return Material(whole)
    archived = _within(transcript.summaries, selection.summary_room)
    # A turn that was withdrawn since has taken the transcript's summary with it.
    summary = selection.thread if transcript.thread is not None else None
    if summary is None or summary.covers not in (turns := transcript.turns):
        return Material(whole, archived)
    thread = thread_message(summary.text, summary.covers, selection.summary_room)
    left = None if selection.summary_room is None else selection.summary_room - message_tokens(thread)
    # A compaction's own summary stays while it speaks of a turn that the rolling one does not know.
    last = turns[summary.covers]
    newer = [
        cut.summary
        for cut in transcript.checkpoints
        if cut.summary is not None and turns.get(cut.first_kept, 0) > last + 1
    ]
    covered = sum(turns.get(round_.turn_id, -1) <= last for round_ in whole)
    return Material(whole, archived, _within(tuple(newer), left), thread, covered)


def _turns(messages: Sequence[Message]) -> int:
    return len({message.turn_id for message in messages})


def _within(summaries: tuple[Message, ...], room: int | None) -> tuple[Message, ...]:
    """The newest summaries in `room` tokens, at least one; a line of their own stands for the others."""
    place = 0 if room is None else len(summaries) - newest_fitting(list(map(message_tokens, summaries)), room)
    if place == 0:
        return summaries
    line = render("archive", count=place, first=f"{ARCHIVE}1", last=f"{ARCHIVE}{place}")
    return (Message(f"archive_{place}", "", "summary", line), *summaries[place:])
