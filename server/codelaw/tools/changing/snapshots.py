"""Files as they are before a command, so that what it does to them can be undone, as far as can be known (E-2)."""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import re
import shlex
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileImage, Located, MadeChange, Stamp
from codelaw.ports.cancelling import outlast
from codelaw.ports.journal import Journal
from codelaw.tools.base import ToolEnvironment
from codelaw.tools.paths import in_git_folder
from codelaw.tools.watching import MAX_NAMED, MAX_READ, MAX_TOTAL, Effects, Lost, WorkspaceBefore

MAX_BELOW = 200
"""Files below a folder that a command names."""
MAX_WORDS = 300
MAX_FOLDERS = 4
"""Named folders that the other words are looked for in, because the command may work there."""
MAX_LISTED = 400
"""Folders that are looked into below a named one, and names that a pattern stands for."""
MAX_TOLD = 10
"""Files named in a notice."""

_WORD = re.compile(r"[^\s'\"`|&;<>()=,]+")
_PATTERN = re.compile(r"[*?\[]")

Mark = Stamp | list[str] | None
"""By which a change is noticed: of a folder the names in it, as its own time moves with every sandbox."""


@contextlib.asynccontextmanager
async def kept(command: str, env: ToolEnvironment) -> AsyncGenerator[list[MadeChange]]:
    """Let what a command does to files be undone, also if it is stopped, and if codelaw dies meanwhile.

    Gives a list that has the changes once the block has been left; empty where there is no journal.

    Raises:
        ToolFailure: EXECUTION_ERROR: the files cannot be kept, so the command must not run.
        Refusal: what the command did cannot be stored.
    """
    made: list[MadeChange] = []
    journal = env.journal
    if journal is None:
        yield made
        return
    before = await env.tree.before(env.workspace) if env.tree is not None else None
    if isinstance(before, Notice):
        journal.report(before)
        before = None
    images = _ImageTaker(env)
    await images.take([place.path for place in journal.touched()], MAX_READ)
    await images.take([entry.located.path for entry in env.ledger.entries()], MAX_READ)
    await images.take_named(await asyncio.to_thread(_words, command))
    held = await journal.hold(tuple(images.files))
    try:
        yield made
    finally:
        keeping = asyncio.ensure_future(_keep(held, images, before, env, journal))
        if await outlast(keeping):
            keeping.exception()  # the cancel is told of, not this
            raise asyncio.CancelledError
        made += keeping.result()


async def _keep(
    held: str, images: _ImageTaker, before: WorkspaceBefore | None, env: ToolEnvironment, journal: Journal
) -> list[MadeChange]:
    """Keep what a command did in the journal, also by name what cannot be undone; gives what can."""
    stored = False
    try:
        effects = await _effects(images, before, env, journal)
        for folder in effects.made_folders:
            await journal.note(folder, "folder", was=False, there=True)
        for change in effects.made:
            await journal.keep(change.place, change.before, change.after)
        for lost in effects.lost:
            await journal.note(lost.place, "lost", was=True, there=not lost.gone)
        for folder in effects.gone_folders:
            await journal.note(folder, "folder", was=True, there=False)
        stored = True
    finally:
        await journal.release(held, stored=stored)
    if effects.lost:
        count = len(effects.lost) + effects.more
        files = "a file" if count == 1 else f"{count} files"
        names = [lost.reported() for lost in effects.lost[:MAX_TOLD]]
        more = f" and {count - MAX_TOLD} more" if count > MAX_TOLD else ""
        message = f"A command changed {files} of which nothing was kept, so this cannot be undone: "
        journal.report(Notice("warning", "undo_partial", f"{message}{', '.join(names)}{more}."))
    return effects.made


async def _effects(
    images: _ImageTaker, before: WorkspaceBefore | None, env: ToolEnvironment, journal: Journal
) -> Effects:
    made, lost = await _different(images, env)
    effects = Effects()
    if before is not None and env.tree is not None:
        found = await env.tree.since(before, env.workspace, {place.shown for place, _ in images.files})
        if isinstance(found, Effects):
            effects = found
        else:
            journal.report(found)
    reported = {one.place.path for one in [*made, *effects.made, *effects.lost, *lost]}
    # The files in folders that the command names and has made, whatever ignores them.
    grown = _ImageTaker(env)
    for folder in await grown.take([place.path for place, image in images.files if image is None]):
        await grown.take_below(folder)
    # What was too large or too much to be kept, and is different now.
    for (place, then), now in zip(images.marks, await grown.marked([place for place, _ in images.marks]), strict=True):
        by_files = before is not None and isinstance(then, list)
        if now != then and not by_files and place.path not in reported:
            lost.append(Lost(place, gone=now is None))
            reported.add(place.path)
    reported |= {place.path for place, _ in images.files}
    others = [MadeChange(place, None, image) for place, image in grown.files if image and place.path not in reported]
    effects.made = [*made, *effects.made, *others]
    effects.lost += lost
    return effects


async def _different(images: _ImageTaker, env: ToolEnvironment) -> tuple[list[MadeChange], list[Lost]]:
    """Those of the files that are different, and those that have grown too large."""
    made: list[MadeChange] = []
    lost: list[Lost] = []
    now = await env.workspace.images([place for place, _ in images.files], most=MAX_READ, total=2 * MAX_TOTAL)
    for (place, before), after in zip(images.files, now, strict=True):
        if isinstance(after, ToolFailure):
            lost += [Lost(place)] if after.code == "INVALID_PARAM" else []
            continue  # no file that could be put back in one piece
        if env.workspace.buffers.saves(place.path) != images.saves[place.path]:
            continue  # what a person has saved meanwhile is not the command's to undo
        if (None if before is None else before.content) != (None if after is None else after.content):
            made.append(MadeChange(place, before, after))
    return made, lost


class _ImageTaker:
    """Takes images of files, each once, until the room is used up; None for a name that stands for nothing yet."""

    def __init__(self, env: ToolEnvironment) -> None:
        self._workspace = env.workspace
        self._room = MAX_TOTAL
        self.files: list[tuple[Located, FileImage | None]] = []
        self.saves: dict[Path, int] = {}
        """How often the editor had saved each."""
        self.marks: list[tuple[Located, Mark]] = []
        """What is not taken, because it is too large or too much."""
        self._looked: set[Path] = set()
        self._names: dict[Path, list[str]] = {}
        """What lies in folders at this moment; many words may name what lies in one of them."""

    async def take(self, paths: Sequence[Path], most: int = MAX_NAMED) -> list[Path]:
        """Take files inside the workspace; gives the folders among them."""
        places = [place for place in await asyncio.to_thread(self._located, paths) if place.path not in self._looked]
        new = [*{place.path: place for place in places}.values()]
        self._looked.update(place.path for place in new)
        folders: list[Path] = []
        beyond: list[Path] = []
        images = await self._workspace.images(new, most=most, total=self._room)
        for place, image in zip(new, images, strict=True):
            if not isinstance(image, ToolFailure):
                self.files.append((place, image))
                self.saves[place.path] = self._workspace.buffers.saves(place.path)
                self._room -= 0 if image is None else len(image.content)
            elif image.code == "IS_DIRECTORY":
                folders.append(place.path)
            elif image.code == "INVALID_PARAM":
                beyond.append(place.path)
        await self._mark(beyond)
        return folders

    async def _mark(self, paths: Sequence[Path]) -> None:
        places = await asyncio.to_thread(self._located, paths)
        self.marks += zip(places, await self.marked(places), strict=True)

    async def marked(self, places: Sequence[Located]) -> list[Mark]:
        """The marks of files and folders as they are."""
        stamps = await self._workspace.stamps(places)
        return [await self._listed(place.path) or stamp for place, stamp in zip(places, stamps, strict=True)]

    async def take_named(self, words: Sequence[str]) -> None:
        """Take what the words name from the first folder of the workspace, and from the folders that they name."""
        root = self._workspace.folders[0].root
        folders = await self._take_words([root], words)
        folders += await self._take_words([path for path in folders if path != root][:MAX_FOLDERS], words)
        for folder in folders:
            await self.take_below(folder)

    async def _take_words(self, bases: Sequence[Path], words: Sequence[str]) -> list[Path]:
        """Take what the words name from there; gives the folders among it."""
        paths = [base / word for base in bases for word in words if not _PATTERN.search(word)]
        for base in bases:
            for word in filter(_PATTERN.search, words):
                found = [base]
                for part in Path(word).parts:
                    found = [path for one in found for path in await self._matching(one, part)][:MAX_LISTED]
                paths += found
        return await self.take(paths)

    async def _matching(self, folder: Path, part: str) -> list[Path]:
        """What a part of a pattern stands for in a folder."""
        if not _PATTERN.search(part):
            return [folder / part]
        names = await asyncio.to_thread(fnmatch.filter, await self._listed(folder), part)
        await self._mark([folder] if len(names) > MAX_BELOW else [])
        return [folder / name for name in names[:MAX_BELOW]]

    async def take_below(self, folder: Path) -> None:
        waiting, room = [folder], MAX_BELOW
        for path in waiting:
            names = await self._listed(path)
            waiting += (await self.take([path / name for name in names[:room]]))[: MAX_LISTED - len(waiting)]
            room -= len(names)
            if room < 0:
                await self._mark([path])
                break

    async def _listed(self, folder: Path) -> list[str]:
        """The names in a folder, sorted; none where it is none."""
        if folder not in self._names:
            self._names[folder] = []
            for place in await asyncio.to_thread(self._located, [folder]):
                with contextlib.suppress(ToolFailure):
                    entries = await self._workspace.entries(place, hidden=True, ignored=True)
                    self._names[folder] = await asyncio.to_thread(sorted, [entry.name for entry in entries])
        return self._names[folder]

    def _located(self, paths: Sequence[Path]) -> list[Located]:
        """Those that lie inside the workspace, and may be changed by a command."""
        places: list[Located] = []
        for path in paths:
            with contextlib.suppress(ToolFailure):
                places.append(self._workspace.locate(str(path)))
        return [place for place in places if place.path.is_absolute() and not in_git_folder(place)]


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
