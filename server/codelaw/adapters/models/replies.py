"""A streamed reply, whatever wire it comes on: its bounds, the shapes it may have, and what is reported of it (P-1)."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from codelaw.adapters.models.endpoints import dig
from codelaw.domain.models import Delta, Heard, ModelReply, TextDelta, ThinkingDelta, Usage

MOST_TOKENS = 100_000_000
"""Of one reply, of any kind; whoever reports more, or less than none, is not believed."""
MOST_CALLS = 256
"""Blocks of one reply beside its text."""
LONGEST_NAME = 1_000
"""Characters of a tool's name, of a call's id, of a search, of a title or an address that it gave."""
GATHERED_FROM = 1 << 16
"""Characters of a reply from which on deltas are reported together: each is looked at with the whole."""
_GATHERED = 128
"""Characters of text that are then reported together."""


class MalformedEvent(ValueError):
    """An event has not the shape it should have."""


class EndlessReply(ValueError):
    """The reply is larger than any that was asked for."""


def room_for(max_tokens: int) -> int:
    """Characters that a reply may have, its thinking included: far more than its tokens could spell."""
    return (1 << 20) + 64 * max_tokens


def bytes_for(max_tokens: int) -> int:
    """Bytes that the stream of such a reply may have."""
    return (32 << 20) + 1024 * max_tokens


def arguments_of(written: str) -> dict[str, Any] | None:
    """A call's arguments, of which nothing need be written; None while they are no JSON object."""
    try:
        value: object = json.loads(written) if written.strip() else {}
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


class ReplyReader(ABC):
    """Takes events as they arrive and reports the deltas; `reply()` gives the whole."""

    def __init__(self, on_delta: Callable[[Delta], Heard], room: int = 1 << 20, *, progress: bool = False) -> None:
        """`room` is how many characters the reply may have; `progress`: its thinking is notes on its progress."""
        self._on_delta = on_delta
        self._progress = progress
        self._room = self._left = room
        self._text: list[str] = []
        self._said = 0
        """Characters of the text."""
        self._gathered: list[str] = []
        """Text that is not reported yet."""
        self._thought: object = None
        """Of what thinking was reported last."""
        self._whole = False
        """The text could end here."""
        self._usage = Usage()
        self._stop: str | None = None
        """Why the vendor stopped, in its word."""
        self.doubted: bool = False
        """The reported usage holds what cannot be."""
        self.events = 0
        self.ended = False
        """The last event has come."""
        self.enough = False
        """The engine needs no more of it."""

    @property
    def complete(self) -> bool:
        """The vendor said why it stopped: nothing of the reply is missing."""
        return self._stop is not None

    @property
    @abstractmethod
    def could_end(self) -> bool:
        """Nothing need follow: the vendor said why it stopped, or what has come can be run (R-3)."""

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._text)

    @property
    def usage(self) -> Usage:
        """The usage reported so far; later reports replace earlier ones field by field."""
        return self._usage

    @property
    def filled(self) -> bool:
        """The reply has filled the model's window, and ends there."""
        return False

    @abstractmethod
    def take(self, event: object) -> None:
        """Read one event; unknown ones are skipped. `flush` reports what it may have held back.

        Raises:
            MalformedEvent: it has not the shape it should have.
            EndlessReply: there is no room for it.
            ErrorEvent: it says what went wrong.
        """

    @abstractmethod
    def reply(self) -> ModelReply:
        """The whole reply; a call whose arguments are not a JSON object is a broken one (R-6)."""

    def flush(self) -> None:
        """Report what came together."""
        if self._gathered:
            piece = "".join(self._gathered)
            self._gathered.clear()
            heard = self._on_delta(TextDelta(piece))
            self.enough, self._whole = self.enough or heard is True, heard == "whole"

    def _say(self, text: object) -> None:
        piece = string(text, "text")
        if not piece:
            return
        self._take_room(len(piece))
        self._text.append(piece)
        self._said += len(piece)
        self._gathered.append(piece)
        if self._room - self._left < GATHERED_FROM or sum(map(len, self._gathered)) >= _GATHERED:
            self.flush()

    def _think(self, of: object, text: object) -> str:
        """More of the thinking of one part, which is reported, parts apart."""
        piece = string(text, "thinking")
        self._take_room(len(piece))
        if piece:
            apart = "\n\n" if self._thought is not None and self._thought != of else ""
            self._thought = of
            self._on_delta(ThinkingDelta(apart + piece, self._progress))
        return piece

    def _take_room(self, characters: int) -> None:
        self._left -= characters
        if self._left < 0:
            raise EndlessReply(f"a reply of more than {self._room} characters")


def usage_of(usage: object, where: Mapping[str, tuple[str, ...]], known: Usage) -> tuple[Usage, bool]:
    """`known` with what is reported anew, each `where` the vendor has it, and whether some of that cannot be."""
    values = {name: dig(usage, *path) for name, path in where.items()}
    sure = {
        name: value
        for name, value in values.items()
        if type(value) is int and 0 <= value <= (MOST_CALLS if name == "web_searches" else MOST_TOKENS)
    }
    return replace(known, **sure), any(values[name] is not None for name in values.keys() - sure.keys())


def word(value: object) -> str:
    """A short word of the vendor's; empty when it is none."""
    return value[:LONGEST_NAME] if isinstance(value, str) else ""


def mapping(value: object, name: str) -> Mapping[str, Any]:
    """`value`, if it is an object; raises MalformedEvent."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    raise MalformedEvent(f"`{name}` of an event is not an object")


def string(value: object, name: str) -> str:
    """`value`, if it is a string; raises MalformedEvent."""
    if isinstance(value, str):
        return value
    raise MalformedEvent(f"`{name}` of an event is not a string")


def named(block: Mapping[str, Any], name: str) -> str:
    """A block's id or the name of its tool; raises MalformedEvent where it can be none."""
    text = string(block.get(name), name)
    if len(text) > LONGEST_NAME:
        raise MalformedEvent(f"`{name}` of a call has {len(text)} characters")
    return text
