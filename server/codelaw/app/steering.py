"""The message that steers become which nobody was told of before the answer came (R-9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelaw.app.plans import Asked

if TYPE_CHECKING:
    from codelaw.agent.turn.notes import Steer
    from codelaw.domain.chats import Mode
    from codelaw.settings import Settings


def asked_by(steers: Sequence[Steer], settings: Settings, mode: Mode, *, restricted: bool) -> Asked:
    """Their words in their order, a blank line between them, what was sent along, and what the user looked at last."""
    text = "\n\n".join(steer.text for steer in steers)
    attachments = tuple(one for steer in steers for one in steer.attachments)
    return Asked(text, settings, mode, attachments, steers[-1].editor, restricted=restricted)
