"""`codelaw/command/list` and `codelaw/skill/list`."""

from __future__ import annotations

from codelaw.protocol.base import Method, Params, Payload


class ListCommands(Params):
    pass


class UserCommand(Payload):
    """A command that a message calls with `/name`; `source` is its file."""

    name: str
    description: str
    arguments: str | None = None
    source: str


class CommandList(Payload):
    commands: list[UserCommand]


class ListSkills(Params):
    pass


class Skill(Payload):
    """A skill; `source` is its `SKILL.md` as people know it.

    `shadowed` is the source of the skill of this name that counts instead, `problem` what is wrong with it. It can be
    loaded unless it is shadowed or `unreadable`.
    """

    name: str
    description: str
    uri: str
    source: str
    shadowed: str | None = None
    problem: str | None = None
    unreadable: bool | None = None


class SkillList(Payload):
    skills: list[Skill]


METHODS = {
    "codelaw/command/list": Method(ListCommands, CommandList),
    "codelaw/skill/list": Method(ListSkills, SkillList),
}
