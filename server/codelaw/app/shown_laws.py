"""Which law each chat was shown last, and which turn was last shown a law (E-5)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from codelaw.context.system.law_check import change_told
from codelaw.domain.chats import Notice
from codelaw.domain.laws import LawUse

if TYPE_CHECKING:
    from codelaw.context.system.law import LawText
    from codelaw.domain.chats import Chat

KEPT = 64
"""Chats, and texts of laws, that are remembered (S-6)."""

V = TypeVar("V")


class ShownLaws:
    """The memory of one session: after a restart nothing is known of before."""

    def __init__(self) -> None:
        self._by_chat: OrderedDict[str, Sequence[LawText]] = OrderedDict()
        self._uses: OrderedDict[str, LawUse] = OrderedDict()

    def shown(self, chat: Chat, documents: Sequence[LawText], now: float) -> Notice | None:
        """A step of `chat` was given these; the notice when they are others than at its step before."""
        for document in documents:
            _keep(self._uses, document.digest, LawUse(now, chat.id, chat.title))
        before = self._by_chat.get(chat.id)
        _keep(self._by_chat, chat.id, documents)
        told = "" if before is None else change_told(before, documents)
        return Notice("info", "law_changed", told) if told else None

    def last_use(self, digest: str) -> LawUse | None:
        """The last turn that was shown the text with that digest."""
        return self._uses.get(digest)


def _keep(memory: OrderedDict[str, V], key: str, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > KEPT:
        memory.popitem(last=False)
