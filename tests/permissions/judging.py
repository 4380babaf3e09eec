"""Judgements of commands, in few words."""

from __future__ import annotations

from codelaw.domain.chats import Mode
from codelaw.permissions.policy import CallFacts, Default, Rules, judge
from codelaw.permissions.rules import parse


def rules(*, allow=(), deny=(), grants=()):
    every = [tuple(parse(text) for text in texts) for texts in (allow, deny, grants)]
    return Rules(every[0], every[1], every[2])


def command(text, *, default: Default = "ask", sandboxed=False, mode: Mode = "agent", **kinds):
    facts = CallFacts("Bash", "execute", text)
    return judge(facts, mode=mode, rules=rules(**kinds), default=default, sandboxed=sandboxed)
