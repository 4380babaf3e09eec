"""Ignore files as git reads them: nested `.gitignore`, `.git/info/exclude`, negation (T-2)."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from codelaw.adapters.texts import small_text
from codelaw.domain.safety.globs import translate

MAX_BYTES = 128 << 10
"""An ignore file larger than this is not read (S-6)."""
MAX_PATTERNS = 2_000
"""Of one ignore file; those beyond do not count."""
MAX_KEPT = 64
"""Ignore files whose rules are kept from one operation to the next."""
MAX_POINTER = 10_000
"""So is a file that tells where the repository is."""


class IgnoreRules:
    """The patterns of one ignore file; the last one that matches decides."""

    def __init__(self, text: str) -> None:
        patterns = [*islice((rule for rule in map(_rule, text.split("\n")) if rule is not None), MAX_PATTERNS)]
        self._rules = list(reversed(patterns))
        # Most names match nothing: two big expressions say so faster than many small ones.
        self._names = _any(rule for rule in patterns if rule.by_name)
        self._paths = _any(rule for rule in patterns if not rule.by_name)

    def verdict(self, path: str, name: str, *, folder: bool) -> bool | None:
        """True: ignored; False: expressly not; None: nothing is said. `path` is relative to the ignore file."""
        if not (self._names and self._names.fullmatch(name)) and not (self._paths and self._paths.fullmatch(path)):
            return None
        for rule in self._rules:
            if (folder or not rule.folders_only) and rule.expression.fullmatch(name if rule.by_name else path):
                return not rule.negated
        return None


@dataclass(frozen=True, slots=True)
class _Rule:
    expression: re.Pattern[str]
    by_name: bool
    folders_only: bool
    negated: bool


def _rule(line: str) -> _Rule | None:
    line = line.removesuffix("\r")
    if line.startswith("#"):
        return None
    stripped = line.rstrip(" ")
    # A space before which a backslash stands belongs to the pattern.
    trimmed = stripped + " " if stripped.endswith("\\") and len(stripped) < len(line) else stripped
    negated = trimmed.startswith("!")
    pattern = trimmed[1:] if negated else trimmed
    folders_only = pattern.endswith("/")
    pattern = pattern.rstrip("/") if folders_only else pattern
    by_name = "/" not in pattern
    expression = translate(pattern.removeprefix("/"), braces=False) if pattern.strip("/") else None
    if expression is None:
        return None
    return _Rule(re.compile(expression, re.DOTALL), by_name, folders_only, negated)


def _any(rules: Iterable[_Rule]) -> re.Pattern[str] | None:
    texts = [rule.expression.pattern for rule in rules]
    return re.compile("|".join(f"(?:{text})" for text in texts), re.DOTALL) if texts else None


@dataclass(frozen=True, slots=True)
class Level:
    """The ignore rules of a folder, and those of the folders above that hold for it."""

    root: str
    rules: IgnoreRules | None
    exclude: IgnoreRules | None
    parent: Level | None

    def verdict(self, path: str, name: str, *, folder: bool) -> bool | None:
        """What the nearest rule says of an absolute path below `root`."""
        level: Level | None = self
        while level is not None:
            for rules in filter(None, (level.rules, level.exclude)):
                said = rules.verdict(path[len(level.root.rstrip("/")) + 1 :], name, folder=folder)
                if said is not None:
                    return said
            level = level.parent
        return None

    def skips(self, path: str, name: str, *, folder: bool, hidden: bool, ignored: bool) -> bool:
        """Whether a search leaves the entry out; a rule against ignoring also shows what is hidden, as `rg` has it."""
        if name == ".git":
            return not (hidden and ignored)
        said = None if ignored else self.verdict(path, name, folder=folder)
        return said is True or (said is None and not hidden and name.startswith("."))


def oversized(folder: Path) -> str | None:
    """What does not count of the folder's own ignore file, as a sentence, or None. Touches the disk."""
    path = folder / ".gitignore"
    try:
        facts = path.stat()
    except OSError:
        return None
    if stat.S_ISREG(facts.st_mode) and facts.st_size > MAX_BYTES:
        return f"{path} has {facts.st_size} bytes; more than {MAX_BYTES} are not read, so that it hides nothing."
    text = small_text(path, MAX_BYTES)
    lines = 0 if text is None else sum(_rule(line) is not None for line in text.split("\n"))
    return f"{path} has {lines} patterns; the first {MAX_PATTERNS} count." if lines > MAX_PATTERNS else None


class IgnoreTree:
    """The ignore rules below one workspace folder, read once each; made anew for every operation."""

    def __init__(self, folder: Path) -> None:
        tops = (one for one in (folder, *folder.parents) if os.path.exists(one / ".git"))  # noqa: PTH110 - never raises
        top = next(tops, None)
        self.in_repository = top is not None
        self._top = str(top or folder)
        self._levels: dict[str, Level] = {}

    def level(self, folder: str) -> Level:
        """The rules that hold in a folder, at or below the top of its repository."""
        known = self._levels.get(folder)
        if known is not None:
            return known
        path = Path(folder)
        git, above, exclude = path / ".git", None, None
        if os.path.exists(git):  # noqa: PTH110 - never raises
            exclude = _read(exclude_file(git))
        elif folder != self._top and folder.startswith(self._top):
            above = self.level(str(path.parent))
        level = self._levels[folder] = Level(folder, _read(path / ".gitignore"), exclude, above)
        return level

    def hides(self, start: str, path: str) -> bool:
        """Whether a walk that begins at `start` would miss the file at `path` below it."""
        if path == start:
            return False
        at = start.rstrip("/")
        for name in path[len(at) + 1 :].split("/"):
            above, at = at, f"{at}/{name}"
            if self.level(above or "/").skips(at, name, folder=at != path, hidden=False, ignored=False):
                return True
        return False


def _read(path: Path) -> IgnoreRules | None:
    text = small_text(path, MAX_BYTES)
    return None if text is None else _rules(text.removeprefix("\ufeff"))


@lru_cache(MAX_KEPT)
def _rules(text: str) -> IgnoreRules:
    """By the text itself, which tells more surely than a time whether it has changed."""
    return IgnoreRules(text)


def exclude_file(git: Path) -> Path:
    """The file beside a `.gitignore` that belongs to the repository of this `.git`. Touches the disk."""
    return _git_folder(git) / "info" / "exclude"


def _git_folder(git: Path) -> Path:
    """The repository's own folder; in a worktree `.git` is a file that points there."""
    pointed = _pointed(git)
    common = small_text(pointed / "commondir", MAX_POINTER) if pointed != git else None
    return pointed if common is None else _joined(pointed, common)


def _pointed(git: Path) -> Path:
    pointer = small_text(git, MAX_POINTER)
    return git if pointer is None else _joined(git.parent, pointer.removeprefix("gitdir:"))


def _joined(folder: Path, path: str) -> Path:
    # What no path can be leads nowhere.
    return folder if "\0" in path else Path(os.path.realpath(folder / path.strip()))
