"""Permission rules: `Tool`, `Tool(specifier)` (S-1).

`Bash(git diff:*)` covers commands that begin with these words, `Bash(npm test)` that command alone. For other tools the
specifier is a glob over the path as it is shown: `Edit(src/**)`, `Read(**/*.{key,pem})`. It is read as the tools read
theirs, narrowly to allow and widely to deny: a pattern without a slash matches in every folder, and a leading slash
ties it to the root.

`Read` and `Edit` speak for more than the tools of that name: which tools follows from what each declares (`PathUse`).
To allow `Read` covers the tools that only read paths, and to allow `Edit` those that write them. To deny `Edit` is the
same, and to deny `Read` covers those that write as well, because what they answer shows what was there.

Of what servers bring along (X-3) `mcp__github__create_issue` is one tool, `mcp__github` or `mcp__github__*` all of that
server, and a star stands for anything inside a name. To deny, upper and lower case are one. A standing answer ends with
`@` and the digest of what the server said of the tool, and allows it for as long as the server says the same.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote

from codelaw.domain.errors import ToolFailure
from codelaw.domain.permissions import PathUse
from codelaw.domain.safety.globs import alternatives, translate
from codelaw.permissions.shell import read

Matcher = Callable[[str], bool]

KEPT = 1024
"""Patterns that stay compiled."""
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


class RuleError(ValueError):
    """A text is not a rule, or its pattern can match no path; the message says why."""


@lru_cache(maxsize=KEPT)
def allowing(pattern: str) -> Matcher:
    """Whether a rule that allows covers a normalised path: exactly what the pattern says.

    Raises:
        RuleError: it can match nothing.
    """
    clean = _clean(pattern)
    return _compiled([_placed(one, clean) for one in _alternatives(clean)], fold=False)


@lru_cache(maxsize=KEPT)
def denying(pattern: str) -> Matcher:
    """Whether a rule that denies covers a normalised path: every way in which the pattern may be meant.

    Of alternatives in braces each stands for itself, so that one without a slash matches in every folder; so does
    `secrets/`. A backslash may be meant for a slash. Upper and lower case are one, and so are composed and decomposed
    accents, as they are on some disks.

    Raises:
        RuleError: it can match nothing.
    """
    clean = _clean(pattern)
    wide = list(_alternatives(clean))
    if "\\" in clean:
        with suppress(RuleError):  # only one of the two readings is a pattern
            wide += _alternatives(clean.replace("\\", "/"))
    patterns = [_placed(one, one.removesuffix("/")) for one in wide if one]
    exact, folded = _compiled(patterns, fold=False), _compiled(patterns, fold=True)
    return lambda path: exact(path) or folded(_folded(path))


@lru_cache(maxsize=KEPT)
def starred(pattern: str) -> Matcher:
    """Whether a name without slashes is as the pattern says, in which a star is any text."""
    return _compiled([pattern], fold=False)


def _clean(pattern: str) -> str:
    """Without what no shown path has: `./`, empty and `.` folders.

    Raises:
        RuleError: it leads out of the workspace, or can match nothing.
    """
    if pattern.startswith(("//", "~/")) or pattern == "~" or _DRIVE.match(pattern):
        raise RuleError("the pattern leads out of the workspace: paths are relative to its folder")
    if "\0" in pattern:
        raise RuleError("no path holds a NUL")
    bare = pattern.removeprefix("./")
    whole = [part for part in bare.split("/") if part != "."]
    clean = "/".join(part for at, part in enumerate(whole) if part or at in (0, len(whole) - 1))
    if bare.endswith("/.") and not clean.endswith("/"):
        clean += "/"
    every = _alternatives(clean)
    if all(".." in one.split("/") for one in every):
        raise RuleError("the pattern leads out of the workspace, or by `..` through it: no path is shown like that")
    if not any(one.strip("/") for one in every) and clean != "/":
        raise RuleError("the pattern names no file: write the tool alone for all of them")
    return clean


def _alternatives(pattern: str) -> list[str]:
    try:
        found = alternatives(pattern)
    except ToolFailure as failure:
        raise RuleError(failure.message.removesuffix(".")) from failure
    if found is None or any(translate(one, braces=False) is None for one in found):
        raise RuleError("it has a bracket or brace that is not closed, or cannot be read")
    return found


def _placed(pattern: str, judged: str) -> str:
    """The pattern over whole paths; where `judged` holds no slash it matches in every folder."""
    if pattern == "/":
        return "**"
    below = f"{pattern}**" if pattern.endswith("/") else pattern
    return f"**/{below}" if "/" not in judged else below.removeprefix("/")


def _compiled(patterns: list[str], *, fold: bool) -> Matcher:
    texts = [translate(_folded(one) if fold else one, braces=False) for one in dict.fromkeys(patterns)]
    expression = re.compile("|".join(f"(?:{text})" for text in texts if text is not None), re.DOTALL)
    return lambda path: expression.fullmatch(path) is not None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


MAX_RULE = 4096
"""Characters."""
MAX_RULES = 500
"""Of one list; reading a rule costs time (S-6)."""

MAX_ADDRESS = 64
"""Folders of a document's address that are looked at; from each on it may be meant (S-6)."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_RULE = re.compile(r"(mcp__[\w*-]+(?:@[0-9a-f]{16})?|[A-Za-z_][\w-]*)\s*(?:\((.*)\))?", re.DOTALL | re.ASCII)
SERVED = "mcp__"
"""What the names of tools begin with that servers bring along."""
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
    folders: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]], hash=False)
    """Names of the workspace's folders where there are several, with which shown paths begin; for each, the paths by
    which folders around it know it."""
    digest: str = ""
    """Of what a server has to say of its tool for the rule to allow it; empty where that may be anything."""

    @property
    def blanket(self) -> bool:
        return self.specifier is None

    @property
    def served(self) -> bool:
        """Whether it speaks of what servers bring along (X-3)."""
        return self.tool.startswith(SERVED)

    @property
    def lasting(self) -> bool:
        """Whether it can be an answer of the user's: one about a server's tool says what that was."""
        return bool(self.digest) or not self.served

    def permits(self, tool: str, paths: PathUse | None, digest: str = "") -> bool:
        """Whether the rule, as one that allows, speaks of a tool that does `paths` with the paths it is given.

        `digest` is that of what its server says of it.
        """
        if self.served:
            return self.digest in {"", digest} and _names_served(self.tool, tool)
        return tool == self.tool or (self.tool, paths) in {("Read", "reads"), ("Edit", "writes")}

    def forbids(self, tool: str, paths: PathUse | None) -> bool:
        """Whether the rule, as one that denies, speaks of such a tool."""
        if self.served:
            return _names_served(self.tool.casefold(), tool.casefold())
        return self.permits(tool, paths) or (self.tool, paths) == ("Read", "writes")

    def covers_path(self, path: str) -> bool:
        """Whether an allow rule covers `path`, as shown."""
        normal = posixpath.normpath(path)
        return self.specifier is not None and not f"{normal}/".startswith("../") and allowing(self.specifier)(normal)

    def forbids_path(self, path: str) -> bool:
        """Whether a deny rule covers `path`, as shown: in doubt it does.

        Folders above it count too, and other spellings of the case; where the workspace has several folders, the path
        inside its own folder as well, and inside those around it.
        """
        if self.specifier is None:
            return False
        matches = denying(self.specifier)
        normal = posixpath.normpath(path)
        first, _, rest = normal.partition("/")
        spellings = [normal, *_inside_an_address(path)]
        if first in self.folders:
            spellings += [rest, *(posixpath.join(known, rest) for known in self.folders[first])]
        for spelling in spellings:
            while spelling not in ("", ".", "/"):
                if matches(spelling):
                    return True
                spelling = posixpath.dirname(spelling)  # noqa: PLW2901 - upwards
        return False


Refusal = tuple[Literal["deny", "ask"], Rule]
"""Denied by a rule, or asked about because the rule may be meant."""


def strictest(refusals: Iterable[Refusal | None]) -> Refusal | None:
    """The first that denies, else the first."""
    return min(filter(None, refusals), key=lambda refusal: refusal[0] != "deny", default=None)


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A rule that cannot be used, and why."""

    text: str
    reason: str


def parse(
    text: str, tools: Mapping[str, PathUse | None] | None = None, folders: Mapping[str, str] | None = None
) -> Rule:
    """The rule in `text`. With `tools`, other tool names (but MCP's) are refused.

    `folders` are the workspace's, absolute path to name: a pattern that begins with one is taken as relative to it.

    Raises:
        RuleError: it is not a rule, or one that can match nothing.
    """
    if len(text) > MAX_RULE:
        raise RuleError(f"longer than {MAX_RULE} characters")
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise RuleError("not of the form Tool or Tool(specifier)")
    (tool, _, digest), specifier = match[1].partition("@"), match[2]
    served = tool.startswith(SERVED)
    if tools is not None and tool not in tools and not served:
        meant = next((f": it is spelt {name}" for name in tools if name.casefold() == tool.casefold()), "")
        raise RuleError(f"there is no tool {tool}{meant}")
    if specifier is None or specifier.strip() in _BLANKET:
        if specifier == "":
            raise RuleError("the parentheses are empty")
        return Rule(text, tool, None, digest=digest)
    if tool == "Bash":
        return _command_rule(text, tool, specifier.strip())
    if served or (tools is not None and tools.get(tool, "reads") is None):
        raise RuleError(f"{tool} takes no path, so nothing matches what stands in parentheses: write {tool} alone")
    return _path_rule(text, tool, specifier.strip(), folders or {})


def parse_all(
    texts: Iterable[str],
    tools: Mapping[str, PathUse | None] | None = None,
    folders: Mapping[str, str] | None = None,
) -> tuple[list[Rule], list[RuleProblem]]:
    """The rules, and what is wrong with the others."""
    rules: list[Rule] = []
    problems: list[RuleProblem] = []
    for number, text in enumerate(texts):
        if number == MAX_RULES:
            problems.append(RuleProblem(text, f"only the first {MAX_RULES} rules of a list are read"))
            break
        try:
            rules.append(parse(text, tools, folders))
        except RuleError as error:
            problems.append(RuleProblem(text, str(error)))
    return rules, problems


def escape_path(path: str) -> str:
    """A pattern that matches `path` alone."""
    return re.sub(r"([*?\[{])", r"[\1]", path.replace("\\", "\\\\"))


def _names_served(written: str, tool: str) -> bool:
    """Whether a rule's name speaks of a tool that a server brings: as it is spelt, or as a server's alone."""
    whole = f"{written}__*" if "__" not in written.removeprefix(SERVED) else written
    return tool.startswith(SERVED) and (starred(written)(tool) or starred(whole)(tool))


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


def _path_rule(text: str, tool: str, specifier: str, folders: Mapping[str, str]) -> Rule:
    several = len(folders) > 1
    pattern = specifier
    # The innermost first: by its name its files are shown.
    for root, name in sorted(folders.items(), key=lambda folder: -len(folder[0])):
        if pattern.startswith(f"{root.rstrip('/')}/"):
            inside = f"/{pattern[len(root.rstrip('/')) :].lstrip('/')}"
            pattern = f"/{escape_path(name)}{inside}" if several else inside
            break
    denying(pattern)
    allowing(pattern)
    rule = Rule(text, tool, pattern)
    return replace(rule, folders={name: _around(root, folders) for root, name in folders.items()}) if several else rule


def _around(root: str, folders: Mapping[str, str]) -> tuple[str, ...]:
    """The paths of a folder that lies in others, as seen from each and as shown in it."""
    around = ((f"{outer.rstrip('/')}/", name) for outer, name in folders.items() if outer != root)
    inside = ((root[len(above) :], name) for above, name in around if root.startswith(above))
    return tuple(path for below, name in inside for path in (below, f"{name}/{below}"))


def _inside_an_address(shown: str) -> list[str]:
    """What a document that is not a file may be about, `untitled:/w/secrets/a`: its path from each folder on."""
    address = _ADDRESS.match(shown)
    if address is None:
        return []
    parts = unquote(re.split(r"[?#]", shown[address.end() :], maxsplit=1)[0]).split("/")
    parts = [part for part in parts if part not in ("", ".", "..")][-MAX_ADDRESS:]
    return ["/".join(parts[at:]) for at in range(len(parts))]
