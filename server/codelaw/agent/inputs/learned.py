"""What a session learns while it works: its models' tokenizers and windows (W-4), and which laws were shown (E-5)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from codelaw.context.calibration import Calibration, mixture
from codelaw.context.system.law_check import describe_change
from codelaw.context.tokens import SMALLEST_WINDOW
from codelaw.domain.chats import Notice
from codelaw.domain.laws import LawUse

if TYPE_CHECKING:
    from codelaw.context.sections import View
    from codelaw.context.system.law import LawText
    from codelaw.domain.chats import Chat

KEPT = 64
"""Chats, and texts of laws, that are remembered (S-6)."""

V = TypeVar("V")


class TokenCalibration:
    """Those of one session, shared by its chats."""

    def __init__(self) -> None:
        self.known = Calibration()
        """What the models' reports say of our estimates."""
        self._windows: dict[str, int] = {}
        self.plain: set[str] = set()
        """Models of which an endpoint has refused system messages between the others (L-6)."""

    def learn(self, model: str, view: View, reported: int) -> Calibration:
        """Take in the tokens of input that a model has reported for a view; gives what is known then."""
        if reported > 0 and not self.known.foreseen(model, view.tokens, reported):
            self.known = self.known.observed(model, mixture(view.sections), reported)
        return self.known

    def shrink(self, model: str, tokens: int) -> None:
        """Take in how many tokens the vendor really takes; numbers that cannot be are passed over."""
        if tokens >= SMALLEST_WINDOW:
            self._windows[model] = tokens

    def window(self, model: str, reported: int) -> int:
        """Tokens of a model's window, where `reported` are those of its profile."""
        return min(reported, self._windows.get(model, reported))


class ShownLaws:
    """The memory of one session: after a restart nothing is known of before."""

    def __init__(self) -> None:
        self._by_chat: OrderedDict[str, Sequence[LawText]] = OrderedDict()
        self._uses: OrderedDict[str, LawUse] = OrderedDict()

    def shown(self, chat: Chat, documents: Sequence[LawText]) -> Notice | None:
        """A step of `chat` was given these; the notice when they are others than at its step before."""
        for document in documents:
            self.used(chat, document)
        before = self._by_chat.get(chat.id)
        _keep(self._by_chat, chat.id, documents)
        reported = "" if before is None else describe_change(before, documents)
        return Notice("info", "law_changed", reported) if reported else None

    def used(self, chat: Chat, document: LawText) -> None:
        """A turn of `chat` was shown this text."""
        _keep(self._uses, document.digest, LawUse(time.time(), chat.id, chat.title))

    def last_use(self, digest: str) -> LawUse | None:
        """The last turn that was shown the text with that digest."""
        return self._uses.get(digest)


def _keep(memory: OrderedDict[str, V], key: str, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > KEPT:
        memory.popitem(last=False)
