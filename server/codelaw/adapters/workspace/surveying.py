"""What lies in the folders now, and what has changed since the last look (X-5).

A first look lists every folder. A later one asks for the stamp of each file and folder that is known, and lists a
folder only where it has changed; where a rule that hides files has changed, it begins anew. So it needs nobody who
tells what has changed, and costs a system call for each file.

A stamp proves nothing while its time is so young that another change may leave it as it is: such a file counts as
changed once more.

An exact look is for what happens between two of them, as around a command (E-2): hidden files count, no file counts as
changed because it is young, and what is new is told apart from what was there and not seen.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from codelaw.adapters.texts import content_stamp
from codelaw.adapters.workspace.ignore import IgnoreTree, exclude_file
from codelaw.adapters.workspace.walk import WalkBudget
from codelaw.domain.files import Buffer, Folder, Survey
from codelaw.ports.workspace import Hiding

TICK_NS, COARSE_NS = 50_000_000, 2_000_000_000
"""How far apart two changes must be to have two times: at most, and on a disk that keeps no parts of a millisecond."""
UNSURE = 0
"""The stamp of what is looked at again."""
NEVER = -1.0
"""The time of a file that is read again."""
_RULES = frozenset({".gitignore", ".git"})


@dataclass(frozen=True, slots=True)
class _Directory:
    shown: str
    """What stands before the names of its files when they are shown."""
    stamp: int
    files: Mapping[str, int]
    """The stamp of each file, by name."""
    folders: frozenset[str]
    rules: frozenset[str]
    """The names in it that say what is hidden."""
    others: frozenset[str] | None = frozenset()
    """Of an exact look: the names of all else that is in it; None where it cannot be listed."""


@dataclass(frozen=True, slots=True)
class Tree:
    """What a look leaves for the next one."""

    folders: tuple[Folder, ...]
    hiding: Hiding | None
    exact: bool
    directories: Mapping[str, _Directory] = field(default_factory=dict[str, _Directory])
    """By absolute path."""
    rules: Mapping[str, int] = field(default_factory=dict[str, int])
    """The stamps of the files that say what is hidden, those above the folders included."""


def surveyed(
    folders: Sequence[Folder],
    since: Survey | None,
    budget: WalkBudget,
    *,
    hiding: Hiding | None,
    buffers: Sequence[Buffer],
    shown: Callable[[str], str],
    exact: bool = False,
) -> Survey:
    """Look at the folders; `shown` says how an absolute path is shown."""
    nothing = Tree(tuple(folders), hiding, exact)
    last = since.tree if since is not None else None
    same = isinstance(last, Tree) and (last.folders, last.hiding, last.exact) == (nothing.folders, hiding, exact)
    tree = last if isinstance(last, Tree) and same else nothing
    look = _Look(tree, budget, shown)
    if tree is nothing or not look.follow():
        look = _Look(nothing, budget, shown)
        look.begin()
    now = None if budget.stopped else replace(nothing, directories=look.directories, rules=look.rules)
    survey = Survey(look.changed, frozenset(), look.last is nothing, stopped=budget.stopped, tree=now)
    if not exact:
        gone = _gone(look.last, now).keys() - look.changed.keys()
        return replace(survey, gone=frozenset(gone), open=dict(look.open(buffers)))
    if tree is nothing or now is None:
        stamps = {stamp: one.shown + name for one in look.directories.values() for name, stamp in one.files.items()}
        return replace(survey, stamps=stamps)
    return _compared(tree, now, survey)


class _Look:
    def __init__(self, last: Tree, budget: WalkBudget, shown: Callable[[str], str]) -> None:
        self.last = last
        self.changed: dict[str, float] = {}
        self.directories: dict[str, _Directory] = {}
        self.rules: dict[str, int] = {}
        self._budget = budget
        self._shown = shown
        self._exact = last.exact
        self._stamp = content_stamp if last.exact else _stamp
        self._now = time.time_ns()
        self._ignores = {str(folder.root): IgnoreTree(folder.root) for folder in last.folders}
        self._hides_otherwise = False
        """A rule that hides files has changed, so that everything must be listed."""

    def begin(self) -> None:
        """List everything."""
        self.rules = {path: self._rule(path) for folder in self.last.folders for path in _ruling(folder.root)}
        self._walk()

    def follow(self) -> bool:
        """Look at what is known; False where everything must be listed."""
        self.rules = {path: self._rule(path) for path in self.last.rules}
        if self.rules != self.last.rules:
            return False
        self._walk()
        return not self._hides_otherwise

    def open(self, buffers: Sequence[Buffer]) -> Iterator[tuple[str, Buffer]]:
        """The open documents with a file, or a place for one, that is not hidden."""
        for buffer in buffers:
            path = str(buffer.path)
            holding = [one.root for one in self.last.folders if buffer.path and one.root in buffer.path.parents]
            hidden = [self._ignores[str(root)].hides(str(root), path) for root in holding]
            if not all(hidden) and not self._denied(self._shown(path)):
                yield self._shown(path), buffer

    def _walk(self) -> None:
        for root, ignores in self._ignores.items():
            waiting = [root]
            while waiting and not self._budget.late() and not self._hides_otherwise:
                path = waiting.pop()
                found = None if path in self.directories else self._directory(path, ignores)
                if found is not None:
                    self.directories[path] = found
                    waiting += (f"{path.rstrip('/')}/{name}" for name in found.folders)

    def _directory(self, path: str, ignores: IgnoreTree) -> _Directory | None:
        """A folder as it is now; None where there is none."""
        facts = _facts(path)  # before its names: what comes between changes it
        if facts is None or not stat.S_ISDIR(facts.st_mode):
            return None
        known = self.last.directories.get(path)
        same = known is not None and known.stamp == _stamp(facts)
        return (self._followed(path, known) if known and same else None) or self._listed(path, ignores, facts, known)

    def _followed(self, path: str, known: _Directory) -> _Directory | None:
        """A folder that has not changed, with the files in it that have; None where one is gone."""
        differing: dict[str, int] = {}
        begin, lstat, stamp = f"{path.rstrip('/')}/", os.lstat, self._stamp
        for name, was in known.files.items():
            try:
                facts = lstat(begin + name)
            except OSError:
                return None
            if stamp(facts) != was:
                differing[name] = self._met(known.shown + name, facts)
        return replace(known, files={**known.files, **differing}) if differing else known

    def _listed(self, path: str, ignores: IgnoreTree, facts: os.stat_result, known: _Directory | None) -> _Directory:
        """A folder with its names; what was shown of it before is not hidden by any rule."""
        prefix = self._shown(f"{path.rstrip('/')}/x")[:-1]
        files: dict[str, int] = {}
        folders: set[str] = set()
        level, listed = ignores.level(path), _entries(path)
        names = {entry.name for entry in listed or ()}
        for entry in listed or ():
            if not self._budget.spend():
                break
            if entry.is_symlink():
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            was = known.files.get(entry.name) if known is not None and not is_folder else None
            if was is None and level.skips(entry.path, entry.name, folder=is_folder, hidden=self._exact, ignored=False):
                continue
            if is_folder:
                folders.add(entry.name)
            elif entry.is_file(follow_symlinks=False) and (was is not None or not self._denied(prefix + entry.name)):
                own = _facts(entry.path)
                if own is not None:
                    stamp = self._stamp(own)
                    files[entry.name] = stamp if stamp == was else self._met(prefix + entry.name, own)
        rules = frozenset(names & _RULES)
        self._hides_otherwise = self._hides_otherwise or (known is not None and known.rules != rules)
        for rule in (rule for name in rules for rule in _rule_files(f"{path.rstrip('/')}/{name}")):
            self.rules.setdefault(rule, self._rule(rule))
        return _Directory(
            prefix,
            UNSURE if self._young(facts) else _stamp(facts),
            files,
            folders=frozenset(folders),
            rules=rules,
            others=None
            if listed is None
            else frozenset(names - files.keys() - folders)
            if self._exact
            else frozenset(),
        )

    def _met(self, shown: str, facts: os.stat_result) -> int:
        """Note a file that is new or has changed; gives its stamp."""
        young = not self._exact and self._young(facts)
        self.changed[shown] = NEVER if young else facts.st_ctime
        return UNSURE if young else self._stamp(facts)

    def _young(self, facts: os.stat_result) -> bool:
        apart = TICK_NS if facts.st_mtime_ns % 1_000_000 else COARSE_NS
        return abs(self._now - facts.st_mtime_ns) < apart

    def _rule(self, path: str) -> int:
        """The stamp of a file that says what is hidden; of a folder, that it is there; 0 where nothing is."""
        try:
            facts = os.stat(path)  # noqa: PTH116 - a link to such a file counts as one
        except (OSError, ValueError):
            return 0
        if stat.S_ISDIR(facts.st_mode):
            return facts.st_ino
        return self._now if self._young(facts) else _stamp(facts)  # the moment equals that of no other look

    def _denied(self, shown: str) -> bool:
        return self.last.hiding is not None and self.last.hiding.hides(shown)


def _ruling(root: Path) -> Iterator[str]:
    """What lies above a workspace folder, or in it, and may say what is hidden in it."""
    for folder in root.parents:
        yield from _rule_files(str(folder / ".git"))
        yield str(folder / ".gitignore")
        if os.path.exists(folder / ".git"):  # noqa: PTH110 - never raises
            return


def _rule_files(path: str) -> Iterator[str]:
    """A file that says what is hidden, and those that it leads to."""
    yield path
    if path.endswith("/.git"):
        yield str(exclude_file(Path(path)))


def _entries(path: str) -> list[os.DirEntry[str]] | None:
    """None: the folder cannot be listed, and has nothing to show."""
    try:
        with os.scandir(path) as found:
            return list(found)
    except OSError:
        return None


def _facts(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _stamp(facts: os.stat_result) -> int:
    return hash((facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino))


def _gone(last: Tree, now: Tree | None) -> dict[str, int]:
    """The files that are not there any more, as shown, with their stamps; none where the look ended early."""
    gone: dict[str, int] = {}
    for path, then in last.directories.items() if now is not None else ():
        folder = now.directories.get(path) if now is not None else None
        if folder is not then:
            files: Mapping[str, int] = {} if folder is None else folder.files
            gone |= {then.shown + name: stamp for name, stamp in then.files.items() if name not in files}
    return gone


def _compared(last: Tree, now: Tree, survey: Survey) -> Survey:
    """What has become of the files of an exact look since the last one."""
    changed: dict[str, float] = {}
    new: dict[str, int] = {}
    for path, folder in now.directories.items():
        then = last.directories.get(path)
        before: Mapping[str, int] = {} if then is None else then.files
        for name, stamp in folder.files.items() if then is not folder else ():
            shown = folder.shown + name
            if before.get(name) == stamp:
                continue
            if name not in before and _was_free(last, path, name):
                new[shown] = stamp
            else:
                changed[shown] = survey.changed.get(shown, 0.0)
    gone = _gone(last, now)
    sources = {stamp: shown for shown, stamp in gone.items()}
    return replace(
        survey,
        changed=changed,
        gone=frozenset(gone),
        made={shown: sources.pop(stamp, None) for shown, stamp in new.items()},
        made_folders=_folders(now, last, lambda path: _was_free(last, *os.path.split(path))),
        gone_folders=_folders(last, now, lambda path: not os.path.lexists(path)),
    )


def _folders(there: Tree, absent: Tree, sure: Callable[[str], bool]) -> tuple[str, ...]:
    """Folders that only one of two looks has, parents first, as shown."""
    found = [path for path in there.directories if path not in absent.directories and sure(path)]
    return tuple(there.directories[path].shown[:-1] for path in sorted(found))


def _was_free(last: Tree, path: str, name: str) -> bool:
    """Whether it is sure that nothing had that name in the folder at the last look."""
    while path not in last.directories:
        above, _, name = path.rpartition("/")
        if not above or above == path:
            return False
        path = above
    folder = last.directories[path]
    return folder.others is not None and name not in folder.others and name not in folder.folders
