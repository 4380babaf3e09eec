"""Permission rules: `Tool`, `Tool(specifier)` (S-1).

`Bash(git diff:*)` covers commands that begin with these words, `Bash(npm test)` that command alone. For other tools the
specifier is a glob over the path as it is shown: `Edit(src/**)`, `Read(**/.env)`. As in ignore files, a pattern without
a slash matches in every folder, and a leading slash ties it to the root. `Edit` speaks for MultiEdit, Write, Rename and
QuickFix too, and `Read` for Grep, Diagnostics, Definition and References.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache

from codelaw.permissions.shell import read

MAX_RULE = 4096
"""Characters."""

_RULE = re.compile(r"([A-Za-z_][\w-]*)\s*(?:\((.*)\))?", re.DOTALL | re.ASCII)
_FAMILIES = {
    "Edit": frozenset({"Edit", "MultiEdit", "Write", "Rename", "QuickFix"}),
    "Read": frozenset({"Read", "Grep", "Diagnostics", "Definition", "References"}),
}
_BLANKET = frozenset({"", "*", ":*", "**"})


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that could be read."""

    text: str
    """As written."""
    tool: str
    specifier: str | None
    """None for a blanket rule; a command or a path pattern otherwise."""
    prefix: tuple[str, ...] | None = None
    """The words of a `Bash(…:*)` rule."""

    @property
    def blanket(self) -> bool:
        return self.specifier is None

    def names(self, tool: str) -> bool:
        """Whether the rule speaks of `tool`."""
        return tool in _FAMILIES.get(self.tool, frozenset({self.tool}))

    def covers_path(self, path: str) -> bool:
        """Whether an allow rule covers `path`, as shown."""
        normal = posixpath.normpath(path)
        return self.specifier is not None and not _escapes(normal) and bool(_glob(self.specifier).fullmatch(normal))

    def forbids_path(self, path: str) -> bool:
        """Whether a deny rule covers `path`: folders above it and other spellings of the case count too."""
        if self.specifier is None:
            return False
        pattern = _glob(self.specifier.casefold())
        normal = posixpath.normpath(path.casefold())
        while normal not in ("", ".", "/"):
            if pattern.fullmatch(normal):
                return True
            normal = posixpath.dirname(normal)
        return False


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A rule that cannot be used, and why."""

    text: str
    reason: str


class RuleError(ValueError):
    """A text is no rule; the message says why."""


def parse(text: str, tools: Collection[str] | None = None) -> Rule:
    """The rule in `text`. With `tools`, other tool names (but MCP's) are refused.

    Raises:
        RuleError: it is no rule.
    """
    if len(text) > MAX_RULE:
        raise RuleError(f"longer than {MAX_RULE} characters")
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise RuleError("not of the form Tool or Tool(specifier)")
    tool, specifier = match[1], match[2]
    if tools is not None and tool not in tools and not tool.startswith("mcp__"):
        raise RuleError(f"there is no tool {tool}")
    if specifier is None or specifier.strip() in _BLANKET:
        if specifier == "":
            raise RuleError("the parentheses are empty")
        return Rule(text, tool, None)
    return _command_rule(text, tool, specifier.strip()) if tool == "Bash" else _path_rule(text, tool, specifier.strip())


def parse_all(texts: Iterable[str], tools: Collection[str] | None = None) -> tuple[list[Rule], list[RuleProblem]]:
    """The rules, and what is wrong with the others."""
    rules: list[Rule] = []
    problems: list[RuleProblem] = []
    for text in texts:
        try:
            rules.append(parse(text, tools))
        except RuleError as error:
            problems.append(RuleProblem(text, str(error)))
    return rules, problems


def escape_path(path: str) -> str:
    """A pattern that matches `path` alone."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _command_rule(text: str, tool: str, specifier: str) -> Rule:
    if not specifier.endswith(":*"):
        if specifier.endswith(" *"):
            raise RuleError(f"a prefix is written Bash({specifier[:-2].rstrip()}:*)")
        return Rule(text, tool, specifier)
    parts = read(specifier[:-2])
    if parts is None or len(parts) != 1 or parts[0].writes:
        raise RuleError("what stands before :* must be the first words of one command")
    words = [word.value for word in parts[0].words]
    if not words or None in words:
        raise RuleError("what stands before :* must be plain words")
    return Rule(text, tool, specifier, tuple(word for word in words if word is not None))


def _path_rule(text: str, tool: str, specifier: str) -> Rule:
    pattern = specifier.removeprefix("./")
    if _escapes(posixpath.normpath(pattern)):
        raise RuleError("the pattern leads out of the workspace")
    try:
        _glob(pattern)
    except re.error as error:
        raise RuleError(f"not a pattern: {error}") from error
    return Rule(text, tool, pattern)


def _escapes(path: str) -> bool:
    return path == ".." or path.startswith("../")


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    *folders, name = pattern.removeprefix("/").split("/")
    blocks = [""]
    for folder in folders:
        if folder == "**":
            blocks.append("")
        else:
            blocks[-1] += _segment(folder) + "/"
    blocks[-1] += ".*" if name == "**" else _segment(name)
    # A block that another follows is content with the first place where it fits: no other could fit better, and
    # trying them all would take for ever (S-6).
    first, *others = blocks
    between = "".join(f"(?>(?:[^/]+/)*?{block})" for block in others[:-1])
    last = f"(?:[^/]+/)*{others[-1]}" if others else ""
    return re.compile(first + between + last, re.DOTALL)


def _segment(segment: str) -> str:
    pieces = [""]
    at = 0
    while at < len(segment):
        here = segment[at]
        close = segment.find("]", at + 2) if here == "[" else -1
        if close > 0:
            inside = segment[at + 1 : close].replace("\\", "\\\\").replace("[", "\\[")
            inside = f"^{inside[1:]}" if inside.startswith("!") else inside.replace("^", "\\^", 1)
            pieces[-1] += f"(?!/)[{inside}]"
            at = close
        elif here == "*":
            pieces.append("")
        else:
            pieces[-1] += "[^/]" if here == "?" else re.escape(here)
        at += 1
    if len(pieces) == 1:
        return pieces[0]
    return pieces[0] + "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1]) + f"[^/]*{pieces[-1]}"
