"""What a turn tells of the laws of folders, behind the results that touch them (X-10)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.context.past.projection import standing
from codelaw.context.system.law import Nested, to_tell

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.open_turn import OpenTurn
    from codelaw.context.sections import View
    from codelaw.domain.messages import Call, Fragment
    from codelaw.domain.results import ToolResult
    from codelaw.domain.safety.redaction import Redaction

TOUCHED = 8
"""Files that one call has changed whose folders are looked at."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class FolderLaws:
    """Compares what counts in the folders that a call has touched with what the view tells of them."""

    inputs: TurnInputs
    open: OpenTurn
    redaction: Redaction
    _view: View | None = None
    _standing: dict[str, str] | None = None
    """What the view, and the results since, tell: texts by name."""
    _warned: set[str] = field(default_factory=set[str])

    def sent(self, view: View) -> None:
        """The model is asked with this view."""
        self._view, self._standing = view, None

    async def behind(self, call: Call, result: ToolResult) -> tuple[Fragment, ...]:
        """The texts that belong behind the result of a call, none where it failed. Never raises but for a cancel."""
        try:
            return await self._behind(call, result)
        except Exception:  # noqa: BLE001 - a law that is not told takes no result away (R-10)
            _log.exception("the laws of folders could not be looked up")
            return ()

    async def _behind(self, call: Call, result: ToolResult) -> tuple[Fragment, ...]:
        if result.status == "error":
            return ()
        path = call.arguments.get("path")
        touched = [path] if isinstance(path, str) else []
        touched += [change.path for change in result.changes if change.path not in touched]
        chain: dict[str, Nested] = {}
        for one in touched[:TOUCHED]:
            laws, notices = await self.inputs.laws.below(one, self.inputs.limits.window)
            # Without known keys, as the text will stand in the view.
            chain.update((law.folder, self.redaction.value(law)) for law in laws)
            for notice in notices:
                if notice.message not in self._warned:
                    self._warned.add(notice.message)
                    self.open.notice(notice)
        if not chain:
            return ()
        texts = to_tell([*chain.values()], self._told, restricted=self.inputs.laws.restricted)
        self._told.update((text.name, text.text) for text in texts)
        return texts

    @property
    def _told(self) -> dict[str, str]:
        if self._standing is None:
            sections = self._view.sections if self._view is not None else ()
            messages = [message for section in sections for message in section.messages]
            self._standing = dict(standing(messages))
        return self._standing
