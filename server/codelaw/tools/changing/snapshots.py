"""Files as they are before a command, so that what it does to them can be undone, as far as can be known (E-2)."""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import re
import shlex
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Entry, FileImage, Located, MadeChange, Stamp
from codelaw.ports.cancelling import outlast
from codelaw.ports.workspace import Workspace
from codelaw.tools.base import ToolEnvironment
from codelaw.tools.paths import in_git_folder
from codelaw.tools.watching import MAX_NAMED, MAX_READ, MAX_TOTAL, Effects, Lost, WorkspaceBefore

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
class FileImages:
    """Files before a command; None for a name that stands for nothing yet."""

    files: tuple[tuple[Located, FileImage | None], ...] = ()
    saves: tuple[int, ...] = ()
    """How often the editor had saved each."""
    beyond: tuple[tuple[Located, Mark], ...] = ()
    """What is too large, or too much, to be kept."""


@contextlib.asynccontextmanager
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
    before = await _looked(env)
    images = await imaged(command, env)
    held = await env.journal.hold(images.files)
    try:
        yield made
    finally:
        keeping = asyncio.ensure_future(_ended(held, images, before, env))
        if await outlast(keeping):
            keeping.exception()  # the cancel is told of, not this
            raise asyncio.CancelledError
        made += keeping.result()


async def _looked(env: ToolEnvironment) -> WorkspaceBefore | None:
    before = await env.tree.before(env.workspace) if env.tree is not None else None
    if isinstance(before, Notice):
        if env.journal is not None:
            env.journal.report(before)
        return None
    return before


async def _ended(
    held: str, images: FileImages, before: WorkspaceBefore | None, env: ToolEnvironment
) -> list[MadeChange]:
    if env.journal is None:
        return []
    stored = False
    try:
        effects = await keep(images, before, env)
        stored = True
    finally:
        await env.journal.release(held, stored=stored)
    if effects.lost:
        count = len(effects.lost) + effects.more
        files = "a file" if count == 1 else f"{count} files"
        names = [lost.reported() for lost in effects.lost[:MAX_TOLD]]
        more = f" and {count - MAX_TOLD} more" if count > MAX_TOLD else ""
        message = f"A command changed {files} of which nothing was kept, so this cannot be undone: "
        env.journal.report(Notice("warning", "undo_partial", f"{message}{', '.join(names)}{more}."))
    return effects.made


async def imaged(command: str, env: ToolEnvironment) -> FileImages:
    """The files that the chat has read, the turn has changed or `command` names, as they are. Never raises."""
    if env.journal is None:
        return FileImages()
    taking = _ImageTaker(env)
    touched = [place.path for place in env.journal.touched() if place.path.is_absolute()]
    await taking.take(await asyncio.to_thread(_located, env.workspace, touched), MAX_READ)
    await taking.take([entry.located for entry in env.ledger.entries()], MAX_READ)
    await taking.take_named(await asyncio.to_thread(_words, command))
    saves = tuple(env.workspace.buffers.saves(place.path) for place, _ in taking.files)
    beyond = tuple(zip(taking.beyond, await _marks(taking.beyond, env), strict=True))
    return FileImages(tuple(taking.files), saves, beyond)


async def keep(images: FileImages, before: WorkspaceBefore | None, env: ToolEnvironment) -> Effects:
    """Keep what a command did in the journal, also by name what cannot be undone.

    Raises:
        Refusal: the store cannot take it.
    """
    made, lost = await _different(images, env)
    effects = Effects()
    if before is not None and env.tree is not None:
        known = {place.shown for place, _ in images.files}
        found = await env.tree.since(before, env.workspace, known)
        if isinstance(found, Effects):
            effects = found
        elif env.journal is not None:
            env.journal.report(found)
    reported = {one.place.path for one in [*made, *effects.made, *effects.lost, *lost]}
    effects.made = [*made, *effects.made, *(one for one in await _grown(images, env) if one.place.path not in reported)]
    effects.lost += [*lost, *await _beyond(images, before, reported, env)]
    await _store(effects, env)
    return effects


async def _store(effects: Effects, env: ToolEnvironment) -> None:
    if env.journal is None:
        return
    for folder in effects.made_folders:
        await env.journal.note(folder, "folder", was=False, there=True)
    for change in effects.made:
        await env.journal.keep(change.place, change.before, change.after)
    for lost in effects.lost:
        await env.journal.note(lost.place, "lost", was=True, there=not lost.gone)
    for folder in effects.gone_folders:
        await env.journal.note(folder, "folder", was=True, there=False)


async def _different(images: FileImages, env: ToolEnvironment) -> tuple[list[MadeChange], list[Lost]]:
    """Those of the files that are different, and those that have grown too large."""
    made: list[MadeChange] = []
    lost: list[Lost] = []
    places = [place for place, _ in images.files]
    now = await env.workspace.images(places, most=MAX_READ, total=2 * MAX_TOTAL)
    for (place, before), after, saves in zip(images.files, now, images.saves, strict=True):
        if isinstance(after, ToolFailure):
            lost += [Lost(place)] if after.code == "INVALID_PARAM" else []
            continue  # no file that could be put back in one piece
        if env.workspace.buffers.saves(place.path) != saves:
            continue  # what a person has saved meanwhile is not the command's to undo
        if (None if before is None else before.content) != (None if after is None else after.content):
            made.append(MadeChange(place, before, after))
    return made, lost


async def _grown(images: FileImages, env: ToolEnvironment) -> list[MadeChange]:
    """The files in folders that the command names and has made, whatever ignores them."""
    taking = _ImageTaker(env)
    for folder in await taking.take([place for place, before in images.files if before is None]):
        await taking.take_below(folder)
    named = {place.path for place, _ in images.files}
    return [MadeChange(place, None, image) for place, image in taking.files if image and place.path not in named]


async def _beyond(
    images: FileImages, before: WorkspaceBefore | None, known: Collection[Path], env: ToolEnvironment
) -> list[Lost]:
    """What was too large or too much to be kept, and is different now."""
    marks = await _marks([place for place, _ in images.beyond], env)
    lost: list[Lost] = []
    for (place, then), mark in zip(images.beyond, marks, strict=True):
        reported = before is not None and isinstance(then, frozenset)  # by its files
        if mark != then and not reported and place.path not in known:
            lost.append(Lost(place, gone=mark is None))
    return lost


async def _marks(places: Sequence[Located], env: ToolEnvironment) -> list[Mark]:
    marks: list[Mark] = []
    for place, stamp in zip(places, await env.workspace.stamps(places), strict=True):
        try:
            entries = await env.workspace.entries(place, hidden=True, ignored=True)
        except ToolFailure:
            marks.append(stamp)  # it is a file, or gone
        else:
            marks.append(frozenset(entry.name for entry in entries))
    return marks


@dataclass(frozen=True, slots=True)
class _Listing:
    """The names in a folder, sorted; there may be very many."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def _listing(entries: Sequence[Entry]) -> _Listing:
    files = sorted(entry.name for entry in entries if entry.kind == "file")
    folders = sorted(entry.name for entry in entries if entry.kind == "folder" and entry.name.casefold() != ".git")
    return _Listing(tuple(files), tuple(folders))


class _ImageTaker:
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
            await self.take_below(folder)

    async def _take_words(self, bases: Sequence[Path], words: Sequence[str]) -> list[Located]:
        """Take what the words name from there; gives the folders among it."""
        plain = [base / word for base in bases for word in words if not _PATTERN.search(word)]
        found = await self.take(await self._located(plain))
        for base in bases:
            for word in words:
                if _PATTERN.search(word):
                    found += await self._take_matching(base, Path(word))
        return found

    async def _take_matching(self, base: Path, pattern: Path) -> list[Located]:
        """Take what a pattern stands for; gives the folders among it."""
        folders = [base]
        for part in pattern.parts[:-1]:
            if not _PATTERN.search(part):
                folders = [folder / part for folder in folders]
                continue
            places = await self._located(folders)
            folders = [
                place.path / name
                for place in places
                for name in fnmatch.filter((await self._listing(place)).folders, part)
            ][:MAX_LISTED]
        found: list[Located] = []
        for folder in await self._located(folders):
            listing = await self._listing(folder)
            every = (*listing.files, *listing.folders)
            names = await asyncio.to_thread(fnmatch.filter, every, pattern.name)
            self.beyond += [folder] if len(names) > MAX_BELOW else []
            found += await self.take(await self._located([folder.path / name for name in names[:MAX_BELOW]]))
        return found

    async def take_below(self, folder: Located) -> None:
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
        if folder.path not in self._listed:
            entries: Sequence[Entry] = ()
            if not in_git_folder(folder):
                with contextlib.suppress(ToolFailure):
                    entries = await self._env.workspace.entries(folder, hidden=True, ignored=True)
            self._listed[folder.path] = await asyncio.to_thread(_listing, entries)
        return self._listed[folder.path]

    async def _located(self, paths: Sequence[Path]) -> list[Located]:
        """Those that lie inside the workspace."""
        return await asyncio.to_thread(_located, self._env.workspace, paths) if paths else []


def _located(workspace: Workspace, paths: Sequence[Path]) -> list[Located]:
    places: list[Located] = []
    for path in paths:
        with contextlib.suppress(ToolFailure):
            places.append(workspace.locate(str(path)))
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
