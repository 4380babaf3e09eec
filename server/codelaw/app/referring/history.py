"""`@git:diff` and `@git:COMMIT`: what git says, without what a rule denies (M-8)."""

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
