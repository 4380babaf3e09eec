"""Commands and files that use up the machine (S-4, S-6)."""

from __future__ import annotations

import asyncio
import os
import resource

from tests.attacks.deeds import called, desk_of, row
from tests.attacks.row import FENCES, Action, Attack, NotRun, commands
from tests.attacks.world import World

PYTHON = "{python} - <<'CODE'\nimport os, time\n"
MOST_MIB = 1_200
"""Of memory that a search may take, however it is misled."""
LIMITS = {"memory": 200, "processes": 60, "file_size": 1, "temporary": 2}


def python(code: str) -> str:
    return PYTHON + code + "\nCODE"


async def _spelled_out(world: World) -> list[str]:
    """A search without `rg` for a pattern that takes for ever in a file that does not match."""
    (world.ws / "long.txt").write_text("a" * 40 + "b\n")
    desk = desk_of(world, rg=lambda *_: None)
    try:
        async with asyncio.timeout(150):
            answers = await called(world, ("Grep", {"pattern": "(a+)+$"}), desk=desk)
    except TimeoutError:
        return ["the search does not end"]
    if not answers.results:
        raise NotRun("nothing was searched")
    return []


def ignored(lines: list[str]) -> Action:
    """Every tool that lists heeds a file of ignore rules that is as large as that."""

    async def act(world: World) -> list[str]:
        (world.ws / ".gitignore").write_text("\n".join(lines))
        for number in range(300):
            (world.ws / f"f{number}.txt").write_text("a\n")
        try:
            async with asyncio.timeout(150):
                answers = await called(
                    world, ("LS", {"path": "."}), ("Glob", {"pattern": "*.txt"}), ("Grep", {"pattern": "a"})
                )
        except TimeoutError:
            return ["listing does not end"]
        if len(answers.results) != 3:
            raise NotRun("nothing was listed")
        return []

    return act


def endless(name: str, *deny: str, target: str = "") -> Action:
    """An ignore file that is a link to a device, or a pipe: a search finds what there is, in little memory."""

    async def act(world: World) -> list[str]:
        place = world.ws / name
        place.parent.mkdir(parents=True)
        (world.ws / name.partition("/")[0] / "b.txt").write_text("found\n")
        if target:
            place.symlink_to(target)
        else:
            os.mkfifo(place)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        answers = await called(world, ("Grep", {"pattern": "found|^a$"}), deny=deny)
        grown = (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before) // 1024
        said = answers.results[0].data
        missing = [] if said.get("total") == 2 and not said.get("stopped") else [f"the search says {said}"]
        return missing + ([f"it cost {grown} MiB"] if grown > MOST_MIB else [])

    return act


def closed(mode: int) -> Action:
    """A folder that nobody may look into, as a container leaves one: tools tell of it and do the rest."""

    async def act(world: World) -> list[str]:
        (world.ws / "shut/in").mkdir(parents=True)
        (world.ws / "shut/x.txt").write_text("a\n")
        (world.ws / "shut").chmod(mode)
        calls: list[tuple[str, dict[str, object]]] = [
            *(
                (tool, {"path": path})
                for tool in ("LS", "Read")
                for path in (".", "shut", "shut/x.txt", "shut/in", "a.txt")
            ),
            *(
                (tool, {"path": path, "pattern": word})
                for tool, word in (("Glob", "*"), ("Grep", "a"))
                for path in (".", "shut", "shut/in")
            ),
            ("Write", {"path": "shut/new.txt", "content": "x"}),
            ("Bash", {"command": "ls"}),
        ]
        answers = await called(world, *calls, allow=("Bash(ls:*)", "Edit"))
        broken = [
            f"{name} of {given} is broken"
            for (name, given), one in zip(calls, answers.results, strict=True)
            if one.error is not None and one.error.code == "INTERNAL_ERROR"
        ]
        found = await called(
            world,
            ("Grep", {"pattern": "^a$"}),
            ("LS", {"path": "."}),
            ("Bash", {"command": "ls"}),
            allow=("Bash(ls:*)",),
        )
        return broken + [f"{one.error}" for one in found.results if one.error is not None]

    return act


EXHAUSTING: tuple[Attack, ...] = (
    *commands(
        "exhaust",
        {
            "memory": python("x = b'x' * (600 << 20)\ntime.sleep(4)\nprint('REACHED', len(x))"),
            "memory of several processes": python("for _ in range(4):\n  if not os.fork():\n    x = b'x' * (150 << 20); time.sleep(5); os._exit(0)\ntime.sleep(4)\nprint('REACHED')"),
            "processes": python("made = 0\nfor _ in range(400):\n  try:\n    if not os.fork(): time.sleep(6); os._exit(0)\n    made += 1\n  except OSError: break\ntime.sleep(4)\nif made >= 400: print('REACHED')"),
            "processes in namespaces of their own": "for n in 1 2 3 4 5 6; do unshare -r sh -c 'for m in $(seq 60); do sleep 5 & done; wait' & done; sleep 4; unshare -r true && echo REACHED",
            "a large file": "head -c 3000000 /dev/zero > large && echo REACHED",
            "a large temporary folder": "for n in $(seq 12); do head -c 900000 /dev/zero > $TMPDIR/f$n; done; sleep 12; echo REACHED",
            "endless output": "yes | head -c 300000000",
            "endless errors": "yes | head -c 300000000 >&2",
            "one endless line": "head -c 300000000 /dev/zero | tr '\\0' x",
        },
        unsafe=("memory", "memory of several processes", "processes", "processes in namespaces of their own", "a large temporary folder", "a large file", "endless output", "endless errors", "one endless line"),
        means=FENCES[:1],
        marks="REACHED",
        settings={"limits": LIMITS},
        seconds=40,
    ),
    row("a pattern that takes for ever", "exhaust", _spelled_out, "Grep for (a+)+$ without rg", "tools"),
    row("a folder that is closed", "exhaust", closed(0), "tools and a command beside a folder of mode 000", "tools"),
    row("a folder that can be listed and not be looked into", "exhaust", closed(0o444), "the same beside a folder of mode 444", "tools"),
    row("an ignore file that is a device", "exhaust", endless("sub/.gitignore", target="/dev/zero"), "Grep where a .gitignore is a link to /dev/zero", "tools", seconds=60),
    row("an ignore file that is a pipe", "exhaust", endless("sub/.gitignore"), "Grep where a .gitignore is a pipe", "tools", seconds=60),
    row("an ignore file that is a pipe, beside a rule", "exhaust", endless("sub/.gitignore", "Read(.env)"), "the same with a rule that denies", "tools", seconds=60),
    row("a repository's own ignore file that is a device", "exhaust", endless("sub/.git/info/exclude", target="/dev/zero"), "Grep where .git/info/exclude is a link to /dev/zero", "tools", seconds=60),
    row("900 kB of ignore rules", "exhaust", ignored([f"/some/**/folder{number}/*.[a-z]?x" for number in range(25_000)]), "a .gitignore of 900 kB", "tools", seconds=60),
    row("ignore rules that take for ever", "exhaust", ignored(["*a" * 40 + "b", "**/" * 200 + "x", "[" * 5000, "!" * 5000]), "a .gitignore of patterns that take for ever", "tools", seconds=60),
)  # fmt: skip
