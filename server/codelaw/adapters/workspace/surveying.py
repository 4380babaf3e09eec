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
    root: str
    """The workspace folder that it was found from."""
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
    directories: Mapping[str, _Directory]
    """By absolute path, parents before children."""
    rules: Mapping[str, int]
    """The stamps of the files that say what is hidden, those above the folders included."""
    exact: bool


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
    last = since.tree if since is not None else None
    look = _Look(tuple(folders), budget, hiding, shown, exact)
    known = isinstance(last, Tree) and (last.folders, last.hiding, last.exact) == (look.folders, hiding, exact)
    if not (known and isinstance(last, Tree) and look.follow(last)):
        look = _Look(tuple(folders), budget, hiding, shown, exact, whole=True)
        look.begin()
    survey = look.survey()
    if exact:
        return _compared(last, survey) if known and isinstance(last, Tree) else _stamped(survey)
    return replace(survey, open=frozenset(look.open(buffers)))


@dataclass(slots=True)
class _Look:
    folders: tuple[Folder, ...]
    budget: WalkBudget
    hiding: Hiding | None
    shown: Callable[[str], str]
    exact: bool
    whole: bool = False
    now: int = field(default_factory=time.time_ns)
    changed: dict[str, float] = field(default_factory=dict[str, float])
    gone: set[str] = field(default_factory=set[str])
    directories: dict[str, _Directory] = field(default_factory=dict[str, _Directory])
    rules: dict[str, int] = field(default_factory=dict[str, int])
    ignores: dict[str, IgnoreTree] = field(default_factory=dict[str, IgnoreTree])

    def survey(self) -> Survey:
        stopped = self.budget.stopped
        tree = None if stopped else Tree(self.folders, self.hiding, self.directories, self.rules, self.exact)
        gone = frozenset(self.gone - self.changed.keys())
        return Survey(self.changed, gone, self.whole, stopped=stopped, tree=tree)

    def begin(self) -> None:
        """List everything."""
        for folder in self.folders:
            for path in _ruling(folder.root):
                self.rules[path] = self._rule(path)
            self._below(str(folder.root), str(folder.root))

    def follow(self, last: Tree) -> bool:
        """Look at what is known; False where everything must be listed."""
        self.rules = {path: self._rule(path) for path in last.rules}
        if self.rules != last.rules:
            return False
        self.directories = dict(last.directories)
        for path, known in last.directories.items():
            if self.exact and self.budget.late():
                return True
            if path in self.directories and not self._look_at(path, known):
                return False
        for folder in self.folders:
            if str(folder.root) not in self.directories:
                self._below(str(folder.root), str(folder.root))
        return True

    def open(self, buffers: Sequence[Buffer]) -> Iterator[str]:
        """The open documents with a file, or a place for one, that is not hidden."""
        for buffer in buffers:
            path = str(buffer.path)
            folder, _, name = path.rpartition("/")
            known = self.directories.get(folder)
            if known is not None and name in known.files:
                yield known.shown + name
                continue
            holding = [one for one in self.folders if buffer.path is not None and one.root in buffer.path.parents]
            hidden = [self._ignored(str(one.root)).hides(str(one.root), path) for one in holding]
            if not all(hidden) and not self._denied(self.shown(path)):
                yield self.shown(path)

    def _look_at(self, path: str, known: _Directory) -> bool:
        facts = _facts(path)
        if facts is None or not stat.S_ISDIR(facts.st_mode):
            self._drop(path)
            return True
        if known.stamp != _stamp(facts):
            return self._list_again(path, known)
        differing: dict[str, int] = {}
        begin, lstat, stamp = f"{path.rstrip('/')}/", os.lstat, content_stamp if self.exact else _stamp
        for name, was in known.files.items():
            try:
                facts = lstat(begin + name)
            except OSError:
                return self._list_again(path, known)
            if stamp(facts) != was:
                differing[name] = self._met(known.shown + name, facts)
        if differing:
            self.directories[path] = replace(known, files={**known.files, **differing})
        return True

    def _list_again(self, path: str, known: _Directory) -> bool:
        """List a folder that has changed; False where its rules have."""
        now = self._listed(path, known.root, known)
        if now is None:
            self._drop(path)
            return True
        if now.rules != known.rules:
            return False
        self.directories[path] = now
        self.gone.update(known.shown + name for name in known.files.keys() - now.files.keys())
        for name in known.folders - now.folders:
            self._drop(f"{path.rstrip('/')}/{name}")
        for name in now.folders - known.folders:
            self._below(f"{path.rstrip('/')}/{name}", known.root)
        return True

    def _drop(self, path: str) -> None:
        """Forget a folder and all below it."""
        inner = f"{path}/"
        for one in [one for one in self.directories if one == path or one.startswith(inner)]:
            known = self.directories.pop(one)
            self.gone.update(known.shown + name for name in known.files)

    def _below(self, start: str, root: str) -> None:
        """List a folder that is new, and all below it."""
        waiting = [start]
        while waiting and not self.budget.stopped:
            path = waiting.pop()
            found = None if path in self.directories else self._listed(path, root, None)
            if found is None:
                continue
            self.directories[path] = found
            for name in found.rules:
                for rule in _rule_files(f"{path.rstrip('/')}/{name}"):
                    self.rules[rule] = self._rule(rule)
            waiting += (f"{path.rstrip('/')}/{name}" for name in found.folders)

    def _listed(self, path: str, root: str, known: _Directory | None) -> _Directory | None:
        """A folder as it is now, None where there is none; what was shown of it before is not hidden by any rule."""
        facts = _facts(path)  # before its names: what comes between changes it
        if facts is None or not stat.S_ISDIR(facts.st_mode):
            return None
        prefix = self.shown(f"{path.rstrip('/')}/x")[:-1]
        files: dict[str, int] = {}
        folders: set[str] = set()
        rules: set[str] = set()
        level = self._ignored(root).level(path)
        listed = _entries(path)
        for entry in listed or ():
            if not self.budget.spend():
                break
            if entry.name in _RULES:
                rules.add(entry.name)
            if entry.is_symlink():
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            was = known.files.get(entry.name) if known is not None and not is_folder else None
            if was is None and level.skips(entry.path, entry.name, folder=is_folder, hidden=self.exact, ignored=False):
                continue
            if is_folder:
                folders.add(entry.name)
            elif entry.is_file(follow_symlinks=False) and (was is not None or not self._denied(prefix + entry.name)):
                own = _facts(entry.path)
                if own is not None:
                    stamp = content_stamp(own) if self.exact else _stamp(own)
                    files[entry.name] = stamp if stamp == was else self._met(prefix + entry.name, own)
        stamp = UNSURE if self._young(facts) else _stamp(facts)
        others: frozenset[str] | None = frozenset()
        if self.exact:
            others = None if listed is None else frozenset({one.name for one in listed} - files.keys() - folders)
        return _Directory(root, prefix, stamp, files, folders=frozenset(folders), rules=frozenset(rules), others=others)

    def _met(self, shown: str, facts: os.stat_result) -> int:
        """Note a file that is new or has changed; gives its stamp."""
        if self.exact:
            self.changed[shown] = facts.st_ctime
            return content_stamp(facts)
        young = self._young(facts)
        self.changed[shown] = NEVER if young else facts.st_ctime
        return UNSURE if young else _stamp(facts)

    def _young(self, facts: os.stat_result) -> bool:
        apart = TICK_NS if facts.st_mtime_ns % 1_000_000 else COARSE_NS
        return abs(self.now - facts.st_mtime_ns) < apart

    def _rule(self, path: str) -> int:
        """The stamp of a file that says what is hidden; of a folder, that it is there; 0 where nothing is."""
        try:
            facts = os.stat(path)  # noqa: PTH116 - a link to such a file counts as one
        except (OSError, ValueError):
            return 0
        if stat.S_ISDIR(facts.st_mode):
            return facts.st_ino
        return self.now if self._young(facts) else _stamp(facts)  # the moment equals that of no other look

    def _ignored(self, root: str) -> IgnoreTree:
        if root not in self.ignores:
            self.ignores[root] = IgnoreTree(Path(root))
        return self.ignores[root]

    def _denied(self, shown: str) -> bool:
        return self.hiding is not None and self.hiding.hides(shown)


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


def _compared(last: Tree, survey: Survey) -> Survey:
    """What has become of the files of an exact look since the last one."""
    now = survey.tree
    if not isinstance(now, Tree):
        return survey
    changed: dict[str, float] = {}
    new: dict[str, tuple[str, int]] = {}
    for path, folder in now.directories.items():
        then = last.directories.get(path)
        if then is folder:
            continue
        before: Mapping[str, int] = {} if then is None else then.files
        for name, stamp in folder.files.items():
            shown = folder.shown + name
            if name in before:
                if before[name] != stamp:
                    changed[shown] = survey.changed.get(shown, 0.0)
            elif _was_free(last, path, name):
                new[shown] = path, stamp
            else:
                changed[shown] = survey.changed.get(shown, 0.0)
    gone: dict[str, int] = {}
    for path, then in last.directories.items():
        folder = now.directories.get(path)
        if folder is not then:
            files: Mapping[str, int] = {} if folder is None else folder.files
            gone |= {then.shown + name: stamp for name, stamp in then.files.items() if name not in files}
    sources = {stamp: shown for shown, stamp in gone.items()}
    made = {shown: sources.pop(stamp, None) for shown, (_, stamp) in new.items()}
    return replace(
        survey,
        changed=changed,
        gone=frozenset(gone),
        made=made,
        made_folders=_folders(now, last, lambda path: _was_free(last, *os.path.split(path))),
        gone_folders=_folders(last, now, lambda path: not os.path.lexists(path)),
    )


def _stamped(survey: Survey) -> Survey:
    """A first exact look, with what its files are known by."""
    found = survey.tree.directories.values() if isinstance(survey.tree, Tree) else ()
    stamps = {stamp: one.shown + name for one in found for name, stamp in one.files.items()}
    return replace(survey, stamps=stamps)


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
