"""`codelaw/settings/read`."""

from __future__ import annotations

from typing import Any, Literal

from codelaw.protocol.base import Method, Params, Payload
from codelaw.protocol.chats import Notice


class ReadSettings(Params):
    pass


class Setting(Payload):
    """An effective value, keys masked; `source` is the file or variable it came from."""

    value: Any = ...
    origin: Literal["default", "user", "workspace", "environment", "client", "commandLine"]
    source: str | None = None


class SettingsReport(Payload):
    """Every setting by its dotted key, and what was wrong with what was read."""

    settings: dict[str, Setting]
    problems: list[Notice]


METHODS = {
    "codelaw/settings/read": Method(ReadSettings, SettingsReport),
}
