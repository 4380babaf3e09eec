"""Errors, sorted by who must act.

    CodelawError
    ├── Refusal          the user or the client: shown with a code and a hint, -32803 on the wire
    ├── ModelFailure     the operator or time: sorted by kind, retried by `agent.recovery`
    ├── EmbeddingFailure the operator or time: a notice, and the turn goes on without (B-8)
    └── ToolFailure      the model: becomes an error observation

Anything else that is raised is a bug: logged with its traceback, the turn fails, the server lives.
"""

from __future__ import annotations

from typing import Literal

from codelaw.domain.models import FailureKind, Usage
from codelaw.domain.results import ErrorCode

RefusalCode = Literal[
    "chat_not_found",
    "turn_not_found",
    "chat_busy",
    "model_unavailable",
    "model_not_found",
    "not_confirmed",
    "model_refused",
    "effort_not_taken",
    "auth_failed",
    "not_lent",
    "spending_limit",
    "context_overflow",
    "window_too_small",
    "invalid_text",
    "invalid_attachment",
    "hook_blocked",
    "unreadable_reply",
    "repeated_failure",
    "internal_error",
    "store_unavailable",
    "not_trusted",
    "folder_not_found",
    "grant_not_found",
    "grant_not_yours",
    "memory_not_found",
    "memory_refused",
    "nothing_to_undo",
    "nothing_to_commit",
    "revert_conflict",
    "server_not_found",
    "settings_unreadable",
]


class CodelawError(Exception):
    """Base of the errors we raise on purpose."""


class Refusal(CodelawError):
    """Something asked for cannot be done, and why; `hint` says what to do about it."""

    def __init__(self, code: RefusalCode, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code: RefusalCode = code
        self.message = message
        self.hint = hint


class ModelFailure(CodelawError):
    """A model call that gave no whole reply.

    `partial` is the text that had arrived, `usage` what was reported before the break, `retry_after` the seconds the
    vendor asked us to wait, `limit` the tokens that a vendor who refused a long prompt said it takes,
    `size` the tokens it counted, `place` the host and port that were asked, `hint` what can be done about it where
    that is known better than by the kind.
    """

    hint = ""

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        partial: str = "",
        retry_after: float | None = None,
        usage: Usage | None = None,
        limit: int | None = None,
        size: int | None = None,
        place: str = "",
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message
        self.partial = partial
        self.retry_after = retry_after
        self.usage = usage or Usage()
        self.limit = limit
        self.size = size
        self.place = place


class EmbeddingFailure(CodelawError):
    """Texts that could not be embedded, and why; `lasting` when the same request can never succeed."""

    def __init__(self, message: str, *, lasting: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.lasting = lasting


class ToolFailure(CodelawError):
    """The one exception a tool raises for the model to read.

    `uncertain` is set where a change may have been made all the same, because nobody can say.
    """

    def __init__(self, code: ErrorCode, message: str, *, uncertain: bool = False) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.uncertain = uncertain
