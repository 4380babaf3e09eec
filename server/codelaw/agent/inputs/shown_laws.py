"""The law as a chat is given it, step by step; which law it was shown last, and which turn a law (L-4, E-5)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from codelaw.agent.inputs.law_files import Listed, find_law, laws_above
from codelaw.context.system.law import Nested, most_shown
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
            self.used(chat, document)
        before = self._by_chat.get(chat.id)
        _keep(self._by_chat, chat.id, documents)
        told = "" if before is None else change_told(before, documents)
        return Notice("info", "law_changed", told) if told else None

    def used(self, chat: Chat, document: LawText) -> None:
        """A turn of `chat` was shown this text."""
        _keep(self._uses, document.digest, LawUse(time.time(), chat.id, chat.title))

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
        self._listed = Listed(files)

    async def layer(self) -> Sequence[Section]:
        """L2, looked up again (L-4)."""
        found = await find_law(self._workspace, self._denied, self._files)
        self._documents = found.documents
        return found.layer

    async def below(self, path: str, window: int) -> tuple[Sequence[Nested], Sequence[Notice]]:
        """What counts in the folders from below the root down to `path`, and what is wrong with it (X-10).

        `window` is the model's, in tokens.
        """
        chain: list[Nested] = []
        notices: list[Notice] = []
        for shown, law in await laws_above(self._workspace, self._denied, self._files, path, self._listed):
            document = None if law is None else law.document
            if law is None or document is None:
                chain.append(Nested(shown))
                if law is not None:
                    message = f"The {law.name} of {shown} is left out: {law.problem}"
                    notices.append(Notice("warning", "law_unreadable", message))
                continue
            nested = Nested(shown, f"{shown}/{law.name}", document.text, most_shown(window))
            chain.append(nested)
            self._shown.used(self._chat, document)
            if nested.is_cut:
                message = f"{nested.file} is long: the model is shown its first {nested.most} characters."
                notices.append(Notice("warning", "law_large", message))
        return chain, notices

    @property
    def restricted(self) -> bool:
        """Whether the law is only data."""
        return False

    def news(self) -> Notice | None:
        """A step was given what was looked up last; what the user is told when the step before was given another."""
        return self._shown.shown(self._chat, self._documents)


class NoLaw(TurnLaw):
    """That of a folder which the editor does not trust: its law is data (S-7)."""

    async def layer(self) -> Sequence[Section]:
        """Nothing."""
        return ()

    @property
    def restricted(self) -> bool:
        """It is."""
        return True


def _keep(memory: OrderedDict[str, V], key: str, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > KEPT:
        memory.popitem(last=False)
