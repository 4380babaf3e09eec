"""The law as a turn is given it: L2 at each step, and laws of folders behind results that touch them (L-4, X-10)."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.context.past.projection import standing
from codelaw.context.system import law as laws
from codelaw.context.system.law import LawText, NestedLaw, laws_to_send, most_shown
from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Located
from codelaw.tools.paths import located, whole

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.agent.services import ChatServices
    from codelaw.context.sections import Section, View
    from codelaw.domain.chats import Chat
    from codelaw.domain.files import FileText, Folder
    from codelaw.domain.messages import Call, Fragment
    from codelaw.domain.results import ToolResult
    from codelaw.permissions.policy import Denied
    from codelaw.ports.workspace import Workspace

TOUCHED = 8
"""Files that one call has changed whose folders are looked at."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class TurnLaws:
    """Reads the law for one turn, and compares what counts in the folders that calls touch with what the view shows."""

    inputs: TurnInputs
    record: TurnRecord
    chat: Chat
    house: ChatServices
    denied: Denied | None
    """What rules keep from being read."""
    _documents: Sequence[LawText] = ()
    _view: View | None = None
    _standing: dict[str, str] | None = None
    """What the view, and the results since, show: texts by name."""
    _warned: set[str] = field(default_factory=set[str])

    async def layer(self) -> Sequence[Section]:
        """L2 as it is now, without known keys (L-4); nothing where the editor does not trust the folder (S-7)."""
        if self.inputs.restricted:
            return ()
        found = await find_law(self.house.workspace, self.denied, self.inputs.law_files)
        self._documents = found.documents
        return self.house.redaction.value(found.layer)

    def sent(self, view: View) -> None:
        """The model is asked with this view."""
        self._view, self._standing = view, None

    def news(self) -> Notice | None:
        """A step was given what was looked up last; what the user is told when the step before was given another."""
        return self.house.laws.shown(self.chat, self._documents)

    async def behind(self, call: Call, result: ToolResult) -> tuple[Fragment, ...]:
        """The texts that belong behind the result of a call, none where it failed. Never raises but for a cancel."""
        try:
            return () if result.status == "error" else await self._behind(call, result)
        except Exception:  # noqa: BLE001 - a law that is not shown takes no result away (R-10)
            _log.exception("the laws of folders could not be looked up")
            return ()

    async def _behind(self, call: Call, result: ToolResult) -> tuple[Fragment, ...]:
        path = call.arguments.get("path")
        touched = [path] if isinstance(path, str) else []
        touched += [change.path for change in result.changes if change.path not in touched]
        chain: dict[str, NestedLaw] = {}
        for one in touched[:TOUCHED]:
            # Without known keys, as the text will stand in the view.
            chain.update((law.folder, self.house.redaction.value(law)) for law in await self._below(one))
        if not chain:
            return ()
        texts = laws_to_send([*chain.values()], self._reported, restricted=self.inputs.restricted)
        self._reported.update((text.name, text.text) for text in texts)
        return texts

    async def _below(self, path: str) -> list[NestedLaw]:
        """What counts in the folders from below the root down to `path`; the user is told what is wrong with it."""
        chain: list[NestedLaw] = []
        for shown, law in await laws_above(self.house.workspace, self.denied, self.inputs.law_files, path):
            document = None if law is None else law.document
            if law is None or document is None:
                chain.append(NestedLaw(shown))
                if law is not None:
                    self._warn("law_unreadable", f"The {law.name} of {shown} is left out: {law.problem}")
                continue
            nested = NestedLaw(shown, f"{shown}/{law.name}", document.text, most_shown(self.inputs.limits.window))
            chain.append(nested)
            self.house.laws.used(self.chat, document)
            if nested.is_cut:
                message = f"{nested.file} is long: the model is shown its first {nested.most} characters."
                self._warn("law_large", message)
        return chain

    def _warn(self, code: str, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            self.record.notice(Notice("warning", code, message))

    @property
    def _reported(self) -> dict[str, str]:
        if self._standing is None:
            sections = self._view.sections if self._view is not None else ()
            messages = [message for section in sections for message in section.messages]
            self._standing = dict(standing(messages))
        return self._standing


@dataclass(frozen=True, slots=True)
class Law:
    """L2 as found, and what was wrong with it."""

    documents: tuple[LawText, ...] = ()
    layer: tuple[Section, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def text(self) -> str:
        """L2 as one text."""
        return laws.text_of(self.layer)

    @property
    def tokens(self) -> int:
        """Estimated, of L2."""
        return laws.tokens_of(self.layer)


@dataclass(frozen=True, slots=True)
class FolderLaw:
    """One folder's law as a file, or a file beside it."""

    folder: Folder
    """The workspace folder."""
    inside: str
    """The path in it of the folder that has the law; empty for the root."""
    name: str
    """As it is spelt."""
    place: Located | None = None
    """None where it leads out of the workspace."""
    text: FileText | None = None
    """None where it cannot be read."""
    problem: str = ""
    """Why not."""
    others: tuple[str, ...] = ()
    """Other spellings of the name in the same folder, which do not count."""

    @property
    def document(self) -> LawText | None:
        """As it is sent; None where it cannot be read."""
        if self.place is None or self.text is None:
            return None
        text = self.text
        return LawText(self.folder.name, self.place.uri, text.text, text.digest, text.source, name=self.name)


async def find_law(workspace: Workspace, denied: Denied | None, files: Sequence[str]) -> Law:
    """L2 as it is now, open buffers first (L-4, X-10); `denied` and `files` as for `folder_laws`."""
    documents: list[LawText] = []
    notices: list[Notice] = []
    for found in await folder_laws(workspace, denied, files):
        document = found.document
        if document is None:
            what = "law" if laws.is_law_name(found.name, ()) else found.name
            message = f"The {what} of {found.folder.name} is left out: {found.problem}"
            notices.append(Notice("warning", "law_unreadable", message))
        else:
            documents.append(document)
    return Law(tuple(documents), laws.assemble(documents), tuple(notices))


async def folder_laws(workspace: Workspace, denied: Denied | None, files: Sequence[str]) -> list[FolderLaw]:
    """What there is of a law in each workspace folder, readable or not: every CODE_LAW.md, then what is beside them.

    `files` are the names that count beside a law. What `denied` rules keep back a link would tell too (S-1).
    """
    found: list[FolderLaw] = []
    beside: list[FolderLaw] = []
    for folder in workspace.folders:
        reading = _LawReader(workspace, denied, folder, "")
        try:
            names = await reading.names(whole(folder))
        except ToolFailure as failure:
            found.append(reading.unread(laws.NAME, failure))
            continue
        found += await reading.first(names, (laws.NAME,))
        beside += await reading.first(names, laws.root_files(files))
    return found + beside


async def laws_above(
    workspace: Workspace, denied: Denied | None, files: Sequence[str], path: str
) -> list[tuple[str, FolderLaw | None]]:
    """The folders from below the root down to `path`, as the model knows them, and what counts in each (X-10).

    The path's own folder is the last, and itself where it is one. Empty for a path that leads nowhere in the workspace.
    """
    try:
        place = await located(workspace, path)
        kind = await workspace.exists(place)
    except ToolFailure:
        return []
    folder, nearest = place.folder, place.path if kind == "folder" else place.path.parent
    if kind is None or not nearest.is_relative_to(folder.root):
        return []
    chain = [nearest, *nearest.parents]
    chain = chain[: chain.index(folder.root)][::-1]
    found: list[tuple[str, FolderLaw | None]] = []
    for one in (_place(workspace, folder, step) for step in chain):
        inside = one.path.relative_to(folder.root).as_posix()
        reading = _LawReader(workspace, denied, folder, inside)
        law: list[FolderLaw] = []
        if denied is None or not denied.hides(one.shown):
            with suppress(ToolFailure):  # it cannot be looked into
                names = [name for name in await reading.names(one) if laws.is_law_name(name, files)]
                # What ignore files hide is not the project's own: a package that was installed gives no orders.
                if not names or not await workspace.is_hidden(_place(workspace, folder, one.path / "_")):
                    law = await reading.first(names, files)
        found.append((one.shown, law[0] if law else None))
    return found


def _place(workspace: Workspace, folder: Folder, path: Path) -> Located:
    """A place below a root, whose path is resolved."""
    inside = path.relative_to(folder.root).as_posix()
    shown = inside if len(workspace.folders) == 1 else f"{folder.name}/{inside}"
    return Located(path, shown, path.as_uri(), folder)


async def nested_law(
    workspace: Workspace, denied: Denied | None, files: Sequence[str], folder: Folder, inside: str
) -> FolderLaw | None:
    """The file that counts in the folder `inside` a workspace folder, readable or not (X-10); None where there is none.

    Nothing is said of a folder that cannot be looked into, or that rules deny.
    """
    path = _LawReader(workspace, denied, folder, inside).path("")
    above = await laws_above(workspace, denied, files, path)
    return above[-1][1] if above else None


@dataclass(frozen=True, slots=True)
class _LawReader:
    """Reads the laws of one folder, which is `inside` a workspace folder."""

    workspace: Workspace
    denied: Denied | None
    folder: Folder
    inside: str

    def path(self, name: str) -> str:
        """A file of the folder, as the workspace takes it."""
        several = len(self.workspace.folders) > 1
        return posixpath.join(self.folder.name if several else "", self.inside, name)

    async def names(self, place: Located) -> list[str]:
        """The names in the folder, which lies at `place`, in order; open documents included."""
        entries = await self.workspace.entries(place, hidden=True, ignored=True)
        buffers = self.workspace.buffers.all()
        opened = (buffer.path.name for buffer in buffers if buffer.path and buffer.path.parent == place.path)
        return sorted({*(entry.name for entry in entries), *opened})

    async def first(self, names: Sequence[str], files: Sequence[str]) -> list[FolderLaw]:
        """The first of `files` that counts in the folder, readable or not; none where there is none (S-8)."""
        left = [*names]
        for wanted in files:
            while (name := laws.choose(left, wanted)) is not None:
                if (law := await self.law(name, names)) is not None:
                    return [law]
                left.remove(name)
            if wanted not in names and (text := await self.workspace.obeyed.removed(self.path(wanted))) is not None:
                return [FolderLaw(self.folder, self.inside, wanted, self._place(wanted), text)]
        return []

    async def law(self, name: str, names: Sequence[str]) -> FolderLaw | None:
        """The file of that name, readable or not; None where a command made it and the user has not seen it."""
        others = tuple(other for other in names if other != name and laws.choose([other], name))
        found = await self._law(name, others)
        if found is not None and found.text is None:
            # What a command has put there to put the law out of force does not count either.
            text = await self.workspace.obeyed.removed(self.path(name))
            return found if text is None else replace(found, place=self._place(name), text=text, problem="")
        return found

    async def _law(self, name: str, others: tuple[str, ...]) -> FolderLaw | None:
        place: Located | None = None
        try:
            place = await located(self.workspace, self.path(name))
            linked = place.path != self.folder.root / self.inside / name
            if self._is_kept_back(name, place, linked=linked):
                why = "a permission rule denies reading it."
                why = f"it is a link to {place.shown}, and {why}" if linked else why
                return FolderLaw(self.folder, self.inside, name, problem=why, others=others)
            text = await self.workspace.obeyed.read(self.path(name))
            return None if text is None else FolderLaw(self.folder, self.inside, name, place, text, others=others)
        except ToolFailure as failure:
            return self.unread(name, failure, place, others)

    def _place(self, name: str) -> Located:
        """Where a file lies, whatever it leads to."""
        return _place(self.workspace, self.folder, self.folder.root / self.inside / name)

    def _is_kept_back(self, name: str, place: Located, *, linked: bool) -> bool:
        """Whether a rule denies the file; a CODE_LAW.md itself is the law whatever may be read (S-1)."""
        if self.denied is None or (laws.is_law_name(name, ()) and not linked):
            return False
        return self.denied.hides(place.shown) or self.denied.hides(self.path(name))

    def unread(
        self, name: str, failure: ToolFailure, place: Located | None = None, others: tuple[str, ...] = ()
    ) -> FolderLaw:
        """A law of which only the failure is known."""
        why = f"{name} is a folder." if failure.code == "IS_DIRECTORY" else failure.message
        return FolderLaw(self.folder, self.inside, name, place, problem=why, others=others)
