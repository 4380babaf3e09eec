"""The law as a turn is given it: L2 at each step, and laws of folders behind results that touch them (L-4, X-10)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.inputs.law_files import Listed, find_law, laws_above
from codelaw.context.past.projection import standing
from codelaw.context.system.law import NestedLaw, laws_to_send, most_shown
from codelaw.domain.chats import Notice

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.agent.services import ChatServices
    from codelaw.context.sections import Section, View
    from codelaw.context.system.law import LawText
    from codelaw.domain.chats import Chat
    from codelaw.domain.messages import Call, Fragment
    from codelaw.domain.results import ToolResult
    from codelaw.permissions.policy import Denied

TOUCHED = 8
"""Files that one call has changed whose folders are looked at."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class TurnLaws:
    """Reads the law for one turn, and compares what counts in the folders that calls touch with what the view shows."""

    inputs: TurnInputs
    record: TurnRecord
    chat: Chat
    house: ChatServices
    denied: Denied | None
    """What rules keep from being read."""
    listed: Listed = field(init=False)
    _documents: Sequence[LawText] = ()
    _view: View | None = None
    _standing: dict[str, str] | None = None
    """What the view, and the results since, show: texts by name."""
    _warned: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.listed = Listed(self.inputs.law_files)

    async def layer(self) -> Sequence[Section]:
        """L2 as it is now, without known keys (L-4); nothing where the editor does not trust the folder (S-7)."""
        if self.inputs.restricted:
            return ()
        found = await find_law(self.house.workspace, self.denied, self.inputs.law_files)
        self._documents = found.documents
        return self.house.redaction.value(found.layer)

    def sent(self, view: View) -> None:
        """The model is asked with this view."""
        self._view, self._standing = view, None

    def news(self) -> Notice | None:
        """A step was given what was looked up last; what the user is told when the step before was given another."""
        return self.house.laws.shown(self.chat, self._documents)

    async def behind(self, call: Call, result: ToolResult) -> tuple[Fragment, ...]:
        """The texts that belong behind the result of a call, none where it failed. Never raises but for a cancel."""
        try:
            return () if result.status == "error" else await self._behind(call, result)
        except Exception:  # noqa: BLE001 - a law that is not shown takes no result away (R-10)
            _log.exception("the laws of folders could not be looked up")
            return ()

    async def _behind(self, call: Call, result: ToolResult) -> tuple[Fragment, ...]:
        path = call.arguments.get("path")
        touched = [path] if isinstance(path, str) else []
        touched += [change.path for change in result.changes if change.path not in touched]
        chain: dict[str, NestedLaw] = {}
        for one in touched[:TOUCHED]:
            # Without known keys, as the text will stand in the view.
            chain.update((law.folder, self.house.redaction.value(law)) for law in await self._below(one))
        if not chain:
            return ()
        texts = laws_to_send([*chain.values()], self._reported, restricted=self.inputs.restricted)
        self._reported.update((text.name, text.text) for text in texts)
        return texts

    async def _below(self, path: str) -> list[NestedLaw]:
        """What counts in the folders from below the root down to `path`; the user is told what is wrong with it."""
        chain: list[NestedLaw] = []
        for shown, law in await laws_above(self.house.workspace, self.denied, self.inputs.law_files, path, self.listed):
            document = None if law is None else law.document
            if law is None or document is None:
                chain.append(NestedLaw(shown))
                if law is not None:
                    self._warn("law_unreadable", f"The {law.name} of {shown} is left out: {law.problem}")
                continue
            nested = NestedLaw(shown, f"{shown}/{law.name}", document.text, most_shown(self.inputs.limits.window))
            chain.append(nested)
            self.house.laws.used(self.chat, document)
            if nested.is_cut:
                message = f"{nested.file} is long: the model is shown its first {nested.most} characters."
                self._warn("law_large", message)
        return chain

    def _warn(self, code: str, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            self.record.notice(Notice("warning", code, message))

    @property
    def _reported(self) -> dict[str, str]:
        if self._standing is None:
            sections = self._view.sections if self._view is not None else ()
            messages = [message for section in sections for message in section.messages]
            self._standing = dict(standing(messages))
        return self._standing
