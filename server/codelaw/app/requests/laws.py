"""Requests about the law as a document (E-5)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.agent.turn.laws import FolderLaw, find_law, folder_laws, nested_law
from codelaw.app import models
from codelaw.app.ruling import unreadable
from codelaw.context.system import law as laws
from codelaw.context.tokens import estimate
from codelaw.domain.errors import ToolFailure
from codelaw.domain.laws import LawFile, LawState, NamedPath
from codelaw.domain.reports import LawDocument, LawReport
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.app.in_force import SettingsInForce
    from codelaw.app.turns import TurnMaker
    from codelaw.domain.files import Folder, Located
    from codelaw.ports.workspace import Workspace

COUNTED = 2_000_000
"""Bytes of a file up to which its tokens are counted."""
OPENED = 50
"""Folders below the roots whose open law is looked at."""
REPLACED = "There are bytes that are not UTF-8; the model is shown U+FFFD in their place. Save the file as UTF-8."


@dataclass(frozen=True, slots=True)
class Laws:
    """The law: its files, and what its `@paths` lead to."""

    settings: SettingsInForce
    workspace: Workspace
    turns: TurnMaker

    async def report(self) -> LawReport:
        """The law as it is now (L-4)."""
        settings = self.settings.value
        denied = unreadable(settings, self.workspace.folders)
        law = await find_law(self.workspace, denied, settings.law.files)
        documents = tuple(
            LawDocument(entry.folder, entry.uri, estimate(entry.text), entry.digest, entry.source, name=entry.name)
            for entry in law.documents
        )
        return LawReport(bool(law.text), documents, law.text)

    async def state(self) -> LawState:
        """Every folder's law as it is now, readable or not, and the window it must fit into.

        What stands beside it too, and of files below the roots those that count and are open (X-10).
        """
        settings = self.settings.value
        denied = unreadable(settings, self.workspace.folders)
        found = await folder_laws(self.workspace, denied, settings.law.files)
        layer = laws.assemble([one.document for one in found if one.document is not None])
        nested = [
            await nested_law(self.workspace, denied, settings.law.files, folder, inside)
            for folder, inside in self._opened_below(settings.law.files)
        ]
        files = tuple(self._file(one) for one in (*found, *nested) if one is not None)
        name = models.answerer(settings).name
        window = models.window_of(settings, name, self.turns.profiles.reported).tokens
        return LawState(files, laws.tokens_of(layer), window, models.prices(name))

    async def named_paths(self, paths: Sequence[str], *, counted: bool = False) -> list[NamedPath]:
        """What each path leads to; with `counted` also how large it is."""
        return [await self._named(path, counted=counted) for path in paths]

    def _opened_below(self, files: Sequence[str]) -> list[tuple[Folder, str]]:
        """The folders below the roots in which a document with one of these names is open."""
        found: dict[tuple[Folder, str], None] = {}
        for buffer in self.workspace.buffers.all():
            if buffer.path is None or not any(laws.choose([buffer.path.name], name) for name in files):
                continue
            holding = [one for one in self.workspace.folders if buffer.path.is_relative_to(one.root)]
            if holding:
                folder = max(holding, key=lambda one: len(one.root.parts))
                inside = buffer.path.parent.relative_to(folder.root).as_posix()
                if inside != ".":
                    found[folder, inside] = None
        return [*found][:OPENED]

    def _file(self, found: FolderLaw) -> LawFile:
        root = found.folder.root / found.inside
        path = root / found.name if found.place is None else found.place.path
        text = found.text
        return LawFile(
            folder=found.folder.name,
            path=str(path),
            uri=(root / found.name).as_uri(),
            text=None if text is None else text.text,
            problem=found.problem or (REPLACED if text is not None and text.replaced else ""),
            version=None if text is None else text.version,
            tokens=0 if text is None else estimate(text.text),
            used=None if text is None else self.turns.laws.last_use(text.digest),
            shadowed=tuple((root / other).as_uri() for other in found.others),
            nested=bool(found.inside),
        )

    async def _named(self, path: str, *, counted: bool) -> NamedPath:
        folders = self.workspace.folders
        for attempt in [path, *(f"{folder.name}/{path}" for folder in folders if len(folders) > 1)]:
            try:
                place = await located(self.workspace, attempt)
                kind = await self.workspace.exists(place)
            except ToolFailure:
                continue
            if kind is not None:
                return await self._measured(path, place, kind, counted=counted)
        return NamedPath(path, "missing")

    async def _measured(self, path: str, place: Located, kind: str, *, counted: bool) -> NamedPath:
        if kind == "folder" or not counted:
            return NamedPath(path, "folder" if kind == "folder" else "file")
        (stamp,) = await self.workspace.stamps([place])
        size, tokens = 0 if stamp is None else stamp.size, None
        if size <= COUNTED:
            with suppress(ToolFailure):
                tokens = estimate((await self.workspace.read(place)).text)
        return NamedPath(path, "file", size, tokens)
