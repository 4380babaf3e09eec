"""The settings of what may be done: permissions (S-1), and commands that the model runs (T-6, S-4)."""

from __future__ import annotations

import posixpath
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from codelaw.domain.safety.hosts import MOST_HOSTS, read_rules
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


def _one_path(path: str) -> str:
    normal = posixpath.normpath(path)
    if "\0" in path or normal in {"/", "//", ".", "~"} or normal.split("/")[0] == "..":
        message = f"{path!r} names no file or folder that can be kept back: name one below the workspace or the home"
        raise ValueError(message)
    if path.startswith("~") and not path.startswith("~/"):
        message = f"{path!r}: only your own home folder can be named, by ~/"
        raise ValueError(message)
    if any(char in path for char in "*?["):
        message = f"{path!r} is a pattern, and here are paths only: write Read({path}) into permissions.deny"
        raise ValueError(message)
    return path


KeptPath = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_one_path)]


def _hosts(value: object) -> object:
    if isinstance(value, bool):
        return value
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in entries):
        message = 'expected is true, false, or a list of hosts such as ["api.example.org"]'
        raise ValueError(message)
    if len(entries) > MOST_HOSTS:
        message = f"at most {MOST_HOSTS} hosts can be listed"
        raise ValueError(message)
    return [rule.text for rule in read_rules(map(str, entries))] or False


Network = Annotated[
    bool | list[str],
    BeforeValidator(_hosts),
    WithJsonSchema({"type": ["boolean", "array"], "items": {"type": "string"}}),
]


class BashGroup(Group):
    """Commands that the model runs."""

    sandbox: Literal["auto", "require", "off"] = Field(
        default="auto",
        description="`auto` runs commands in the best sandbox there is, `require` refuses them where that is not"
        " bubblewrap with seccomp, `off` uses none.",
    )
    network: Network = Field(
        default=False,
        description="What commands in the sandbox reach: `false` nothing, `true` the whole network, or the hosts of a"
        ' list such as `["api.example.org", "*.example.com", "git.example.net:8443"]`. A host without a port'
        " stands for 80 and 443. A list needs bubblewrap; without a sandbox commands reach everything.",
    )
    hidden: list[KeptPath] = Field(
        default_factory=list[str],
        description="Files and folders that commands in the sandbox cannot see: absolute, beginning with `~/`, or"
        " relative to a workspace folder. A workspace's own file may add some.",
    )
    read_only: list[KeptPath] = Field(
        default_factory=list[str],
        description="Files and folders that commands in the sandbox can read and not change, named like those of"
        " `tools.bash.hidden`.",
    )
    timeout_seconds: Annotated[float, Field(ge=1, le=600, allow_inf_nan=False)] = Field(
        default=120, description="Seconds after which a command is stopped, from 1 to 600."
    )
    memory_mb: Annotated[int, Field(ge=64)] | None = Field(
        default=None,
        description="Megabytes of memory that the processes of a command may take together, from 64. Empty: three"
        " quarters of the machine's.",
    )
    processes: Annotated[int, Field(ge=16, le=1_000_000)] = Field(
        default=4096, description="Processes and threads that a command may have at once, from 16."
    )
    file_size_mb: Annotated[int, Field(ge=1, le=1 << 30)] = Field(
        default=65_536, description="Megabytes that a file which a command writes may have."
    )
    tmp_mb: Annotated[int, Field(ge=1, le=1 << 30)] = Field(
        default=16_384, description="Megabytes that commands may leave in their private `/tmp` and home folder."
    )
