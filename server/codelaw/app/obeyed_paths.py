"""What settings, servers and links name in a workspace, so that who writes it decides what codelaw does later (S-8)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.app.extensions.skills import folder_of_skills
from codelaw.app.hooking import declared
from codelaw.domain.safety.obeyed_paths import ObeyedPaths, folded_path
from codelaw.domain.safety.sensitive_files import folded, obeyed
from codelaw.domain.served import Program
from codelaw.permissions.command_files import CommandFiles, files_of_line, files_of_program
from codelaw.settings.places import WORKSPACE_FILE

if TYPE_CHECKING:
    from codelaw.domain.files import Folder
    from codelaw.domain.served import ServerSpec
    from codelaw.settings.model import Settings

OWN = Path(WORKSPACE_FILE).parent
_ENTRIES = ("__main__.py", "__init__.py", "index.js")
"""What is run of a folder that is given to an interpreter."""
_MOST_LINKS = 200
_OBEYED = tuple(
    f"{top}{kind}"
    for top in (".agents", ".claude", ".github", ".codelaw")
    for kind in ("", "/skills", "/commands", "/agents", "/prompts", "/workflows")
)
"""Folders in which a link may stand, as from `.claude/skills` to where another agent has them."""


def obeyed_paths(
    settings: Settings, folders: Sequence[Folder], servers: Iterable[ServerSpec], home: str
) -> ObeyedPaths:
    """The names and paths as the settings are now; `servers` are those that may start. Touches the disk.

    Of a hook or a server it is the files that its words name, and no folder: what such a file loads is not known.
    """
    law = {folded(name): "It is law where it lies" for name in settings.law.files}
    found: dict[Path, str] = {}
    roots = [folder.root for folder in folders]
    first = next(iter(roots), None)
    for hook in declared(settings.hooks) if first is not None else ():
        found |= dict.fromkeys(_files(files_of_line(hook.command, str(first)), roots), "A hook runs or reads it")
    for one in (server.way for server in servers if isinstance(server.way, Program)):
        files = files_of_program((one.command, *one.args), str(one.cwd or first or "/"), one.env)
        found |= dict.fromkeys([*_files(files, roots), *(pin.path for pin in one.pins)], "A server is started from it")
    for path in filter(None, (folder_of_skills(written, home) for written in settings.skills.paths)):
        found |= dict.fromkeys((folder.root / path for folder in folders), "It holds skills")
    for folder in folders:
        found |= dict.fromkeys(_links(folder.root, law), "A link by a name that is obeyed leads to it")
    return ObeyedPaths(law, {shown: why for path, why in found.items() for shown in _shown(path, folders)})


def _files(files: CommandFiles, roots: Sequence[Path]) -> Iterator[Path]:
    for path in (one for one in map(Path, files.loaded) if one not in roots):
        if path.is_dir():
            yield from (path / name for name in _ENTRIES)
        else:
            yield path
    yield from (path for path in map(Path, files.named) if path.is_file())


def _links(root: Path, law: Mapping[str, str]) -> Iterator[Path]:
    """The links that lie where something is obeyed, at the top and in the folders that are looked into."""
    own = root / OWN
    yield from (place for place in (own, root / WORKSPACE_FILE) if place.is_symlink())
    for folder in (root, own, *(root / name for name in _OBEYED)):
        try:
            with os.scandir(folder) as entries:
                links = [Path(entry.path) for entry in entries if entry.is_symlink()][:_MOST_LINKS]
        except OSError:
            continue
        yield from (link for link in links if folder != root or obeyed([link.name]) or folded(link.name) in law)


def _shown(path: Path, folders: Sequence[Folder]) -> Iterator[str]:
    """A path inside of a workspace as it is shown, as it is written and as it really is; nothing for one outside."""
    for one in dict.fromkeys((Path(os.path.normpath(path)), Path(os.path.realpath(path)))):
        for folder in folders:
            if folder.root in one.parents:
                inside = one.relative_to(folder.root).as_posix()
                yield folded_path(f"{folder.name}/{inside}" if len(folders) > 1 else inside)
