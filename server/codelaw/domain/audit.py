"""What was decided, kept on record (S-8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AuditKind = Literal["call", "grant", "trust", "violation", "hook"]
Decided = Literal["allow", "deny", "grant", "revoke", "trust", "withdraw", "violation", "ran"]
"""`ran`: a hook did, and refused nothing."""
By = Literal["user", "rule", "grant", "mode", "default", "headless", "sandbox", "hook"]
"""`headless`: a client answered without a person, or nobody did."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One decision, or what came of one. Nothing in it holds a key (S-5)."""

    at: float
    """Seconds since the epoch."""
    chat_id: str
    """Empty where it is about no chat."""
    kind: AuditKind
    tool: str
    title: str
    """One line for people."""
    decision: Decided
    by: By
    rule: str = ""
    """The rule that spoke, or the sentence that stands for one."""
    detail: str = ""
    """The command or path as a whole, the paths and hosts that were refused, or the user's words; cut when long."""
    folder: str = ""
    """The real path of the workspace folder it happened in."""
    person: str = ""
    """The login name of who was at work."""
