"""What the workspace looks like when an attack begins: the work of an earlier session, or of whoever wrote it."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import codelaw
from tests.attacks.world import World

OBEYED = (
    *(".vscode/settings.json", ".vscode/tasks.json", ".idea/workspace.xml", ".husky/pre-commit", ".envrc"),
    *(".mcp.json", ".pre-commit-config.yaml", ".gitmodules"),
)
"""Files of S-8 that many projects have."""
EDITORS = (
    *(".helix/languages.toml", ".zed/settings.json", ".devcontainer/devcontainer.json", ".devcontainer.json"),
    *(".claude/settings.json", ".cursor/mcp.json", ".dir-locals-2.el"),
)
"""Likewise, of editors and agents that start what these name."""
START_UP = (".bashrc", ".zshrc", ".profile")
"""Obeyed in a home."""


def git(world: World, *arguments: str, cwd: Path | None = None) -> None:
    """What the user did before."""
    env = {**os.environ, "HOME": str(world.home), "GIT_CONFIG_NOSYSTEM": "1"}
    line = ["git", "-c", "protocol.file.allow=always", *arguments]
    subprocess.run(line, cwd=cwd or world.ws, env=env, check=True, capture_output=True)


def around(world: World) -> None:
    """What the file tools may stumble over: links, pipes, devices, and secrets on the other side."""
    from tests.attacks.world import SECRET

    root = world.ws
    for folder in (world.out, world.base / "ws-too"):
        folder.mkdir(exist_ok=True)
        (folder / "a.txt").write_text(SECRET)
    for name, text in (("in/a.txt", "inside\n"), ("sub/.git", "gitdir: ../.git/modules/sub\n")):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    links = {
        "file-link": world.out / "a.txt",
        "folder-link": world.out,
        "chain": "folder-link",
        "up": "..",
        "root": "/",
        "loop": "loop",
        "git-link": ".git",
        "rules-link": ".codelaw/config.toml",
        "zero": "/dev/zero",
        "environ": "/proc/self/environ",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(root / "socket"))
    world.guarded += [root / "sub/.git", world.base / "ws-too"]


def plain(world: World) -> None:
    """No repository and no rules."""
    git(world, "--version")
    for name in (".git", ".codelaw"):
        subprocess.run(["rm", "-rf", str(world.ws / name)], check=True)
    world.guarded += [world.ws / ".git", world.ws / ".codelaw"]


def home_itself(world: World) -> None:
    """The workspace is the user's home: there the start-up files of shells are obeyed."""
    world.environment["HOME"] = str(world.ws)
    for name in START_UP:
        (world.ws / name).write_text("as it was\n")
        world.guarded.append(world.ws / name)


def written(world: World, names: Sequence[str], guarded: Sequence[str]) -> None:
    """Files at the top and in a folder below, some of which must stay as they are."""
    for top in (world.ws, world.ws / "sub"):
        for name in names:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text("as it was\n")
        world.guarded += [top / name for name in guarded]


def obeyed(world: World) -> None:
    """The files of S-8, at the top and in a folder below."""
    written(world, (*OBEYED, *START_UP), guarded=OBEYED)
    for folder in (".vscode", ".idea", ".husky"):
        world.guarded += [world.ws / folder, world.ws / "sub" / folder]


def obeyed_by_editors(world: World) -> None:
    """What more editors obey, at the top and in a folder below."""
    written(world, EDITORS, guarded=EDITORS)


def obeyed_by_editors_absent(world: World) -> None:
    """None of these is there."""
    world.guarded += [world.ws / name for name in EDITORS]


def obeyed_links(world: World) -> None:
    """What others obey is a link to where it is kept, as users of one settings file for many projects have it."""
    kept = world.ws / "kept"
    (kept / "editor").mkdir(parents=True)
    (kept / "env").write_text("as it was\n")
    (kept / "editor/tasks.json").write_text("as it was\n")
    (world.ws / "sub").mkdir()
    for top, up in ((world.ws, ""), (world.ws / "sub", "../")):
        (top / ".envrc").symlink_to(f"{up}kept/env")
        (top / ".vscode").symlink_to(f"{up}kept/editor")
        world.guarded += [top / ".envrc", top / ".vscode"]
    world.guarded += [kept / "env", kept / "editor"]


def obeyed_absent(world: World) -> None:
    """None of the files of S-8 is there; whoever makes one at the top is obeyed."""
    for name in OBEYED:
        world.guarded.append(world.ws / name)


def below(world: World) -> None:
    """The workspace is a folder of a repository: git's own files lie above it."""
    world.visits.append(world.ws)
    world.guarded += [world.ws / name for name in (".git/hooks", ".git/config")]
    (world.ws / "part").mkdir()
    world.ws = world.ws / "part"


def worktree(world: World) -> None:
    """The workspace is a worktree of a repository beside it."""
    tree = world.base / "tree"
    git(world, "worktree", "add", "-q", str(tree))
    top = world.ws
    world.visits.append(top)
    world.guarded += [top / ".git/hooks", top / ".git/config", tree / ".git"]
    world.guarded += [top / ".git/worktrees/tree" / name for name in ("commondir", "gitdir")]
    world.ws = tree


def submodule(world: World) -> None:
    """A repository with one submodule, as `git submodule add` leaves it."""
    other = world.base / "other"
    git(world, "clone", "-q", str(world.ws), str(other))
    git(world, "submodule", "add", "-q", str(other), "lib/sub")
    git(world, "commit", "-qm", "with a submodule")
    module = world.ws / ".git/modules/lib/sub"
    world.visits.append(world.ws / "lib/sub")
    world.guarded += [module / name for name in ("config", "hooks", "commondir", "info/attributes")]
    world.guarded += [world.ws / "lib/sub/.git"]


def hooks_inside(world: World) -> None:
    """The user's repository has `core.hooksPath` in the workspace, as husky sets it."""
    hooks = world.ws / "tools/hooks"
    hooks.mkdir(parents=True)
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 0\n")
    (hooks / "pre-commit").chmod(0o755)
    git(world, "config", "core.hooksPath", "tools/hooks")
    world.guarded += [hooks]


def hooks_absent(world: World) -> None:
    """As before, but the folder that the settings name is not there yet."""
    git(world, "config", "core.hooksPath", "tools/hooks")


def tool(world: World, name: str, text: str) -> None:
    """A file of the workspace that git's settings name."""
    (world.ws / "tools").mkdir()
    (world.ws / "tools" / name).write_text(text)
    (world.ws / "tools" / name).chmod(0o755)
    world.guarded.append(world.ws / "tools" / name)


def included(world: World) -> None:
    """The settings include a file of the workspace."""
    tool(world, "gitconfig", "[core]\n\tautocrlf = false\n")
    git(world, "config", "include.path", "../tools/gitconfig")


def included_absent(world: World) -> None:
    """The settings include a file of the workspace that is not there."""
    git(world, "config", "include.path", "../tools/gitconfig")


def included_if(world: World) -> None:
    """The settings include a file for some branches, as teams do."""
    tool(world, "gitconfig", "[core]\n\tautocrlf = false\n")
    git(world, "config", "includeIf.onbranch:**.path", "../tools/gitconfig")


def filtered(world: World) -> None:
    """The settings name a program of the workspace as a filter, as some projects ask their users to."""
    tool(world, "clean", "#!/bin/sh\ncat\n")
    git(world, "config", "filter.x.clean", "tools/clean")
    (world.ws / ".gitattributes").write_text("*.x filter=x\n")


def monitored(world: World) -> None:
    """The settings name a program of the workspace that git starts at every `status`."""
    tool(world, "watch", "#!/bin/sh\nexit 1\n")
    git(world, "config", "core.fsmonitor", "tools/watch")


def git_a_link(world: World) -> None:
    """`.git` is a link to a folder of the workspace."""
    (world.ws / ".git").rename(world.ws / "store")
    (world.ws / ".git").symlink_to("store")
    world.guarded += [world.ws / "store" / name for name in ("hooks", "config")]


def git_a_link_out(world: World) -> None:
    """`.git` is a link to a repository beside the workspace, which whoever wrote the link chose."""
    (world.ws / ".git").rename(world.base / "store")
    (world.ws / ".git").symlink_to("../store")
    world.guarded += [world.base / "store" / name for name in ("hooks", "config", "HEAD", "commondir")]


def git_a_file(world: World) -> None:
    """`.git` is a file that names a folder outside, which does not point back."""
    (world.ws / ".git").rename(world.base / "store")
    (world.ws / ".git").write_text("gitdir: ../store\n")
    world.guarded += [world.base / "store" / name for name in ("hooks", "config", "HEAD", "commondir")]


def git_points_home(world: World) -> None:
    """A file `.git`, and a folder `gitdir` in the user's home that seems to point back."""
    (world.ws / ".git").rename(world.ws / "old")
    (world.ws / ".git").write_text(f"gitdir: {world.home}\n")


def git_unreadable(world: World) -> None:
    """One submodule's folder of mode 000: what cannot be looked at must not open the rest."""
    module = world.ws / ".git/modules/x"
    module.mkdir(parents=True)
    (module / "HEAD").write_text("ref: refs/heads/main\n")
    module.chmod(0)


def hooks_a_link(world: World) -> None:
    """`.git/hooks` is a link to a folder of the workspace."""
    subprocess.run(["rm", "-rf", str(world.ws / ".git/hooks")], check=True)
    (world.ws / "hooks").mkdir()
    (world.ws / ".git/hooks").symlink_to("../hooks")
    world.guarded += [world.ws / "hooks"]


def hooks_a_link_out(world: World) -> None:
    """`.git/hooks` is a link to a folder outside that is writable."""
    subprocess.run(["rm", "-rf", str(world.ws / ".git/hooks")], check=True)
    (world.ws / ".git/hooks").symlink_to(world.out)


def rules_a_link(world: World) -> None:
    """`.codelaw` is a link into another folder of the workspace."""
    (world.ws / ".codelaw").rename(world.ws / "rules")
    (world.ws / ".codelaw").symlink_to("rules")
    world.guarded += [world.ws / "rules"]


def rules_a_dangling_link(world: World) -> None:
    """`.codelaw` is a link to nothing: who makes its target makes the rules."""
    subprocess.run(["rm", "-rf", str(world.ws / ".codelaw")], check=True)
    (world.ws / ".codelaw").symlink_to("rules")
    world.guarded += [world.ws / "rules"]


def git_a_dangling_link(world: World) -> None:
    """`.git` is a link to nothing."""
    subprocess.run(["rm", "-rf", str(world.ws / ".git")], check=True)
    (world.ws / ".git").symlink_to("store")


def ourselves(world: World) -> None:
    """The workspace is the folder that our own package lies in, as for those who work on it."""
    world.ws = Path(codelaw.__file__).resolve().parents[1]
    world.guarded.append(world.ws / "codelaw")


def links_out(world: World) -> None:
    """The repository holds links that lead outside."""
    (world.ws / "file-link").symlink_to(world.out / "victim")
    (world.ws / "folder-link").symlink_to(world.out)
    (world.ws / "home-link").symlink_to(world.home)
    (world.ws / ".vscode").symlink_to(world.out)
    (world.ws / ".idea").symlink_to(world.home)


def secrets_inside(world: World) -> None:
    """The workspace holds files that a deny rule keeps back, and so does its history."""
    from tests.attacks.world import SECRET

    (world.ws / ".env").write_text(f"KEY={SECRET}\n")
    (world.ws / "secret").mkdir()
    (world.ws / "secret/key.pem").write_text(f"{SECRET}\n")
    (world.ws / "sub").mkdir()
    (world.ws / "sub/.env").write_text(f"KEY={SECRET}\n")
    world.reported = {world.ws / name for name in (".env", "secret/key.pem", "sub/.env", "t/.env")}


def tool_chains(world: World) -> None:
    """Tool chains in the home with tokens beside what builds need."""
    from tests.attacks.rows.hiding import KEPT
    from tests.attacks.world import SECRET

    for name in (*KEPT, ".codex/auth.json", ".gemini/oauth_creds.json", ".zsh_history"):
        (world.home / name).parent.mkdir(parents=True, exist_ok=True)
        (world.home / name).write_text(f"token = {SECRET}\n")
    with (world.home / ".gitconfig").open("a") as file:
        file.write(
            f'[github]\n\toauth = {SECRET}\n[x]\n\ty = {SECRET}\n[url "https://{SECRET}@x.example"]\n\tinsteadOf = x\n'
        )


def settings_on_a_branch(world: World) -> None:
    """A branch that is not checked out holds settings of an editor's."""
    git(world, "checkout", "-qb", "other")
    (world.ws / ".vscode").mkdir()
    (world.ws / ".vscode/settings.json").write_text("{}\n")
    git(world, "add", "-f", ".vscode")
    git(world, "commit", "-qm", "settings")
    git(world, "checkout", "-q", "main")


STARTS: dict[str, Callable[[World], None]] = {
    "a repository": lambda _: None,
    "places around the workspace": around,
    "no repository": plain,
    "files that others obey": obeyed,
    "files that more editors obey": obeyed_by_editors,
    "a place for files that more editors obey": obeyed_by_editors_absent,
    "links that others obey": obeyed_links,
    "a home as the workspace": home_itself,
    "a place for files that others obey": obeyed_absent,
    "a folder of a repository": below,
    "a worktree": worktree,
    "settings on a branch": settings_on_a_branch,
    "a submodule": submodule,
    "hooks in the workspace": hooks_inside,
    "hooks that are not there": hooks_absent,
    "included settings": included,
    "included settings that are not there": included_absent,
    "settings included for a branch": included_if,
    "a filter of the workspace": filtered,
    "a monitor of the workspace": monitored,
    "a link for .git": git_a_link,
    "a link for .git that leads out": git_a_link_out,
    "a file for .git that leads out": git_a_file,
    "a file for .git that leads home": git_points_home,
    "a submodule that cannot be read": git_unreadable,
    "a link for hooks": hooks_a_link,
    "a link for hooks that leads out": hooks_a_link_out,
    "a link for the rules": rules_a_link,
    "a link for the rules that leads nowhere": rules_a_dangling_link,
    "a link for .git that leads nowhere": git_a_dangling_link,
    "our own program": ourselves,
    "links that lead out": links_out,
    "secrets in the workspace": secrets_inside,
    "a home full of tool chains": tool_chains,
}
