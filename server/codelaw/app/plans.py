"""A message that is sent, and the turn that is planned for it, as values; what is told of a plan, or refuses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codelaw.agent.inputs.turn_context import HistorySettings, TurnInputs
from codelaw.app.servers.offering import UNTOLD
from codelaw.context.system.law import LARGE_SHARE, names_of
from codelaw.context.tokens import estimate, guard
from codelaw.domain.chats import Mode, Notice
from codelaw.domain.errors import Refusal
from codelaw.domain.messages import Message
from codelaw.tools.toolbox import Toolbox
from codelaw.transcript.repair.hygiene import turn_limit

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import Dialect
    from codelaw.agent.inputs.gathering import UserMessage
    from codelaw.agent.turn.laws import Law
    from codelaw.agent.turn.pending import QueuedSteer
    from codelaw.context.tokens import Window
    from codelaw.domain.chats import Chat, Strategy
    from codelaw.domain.models import Effort
    from codelaw.domain.requests import EditorState, Enclosed
    from codelaw.settings.model import Settings
    from codelaw.tools.base import AnyTool
    from codelaw.tools.finding.find_tools import Described

AGAIN = 0.75
"""The part of their share that the manuals must fit into to be described again, once they were found."""


def arranged(
    toolbox: Toolbox, dialect: Dialect, room: int, *, found_before: bool = False, skills: Sequence[Described] = ()
) -> Toolbox:
    """The toolbox as its turn has it.

    Between `AGAIN` and the whole of its share nothing changes: a server that gains or loses a tool there moves no tool
    into the prompt or out of it, which would cost the cache of all that follows (L-6).

    Args:
        toolbox: All tools of the mode.
        dialect: How they would be described.
        room: Tokens that the manuals of all brought tools together may take.
        found_before: The chat's last turn had them to be found.
        skills: Names and descriptions of the skills that the index leaves out (X-2).
    """
    deferring = exceeds(toolbox.brought, dialect, int(room * AGAIN) if found_before else room)
    made = toolbox.searched(skills, deferring=deferring)
    return made.calling() if dialect.name == "native" else made


def exceeds(tools: Sequence[AnyTool], dialect: Dialect, room: int) -> bool:
    """Whether the tools take more tokens than `room`, as the dialect spells them; looks at no more of them than that.

    The estimate is not corrected by what is learned of a model, so that it stays the same (W-4).
    """
    taken = 0
    for tool in tools:
        alone = Toolbox((), [tool])
        taken += estimate(dialect.description(alone)) + estimate(dialect.schemas(alone))
        if taken > room:
            return True
    return False


ONCE = frozenset({"window_small", "law_large", "skill_problem", "agent_problem", "model_retired", UNTOLD})
"""Codes of notices that a chat is given once."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
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
class TurnPlan:
    """A turn that has passed every check."""

    inputs: TurnInputs
    question: UserMessage
    notices: tuple[Notice, ...]
    mode: Mode
    searching: bool = False
    """The vendor may search the web."""
    effort: Effort | None = None
    """That the command asks for which the message calls, for this turn alone (P-6)."""

    @property
    def asked(self) -> Message:
        """The question as it would be sent, before it belongs to a turn."""
        return Message("ask", "next", "user", self.question.content, self.question.metadata)


def followed_up(steers: Sequence[QueuedSteer], settings: Settings, mode: Mode, *, restricted: bool) -> TurnRequest:
    """The message that steers become which came with the answer (R-9): words, what was sent along, the newest look."""
    text = "\n\n".join(steer.text for steer in steers)
    attachments = tuple(one for steer in steers for one in steer.attachments)
    return TurnRequest(text, settings, mode, attachments, steers[-1].editor, restricted=restricted)


def history_settings(settings: Settings, chat: Chat | None, strategy: Strategy | None = None) -> HistorySettings:
    """What keeps the history of `chat`, or of a new one, inside the window; `strategy` in place of its own."""
    context = settings.context
    strategy = strategy or (context.strategy if chat is None else chat.strategy)
    kind, chat_id = ("panel", "") if chat is None else (chat.kind, chat.id)
    own: dict[str, Any] = {
        "strategy": strategy,
        "history_limit": turn_limit(kind, chat_id, context.history_limits),
        "retrieval_share": settings.retrieval.share,
        # Pinned by the setting, and for the sliding window unless the user said no (L-7).
        "pin": context.pin or (strategy == "sliding-window" and "pin" not in context.model_fields_set),
        "as_text": context.observations == "text",
        "cache_ttl": settings.model.cache_ttl,
    }
    named = {name: getattr(context, name) for name in HistorySettings.__slots__ if name not in own}
    return HistorySettings(**named, **own)


def size_notices(law: Law, inputs: TurnInputs) -> Iterator[Notice]:
    """What is told of a law, a window and a model that the turn is not the best with."""
    name, window, profile = inputs.model_name, inputs.limits.window, inputs.profile
    if law.tokens > LARGE_SHARE * window:
        take = f"{names_of(law.documents)} {'take' if len(law.documents) > 1 else 'takes'}"
        message = f"{take} about {law.tokens} tokens, over a tenth of the window of {window}."
        yield Notice("warning", "law_large", message)
    if guard(window) == "warn":
        message = f"The window has only {window} tokens; below 32000 long tasks suffer."
        yield Notice("warning", "window_small", message)
    if profile is not None and profile.retired:
        ends = f"{name} is ended by its maker on {profile.retired}: choose another model before that."
        yield Notice("warning", "model_retired", ends)


def check_fit(question: UserMessage, law: Law, inputs: TurnInputs, window: Window) -> None:
    """Nothing, where the model can be asked with that.

    Raises:
        Refusal: `window_too_small` or `context_overflow` (W-3, L-4, B-2).
    """
    limits = inputs.limits
    if guard(limits.window) == "block":
        raise Refusal(
            "window_too_small",
            f"The window has {limits.window} tokens (from {window.source}); at least 16000 are needed.",
            "Choose a model with a larger window, or correct model.contextWindow or context.maxWindow.",
        )
    typed = estimate(question.content) + sum(estimate(fragment.text) for fragment in question.fragments)
    typed += sum(one.image.tokens for one in question.pictures)
    system = sum(section.tokens for section in inputs.system)
    if typed + law.tokens + system + limits.reserve > limits.window:
        raise Refusal(
            "context_overflow",
            f"The message (about {typed} tokens), the system prompt ({system}), "
            f"{names_of(law.documents)} ({law.tokens}) and the reserve for the answer ({limits.reserve}) do not "
            f"fit into the window of {limits.window}.",
            "Shorten the message or the law, or choose a model with a larger window.",
        )
