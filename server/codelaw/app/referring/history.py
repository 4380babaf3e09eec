"""`@git:diff` and `@git:COMMIT`, and what the next commit would hold: without what a rule denies (M-8, E-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from codelaw.adapters.repository import MOST_PATHS, Repository
from codelaw.app.referring.bounds import LONGEST, attribute, foreign
from codelaw.domain.errors import ToolFailure
from codelaw.domain.messages import Fragment
from codelaw.templates.render import render
from codelaw.tools.bounds import cut_middle
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.domain.files import Folder
    from codelaw.permissions.policy import Denied
    from codelaw.ports.workspace import Workspace
import re
from collections.abc import Sequence
from pathlib import Path

from codelaw.app.referring.bounds import NAMED
from codelaw.domain.edits import PendingCommit
from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.permissions.policy import Denied
    from codelaw.ports.workspace import Workspace

DIFF = "diff"


async def reported(
    name: str, workspace: Workspace, denied: Denied | None, environment: Mapping[str, str]
) -> Fragment | str | None:
    """What git says of `name`, over all folders; a sentence that says why nothing; None where there is no such commit.

    Of files that a rule denies nothing is shown, and that something is left out is said without a name.
    """
    roots = [folder.root for folder in workspace.folders]
    parts: list[str] = []
    withheld = False
    repositories = 0
    for folder in workspace.folders:
        repository = Repository(folder.root, roots, environment)
        if not await repository.open():
            continue
        repositories += 1
        try:
            part = await _of_folder(name, repository, workspace, folder, denied)
        except ToolFailure as failure:
            return failure.message
        if part is not None:
            withheld = withheld or part[1]
            parts += [part[0]] if part[0] else []
    if not repositories:
        return "there is no git, or no repository that holds a folder of the workspace."
    if not parts and not withheld:
        return "nothing is changed." if name == DIFF else None
    text = cut_middle("\n\n".join(parts), LONGEST)
    cut = len(text) < sum(map(len, parts))
    return Fragment("git", render("git", label=attribute(name), text=foreign(text), cut=cut, withheld=withheld))


async def _of_folder(
    name: str, repository: Repository, workspace: Workspace, folder: Folder, denied: Denied | None
) -> tuple[str, bool] | None:
    """The text of one folder's repository, and whether something of it is withheld."""
    commit = None if name == DIFF else await repository.commit(name)
    if commit is None and name != DIFF:
        return None
    changed = await repository.changed(commit or "not committed")
    prefix = "" if len(workspace.folders) == 1 else f"{folder.name}/"
    seen = [path for path in changed if await may_be_seen(f"{prefix}{path}", workspace, denied)]
    diff = await repository.diff(seen, commit or "not committed")
    over = len(seen) - MOST_PATHS
    more = f"\n({over} more files are changed.)" if over > 0 else ""
    head = "" if commit is None else f"{commit.message}\n\n"
    return f"{head}{diff}{more}".rstrip(), len(seen) < len(changed)


async def may_be_seen(spelt: str, workspace: Workspace, denied: Denied | None) -> bool:
    """Whether the rules let a file be read, be it there or not, by its own name and by what it leads to."""
    if denied is not None and denied.hides(spelt):
        return False
    try:
        await located(workspace, spelt)
    except ToolFailure:
        return False
    return True


LONGEST_DIFF = 20_000
"""Characters of the diffs of all files together."""
LEAST = 200
"""Characters that a file has of it at least."""
SUBJECTS = 10
"""Newest commits that show how this project writes."""
_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)


async def pending(
    place: Path | None, workspace: Workspace, denied: Denied | None, environment: Mapping[str, str]
) -> PendingCommit:
    """What the next commit of the repository at `place` would hold; None: that of the first folder.

    Raises:
        Refusal: `folder_not_found`: it is none of the workspace's; `nothing_to_commit`: nothing is changed, all that
            is may not be seen, or there is no repository.
        ToolFailure: git did not answer.
    """
    root, spelt = _root(place, workspace)
    repository = Repository(root, [folder.root for folder in workspace.folders], environment)
    if not await repository.open():
        message = "There is no git, or no repository that holds this folder."
        raise Refusal("nothing_to_commit", message, "Open a folder of a repository.")
    staged = await repository.changed("staged")
    elsewhere = await repository.staged_elsewhere()
    only_staged = bool(staged) or elsewhere > 0
    changed = staged if only_staged else await repository.changed()
    new = [] if only_staged else await repository.unknown()
    if not changed and not new and not elsewhere:
        raise Refusal("nothing_to_commit", "Nothing is changed since the last commit.", "Change something first.")
    seen = [path for path in changed if await may_be_seen(f"{spelt}{path}", workspace, denied)]
    seen_new = [path for path in new[:MOST_PATHS] if await may_be_seen(f"{spelt}{path}", workspace, denied)]
    withheld = len(changed) - len(seen) + min(len(new), MOST_PATHS) - len(seen_new)
    if not seen and not seen_new:
        why = (
            "A permission rule keeps it from the model" if withheld else "What is staged lies outside of the workspace"
        )
        raise Refusal("nothing_to_commit", f"{why}.", "Write this message yourself.")
    diff = await repository.diff(seen, "staged" if only_staged else "not committed")
    return PendingCommit(
        text=_reported(seen, seen_new, diff),
        staged=only_staged,
        files=len(seen) + len(seen_new),
        withheld=withheld,
        outside=elsewhere,
        subjects=tuple(line[:NAMED] for line in await repository.subjects(SUBJECTS)),
    )


def _root(place: Path | None, workspace: Workspace) -> tuple[Path, str]:
    """The folder that git is asked in, and what stands before its paths where they are shown.

    Of a repository that holds a folder of the workspace only that folder counts: nothing else may be read.
    """
    several = len(workspace.folders) > 1
    for folder in workspace.folders:
        prefix = f"{folder.name}/" if several else ""
        if place is None or folder.root.is_relative_to(place):
            return folder.root, prefix
        if place.is_relative_to(folder.root):
            return place, f"{prefix}{place.relative_to(folder.root).as_posix()}/"
    raise Refusal("folder_not_found", f"{place} is in no folder of the workspace.", "Name a folder of the workspace.")


def _reported(files: Sequence[str], new: Sequence[str], diff: str) -> str:
    parts = ["Files:", *(f"  {name}" for name in files[:MOST_PATHS])]
    if len(files) > MOST_PATHS:
        parts.append(f"  … {len(files) - MOST_PATHS} more files, whose diff is left out …")
    if new:
        parts += ["New files, which are not added yet:", *(f"  {name}" for name in new)]
    if diff:
        parts += ["", *fitted([part for part in _FILE.split(diff) if part], LONGEST_DIFF)]
    return "\n".join(parts)


def fitted(parts: Sequence[str], most: int) -> list[str]:
    """The texts, long ones cut in the middle so that together they have about `most` characters.

    Short ones stay whole: what they do not need the long ones may have.
    """
    left, limits = most, dict[int, int]()
    for done, number in enumerate(sorted(range(len(parts)), key=lambda at: len(parts[at]))):
        limits[number] = max(LEAST, left // (len(parts) - done))
        left = max(0, left - min(len(parts[number]), limits[number]))
    return [cut_middle(part, limits[number]) for number, part in enumerate(parts)]
