"""What the model must be told before its next step: steers, and files the user changed (R-9, F-5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.context.observations import neutralise, one_name
from codelaw.domain.messages import Message, Metadata, Note
from codelaw.templates.render import render

if TYPE_CHECKING:
    from codelaw.agent.open_turn import OpenTurn

CHANGED_NAMED = 5
"""Most changed files a reminder names (F-5)."""


@dataclass(slots=True)
class Notes:
    """Notes that have come in and are not told yet."""

    _pending: list[tuple[Note, str]] = field(default_factory=list[tuple[Note, str]])

    @property
    def steered(self) -> bool:
        """Whether a steer is waiting."""
        return any(note == "steer" for note, _ in self._pending)

    def steer(self, text: str) -> None:
        """Queue the user's words for the next step."""
        self._pending.append(("steer", render("steer", text=neutralise(text))))

    def changed(self, paths: list[str]) -> None:
        """Queue a reminder that files the model has read were changed."""
        if paths:
            named, more = [one_name(path) for path in paths[:CHANGED_NAMED]], max(0, len(paths) - CHANGED_NAMED)
            self._pending.append(("reminder", render("changed", paths=named, more=more)))

    async def tell(self, opened: OpenTurn, add: Callable[[Note, str], Awaitable[None]]) -> None:
        """Hand everything on; what `add` has not put into the turn when it fails is kept for the next time."""
        while self._pending:
            told = len(opened.record)
            try:
                await add(*self._pending[0])
            finally:
                if len(opened.record) > told:
                    del self._pending[0]

    def unheard(self, opened: OpenTurn) -> list[Message]:
        """Steers that came too late for this turn: kept, and seen by the model in the next."""
        late = [text for note, text in self._pending if note == "steer"]
        self._pending = [(note, text) for note, text in self._pending if note != "steer"]
        return [
            Message(
                f"steer_{opened.id}_late_{number}", opened.id, "user", text, Metadata(step=opened.step, note="steer")
            )
            for number, text in enumerate(late)
        ]
