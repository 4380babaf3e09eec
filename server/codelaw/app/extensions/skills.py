"""Finds the skills of a workspace and of its user, and reads those that are loaded (X-2)."""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.texts import beginning, visible
from codelaw.agent.inputs.gathering import NOTHING_CALLED, Called
from codelaw.app.extensions.finding import (
    counting_text,
    files_below,
    opened_below,
    own_files_below,
    present,
    problem_notice,
)
from codelaw.context.past.projection import loaded_fragment
from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.extensions import LoadedSkill, Sheet, Skill
from codelaw.skills.commands import call
from codelaw.skills.skill import FILE, HEAD, LONGEST_BODY, PLACES, body_of, name_of, parted, skill
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.domain.files import Located
    from codelaw.ports.workspace import Workspace

MOST_SKILLS = 500
"""In one place (S-6)."""
MOST_FILES = 100
"""Of one skill that are named when it is loaded."""
_BYTES = 4 * (HEAD + LONGEST_BODY)
"""Of a file of the user's that are read."""
_LEFT_OUT = {"__pycache__", "node_modules"}


@dataclass(frozen=True, slots=True)
class Shelf:
    """The skills as they were when a turn began: `ports.skills.SkillFinder`."""

    skills: tuple[Skill, ...]
    """All that were found, first those that count first."""
    workspace: Workspace
    """As the rules let it be read."""
    missing: tuple[str, ...] = ()
    """What is wrong with the places themselves, one sentence each."""

    @property
    def offered(self) -> Sequence[Skill]:
        return tuple(one for one in self.skills if one.offered)

    @property
    def problems(self) -> Notice | None:
        """What the user is told of the skills that are there; None where nothing is wrong."""
        said = [*self.missing, *(f"{one.sheet.shown}: {one.problem}" for one in self.skills if one.problem)]
        return problem_notice("skill_problem", said, ", which `codelaw skills` lists")

    async def load(self, name: str) -> LoadedSkill:
        wanted, file = parted(name)
        known = self.offered
        found = next((one for one in known if one.sheet.name == wanted), None)
        found = found or next((one for one in known if one.sheet.name.casefold() == wanted.casefold()), None)
        if found is None:
            names = ", ".join(one.sheet.name for one in known[:20])
            raise ToolFailure("NOT_FOUND", f"There is no skill {wanted!r}. The skills are: {names}.")
        sheet, folder = found.sheet, posixpath.dirname(found.sheet.shown)
        read = self._own if sheet.own else self._shared
        text, cut = await read(sheet, file)
        if file:
            cut |= len(text) > LONGEST_BODY
            return LoadedSkill(sheet.name, folder, text[:LONGEST_BODY], file, own=sheet.own, cut=cut)
        body, longer = await asyncio.to_thread(body_of, text)
        files, more = await self._files(sheet, folder)
        return LoadedSkill(sheet.name, folder, body, files=files, more=more, own=sheet.own, cut=cut or longer)

    async def _shared(self, sheet: Sheet, file: str) -> tuple[str, bool]:
        """A text of a skill of the workspace, by a path that no link leads out of the skill's folder."""
        folder = await located(self.workspace, posixpath.dirname(sheet.shown))
        place = await located(self.workspace, f"{folder.shown}/{file or FILE}")
        if folder.path not in place.path.parents:
            raise ToolFailure("ACCESS_DENIED", f"{file or FILE} lies outside the skill {sheet.name}.")
        text = await counting_text(self.workspace, f"{posixpath.dirname(sheet.shown)}/{file or FILE}")
        return text.replace("\r\n", "\n"), False

    async def _own(self, sheet: Sheet, file: str) -> tuple[str, bool]:
        """A text of a skill of the user's; only `SKILL.md` itself may be a link to elsewhere."""
        return await asyncio.to_thread(_own_text, sheet, file)

    async def _files(self, sheet: Sheet, folder: str) -> tuple[tuple[str, ...], bool]:
        """The other files of a skill, and whether there are more."""
        most = MOST_FILES + 2
        if sheet.own:
            root = Path(folder)
            listed = await asyncio.to_thread(own_files_below, root, most=most, inside=True)
            found = [path.relative_to(root).as_posix() for path in listed]
        else:
            top = await located(self.workspace, folder)
            found = [*await files_below(self.workspace, top, most=most, within=top.path)]
        parts = ((path, path.split("/")) for path in found)
        files = sorted(
            path
            for path, names in parts
            if path != FILE and _LEFT_OUT.isdisjoint(names) and not any(name.startswith(".") for name in names)
        )
        return tuple(files[:MOST_FILES]), len(found) >= most


class SkillFinder:
    """Looks anew at each turn."""

    def __init__(self, own: Sequence[Path]) -> None:
        self._own = tuple(own)

    async def shelf(self, workspace: Workspace, paths: Sequence[str], *, home: str, restricted: bool) -> Shelf:
        """All that there are; `workspace` is what the rules let be read, `paths` are those of the settings.

        Of two with one name the first counts. Where the editor does not trust the folder its skills do not (S-7).
        """
        places = await asyncio.to_thread(_places, workspace, paths, home)
        tops = {} if restricted else await present(workspace, places.shared)
        found = [one for place, top in tops.items() for one in await _in_workspace(workspace, place, top, places)]
        found += await asyncio.to_thread(_at_home, (*self._own, *places.own), places)
        named = dict.fromkeys(filter(None, places.shared.values()))
        lost = named.keys() - {places.shared[place] for place in tops} if not restricted else ()
        missing = [f"skills.paths: {one} is not a folder of the workspace." for one in named if one in lost]
        return Shelf(_ranked(found), workspace, (*places.problems, *missing))


async def _in_workspace(workspace: Workspace, place: str, top: Located, places: _Places) -> list[Skill]:
    try:
        entries = await workspace.entries(top, hidden=False, ignored=True)
    except ToolFailure:
        return []
    opened = (path.split("/") for path in opened_below(workspace, top))
    new = {parts[0] for parts in opened if len(parts) == 2 and parts[1] == FILE}
    names = sorted({entry.name for entry in entries if entry.kind != "file"} | new)
    if len(names) > MOST_SKILLS:
        places.problems.append(f"{place} has {len(names)} folders; the first {MOST_SKILLS} count.")
    read = [await _shared_skill(workspace, top, f"{place}/{name}", name) for name in names[:MOST_SKILLS]]
    return [one for one in read if one is not None]


async def _shared_skill(workspace: Workspace, top: Located, shown: str, name: str) -> Skill | None:
    """The skill of a folder of the workspace; None where the folder has none."""
    sheet = Sheet(name_of(name), f"{shown}/{FILE}", (top.path / name / FILE).as_uri(), own=False)
    if not sheet.name:
        return None
    try:
        folder = await located(workspace, shown)
        file = await located(workspace, f"{folder.shown}/{FILE}")
    except ToolFailure as failure:
        said = "It leads out of the workspace and is not read."
        return Skill(sheet, "", said, unreadable=True) if failure.code == "ACCESS_DENIED" else None
    if folder.path not in file.path.parents:
        said = "It is a link that leads out of the skill's folder and is not read."
        return Skill(sheet, "", said, unreadable=True)
    sheet = replace(sheet, uri=file.uri)
    try:
        text = await counting_text(workspace, f"{shown}/{FILE}")
    except ToolFailure as failure:
        missing = failure.code in {"NOT_FOUND", "IS_DIRECTORY"}
        return None if missing else Skill(sheet, "", f"It cannot be read: {failure.message}", unreadable=True)
    return await asyncio.to_thread(_parsed, sheet, name, text)


def _at_home(roots: Iterable[Path], places: _Places) -> list[Skill]:
    """Those of the user's own folders; touches the disk."""
    found: list[Skill] = []
    for root in roots:
        try:
            names = sorted(path.name for path in root.iterdir() if (path / FILE).exists())
        except (OSError, ValueError):
            continue
        named = [(name, folder) for folder in names if (name := name_of(folder)) and not folder.startswith(".")]
        if len(named) > MOST_SKILLS:
            places.problems.append(f"{root} has more than {MOST_SKILLS} skills; the first count.")
        for name, folder in named[:MOST_SKILLS]:
            path = root / folder / FILE
            sheet = Sheet(name, str(path), Path(os.path.realpath(path)).as_uri(), own=True)
            try:
                found.append(_parsed(sheet, folder, _own_text(sheet, "")[0]))
            except ToolFailure as failure:
                found.append(Skill(sheet, "", f"It cannot be read: {failure.message}", unreadable=True))
    return found


@lru_cache(maxsize=1_000)
def _parsed(sheet: Sheet, folder: str, text: str) -> Skill:
    """The skill, which says so when not all of its text is loaded."""
    read = skill(sheet, folder, text[:HEAD])
    if not body_of(text)[1]:
        return read
    reported = f"Its text is longer than {LONGEST_BODY} characters; the first are loaded."
    return replace(read, problem=f"{read.problem} {reported}".strip())


async def load_called(shelf: Shelf, text: str, *, left_out: Shelf | None) -> Called:
    """What a message that begins with `/name` loads; `left_out` are the skills that restricted mode leaves out."""
    wanted = call(text)
    name = "" if wanted is None else wanted.name
    found = _named(shelf, name)
    if found is None:
        if left_out is None or _named(left_out, name) is None:
            return NOTHING_CALLED
        said = f"/{name} was not loaded: the editor does not trust the folder that brings this skill."
        return Called(notices=(Notice("warning", "skill_left_out", said),))
    try:
        return Called(fragments=(loaded_fragment(await shelf.load(name)),), effort=found.effort)
    except ToolFailure as failure:
        said = f"/{name} was not loaded: {failure.message}"
        return Called(notices=(Notice("warning", "skill_left_out", said),))


def _named(shelf: Shelf, name: str) -> Skill | None:
    return next((one for one in shelf.offered if one.sheet.name == name), None)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where skills are looked for, beside the user's usual folders, in the order in which they count."""

    shared: dict[str, str]
    """Folders of the workspace, as its tools take them, and as the settings name those that must be there."""
    own: list[Path]
    problems: list[str]


def folder_of_skills(written: str, home: str) -> Path | None:
    """The folder that an entry of `skills.paths` names, absolute or in every workspace folder; None for no path."""
    if "\0" in written or not written.strip():
        return None
    return Path(home, written[2:]) if written.startswith("~/") and home else Path(written)


def _places(workspace: Workspace, paths: Sequence[str], home: str) -> _Places:
    """Touches the disk."""
    prefixes = {folder.root: f"{folder.name}/" if len(workspace.folders) > 1 else "" for folder in workspace.folders}
    shared = {f"{prefix}{place}": "" for prefix in prefixes.values() for place in PLACES}
    found = _Places(shared, [], [])
    for written in paths:
        path = folder_of_skills(written, home)
        if path is None:
            found.problems.append(f"skills.paths: {written!r} is not a folder.")
        elif not path.is_absolute():
            shared |= {f"{prefix}{path.as_posix()}": written for prefix in prefixes.values()}
        else:
            real = Path(os.path.realpath(path))
            root = next((root for root in prefixes if real == root or root in real.parents), None)
            if root is None:
                found.own.append(path)
            else:
                shared.setdefault(f"{prefixes[root]}{real.relative_to(root).as_posix()}", "")
            if not path.is_dir():
                found.problems.append(f"skills.paths: {path} is not a folder.")
    return found


def _own_text(sheet: Sheet, file: str) -> tuple[str, bool]:
    folder = Path(sheet.shown).parent
    path = folder / (file or FILE)
    if file:
        real = Path(os.path.realpath(path))
        if "\0" in file or Path(os.path.realpath(folder)) not in real.parents:
            raise ToolFailure("ACCESS_DENIED", f"{file} lies outside the skill {sheet.name}.")
        path = real
    content = beginning(path, _BYTES + 1)
    if content is None:
        raise ToolFailure("NOT_FOUND", f"The skill {sheet.name} has no file {file or FILE}.")
    if b"\0" in content[:8192]:
        raise ToolFailure("BINARY_FILE", f"{file or FILE} of the skill {sheet.name} is a binary file.")
    text = visible(content[:_BYTES].decode("utf-8", "surrogateescape"))
    return text.replace("\r\n", "\n"), len(content) > _BYTES


def _ranked(found: Iterable[Skill]) -> tuple[Skill, ...]:
    """Each file once; of two with one name the first counts, and the other says so."""
    files: dict[str, Skill] = {}
    for one in found:
        files.setdefault(one.sheet.uri, one)
    first: dict[str, Skill] = {}
    for one in files.values():
        if not one.unreadable:
            first.setdefault(one.sheet.name, one)
    ranked: list[Skill] = []
    for one in files.values():
        counts = first.get(one.sheet.name, one)
        ranked.append(one if counts is one else replace(one, shadowed=counts.sheet.shown))
    return tuple(ranked)
