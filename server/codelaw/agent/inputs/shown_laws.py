"""The law as a chat is given it, step by step; which law it was shown last, and which turn a law (L-4, E-5)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from codelaw.agent.inputs.law_files import find_law
from codelaw.context.system.law_check import change_told
from codelaw.domain.chats import Notice
from codelaw.domain.laws import LawUse

if TYPE_CHECKING:
    from codelaw.context.sections import Section
    from codelaw.context.system.law import LawText
    from codelaw.domain.chats import Chat
    from codelaw.permissions.policy import Denied
    from codelaw.ports.workspace import Workspace

KEPT = 64
"""Chats, and texts of laws, that are remembered (S-6)."""

V = TypeVar("V")


class ShownLaws:
    """The memory of one session: after a restart nothing is known of before."""

    def __init__(self) -> None:
        self._by_chat: OrderedDict[str, Sequence[LawText]] = OrderedDict()
        self._uses: OrderedDict[str, LawUse] = OrderedDict()

    def shown(self, chat: Chat, documents: Sequence[LawText]) -> Notice | None:
        """A step of `chat` was given these; the notice when they are others than at its step before."""
        for document in documents:
            _keep(self._uses, document.digest, LawUse(time.time(), chat.id, chat.title))
        before = self._by_chat.get(chat.id)
        _keep(self._by_chat, chat.id, documents)
        told = "" if before is None else change_told(before, documents)
        return Notice("info", "law_changed", told) if told else None

    def last_use(self, digest: str) -> LawUse | None:
        """The last turn that was shown the text with that digest."""
        return self._uses.get(digest)


class TurnLaw:
    """L2 as it is now, for the steps of one turn."""

    def __init__(
        self, workspace: Workspace, denied: Denied | None, files: Sequence[str], chat: Chat, shown: ShownLaws
    ) -> None:
        self._workspace = workspace
        self._denied = denied
        self._files = files
        self._chat = chat
        self._shown = shown
        self._documents: Sequence[LawText] = ()

    async def layer(self) -> Sequence[Section]:
        """L2, looked up again (L-4)."""
        found = await find_law(self._workspace, self._denied, self._files)
        self._documents = found.documents
        return found.layer

    def news(self) -> Notice | None:
        """A step was given what was looked up last; what the user is told when the step before was given another."""
        return self._shown.shown(self._chat, self._documents)


class NoLaw(TurnLaw):
    """That of a folder which the editor does not trust: its law is data (S-7)."""

    async def layer(self) -> Sequence[Section]:
        """Nothing."""
        return ()


def _keep(memory: OrderedDict[str, V], key: str, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > KEPT:
        memory.popitem(last=False)
