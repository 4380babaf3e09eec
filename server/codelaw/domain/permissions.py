"""Who may do what (S-1, S-2): decisions, the question put to the user, grants, and the record of them (S-8)."""

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
    """The account of who was at work."""


OptionKind = Literal["allow_once", "allow_chat", "allow_always", "reject"]
PathUse = Literal["reads", "writes"]
"""What a tool does with the paths it is given; what writes them reads them too."""
Risk = Literal["write", "execute", "send"]
"""`send`: the text of a chat would leave this machine (P-4)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about a call, and by which rule."""

    action: Literal["allow", "ask", "deny"]
    source: Literal["mode", "deny", "allow", "grant", "default", "user", "hook"]
    rule: str
    """The rule as written, or a sentence where no rule spoke."""
    always_asked: bool = False
    """Nobody but the user may allow it, and only this once: no rule, no grant, no `--yes` (S-8)."""


@dataclass(frozen=True, slots=True)
class ApprovalOption:
    id: str
    title: str
    kind: OptionKind
    rule: str | None = None
    """The rule a standing grant would add."""


@dataclass(frozen=True, slots=True)
class ApprovalQuestion:
    """A question to the user about one call, or with the risk `send` about a whole chat."""

    chat_id: str
    turn_id: str
    call_id: str
    tool: str
    title: str
    risk: Risk
    options: tuple[ApprovalOption, ...] = ()
    diff: str | None = None
    command: str | None = None
    always_asked: bool = False
    """A file that other programs obey is at stake: nothing but a person may answer (S-8)."""
    text: str | None = None
    """What would be done where it is neither a diff nor a command."""
    description: str = ""
    """The model's own words for the call, on one line; they say nothing about what it does."""
    why: str = ""
    """Why it is asked, in a sentence or as the rule that spoke."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """The user's answer; `option_id` None means the question was dismissed."""

    option_id: str | None
    comment: str = ""
    by: Literal["user", "headless"] = "user"
    """`headless`: no person was asked, as with `--yes`, or nobody could be."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A standing permission the user gave (S-1)."""

    id: str
    rule: str
    """Paths in it are relative to `folder`; of one for a chat, as they are shown in the chat."""
    scope: Literal["chat", "always"]
    folder: str = ""
    """The real path of the folder in which it counts."""
    person: str = ""
    """Who gave it (`settings.places.person`)."""
