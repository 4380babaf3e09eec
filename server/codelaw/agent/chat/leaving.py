"""A chat that was answered on this machine alone asks before its text leaves it (P-4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from codelaw.agent.turn.running import Ending
from codelaw.domain.chats import Notice, TurnError
from codelaw.domain.permissions import ApprovalOption, ApprovalQuestion

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.ports.editor import Approver

Decided = Literal["send", "stay"]

NOT_CONFIRMED_HINT = (
    "Choose a model for this chat, which confirms it (`codelaw chat --chat ID --model NAME` in a terminal), or choose"
    " `offline`, which answers here; or send the message again and answer the question."
)
STAYS = "chat_stays_offline"
"""The notice with which a chat's model has become the offline one."""
TOOL = "Send"
"""What the question calls itself where a call names its tool."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """The question, put once to the user; nothing has left before the answer."""

    model: str
    host: str
    approver: Approver
    decide: Callable[[Decided], Awaitable[TurnInputs | None]]
    """Makes the answer durable. A chat that stays, or was put offline meanwhile, goes on with what it gives."""

    async def settled(self, opened: TurnRecord, inputs: TurnInputs) -> TurnInputs | Ending:
        """What the turn goes on with, or how it has ended.

        Raises:
            Refusal: the answer could not be made durable.
        """
        options = (
            ApprovalOption("send", f"Send this chat to {self.host}", "allow_chat"),
            ApprovalOption("cancel", "Do not send", "reject"),
            ApprovalOption("stay", "Stay offline", "reject"),
        )
        title = f"Send this chat to {self.model} at {self.host}? Until now no model elsewhere has seen it."
        question = ApprovalQuestion(
            chat_id=opened.chat_id,
            turn_id=opened.id,
            call_id=f"send_{opened.id}",
            tool=TOOL,
            title=title,
            risk="send",
            options=options,
        )
        match (await self.approver.ask(question)).option_id:
            case "send" | "stay" as chosen:
                decided = await self.decide(chosen)
            case _:
                error = not_confirmed(self.model, self.host)
                return Ending("failed", error=error, why=error.message)
        if decided is None:
            opened.notice(Notice("info", "chat_sent", f"From here on this chat goes to {self.host}."))
            return inputs
        message = "This chat stays offline: no language model answers in it until you choose another."
        opened.notice(Notice("info", STAYS, message))
        return decided


def not_confirmed(model: str, host: str) -> TurnError:
    """Why nothing was sent."""
    message = f"Nothing was sent: this chat was answered on this machine; {model} at {host} would be given all of it."
    return TurnError("not_confirmed", message, NOT_CONFIRMED_HINT)
