"""A message that is sent, and the turn that is planned for it, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.domain.chats import Mode, Notice
from codelaw.domain.messages import Fragment, Message

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import Dialect
    from codelaw.agent.inputs.gathering import Question
    from codelaw.agent.inputs.kinds import Agents
    from codelaw.agent.inputs.law_files import Law
    from codelaw.agent.inputs.turn_context import Limits, SystemFacts
    from codelaw.app.brought.skills import Shelf
    from codelaw.context.sections import Section
    from codelaw.domain.models import Effort
    from codelaw.domain.requests import EditorState, Enclosed
    from codelaw.settings import Settings
    from codelaw.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Asked:
    """What a message is sent with."""

    text: str
    settings: Settings
    mode: Mode
    attachments: Sequence[Enclosed] = ()
    editor: EditorState | None = None
    restricted: bool = False
    """Whether the editor does not trust the folder (S-7)."""
    redacted: bool = False
    """A key was taken out of the text (S-5)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A turn that has passed every check."""

    model_name: str
    mode: Mode
    dialect: Dialect
    other: Dialect | None
    """As `TurnInputs` has them."""
    toolbox: Toolbox
    limits: Limits
    system: tuple[Section, ...]
    facts: SystemFacts
    law: Law
    question: Question
    notices: tuple[Notice, ...]
    beside: tuple[Fragment, ...] = ()
    """What is always said right behind the question, and not kept."""
    restricted: bool = False
    """The editor does not trust the folder: the law is no layer of its own (S-7)."""
    skills: Shelf | None = None
    """What can be loaded, as it was when the turn was planned (X-2)."""
    searching: bool = False
    """The vendor may search the web."""
    effort: Effort | None = None
    """That the command asks for which the message calls, for this turn alone (P-6)."""
    agents: Agents | None = None
    """What Task can begin; None where there are no subagents (X-4)."""

    @property
    def asked(self) -> Message:
        """The question as it would be sent, before it belongs to a turn."""
        return Message("ask", "next", "user", self.question.content, self.question.metadata)
