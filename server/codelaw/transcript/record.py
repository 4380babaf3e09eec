"""A chat as one JSON document: everything that is stored of it, so that nothing is lost on the way (D-2)."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, cast

from codelaw.domain.chats import StoredChat
from codelaw.domain.events import ChatEvent
from codelaw.domain.messages import KeptItems

FORMAT = "codelaw.chat"
VERSION = 1
"""Rises when a reader of the version before would misunderstand the document; fields may be added at any time."""


_OF_THE_VIEW = "asides"
"""Fields that belong to no record (L-3)."""


def record(chat: StoredChat, results: Mapping[str, Mapping[str, Any]], events: Sequence[ChatEvent]) -> str:
    """The document; `results` are the full results by ref. It is plain ASCII, and text that is not Unicode survives.

    Names are spelt as on the wire, and a field at null, false or empty stands there all the same.
    """
    happened = [
        {"seq": event.seq, "turnId": event.turn_id, "at": event.at, "event": _plain(event.event)} for event in events
    ]
    document = {"format": FORMAT, "version": VERSION, **_plain(chat), "results": dict(results), "events": happened}
    return json.dumps(document, indent=1).replace("\x7f", "\\u007f")  # which json leaves as it is


def _plain(value: Any) -> Any:
    """JSON values of a domain value. Mappings are what models and tools wrote: they keep their keys."""
    if isinstance(value, KeptItems):
        return {"maker": value.maker, "blocks": len(value.items)}  # marked: the content is for its maker alone (P-5)
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value) if field.name != _OF_THE_VIEW]
        return {_camel(name): _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, AbstractSet):
        return sorted(_plain(item) for item in cast("AbstractSet[Any]", value))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    return value


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)
