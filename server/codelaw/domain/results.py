"""The envelope every tool answers with (T-1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from codelaw.domain.media.images import Picture

Status = Literal["success", "partial", "error"]
ErrorCode = Literal[
    "NOT_FOUND",
    "ACCESS_DENIED",
    "PERMISSION_DENIED",
    "INVALID_PARAM",
    "TIMEOUT",
    "INTERNAL_ERROR",
    "EXECUTION_ERROR",
    "IS_DIRECTORY",
    "BINARY_FILE",
    "CONFLICT",
]


@dataclass(frozen=True, slots=True)
class ToolError:
    """Why a call failed, in words the model can act on."""

    code: ErrorCode
    message: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file changed by a tool: what `TurnResult.changes` adds up."""

    path: str
    """As shown to the model, relative to the workspace."""
    uri: str
    kind: Literal["created", "modified", "deleted"]
    added: int
    """Lines."""
    removed: int
    """Lines."""
    diff: str = ""
    """Unified diff, possibly cut."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's answer.

    `data` holds the bodies and `text` one line plus notes, so that the model pays for nothing twice. `stats` and
    `context` are for people and for compression; the model is not shown them.
    """

    status: Status
    data: Mapping[str, Any]
    text: str
    error: ToolError | None = None
    """Set exactly when `status` is `error`."""
    stats: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """At least `time_ms`."""
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """`cwd`, `params_input`, `path_resolved`?"""
    changes: tuple[FileChange, ...] = ()
    """Files written by this call; not part of the envelope's JSON."""
    pictures: tuple[Picture, ...] = ()
    """What a model that sees is shown with it; not part of the envelope's JSON either (M-6)."""

    def envelope(self) -> dict[str, Any]:
        """The whole envelope as JSON values, in a stable key order."""
        body: dict[str, Any] = {"status": self.status, "data": dict(self.data), "text": self.text}
        if self.error is not None:
            body["error"] = {"code": self.error.code, "message": self.error.message}
        return body | {"stats": dict(self.stats), "context": dict(self.context)}

    def observation(self) -> dict[str, Any]:
        """What the model sees while the turn runs: the envelope without `stats` and `context`."""
        return observation_of(self.envelope())


def observation_of(envelope: Mapping[str, Any]) -> dict[str, Any]:
    """What the model sees of an envelope, in its order."""
    return {name: value for name, value in envelope.items() if name not in {"stats", "context"}}


def failure(code: ErrorCode, message: str, data: Mapping[str, Any] | None = None) -> ToolResult:
    """An error result; `text` repeats nothing that `error` says."""
    return ToolResult("error", data or {}, "", ToolError(code, message))
