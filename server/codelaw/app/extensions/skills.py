"""Finds the skills of a workspace and of its user, and reads those that are loaded (X-2)."""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.texts import beginning, visible
from codelaw.agent.inputs.gathering import NOTHING_CALLED, Called
from codelaw.app.extensions.finding import files_below, opened_below, own_files_below, present
from codelaw.context.past.projection import loaded_fragment
from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.extensions import LoadedSkill, Sheet, Skill
from codelaw.settings.places import user_file
from codelaw.skills.commands import call
from codelaw.skills.skill import FILE, HEAD, LONGEST_BODY, PLACES, body_of, name_of, parted, skill
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.domain.files import Located, Stamp
    from codelaw.ports.workspace import Workspace

MOST_SKILLS = 500
"""In one place (S-6)."""
MOST_FILES = 100
"""Of one skill that are named when it is loaded."""
TOLD = 5
"""Problems that one notice tells."""
_BYTES = 4 * (HEAD + LONGEST_BODY)
"""Of a file of the user's that are read."""
_LEFT_OUT = {"__pycache__", "node_modules"}


def own_skills(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The user's own folders of skills, ours first."""
    home = environment.get("HOME", "")
    theirs = (Path(home, name, "skills") for name in (".claude", ".agents", ".copilot"))
    return (user_file(environment).parent / "skills", *(theirs if Path(home).is_absolute() else ()))


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
        if not said:
            return None
        more = [f"And {len(said) - TOLD} more, which `codelaw skills` lists."] if len(said) > TOLD else []
        return Notice("warning", "skill_problem", " ".join([*said[:TOLD], *more]))

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
        return (await self.workspace.read(place)).text.replace("\r\n", "\n"), False

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
    """Looks anew at each turn; reads again only what has changed."""

    def __init__(self, own: Sequence[Path]) -> None:
        self._own = tuple(own)
        self._read: dict[str, tuple[Stamp | tuple[int, int], Skill]] = {}

    async def shelf(self, workspace: Workspace, paths: Sequence[str], *, home: str, restricted: bool) -> Shelf:
        """All that there are; `workspace` is what the rules let be read, `paths` are those of the settings.

        Of two with one name the first counts. Where the editor does not trust the folder its skills do not (S-7).
        """
        places = await asyncio.to_thread(_Places, workspace, paths, home, self._own)
        found: list[Skill] = []
        if not restricted:
            for place, top in (await present(workspace, places.shared)).items():
                found += await self._in_workspace(places, place, top)
        found += await asyncio.to_thread(self._at_home, places)
        self._read = {one.sheet.uri: self._read[one.sheet.uri] for one in found if one.sheet.uri in self._read}
        lost = [] if restricted or not paths else await asyncio.to_thread(places.missing)
        missing = [*places.problems, *lost]
        return Shelf(_ranked(found), workspace, tuple(missing))

    async def _in_workspace(self, places: _Places, place: str, top: Located) -> list[Skill]:
        workspace = places.workspace
        try:
            entries = await workspace.entries(top, hidden=False, ignored=True)
        except ToolFailure:
            return []
        places.there.add(place)
        opened = (path.split("/") for path in opened_below(workspace, top))
        new = {parts[0] for parts in opened if len(parts) == 2 and parts[1] == FILE}
        names = sorted({entry.name for entry in entries if entry.kind != "file"} | new)
        if len(names) > MOST_SKILLS:
            places.problems.append(f"{place} has {len(names)} folders; the first {MOST_SKILLS} count.")
            names = names[:MOST_SKILLS]
        seen = await asyncio.to_thread(lambda: [_seen(workspace, top, f"{place}/{name}", name) for name in names])
        there = [one for one in seen if one.file is not None]
        stamps = await workspace.stamps([one.file for one in there if one.file is not None])
        files = {one.name: stamp for one, stamp in zip(there, stamps, strict=True)}
        return [
            found
            for one in seen
            if (found := await self._shared_skill(workspace, one, files.get(one.name))) is not None
        ]

    async def _shared_skill(self, workspace: Workspace, seen: _SeenFolder, stamp: Stamp | None) -> Skill | None:
        """The skill of a folder; None where the folder has none."""
        if seen.file is None:
            return Skill(seen.sheet, "", seen.problem, readable=False) if seen.problem else None
        if stamp is None:
            return None
        known = self._read.get(seen.sheet.uri)
        if known is not None and known[0] == stamp and known[1].sheet == seen.sheet:
            return known[1]
        try:
            text = (await workspace.read(seen.file)).text
        except ToolFailure as failure:
            return Skill(seen.sheet, "", f"It cannot be read: {failure.message}", readable=False)
        read = await asyncio.to_thread(skill, seen.sheet, seen.name, text[:HEAD])
        read = _with_length(read, await asyncio.to_thread(body_of, text))
        self._read[seen.sheet.uri] = stamp, read
        return read

    def _at_home(self, places: _Places) -> list[Skill]:
        """Those of the user's own folders; touches the disk."""
        found: list[Skill] = []
        for root in places.own:
            sheets = _own_sheets(root)
            if len(sheets) > MOST_SKILLS:
                places.problems.append(f"{root} has more than {MOST_SKILLS} skills; the first count.")
            found += [self._own_skill(*one) for one in sheets[:MOST_SKILLS]]
        return found

    def _own_skill(self, sheet: Sheet, folder: str, stamp: tuple[int, int]) -> Skill:
        known = self._read.get(sheet.uri)
        if known is not None and known[0] == stamp and known[1].sheet == sheet:
            return known[1]
        try:
            text, _ = _own_text(sheet, "")
        except ToolFailure as failure:
            return Skill(sheet, "", f"It cannot be read: {failure.message}", readable=False)
        read = _with_length(skill(sheet, folder, text[:HEAD]), body_of(text))
        self._read[sheet.uri] = stamp, read
        return read


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


@dataclass(slots=True)
class _Places:
    """Where skills are looked for, in the order in which they count. Made off the event loop."""

    workspace: Workspace
    paths: Sequence[str]
    home: str
    usual: Sequence[Path]
    """The user's own folders."""
    shared: list[str] = field(default_factory=list[str])
    """Folders of the workspace, as its tools take them."""
    own: list[Path] = field(default_factory=list[Path])
    problems: list[str] = field(default_factory=list[str])
    there: set[str] = field(default_factory=set[str])
    """Those of `shared` that exist."""
    _named: list[Path] = field(default_factory=list[Path])
    _relative: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def __post_init__(self) -> None:
        folders = self.workspace.folders
        prefixes = {folder.root: f"{folder.name}/" if len(folders) > 1 else "" for folder in folders}
        self.shared += [f"{prefix}{place}" for prefix in prefixes.values() for place in PLACES]
        self.own += self.usual
        for written in self.paths:
            path = Path(self.home, written[2:]) if written.startswith("~/") and self.home else Path(written)
            if "\0" in written or not written.strip():
                self.problems.append(f"skills.paths: {written!r} is not a folder.")
                continue
            if not path.is_absolute():
                self._relative[written] = [f"{prefix}{path.as_posix()}" for prefix in prefixes.values()]
                self.shared += self._relative[written]
                continue
            self._named.append(path)
            real = Path(os.path.realpath(path))
            root = next((root for root in prefixes if real == root or root in real.parents), None)
            if root is not None:
                self.shared.append(f"{prefixes[root]}{real.relative_to(root).as_posix()}")
            else:
                self.own.append(path)

    def missing(self) -> list[str]:
        """Those folders of the settings that are none, once the workspace was looked through. Touches the disk."""
        lost = (written for written, shared in self._relative.items() if self.there.isdisjoint(shared))
        return [
            *(f"skills.paths: {written} is not a folder of the workspace." for written in lost),
            *(f"skills.paths: {path} is not a folder." for path in self._named if not path.is_dir()),
        ]


@dataclass(frozen=True, slots=True)
class _SeenFolder:
    """A folder of the workspace that may be a skill."""

    name: str
    sheet: Sheet
    file: Located | None
    problem: str = ""


def _seen(workspace: Workspace, top: Located, shown: str, name: str) -> _SeenFolder:
    """What stands at `shown`, by that name in the folder `top`; touches the disk."""
    sheet = Sheet(name_of(name), f"{shown}/{FILE}", (top.path / name / FILE).as_uri(), own=False)
    try:
        folder = workspace.locate(shown)
        file = workspace.locate(f"{folder.shown}/{FILE}")
    except ToolFailure as failure:
        linked = failure.code == "ACCESS_DENIED" and sheet.name
        return _SeenFolder(name, sheet, None, "It leads out of the workspace and is not read." if linked else "")
    if not sheet.name:
        return _SeenFolder(name, sheet, None)
    if folder.path not in file.path.parents:
        return _SeenFolder(name, sheet, None, "It is a link that leads out of the skill's folder and is not read.")
    return _SeenFolder(name, replace(sheet, uri=file.uri), file)


def _own_sheets(root: Path) -> list[tuple[Sheet, str, tuple[int, int]]]:
    """The skills of a folder of the user's, with their folders' names and what tells that they have not changed."""
    found: list[tuple[Sheet, str, tuple[int, int]]] = []
    try:
        names = sorted(path.name for path in root.iterdir())
    except (OSError, ValueError):
        return []
    for folder in names:
        name, path = name_of(folder), root / folder / FILE
        if not name or folder.startswith("."):
            continue
        try:
            facts = path.stat()
        except OSError:
            continue
        uri = Path(os.path.realpath(path)).as_uri()
        found.append((Sheet(name, str(path), uri, own=True), folder, (facts.st_mtime_ns, facts.st_size)))
        if len(found) > MOST_SKILLS:
            break
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


def _with_length(read: Skill, body: tuple[str, bool]) -> Skill:
    """The skill, which says so when not all of its text is loaded."""
    if not body[1]:
        return read
    reported = f"Its text is longer than {LONGEST_BODY} characters; the first are loaded."
    return replace(read, problem=f"{read.problem} {reported}".strip())


def _ranked(found: Iterable[Skill]) -> tuple[Skill, ...]:
    """Each file once; of two with one name the first counts, and the other says so."""
    files: dict[str, Skill] = {}
    for one in found:
        files.setdefault(one.sheet.uri, one)
    first: dict[str, Skill] = {}
    for one in files.values():
        if one.readable:
            first.setdefault(one.sheet.name, one)
    ranked: list[Skill] = []
    for one in files.values():
        counts = first.get(one.sheet.name, one)
        ranked.append(one if counts is one else replace(one, shadowed=counts.sheet.shown))
    return tuple(ranked)
