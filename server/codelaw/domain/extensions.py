"""What people bring along as Markdown files: commands, skills and kinds of subagents (X-7, X-2, X-4)."""

from __future__ import annotations

from dataclasses import dataclass

from codelaw.domain.chats import Mode
from codelaw.domain.models import Effort


@dataclass(frozen=True, slots=True)
class Sheet:
    """A Markdown file that may be a command or a skill, not read yet."""

    name: str
    """What it is called by. Of a command its path in the folder where such files are looked for, `:` between the parts;
    of a skill the name of its folder."""
    shown: str
    """Its path as people know it: as file tools take it, or absolute for what lies outside the workspace."""
    uri: str
    own: bool
    """It lies in a folder of the user's, and not in the workspace."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What a file tells, named as its sheet is."""

    sheet: Sheet

    @property
    def name(self) -> str:
        return self.sheet.name

    @property
    def source(self) -> str:
        return self.sheet.shown

    @property
    def uri(self) -> str:
        return self.sheet.uri


@dataclass(frozen=True, slots=True)
class UserCommand(Brought):
    """A command of the user's (X-7)."""

    description: str
    """One line; empty where the file has no words."""
    arguments: str
    """What is to be typed behind the name, as the file puts it; may be empty."""
    body: str
    problem: str = ""
    """What is wrong with the file, in one sentence."""
    effort: Effort | None = None
    """Of the turn that it begins (P-6)."""


@dataclass(frozen=True, slots=True)
class Skill(Brought):
    """A folder with a `SKILL.md`, which is its sheet, as its head tells it (X-2)."""

    description: str
    """One line; empty where the file has no words."""
    problem: str = ""
    """What is wrong with it, in one sentence; nothing of that is a reason to refuse it."""
    shadowed: str = ""
    """The file of the skill of this name that counts instead."""
    unreadable: bool = False
    """The file cannot be read at all, which `problem` tells."""
    effort: Effort | None = None
    """Of a turn that begins by calling it (P-6)."""

    @property
    def offered(self) -> bool:
        """Whether it can be loaded."""
        return not self.unreadable and not self.shadowed


@dataclass(frozen=True, slots=True)
class AgentSheet(Brought):
    """A kind of subagent, as its file tells it (X-4)."""

    description: str
    """One line; empty where the file has no words."""
    body: str
    """What such a subagent is told in front of its task."""
    tools: tuple[str, ...] | None = None
    """The only tools it has, by name; None for all."""
    disallowed_tools: tuple[str, ...] = ()
    """Tools it does not have."""
    model: str = ""
    """Empty: that of the turn."""
    max_turns: int | None = None
    problem: str = ""
    """What is wrong with the file, in one sentence."""
    refused: bool = False
    """There is no such kind, as `problem` tells."""
    effort: Effort | None = None
    """None: that of the turn where the model is, else the vendor's (P-6)."""


@dataclass(frozen=True, slots=True)
class BuiltInAgent:
    """A kind of subagent that is always there (X-4)."""

    name: str
    description: str
    mode: Mode | None
    """The mode whose tools it has; None: that of the turn."""


@dataclass(frozen=True, slots=True)
class AgentList:
    """The kinds of subagents, as people are told of them (X-4)."""

    enabled: bool
    """Off where no turn can begin one."""
    agents: tuple[BuiltInAgent | AgentSheet, ...] = ()
    """Those that are built in, then the others by name, those that are refused behind those that are not."""


@dataclass(frozen=True, slots=True)
class LoadedSkill:
    """A skill's text, or the text of one of its files, as it is now."""

    name: str
    folder: str
    """Its folder, as the path of its sheet is shown."""
    body: str
    """Below the head of `SKILL.md`, or all of the file."""
    file: str = ""
    """Which of its files this is, below the folder; empty for `SKILL.md`."""
    files: tuple[str, ...] = ()
    """Its other files, below the folder, sorted; none where this is a file of it."""
    more: bool = False
    """There are more files than are named."""
    own: bool = False
    """It lies in a folder of the user's, where file tools do not go."""
    cut: bool = False
    """The text goes on."""

    @property
    def by(self) -> str:
        """The tool that brings its files."""
        return "load_skill" if self.own else "Read"

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files as that tool takes them."""
        prefix = self.name if self.own else self.folder
        return tuple(f"{prefix}/{file}" for file in self.files)
