"""The settings of permissions (S-1)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from codelaw.permissions.rules import MAX_RULES, parse
from codelaw.settings.group import Group


def _rule(text: str) -> str:
    from codelaw.tools.toolbox import ruled_tools  # noqa: PLC0415 - it is much, and many have no rules

    parse(text, ruled_tools())
    return text


RuleList = Annotated[list[Annotated[str, AfterValidator(_rule)]], Field(max_length=MAX_RULES)]


class PermissionsGroup(Group):
    """What may be done without asking: rules such as `Bash(git diff:*)` (S-1)."""

    allow: RuleList = Field(
        default_factory=list[str], description="Rules for calls that are never asked about: `Bash(git diff:*)`."
    )
    deny: RuleList = Field(
        default_factory=list[str], description="Rules for calls that are always refused: `Read(secrets/**)`."
    )
    default: Literal["ask", "allow", "deny"] = Field(
        default="ask", description="What happens to writes and commands that no rule speaks of."
    )
