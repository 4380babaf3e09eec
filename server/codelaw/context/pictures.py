"""Results without the pictures that were shown with them, and the words about that (M-6, C-5)."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from codelaw.context.escaping import json_line
from codelaw.domain.listing import as_list, as_object, parsed
from codelaw.domain.messages import Message

IMAGES = "images"
"""Where a result's data tells of them: a list of objects."""
SHOWN = "sent"
"""True in the object of a picture that is shown with the result."""
GONE = "gone"
"""True in that of one which was shown and is not any more."""


def marked_gone(images: Any) -> Any:
    """What a result's data says of its pictures, once they are not shown any more; the same object without any."""
    if not any(_shown(one, (SHOWN,)) for one in as_list(images)):
        return images
    return [
        {**{name: value for name, value in one.items() if name != SHOWN}, GONE: True} if _shown(one, (SHOWN,)) else one
        for one in images
    ]


def count_pictures(data: Any) -> int:
    """How many pictures were shown with a result, by its data, whether or not they still are."""
    return sum(_shown(one, (SHOWN, GONE)) for one in as_list(as_object(data).get(IMAGES)))


def without_pictures(message: Message) -> Message:
    """The message of a result without its pictures, and with words for that; the same object without any."""
    if message.role != "tool" or not message.metadata.images:
        return message
    body = parsed(message.content)
    data = as_object(body.get("data"))
    images = marked_gone(data.get(IMAGES))
    same = images is data.get(IMAGES)
    content = message.content if same else json_line({**body, "data": {**data, IMAGES: images}})
    return replace(message, content=content, metadata=replace(message.metadata, images=()))


def with_those_of(messages: Sequence[Message], refs: AbstractSet[str]) -> Sequence[Message]:
    """The messages without the pictures of cut results, but for those of `refs`, which are shown whole.

    The same object when none goes. A result that the history does not cut keeps its own.
    """
    if not any(_lost(message, refs) for message in messages):
        return messages
    return [without_pictures(message) if _lost(message, refs) else message for message in messages]


def _lost(message: Message, refs: AbstractSet[str]) -> bool:
    facts = message.metadata
    return message.role == "tool" and bool(facts.images) and facts.whole and facts.ref not in refs


def _shown(one: Any, marks: Sequence[str]) -> bool:
    return any(as_object(one).get(mark) is True for mark in marks)
