"""What the refs of a repository held before a command, so that what a checkout brings is no new name (S-8).

Refs are noted before the command and not read again. Objects are read later, and commands can write them: each is held
against its hash. Git reads them for a repository of ours, so that no setting of the workspace's counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.rules.listings import StampedCache
from codelaw.adapters.processes.rules.repositories import stores
from codelaw.adapters.programs import find_program, own_environment
from codelaw.adapters.texts import small_text, write_whole

MOST_REFS = 300
"""Of one repository, the one that is checked out first."""
MOST_IDS = 2 * MOST_REFS + 1
"""Of what they name, packed ones and the head among them."""
LARGEST_PACKED = 4 << 20
LARGEST_ANSWER = 32 << 20
LARGEST_FILE = 1 << 20
SECONDS = 2.0
"""For one answer of git's."""
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PACKED = re.compile(rf"^(?:\^({_ID.pattern})$|({_ID.pattern}) refs/)", re.MULTILINE)
_FIELD = re.compile(rb"(?:tree|object) ([0-9a-f]{40,64})\n")

Entries = Mapping[str, tuple[str, str]]
"""By name the mode and the id."""


class Refs:
    """The refs of repositories, as commands may have left them; used from threads, touches the disk."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """`folder` is one of ours, for the repository that git works in."""
        self._folder = folder
        self._file = folder / "made"
        self._environment = environment
        self._packed = StampedCache[list[str]]()
        self._written = StampedCache[None]()
        self._known: dict[Path, dict[str, None]] = {}
        """By repository what its refs named before some command."""
        self._made: dict[Path, set[str]] = {}
        """What they named only after one, of any session: that a command has committed it makes nothing known."""
        self._lock = threading.Lock()

    def before(self, folders: Sequence[Path], running: Sequence[RefsBefore] = ()) -> RefsBefore:
        """Note what the refs name now; what is new since before a command that is `running` may be its own."""
        found = stores(folders)
        ids: dict[Path, tuple[str, ...]] = {}
        for holder, git, common in found:
            others = [one for one in running if any(each[2] == common for each in one.found)]
            now = self._look(git, common)
            with self._lock:
                made, known = self._made_in(common), self._known.setdefault(common, {})
                if others:
                    known |= dict.fromkeys(one for one in _held(others, common) if one not in made)
                    self._note(common, [one for one in now if one not in known])
                fresh = [one for one in now if one not in made]
                known |= dict.fromkeys(fresh)
                ids[holder] = tuple(dict.fromkeys([*fresh, *reversed(known)]))[:MOST_IDS]
                for one in [*known][: -4 * MOST_REFS]:
                    del known[one]
        return RefsBefore(self, found, ids, folders)

    def after(self, before: RefsBefore) -> None:
        """Note what they name when the command has ended."""
        for _, git, common in before.found:
            now = self._look(git, common)
            with self._lock:
                known = self._known.setdefault(common, {})
                held = set(_held([before], common))
                self._note(common, [one for one in now if one not in known and one not in held])

    def _made_in(self, common: Path) -> set[str]:
        with contextlib.suppress(FileNotFoundError):
            self._written.look(str(self._file), "", self._read, follow=False)
        return self._made.setdefault(common, set())

    def _read(self) -> None:
        text = small_text(self._file, LARGEST_PACKED) or ""
        lines = text.splitlines()
        for line in lines:
            with contextlib.suppress(ValueError):  # the half of one
                common, ids = json.loads(line)
                self._made.setdefault(Path(common), set()).update(ids)
        if len(text) > LARGEST_PACKED // 2:
            write_whole(self._file, "".join(f"{line}\n" for line in lines[len(lines) // 2 :]).encode("ascii"))

    def _note(self, common: Path, ids: Sequence[str]) -> None:
        """Remember what may be a command's, for later sessions, too."""
        made = self._made_in(common)
        fresh = [one for one in ids if one not in made]
        made.update(fresh)
        if fresh:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._file.open("a", encoding="ascii") as file:
                file.write(json.dumps([str(common), fresh]) + "\n")

    def _look(self, git: Path, common: Path) -> list[str]:
        said = dict.fromkeys(_value(git / "HEAD", common))
        count = 0
        waiting = [str(common / "refs")]
        while waiting and count < MOST_REFS:
            with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif (count := count + 1) <= MOST_REFS and entry.is_file(follow_symlinks=False):
                        said |= dict.fromkeys(_ids(small_text(Path(entry.path), 200) or ""))
        return [*dict.fromkeys([*said, *self._from_packed(common / "packed-refs")])]

    def _from_packed(self, file: Path) -> list[str]:
        try:
            return self._packed.look(str(file), "", lambda: _packed(file), follow=False)
        except OSError:
            return []

    def objects(self, store: Path, ids: Sequence[str], folders: Sequence[Path]) -> Iterator[tuple[str, str, bytes]]:
        """Of the objects in a store those that are what their ids say: id, type, content."""
        program = find_program("git", self._environment, folders)
        environment = own_environment(self._environment, folders)
        for length in (40, 64):
            asked = [one for one in ids if len(one) == length and _plain(store / one[:2] / one[2:])]
            if program is not None and asked and all(map(_plain, (store / "pack").glob("*"))):
                said = _answer(program, self._own(length), asked, environment | {"GIT_OBJECT_DIRECTORY": str(store)})
                yield from _verified(said, asked)

    def _own(self, length: int) -> Path:
        """An empty repository of ours, for ids of this length."""
        own = self._folder / ("sha1.git" if length == 40 else "sha256.git")
        if not (own / "HEAD").exists():
            for name in ("objects", "refs"):
                (own / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            more = "" if length == 40 else "[extensions]\n\tobjectFormat = sha256\n"
            (own / "config").write_text(f"[core]\n\tbare = true\n\trepositoryformatversion = 1\n{more}", "ascii")
            (own / "HEAD").write_text("ref: refs/heads/none\n", "ascii")
        return own


@dataclass(eq=False, slots=True)
class RefsBefore:
    """What the refs of some folders' repositories named before a command."""

    refs: Refs
    found: list[tuple[Path, Path, Path]]
    """The folder with a `.git`, its git folder, and the repository that holds the objects."""
    ids: dict[Path, tuple[str, ...]]
    folders: Sequence[Path]
    _objects: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    """By id the type and the content; nothing of one that is missing, or not what its id says."""

    def written(self) -> dict[str, Any]:
        """What `read` makes it from, for JSON."""
        return {
            "found": [list(map(str, one)) for one in self.found],
            "ids": {str(holder): ids for holder, ids in self.ids.items()},
            "folders": list(map(str, self.folders)),
        }

    @classmethod
    def read(cls, refs: Refs, said: Mapping[str, Any]) -> RefsBefore:
        """From what `written` gave."""
        found = [(Path(holder), Path(git), Path(common)) for holder, git, common in said.get("found", ())]
        ids = {Path(holder): tuple(ids) for holder, ids in said.get("ids", {}).items()}
        return cls(refs, found, ids, [*map(Path, said.get("folders", ()))])

    def tracks(self, path: Path) -> bool:
        """Whether one of the refs has something at `path`."""
        return any(True for _ in self._at(path))

    def holds(self, path: Path, content: bytes | None) -> bool:
        """Whether one of the refs has a file at `path` with this content, whatever its line ends."""
        wanted = {content, content.replace(b"\r\n", b"\n")} if content is not None else set[bytes]()
        return any(
            mode in ("100644", "100755") and any(_hashed("blob", text, len(one)) == one for text in wanted)
            for mode, one in self._at(path)
        )

    def left(self, path: Path) -> bool:
        """Whether what is checked out now is one of the refs, and has nothing at `path`."""
        holder, git, common = self._around(path) or (path, path, path)
        head = [one for one in _value(git / "HEAD", common) if one in self.ids.get(holder, ())]
        return bool(head) and not any(True for _ in self._at(path, head))

    def _around(self, path: Path) -> tuple[Path, Path, Path] | None:
        """The repository whose folder holds a path."""
        inside = [one for one in self.found if one[0] in path.parents]
        return max(inside, key=lambda one: len(one[0].parts)) if inside and ".git" not in path.parts else None

    def _at(self, path: Path, ids: Sequence[str] | None = None) -> Iterator[tuple[str, str]]:
        """What the refs, or some of them, have at a path: mode and id."""
        around = self._around(path)
        if around is None:
            return
        holder, _, common = around
        level = self._trees(common, self.ids.get(holder, ()) if ids is None else ids)
        *above, last = path.relative_to(holder).parts
        for part in above:
            entries = (self._entries(tree).get(part, ("", "")) for tree in level)
            level = {one for mode, one in entries if mode == "40000"}
            self._load(common, level)
        yield from (entries[last] for tree in level if last in (entries := self._entries(tree)))

    def _trees(self, common: Path, ids: Sequence[str]) -> set[str]:
        """The trees of commits, and of those that tags name."""
        waiting, trees = set(ids), set[str]()
        for _ in range(4):
            self._load(common, waiting)
            named: set[str] = set()
            for one in waiting:
                kind, content = self._objects.get(one, ("", b""))
                if kind == "tree":
                    trees.add(one)
                elif kind in ("commit", "tag") and (match := _FIELD.match(content)):
                    named.add(match[1].decode())
            waiting = named
        return trees

    def _entries(self, tree: str) -> Entries:
        kind, content = self._objects.get(tree, ("", b""))
        return dict(_parsed(content, len(tree) // 2)) if kind == "tree" else {}

    def _load(self, common: Path, ids: set[str]) -> None:
        wanted = sorted(one for one in ids if one not in self._objects)
        self._objects |= dict.fromkeys(wanted, ("", b""))
        with contextlib.suppress(OSError):  # what git cannot be asked is not known
            for one, kind, content in self.refs.objects(common / "objects", wanted, self.folders) if wanted else ():
                self._objects[one] = kind, content


def _held(commands: Sequence[RefsBefore], common: Path) -> list[str]:
    """What the refs of a repository named before some commands."""
    return [
        one
        for command in commands
        for holder, _, other in command.found
        for one in command.ids.get(holder, ())
        if other == common
    ]


def _packed(file: Path) -> list[str]:
    ids = [one or other for one, other in _PACKED.findall(small_text(file, LARGEST_PACKED) or "")]
    return list(dict.fromkeys(ids))[:MOST_REFS]


def _plain(path: Path) -> bool:
    """Whether a file is one, or none: git would wait for the other end of a pipe."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return True


def _value(head: Path, common: Path) -> list[str]:
    text = small_text(head, 4096) or ""
    if not text.startswith("ref: refs/"):
        return _ids(text)
    name = os.path.normpath(text[5:].strip())
    return [] if name.startswith(("/", "..")) else _ids(small_text(common / name, 200) or "")


def _ids(text: str) -> list[str]:
    return [text.strip()] if _ID.fullmatch(text.strip()) else []


def _answer(program: str, own: Path, ids: Sequence[str], environment: Mapping[str, str]) -> bytes:
    """What git says of objects, as far as it says it in time."""
    settings = {
        "GIT_DIR": str(own),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
    with subprocess.Popen(
        [program, "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=own,
        env={**environment, **settings},
    ) as child:
        timer = threading.Timer(SECONDS, child.kill)
        timer.start()
        try:
            assert child.stdin is not None  # noqa: S101 - a pipe
            assert child.stdout is not None  # noqa: S101 - a pipe
            with contextlib.suppress(OSError):
                child.stdin.write("".join(f"{one}\n" for one in ids).encode())
                child.stdin.close()
            said = child.stdout.read(LARGEST_ANSWER)
        finally:
            child.kill()
            timer.cancel()
    return said


def _verified(said: bytes, asked: Sequence[str]) -> Iterator[tuple[str, str, bytes]]:
    at, wanted = 0, set(asked)
    while (end := said.find(b"\n", at)) >= 0:
        words = said[at:end].decode("utf-8", "replace").split()
        at = end + 1
        if len(words) != 3 or not words[2].isdecimal():
            continue
        one, kind, size = words[0], words[1], int(words[2])
        content = said[at : at + size]
        at += size + 1
        if one in wanted and len(content) == size and _hashed(kind, content, len(one)) == one:
            yield one, kind, content


def _hashed(kind: str, content: bytes, length: int) -> str:
    make = hashlib.sha1 if length == 40 else hashlib.sha256
    return make(b"%s %d\0" % (kind.encode(), len(content)) + content, usedforsecurity=False).hexdigest()


def _parsed(tree: bytes, digest: int) -> Iterator[tuple[str, tuple[str, str]]]:
    at = 0
    while (end := tree.find(b"\0", at)) >= 0:
        mode, _, name = tree[at:end].partition(b" ")
        at = end + 1 + digest
        yield os.fsdecode(name), (mode.decode(), tree[end + 1 : at].hex())
