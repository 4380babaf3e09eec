"""Skills that were loaded: in a message, in results that no batch shortens, and behind the summaries (X-2).

A batch leaves their results alone; when the window is in danger they give way like any other result (C-5, W-6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from codelaw.context.escaping import escaped, one_name, quoted
from codelaw.context.past.strategies import cut_to
from codelaw.context.sections import message_tokens
from codelaw.domain.brought import LoadedSkill
from codelaw.domain.listing import as_list, as_object, parsed
from codelaw.domain.messages import Fragment, Message
from codelaw.templates.render import render

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
