"""May this call run? Judged by rules, and asked of the user where the rules say so (S-1, S-2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from codelaw.domain.chats import Mode
from codelaw.domain.errors import ToolFailure
from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion, Decision, Grant, PathUse
from codelaw.domain.safety.obeyed_paths import ObeyedPaths
from codelaw.domain.safety.sensitive_files import who_obeys
from codelaw.permissions.options import Folders, home, in_force, kept_rule, options_for
from codelaw.permissions.policy import NOTHING_OBEYED, CallFacts, Default, Denied, Rules, denied_to, judge
from codelaw.permissions.rules import Rule, parse_all
from codelaw.permissions.sensitive_files import bare_piece
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.ports.editor import Approver
    from codelaw.ports.store import ChatStore
    from codelaw.ports.workspace import Workspace

_STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}
LONG_SUBJECT = 1000
"""Characters of a command that is judged in a thread: every name in it is held against every rule."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided, and the user's words to the model when they refused."""

    decision: Decision
    comment: str = ""
    by: Literal["user", "headless"] = "user"

    @property
    def allowed(self) -> bool:
        """Whether the call may run."""
        return self.decision.action == "allow"


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules a turn runs under, frozen when it starts."""

    mode: Mode
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    default: Default = "ask"
    sandboxed: bool = False
    restricted: bool = False
    """The editor does not trust the folder: nothing is written or run (S-7)."""
    commands_always_asked: bool = False
    """Commands go to a shell whose lines cannot be read (S-4)."""
    all_asked: bool = False
    """Settings are left out that may have refused it: nothing spares the question about a write or a command (S-1)."""
    roots: Mapping[str, str] = field(default_factory=dict[str, str])
    """The workspace's folders: the absolute path, and what paths in it are shown with in front."""
    obeyed: ObeyedPaths = NOTHING_OBEYED
    """What settings name and only the user may let be changed (S-8)."""


def _judged(facts: CallFacts, policy: Policy, rules: Rules) -> Decision:
    decision = judge(
        facts,
        mode=policy.mode,
        rules=rules,
        default=policy.default,
        sandboxed=policy.sandboxed,
        restricted=policy.restricted,
        commands_always_asked=policy.commands_always_asked,
    )
    if policy.all_asked and decision.action == "allow" and facts.effect in {"write", "execute"}:
        return Decision("ask", "default", "Settings are left out of this run: every write and command is asked.")
    return decision


@dataclass(slots=True)
class Gate:
    """Judges the calls of one chat and keeps the grants given in it."""

    policy: Policy
    approver: Approver
    store: ChatStore
    """Keeps grants for always."""
    always: list[Grant]
    """This person's grants for always, in whichever folder; shared by the chats of a session."""
    person: str = ""
    """Whose the grants are."""
    folders: Folders = field(default_factory=dict[str, str])
    """The workspace's, as they were when the turn began; grants for always belong to one of them (S-1)."""
    recorder: Recorder | None = None
    """Puts on record that a grant was given (S-8)."""
    grants: list[Grant] = field(default_factory=list[Grant])
    """Grants given in this chat."""

    async def judge(self, facts: CallFacts, *, also: str | None = None) -> Decision:
        """What the rules and grants say; `ask` when the user has to be asked.

        A long command is judged beside the event loop; what became forbidden meanwhile is forbidden. `also` is a
        rule that allows this once.
        """
        while True:
            policy, rules = self.policy, self._rules(facts, also)
            if len(facts.subject or "") < LONG_SUBJECT:
                return _judged(facts, policy, rules)
            decision = await asyncio.to_thread(_judged, facts, policy, rules)
            if (self.policy, self._rules(facts, also)) == (policy, rules):
                return decision

    def _rules(self, facts: CallFacts, also: str | None) -> Rules:
        policy = self.policy
        # A grant that an older version wrote and this one cannot read allows nothing: the user is asked again.
        granted, _ = parse_all(grant.rule for grant in self.grants)
        granted += in_force(self.always, facts, self.folders)
        once, _ = parse_all([also] if also else [])
        return Rules((*policy.allow, *once), policy.deny, tuple(granted), policy.roots, policy.obeyed)

    def denied(self, tool: str, paths: PathUse | None) -> Denied | None:
        """What rules deny to that tool; None where no rule speaks of it."""
        return denied_to(tool, paths, self.policy.deny)

    async def ask(self, facts: CallFacts, question: ApprovalQuestion) -> Verdict:
        """Put the question to the user, with its options; a standing answer becomes a grant.

        Of S-8's files none is offered.
        """
        folder, _ = home(facts, self.folders)
        kept = kept_rule(facts, self.folders) if folder else None
        unread = facts.tool == "Bash" and self.policy.commands_always_asked
        every = options_for(facts, only_once=question.always_asked or self.policy.all_asked or unread)
        options = tuple(option for option in every if kept or option.kind != "allow_always")
        answer: ApprovalAnswer = await self.approver.ask(replace(question, options=options))
        chosen = next((option for option in options if option.id == answer.option_id), None)
        if chosen is None or chosen.kind == "reject":
            why = "dismissed" if answer.option_id is None else "rejected"
            return Verdict(Decision("deny", "user", why), answer.comment, answer.by)
        if chosen.rule is not None and chosen.kind in {"allow_chat", "allow_always"}:
            always = kept if chosen.kind == "allow_always" else None
            scope: Literal["always", "chat"] = "chat" if always is None else "always"
            grant = Grant(uuid4().hex[:12], always or chosen.rule, scope, folder, self.person)
            if grant.scope == "always":
                await self.store.add_grant(grant)
                self.always.append(grant)
            else:
                self.grants.append(grant)
            if self.recorder is not None:
                self.recorder.granted(grant, question.chat_id)
        return Verdict(Decision("allow", "user", chosen.kind), answer.comment, answer.by)


def why_asked(facts: CallFacts, decision: Decision) -> str:
    """Why it is asked: which program obeys a file that would be changed (S-8), else what the rules said."""
    found = who_obeys(facts.subject) if facts.effect == "write" and facts.subject is not None else None
    return decision.rule if found is None else f"{found.who} obeys this file: {found.why}."


async def with_git(workspace: Workspace, facts: CallFacts, path: str | None) -> CallFacts:
    """With what git would make of a file that is written at `path` as the reason to ask every time (S-8)."""
    if path is None or facts.paths != "writes":
        return facts
    try:
        place = await located(workspace, path)
        if not place.path.is_absolute():
            return facts
        parts = place.path.relative_to(place.folder.root).parts
        bare = bare_piece(parts, begun=False)
        if not bare and bare_piece(parts, begun=True):
            head = place.folder.root / "HEAD"
            bare = await workspace.exists(await located(workspace, str(head))) is not None
        why = "Git would obey the folder as a repository." if bare else facts.every_time
        why = "Git's settings name this file, so git obeys it." if await workspace.is_obeyed_by_git(place) else why
        return replace(facts, every_time=why)
    except ToolFailure:
        return facts


def spelled(arguments: Mapping[str, Any]) -> str:
    """Arguments as a person reads them."""
    return json.dumps(dict(arguments), ensure_ascii=False, indent=1, default=str)


def refusal(decision: Decision) -> str:
    """The sentence for a call that nobody was asked about."""
    if decision.source == "hook":
        return f"A hook of the user's refused it: {decision.rule}"
    return f"Refused by the rule {decision.rule}."


def unanswered(decisions: Sequence[Decision]) -> str:
    """The sentence for a call about which nobody could be asked, and why it was not to go without a question."""
    asked = next((one.rule for one in reversed(decisions) if one.action == "ask" and one.always_asked), "")
    return f"Nobody could be asked about this call. {asked}".rstrip()


def strictness(decision: Decision) -> tuple[int, bool]:
    """How far a decision holds a call back: the greater one counts."""
    return _STRICTNESS[decision.action], decision.always_asked
