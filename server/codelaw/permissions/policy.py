"""The judgement of one call, in the order of S-1.

Mode → deny rules → what a person is always asked about, as files that other programs obey (S-8) → allow rules → grants
→ the tool's default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from codelaw.domain.chats import Mode
from codelaw.domain.permissions import Decision, PathUse
from codelaw.domain.safety.key_files import keeps_keys
from codelaw.domain.safety.obeyed_paths import ObeyedPaths
from codelaw.permissions.naming import decided_name, denied_name
from codelaw.permissions.offers import keeps_to_offer
from codelaw.permissions.reading_keys import allowed_by_name, keys_read, why_asked
from codelaw.permissions.refusing import DenyRules
from codelaw.permissions.risky_flags import has_risky_flag
from codelaw.permissions.rules import SERVED, Rule, strictest
from codelaw.permissions.sensitive_files import obeyed_by_command, obeyed_path
from codelaw.permissions.shell import Simple, read

Effect = Literal["read", "write", "execute", "state"]
Permission = tuple[Rule, Literal["allow", "grant"]]
Default = Literal["ask", "allow", "deny"]

_PLANNING = frozenset({"TodoWrite"})
"""What is not reading, and plan mode has all the same: a plan is a list (X-1)."""
_NEUTRAL = frozenset({"echo", "true", "false", ":", "pwd"})
"""They change nothing and need no rule beside commands that have one."""
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]")
"""What is printable and yet not seen, or not seen as it is."""
_LAYOUT = str.maketrans("", "", "\n\t")
NOTHING_OBEYED = ObeyedPaths()


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What the policy must know of a call."""

    tool: str
    effect: Effect
    subject: str | None
    """What rules match: the path as shown, or the command."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    paths: PathUse | None = None
    """What the tool does with paths, by which rules of `Read` and `Edit` speak of it."""
    digest: str = ""
    """Of what a server says of its tool: an answer counts for as long as that is the same (X-3)."""
    every_time: str = ""
    """Why a person is asked about the call each time, whatever rules and answers say (B-6, S-8)."""
    mentioned: bool = False
    """The user has named or attached the file in the message that is answered, so that it may be read (S-8)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules in force; `grants` are those the user gave, in this chat or for always."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    grants: tuple[Rule, ...] = ()
    roots: Mapping[str, str] = field(default_factory=dict[str, str])
    """The workspace's folders: the absolute path, and what paths in it are shown with in front."""
    obeyed: ObeyedPaths = NOTHING_OBEYED
    """What settings name and only the user may let be changed (S-8)."""


def judge(
    facts: CallFacts,
    *,
    mode: Mode,
    rules: Rules,
    default: Default = "ask",
    sandboxed: bool = False,
    restricted: bool = False,
    commands_always_asked: bool = False,
) -> Decision:
    """Whether the call may run, must be asked about, or must not run; and by which rule.

    `default` is for writes and commands. Without a sandbox a blanket permission for commands does not count (S-4).
    In a folder that the editor does not trust, `restricted`, nothing but reading is allowed (S-7). Where the shell is
    one whose lines cannot be read, `commands_always_asked`, no permission for a command counts.
    """
    planned = mode == "plan" and facts.tool in _PLANNING
    if (restricted or mode != "agent") and facts.effect != "read" and not planned:
        untrusted = "The editor does not trust this folder: nothing is written or run."
        return Decision("deny", "mode", untrusted if restricted else f"The mode {mode} only reads.")
    if facts.tool == "Bash":
        decision = _judge_command(facts.subject or "", rules, default, sandboxed=sandboxed)
        if commands_always_asked and decision.action == "allow":
            return Decision("ask", "default", "Commands are always asked about here: the shell's lines cannot be read.")
        return decision
    for rule in rules.deny:
        if rule.forbids(facts.tool, facts.paths) and (rule.blanket or rule.forbids_path(facts.subject or "")):
            return Decision("deny", "deny", rule.text)
    # What a server does happens outside of the sandbox, whatever commands are kept in.
    decision = _by_default(facts.effect, default, sandboxed=sandboxed and not facts.tool.startswith(SERVED))
    for rule, source in _permissions(rules):
        if rule.permits(facts.tool, facts.paths, facts.digest) and (
            rule.blanket or rule.covers_path(facts.subject or "")
        ):
            decision = Decision("allow", source, rule.text)
            break
    if decision.action == "deny":
        return decision
    return _asked_always(facts, rules.obeyed) or _keys(facts, rules) or decision


def _asked_always(facts: CallFacts, obeyed: ObeyedPaths) -> Decision | None:
    """The question that nothing but a person answers, as about a file that decides later things; else None (S-8)."""
    why = facts.every_time
    if facts.paths == "writes":
        if name := obeyed_path(facts.subject or ""):
            why = f"Other programs obey {name}."
        elif named := obeyed.why(facts.subject or ""):
            why = f"{named}."
    return Decision("ask", "default", why, always_asked=True) if why else None


def _keys(facts: CallFacts, rules: Rules) -> Decision | None:
    """The question about reading a file that is made to hold keys; None for any other call (S-8)."""
    path = facts.subject or ""
    asked = facts.paths == "reads" and keeps_keys(path) and not facts.mentioned
    asked = asked and not allowed_by_name(rules.allow, path)
    return Decision("ask", "default", why_asked(path), always_asked=True) if asked else None


def fully_visible(text: str) -> bool:
    """Whether every character is seen as what it is.

    Not so: controls (a lone carriage return and ESC among them), what turns the direction of writing, what has no
    width, and blanks that are none to a shell.
    """
    return text.translate(_LAYOUT).isprintable() and _UNSEEN.search(text) is None


@dataclass(frozen=True, slots=True)
class Denied:
    """The paths that rules deny to one tool."""

    rules: tuple[Rule, ...]

    def hides(self, shown: str) -> bool:
        """Whether a path, as shown, is one of them."""
        return any(rule.blanket or rule.forbids_path(shown) for rule in self.rules)


def denied_to(tool: str, paths: PathUse | None, deny: Sequence[Rule]) -> Denied | None:
    """What deny rules keep from a tool; None where no rule speaks of it."""
    mine = tuple(rule for rule in deny if rule.forbids(tool, paths))
    return Denied(mine) if mine else None


def _permissions(rules: Rules) -> list[Permission]:
    allowed: list[Permission] = [(rule, "allow") for rule in rules.allow]
    granted: list[Permission] = [(rule, "grant") for rule in rules.grants]
    return allowed + granted


def _by_default(effect: Effect, default: Default, *, sandboxed: bool) -> Decision:
    if effect in ("read", "state"):
        return Decision("allow", "default", "Reading is allowed." if effect == "read" else "It changes no file.")
    if default == "deny":
        return Decision("deny", "default", "permissions.default denies what no rule allows.")
    if default == "allow" and (effect == "write" or sandboxed):
        return Decision("allow", "default", "permissions.default allows what no rule denies.")
    return Decision("ask", "default", "Changes are asked about." if effect == "write" else "Commands are asked about.")


# ---------------------------------------------------------------------------------------------------------- commands


def _judge_command(command: str, rules: Rules, default: Default, *, sandboxed: bool) -> Decision:
    deny = [rule for rule in rules.deny if rule.tool == "Bash"]
    for rule in deny:
        if rule.blanket or rule.specifier == command.strip():
            return Decision("deny", "deny", rule.text)
    parts = read(command)
    named = denied_name(command, parts, rules.deny, rules.roots)
    refusal = strictest([named, DenyRules(deny).judge(parts or ())])
    if refusal is not None and refusal[0] == "deny":
        return Decision("deny", "deny", refusal[1].text)
    near = refusal and refusal[1]
    decision = _permitted(command, parts, rules, default, sandboxed=sandboxed, near=near)
    if decision.action == "deny":
        return decision
    why = obeyed_by_command(command, parts) or decided_name(command, parts, rules.obeyed, rules.roots)
    why = f"{why[0].upper()}{why[1:]}." if why else ""
    if not why and (name := keys_read(command, parts, rules.allow)):
        why = why_asked(name)
    return Decision("ask", "default", why, always_asked=True) if why else decision


def _permitted(
    command: str,
    parts: Sequence[Simple] | None,
    rules: Rules,
    default: Default,
    *,
    sandboxed: bool,
    near: Rule | None,
) -> Decision:
    permissions = [permission for permission in _permissions(rules) if permission[0].tool == "Bash"]
    for rule, source in permissions if parts is not None else ():
        if rule.prefix is None and rule.specifier == command.strip():
            return Decision("allow", source, rule.text)
    if near is not None:
        return Decision("ask", "deny", f"{near.text} may be meant here.")
    usual = _by_default("execute", default, sandboxed=sandboxed)
    if parts is None or not fully_visible(command):
        hidden = "cannot be read with certainty" if parts is None else "holds characters that are not seen"
        return usual if default == "deny" else Decision("ask", "default", f"The command {hidden}.")
    return _covered(parts, permissions, sandboxed=sandboxed) or usual


def _covered(parts: Sequence[Simple], permissions: Sequence[Permission], *, sandboxed: bool) -> Decision | None:
    """The permission when every part has one; the rules that gave it are named together."""
    used: dict[str, Literal["allow", "grant"]] = {}
    for part in parts:
        for rule, source in permissions:
            if (rule.blanket and sandboxed) or _covers(rule, part, granted=source == "grant"):
                used[rule.text] = source
                break
        else:
            if part.writes or (part.words and part.words[0].value not in _NEUTRAL):
                return None
    return Decision("allow", "grant" if "grant" in used.values() else "allow", ", ".join(used)) if used else None


def _covers(rule: Rule, part: Simple, *, granted: bool) -> bool:
    """Whether the rule covers one command; an answer given once for good is held to what it was offered for."""
    if rule.prefix is None or part.writes:
        return rule.prefix is None and not rule.blanket and rule.specifier == part.text
    beyond = len(rule.prefix) - len(part.assignments)
    if beyond < 0 or tuple(word.value for word in part.words[: len(rule.prefix)]) != rule.prefix:
        return False
    return not has_risky_flag(part.command, beyond) and (not granted or keeps_to_offer(rule.prefix, part.command))
