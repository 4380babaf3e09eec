"""`codelaw/command/list`."""

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


METHODS = {
    "codelaw/command/list": Method(ListCommands, CommandList),
}
