"""Requests about the law as a document (E-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelaw.agent.inputs.gathering import FolderLaw, folder_laws
from codelaw.app import models
from codelaw.app.core import Core
from codelaw.app.ruling import unreadable
from codelaw.context.system import law as laws
from codelaw.context.system.law import LawText
from codelaw.context.tokens import estimate
from codelaw.domain.errors import ToolFailure
from codelaw.domain.laws import LawFile, LawState, NamedPath
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.domain.files import Located

COUNTED = 2_000_000
"""Bytes of a file up to which its tokens are counted."""
REPLACED = "There are bytes that are not UTF-8; the model is shown U+FFFD in their place. Save the file as UTF-8."


class LawRequests(Core):
    """The law: its files, and what its `@paths` lead to."""

    async def laws(self) -> LawState:
        """Every folder's law as it is now, readable or not, and the window it must fit into."""
        found = await folder_laws(self._workspace, unreadable(self._settings.value, self._workspace.folders))
        texts = [
            LawText(one.folder.name, one.place.uri, one.text.text, one.text.digest, one.text.source)
            for one in found
            if one.place is not None and one.text is not None
        ]
        settings = self._settings.value
        window = models.window_of(settings, models.answerer(settings).name).tokens
        return LawState(tuple(map(self._file, found)), estimate(laws.assemble(texts)), window)

    async def named_paths(self, paths: Sequence[str], *, counted: bool = False) -> list[NamedPath]:
        """What each path leads to; with `counted` also how large it is."""
        return [await self._named(path, counted=counted) for path in paths]

    def _file(self, found: FolderLaw) -> LawFile:
        root = found.folder.root
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
            used=None if text is None else self._turns.laws.last_use(text.digest),
            shadowed=tuple((root / other).as_uri() for other in found.others),
        )

    async def _named(self, path: str, *, counted: bool) -> NamedPath:
        folders = self._workspace.folders
        for attempt in [path, *(f"{folder.name}/{path}" for folder in folders if len(folders) > 1)]:
            try:
                place = await located(self._workspace, attempt)
                kind = await self._workspace.exists(place)
            except ToolFailure:
                continue
            if kind is not None:
                return await self._measured(path, place, kind, counted=counted)
        return NamedPath(path, "missing")

    async def _measured(self, path: str, place: Located, kind: str, *, counted: bool) -> NamedPath:
        if kind == "folder":
            return NamedPath(path, "folder")
        if not counted:
            return NamedPath(path, "file")
        (stamp,) = await self._workspace.stamps([place])
        size = 0 if stamp is None else stamp.size
        if size > COUNTED:
            return NamedPath(path, "file", size)
        try:
            return NamedPath(path, "file", size, estimate((await self._workspace.read(place)).text))
        except ToolFailure:
            return NamedPath(path, "file", size)
