"""What others see of a command that still runs: programs that look all the time obey what they find at once (S-8)."""

from __future__ import annotations

import asyncio
import os
import time

from tests.attacks.deeds import row
from tests.attacks.row import Action, Attack, NotRun
from tests.attacks.running_in import locked_in
from tests.attacks.world import World

MEANWHILE = (
    "What a command makes anew under a name that other programs obey is there until it goes: what git, codelaw or the"
    " connected editor would obey at once for milliseconds as a rule (longer on a busy machine, and about half a second"
    " where a branch holds a file of that name), everything else until the command has ended."
)
WAITING = "touch ready; while [ ! -e go ]; do sleep 0.05; done"
GOING_SECONDS = 60.0


def looked_at(command: str, name: str, *, at_once: bool) -> Action:
    """A program looks at `name` while the command that made it waits; `at_once`: as soon as it has been made."""

    async def act(world: World) -> list[str]:
        async with locked_in(world) as processes:
            running = asyncio.ensure_future(processes.run(f"{command}; {WAITING}", cwd=world.ws, timeout=150))
            try:
                while not (world.ws / "ready").exists():
                    if running.done():
                        raise NotRun(running.result().stderr[-300:])
                    await asyncio.sleep(0.005)
                end = time.monotonic() + (0 if at_once else GOING_SECONDS)
                while (there := os.path.lexists(world.ws / name)) and time.monotonic() < end:
                    await asyncio.sleep(0.05)
            finally:
                (world.ws / "go").touch()
                await running
        return [f"{name} is there while the command runs"] if there else await asyncio.to_thread(world.breaches)

    return act


def look(title: str, command: str, name: str, *, known: bool = False, start: str = "a repository") -> Attack:
    says = f"{command}, and waits while another program looks at {name}"
    meanwhile = MEANWHILE if known else ""
    return row(
        title, "obeyed", looked_at(command, name, at_once=known), says, "bubblewrap", start=start, meanwhile=meanwhile
    )


MEANWHILES: tuple[Attack, ...] = (
    look("what the editor obeys, while the command runs", "mkdir .vscode; echo x > .vscode/tasks.json", ".vscode"),
    look("what git obeys, while the command runs", "echo ../evil > .git/commondir", ".git/commondir"),
    look("a repository, while the command runs", "mkdir .git; echo x > .git/HEAD", ".git", start="no repository"),
    look("a bare repository, while the command runs", "mkdir objects refs; echo x > HEAD", "HEAD", start="no repository"),
    look("rules, while the command runs", "mkdir .codelaw; echo x > .codelaw/config.toml", ".codelaw", start="no repository"),
    look("hooks that are awaited, while the command runs", "mkdir -p tools/hooks; echo x > tools/hooks/pre-commit", "tools/hooks", start="hooks that are not there"),
    look("other settings than a branch holds, while the command runs", "mkdir .vscode; echo x > .vscode/settings.json", ".vscode", start="settings on a branch"),
    look("what an editor that is not connected obeys, while the command runs", "mkdir .idea; echo x > .idea/workspace.xml", ".idea", known=True),
    look("what a branch holds a file of, for a moment", "mkdir .vscode; echo x > .vscode/settings.json", ".vscode", known=True, start="settings on a branch"),
)  # fmt: skip
