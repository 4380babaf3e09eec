"""What commands leave for programs outside by going round the quarantine: in several commands, by many names (S-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.attacks.deeds import row
from tests.attacks.row import Action, Attack, NotRun
from tests.attacks.rows.meanwhile import MEANWHILE
from tests.attacks.rows.repositories import SETTINGS, made
from tests.attacks.running_in import locked_in
from tests.attacks.starts import STARTS
from tests.attacks.world import World
from tests.fakes.seen import seen

Prepare = Callable[[World], None]
BELOW = (
    "In a folder below the top such a file is kept from commands where it is there before; what they make anew there"
    " stays, and is obeyed by programs that you start in that very folder."
)
TREE = (
    "mkdir -p e/.vscode; echo forged > e/.vscode/settings.json; cd e; export GIT_INDEX_FILE=../i;"
    " t=$(git --work-tree=. --git-dir=../.git add -f . && git --git-dir=../.git write-tree); cd ..; unset GIT_INDEX_FILE;"
    " git update-ref refs/heads/new $(git -c user.name=a -c user.email=a@b commit-tree -m x $t); rm -rf e i"
)
"""Commits a file that an editor obeys to a branch `new`, and shows it to nobody."""
HARMLESS = (
    "mkdir -p store/objects store/refs/heads store/hooks; echo 'ref: refs/heads/main' > store/HEAD;"
    " printf '[core]\\n\\trepositoryformatversion = 0\\n' > store/config; mkdir -p sub; echo 'gitdir: ../store' > sub/.git"
)
LINKED = "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),"


def in_turn(
    *lines: str, gone: Sequence[str] = (), same: Sequence[str] = (), back: bool = False, visits: str = "", start: str = "",
    apart: bool = False, prepare: Prepare = lambda _: None,
) -> Action:  # fmt: skip
    """Runs commands one after the other; `gone` are names that must not be there in the end.

    `back`: what was taken away the user has brought back, and `same` files must stay as they are then. `apart`: each
    command has a session of its own. An editor runs git in `visits` between them and afterwards.
    """

    async def act(world: World) -> list[str]:
        await asyncio.to_thread(STARTS[start or "a repository"], world)
        prepare(world)
        world.before = world.seen()
        world.visits += [world.ws / name for name in visits.split()]
        found: list[str] = []
        kept: dict[Path, str] = {}
        words = world.words()

        async def run(*commands: str) -> None:
            async with locked_in(world) as processes:
                for command in commands:
                    result = await processes.run(command.format(**words), cwd=world.ws, timeout=60)
                    for one in result.aside if back else ():
                        said = await asyncio.to_thread(processes.bring_back, one.kept)
                        if said:
                            raise NotRun(said)
                    for name in same if back and not kept else ():
                        kept[world.ws / name] = (world.ws / name).read_text()
                    await asyncio.to_thread(world.git_outside)
                    if (world.out / "pwned").exists():
                        found.append(f"git ran a program after: {command}")

        for group in ([line] for line in lines) if apart else [lines]:
            await run(*group)
        found += [
            f"{name} is there" for name in gone for path in [world.ws / name] if path.exists() or path.is_symlink()
        ]
        found += [f"{path} was changed" for path, text in kept.items() if path.read_text() != text]
        return found + await asyncio.to_thread(world.breaches)

    return act


def watched(command: str, name: str) -> Action:
    """An editor is told by the kernel of every name that appears."""

    async def act(world: World) -> list[str]:
        with seen(world.ws) as appeared:
            async with locked_in(world) as processes:
                await processes.run(command, cwd=world.ws, timeout=60)
        if (world.ws / name).exists():
            raise AssertionError(f"{name} stays")
        return [f"an editor saw {name}" for path in appeared[:1] if world.ws / name in appeared]

    return act


def left(title: str, *lines: str, meanwhile: str = "", **more: object) -> Attack:
    says = f"{' | then | '.join(lines)} {more or ''}"
    return row(title, "obeyed", in_turn(*lines, **more), says, "bubblewrap", seconds=90, meanwhile=meanwhile)  # type: ignore[arg-type]


def full(world: World) -> None:
    """Nothing can be put into the quarantine any more, as on a full disk."""
    (world.own / "quarantine").mkdir()
    (world.own / "quarantine/kept").mkdir(mode=0o500)


LEFT_BEHIND: tuple[Attack, ...] = (
    left("a second name of what was taken away", "echo x > n; ln n .envrc", "echo evil > n", back=True, same=(".envrc",)),
    left("a second name inside of what was taken away", "echo x > n; mkdir .idea; ln n .idea/x", "echo evil > n", back=True, same=(".idea/x",)),
    left("a name where nothing can be kept", "mkdir .vscode; echo x > .vscode/tasks.json; mkdir .idea", gone=(".vscode", ".idea"), prepare=full),
    left("a repository where nothing can be kept", "mkdir sub; " + made("sub/.git"), visits="sub", prepare=full),
    left("a link of a process's above what the settings wait for", "mkdir -p t/hooks; cp {out}/program t/hooks/pre-commit; ln -s /proc/self/cwd/t tools", start="hooks that are not there"),
    left("a chain of links", "mkdir v; echo x > v/tasks.json; ln -s a .vscode; ln -s b a; ln -s v b", gone=(".vscode",)),
    left("a chain of links above what the settings wait for", "mkdir -p t/hooks; cp {out}/program t/hooks/pre-commit; ln -s a tools; ln -s b a; ln -s t b", start="hooks that are not there"),
    left("a git folder elsewhere", "git init -q --separate-git-dir=store .; git --git-dir=store config core.fsmonitor {out}/program", start="no repository"),
    left("a git folder elsewhere, of a folder below", "git init -q --separate-git-dir=store sub", "git --git-dir=store config core.fsmonitor {out}/program; cp {out}/program store/hooks/pre-commit", visits="sub"),
    left("a file for a git folder that is harmless at first", HARMLESS, SETTINGS + " > store/config; cp {out}/program store/hooks/pre-commit", visits="sub"),
    left("a repository that is harmless at first", "git init -q sub", SETTINGS + " > sub/.git/config; cp {out}/program sub/.git/hooks/pre-commit", visits="sub"),
    left("a repository that is moved up", "mkdir -p a/b; " + made("a/b/.git"), "mv a/b c", visits="c"),
    left("a worktree elsewhere", made("store") + "git --git-dir=store config core.worktree {ws}/sub; mkdir sub; echo 'gitdir: ../store' > sub/.git", visits="sub"),
    left("a folder below that is a bare repository", made("sub") + "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = {ws}/sub\\n\\tfsmonitor = {out}/program\\n' > sub/config", visits="sub"),
    left("a repository among many folders", "for n in $(seq 1200); do echo f$n; done | xargs mkdir; " + made("sub/.git"), visits="sub"),
    left("a repository among many submodules", 'h=$(git rev-parse HEAD); for n in $(seq 600); do echo "160000 $h 0\tm/f$n"; done | git update-index --index-info; mkdir -p z/y; ' + made("z/y/.git") + LINKED + "z/y"),
    left("a repository that the index knows, in two commands", "mkdir -p z/y; " + made("z/y/.git"), LINKED + "z/y"),
    left("a branch of an earlier command", TREE, "git checkout -q new -- .vscode", gone=(".vscode",)),
    left("a branch of an earlier session", TREE, "git checkout -q new -- .vscode", gone=(".vscode",), apart=True),
    left("a new workspace of an editor", "echo x > evil.code-workspace; mv a.txt Two.Code-Workspace", gone=("evil.code-workspace", "Two.Code-Workspace")),
    left("a folder with files that others obey, moved there", "mkdir -p a/b/.vscode; echo x > a/b/.vscode/tasks.json; mv a/b/.vscode .vscode", gone=(".vscode",)),
    left("files that others obey beside many folders", "mkdir $(seq 1200)", "echo x > sub/.envrc; echo x > sub/.vscode/tasks.json", start="files that others obey"),
    left("a bare repository at the top by a common folder", made("evil") + "cp evil/HEAD .; echo evil > commondir", start="no repository"),
    left("a bare repository below by a common folder", made("evil") + "mkdir sub; cp evil/HEAD sub; echo ../evil > sub/commondir", visits="sub"),
    left("a file without a name that gets one", "{python} -c 'import os; f = os.open(\".\", os.O_TMPFILE | os.O_RDWR, 0o755); os.write(f, b\"x\"); os.link(\"/proc/self/fd/%d\" % f, \".envrc\", follow_symlinks=True)'", gone=(".envrc",)),
    left("a name in many spellings", "for n in .vscode .VSCODE .vscode. ./.vscode/ .vſcode; do mkdir -p $n; echo x > $n/tasks.json; done", gone=(".vscode",)),
    left("new files that others obey, in a folder below", "mkdir -p sub/.vscode; echo x > sub/.vscode/tasks.json; echo x > sub/.envrc", gone=("sub/.vscode", "sub/.envrc"), meanwhile=BELOW),
    row("a name that an editor is told of before it goes", "obeyed", watched("mkdir .vscode", ".vscode"), "makes .vscode, and an editor watches", "bubblewrap", meanwhile=MEANWHILE),
)  # fmt: skip
