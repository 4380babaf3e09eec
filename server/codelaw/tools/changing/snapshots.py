"""Files as they are before a command, so that what it does to them can be undone, as far as can be known (E-2)."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Entry, FileImage, Located, MadeChange, Stamp
from codelaw.ports.finishing import outlast
from codelaw.ports.workspace import Workspace
from codelaw.tools.base import ToolEnvironment
from codelaw.tools.paths import in_git_folder

MAX_NAMED = 1_000_000
"""Bytes of a file that a command names."""
MAX_READ = 10_000_000
"""Bytes of a file that the chat has read."""
MAX_TOTAL = 20_000_000
"""Bytes of all files together, kept in memory while the command runs (S-6)."""
MAX_BELOW = 200
"""Files below a folder that a command names."""
MAX_WORDS = 300
MAX_FOLDERS = 4
"""Named folders that the other words are looked for in, because the command may work there."""
MAX_LISTED = 400
"""Folders that are looked into below a named one."""
MAX_TOLD = 10
"""Files named in a notice."""

_WORD = re.compile(r"[^\s'\"`|&;<>()=,]+")
_PATTERN = re.compile(r"[*?\[]")


Mark = Stamp | frozenset[str] | None
"""By which a change is noticed: of a folder the names in it, as its own time moves with every sandbox."""


@dataclass(frozen=True, slots=True)
class Images:
    """Files before a command; None for a name that stands for nothing yet."""

    files: tuple[tuple[Located, FileImage | None], ...] = ()
    saves: tuple[int, ...] = ()
    """How often the editor had saved each."""
    beyond: tuple[tuple[Located, Mark], ...] = ()
    """What is too large, or too much, to be kept."""


@asynccontextmanager
async def kept(command: str, env: ToolEnvironment) -> AsyncGenerator[list[MadeChange]]:
    """Let what a command does to files be undone, also if it is stopped, and if codelaw dies meanwhile.

    Gives a list that has the changes once the block has been left; empty where there is no journal.

    Raises:
        ToolFailure: EXECUTION_ERROR: the files cannot be kept, so the command must not run.
        Refusal: what the command did cannot be stored.
    """
    made: list[MadeChange] = []
    if env.journal is None:
        yield made
        return
    images = await imaged(command, env)
    held = await env.journal.hold(images.files)
    try:
        yield made
    finally:
        keeping = asyncio.ensure_future(_ended(held, images, env))
        if await outlast(keeping):
            keeping.exception()  # the cancel is told of, not this
            raise asyncio.CancelledError
        made += keeping.result()


async def _ended(held: str, images: Images, env: ToolEnvironment) -> list[MadeChange]:
    if env.journal is None:
        return []
    stored = False
    try:
        made = await keep(images, env)
        stored = True
    finally:
        await env.journal.release(held, stored=stored)
    now = await _marks([place for place, _ in images.beyond], env)
    changed = (place.shown for (place, then), mark in zip(images.beyond, now, strict=True) if mark != then)
    lost = [*dict.fromkeys(changed)]
    if lost:
        more = f" and {len(lost) - MAX_TOLD} more" if len(lost) > MAX_TOLD else ""
        message = f"Too large or too much to be kept, so this cannot be undone: {', '.join(lost[:MAX_TOLD])}{more}."
        env.journal.tell(Notice("warning", "undo_partial", f"A command changed files. {message}"))
    return made


async def imaged(command: str, env: ToolEnvironment) -> Images:
    """The files that the chat has read and those that `command` names, as they are on the disk. Never raises."""
    if env.journal is None:
        return Images()
    taking = _Taking(env)
    await taking.take([entry.located for entry in env.ledger.entries()], MAX_READ)
    await taking.take_named(await asyncio.to_thread(_words, command))
    saves = tuple(env.workspace.buffers.saves(place.path) for place, _ in taking.files)
    beyond = tuple(zip(taking.beyond, await _marks(taking.beyond, env), strict=True))
    return Images(tuple(taking.files), saves, beyond)


async def keep(images: Images, env: ToolEnvironment) -> list[MadeChange]:
    """Keep what has become of them in the journal; gives those that are different.

    Raises:
        Refusal: the store cannot take it.
    """
    made: list[MadeChange] = []
    if env.journal is None:
        return made
    places = [place for place, _ in images.files]
    now = await env.workspace.images(places, most=MAX_READ, total=2 * MAX_TOTAL)
    for (place, before), after, saves in zip(images.files, now, images.saves, strict=True):
        if isinstance(after, ToolFailure):
            continue  # no file that could be put back in one piece
        if env.workspace.buffers.saves(place.path) != saves:
            continue  # what a person has saved meanwhile is not the command's to undo
        if (None if before is None else before.content) != (None if after is None else after.content):
            await env.journal.keep(place, before, after)
            made.append(MadeChange(place, before, after))
    return made


async def _marks(places: Sequence[Located], env: ToolEnvironment) -> list[Mark]:
    marks: list[Mark] = []
    for place, stamp in zip(places, await env.workspace.stamps(places), strict=True):
        try:
            entries = await env.workspace.entries(place, hidden=True, ignored=True)
        except ToolFailure:
            marks.append(stamp)  # it is a file, or gone
        else:
            marks.append(await asyncio.to_thread(_names, entries))
    return marks


@dataclass(frozen=True, slots=True)
class _Listing:
    """The names in a folder, sorted; there may be very many."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def matching(self, pattern: str) -> list[str]:
        return [name for name in self.files if fnmatchcase(name, pattern)]


def _listing(entries: Sequence[Entry]) -> _Listing:
    files = sorted(entry.name for entry in entries if entry.kind == "file")
    folders = sorted(entry.name for entry in entries if entry.kind == "folder" and entry.name.casefold() != ".git")
    return _Listing(tuple(files), tuple(folders))


class _Taking:
    """Takes images of files, each once, until the room is used up."""

    def __init__(self, env: ToolEnvironment) -> None:
        self._env = env
        self._room = MAX_TOTAL
        self.files: list[tuple[Located, FileImage | None]] = []
        self.beyond: list[Located] = []
        """What is not taken, because it is too large or too much."""
        self._looked: set[Path] = set()
        self._listed: dict[Path, _Listing] = {}
        """Folders as they are at this moment; many words may name what lies in one of them."""

    async def take(self, places: Sequence[Located], most: int = MAX_NAMED) -> list[Located]:
        """Take files; gives the folders among them."""
        new = {place.path: place for place in places if place.path.is_absolute() and not in_git_folder(place)}
        new = {path: place for path, place in new.items() if path not in self._looked}
        self._looked |= set(new)
        folders: list[Located] = []
        images = await self._env.workspace.images([*new.values()], most=most, total=self._room)
        for place, image in zip(new.values(), images, strict=True):
            if not isinstance(image, ToolFailure):
                self.files.append((place, image))
                self._room -= 0 if image is None else len(image.content)
            elif image.code == "IS_DIRECTORY":
                folders.append(place)
            elif image.code == "INVALID_PARAM":
                self.beyond.append(place)
        return folders

    async def take_named(self, words: Sequence[str]) -> None:
        root = self._env.workspace.folders[0].root
        folders = await self._take_words([root], words)
        bases = [place.path for place in folders if place.path != root][:MAX_FOLDERS]
        folders += await self._take_words(bases, words)
        for folder in folders:
            await self._take_below(folder)

    async def _take_words(self, bases: Sequence[Path], words: Sequence[str]) -> list[Located]:
        """Take what the words name from there; gives the folders among it."""
        plain = [base / word for base in bases for word in words if not _PATTERN.search(word)]
        found = await self.take(await self._located(plain))
        for pattern in [base / word for base in bases for word in words if _PATTERN.search(word)]:
            for folder in await self._located([pattern.parent]):
                listing = await self._listing(folder)
                names = await asyncio.to_thread(listing.matching, pattern.name)
                self.beyond += [folder] if len(names) > MAX_BELOW else []
                await self.take(await self._located([folder.path / name for name in names[:MAX_BELOW]]))
        return found

    async def _take_below(self, folder: Located) -> None:
        todo, files = [folder], 0
        for _ in range(MAX_LISTED):
            if not todo:
                return
            place = todo.pop(0)
            listing = await self._listing(place)
            names = listing.files
            room = MAX_BELOW - files
            files += len(names)
            await self.take(await self._located([place.path / name for name in names[:room]]))
            if len(names) > room:
                todo.insert(0, place)
                break
            todo += await self._located([place.path / name for name in listing.folders[:MAX_LISTED]])
        # Whether their files change is not known; a folder tells at least whether names come and go.
        self.beyond += todo[:MAX_FOLDERS]

    async def _listing(self, folder: Located) -> _Listing:
        known = self._listed.get(folder.path)
        if known is None:
            self._listed[folder.path] = known = await self._listed_now(folder)
        return known

    async def _listed_now(self, folder: Located) -> _Listing:
        if in_git_folder(folder):
            return _Listing()
        try:
            entries = await self._env.workspace.entries(folder, hidden=True, ignored=True)
        except ToolFailure:
            return _Listing()
        return await asyncio.to_thread(_listing, entries)

    async def _located(self, paths: Sequence[Path]) -> list[Located]:
        """Those that lie inside the workspace."""
        return await asyncio.to_thread(_located, self._env.workspace, paths) if paths else []


def _names(entries: Sequence[Entry]) -> frozenset[str]:
    return frozenset(entry.name for entry in entries)


def _located(workspace: Workspace, paths: Sequence[Path]) -> list[Located]:
    places: list[Located] = []
    for path in paths:
        try:
            places.append(workspace.locate(str(path)))
        except ToolFailure:
            continue
    return places


def _words(command: str) -> list[str]:
    """What may be a path in a command: its words as the shell reads them, and what stands between its marks."""
    try:
        read = shlex.split(command, comments=True)
    except ValueError:
        read = []  # quotes that do not end
    words = dict.fromkeys(
        word for word in [*read, *_WORD.findall(command)] if word and not word.startswith(("-", "~", "$"))
    )
    return [word for word in words if "\0" not in word and len(word) < 1_000][:MAX_WORDS]
