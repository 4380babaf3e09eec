"""Programs that codelaw starts by itself, planted in the workspace: none of them runs (S-8)."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

from codelaw.adapters.processes.sandbox import Kind
from codelaw.adapters.programs import find_program, own_environment, own_python
from codelaw.app.starting import server_environment
from codelaw.cli.spawn import server_command
from tests.attacks.deeds import row
from tests.attacks.row import Action, Attack, NotRun
from tests.attacks.world import World

PLACES = {
    "in a virtual environment": (".venv/bin", "{ws}/.venv/bin"),
    "among node's programs": ("node_modules/.bin", "{ws}/node_modules/.bin"),
    "in a folder for programs": ("bin", "{ws}/bin"),
    "by a relative entry": (".venv/bin", ".venv/bin"),
    "by an empty entry": (".", ""),
    "by a dot": (".", "."),
    "by dots": (".venv/bin", "{ws}/sub/../.venv/bin"),
    "by a link from outside": (".venv/bin", "{out}/link"),
    "by a link that is a program": (".venv/bin", "{out}/links"),
}
PROGRAMS = ("rg", "git", "bwrap", "python3")
MODULES = ("codelaw", "json", "asyncio", "sitecustomize", "usercustomize", "pydantic", "pygls")


def plant(world: World, folder: str, name: str) -> Path:
    place = world.ws / folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    (world.ws / "sub").mkdir(exist_ok=True)
    shutil.copy(world.out / "program", place)
    if not (world.out / "link").is_symlink():
        (world.out / "link").symlink_to(world.ws / folder)
        (world.out / "links").mkdir()
        (world.out / "links" / name).symlink_to(place)
        world.before = world.seen()
    return place


def path_of(world: World, entry: str) -> str:
    return os.pathsep.join([entry.format(ws=world.ws, out=world.out), os.environ["PATH"]])


def planted(folder: str, entry: str, name: str) -> Action:
    """What is found for `name` leads nowhere near the workspace."""

    async def act(world: World) -> list[str]:
        place = plant(world, folder, name)
        path = path_of(world, entry)
        here = Path.cwd()
        os.chdir(world.ws)
        try:
            if os.path.realpath(shutil.which(name, path=path) or "") != str(place):
                raise NotRun("nobody would find it there")
            found = find_program(name, {"PATH": path}, [world.ws])
            kept = own_environment({"PATH": path, "LD_PRELOAD": "x", "PYTHONPATH": str(world.ws)}, [world.ws])
        finally:
            os.chdir(here)
        breaches = [f"{found} would run"] if found and os.path.realpath(found) == str(place) else []
        if "PYTHONPATH" in kept or "LD_PRELOAD" in kept or str(world.ws) in kept.get("PATH", ""):
            breaches.append(f"the environment leads to the workspace: {kept}")
        return breaches

    return act


def searched(folder: str, entry: str, *names: str, tool: str = "Grep", **environment: str) -> Action:
    """A search in a process that has the workspace on PATH; planted programs say that they ran."""

    async def act(world: World) -> list[str]:
        for name in names:
            plant(world, folder, name)
        more = {name: value.format(ws=world.ws, out=world.out) for name, value in environment.items()}
        (world.ws / "rgrc").write_text(f"--pre={world.out}/program\n")
        env = {**os.environ, "PATH": path_of(world, entry), **more}
        if "PYTHONPATH" in more:
            env["PYTHONPATH"] = os.pathsep.join([os.environ["PYTHONPATH"], more["PYTHONPATH"]])
        ended = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-P", "-m", "tests.attacks.searching", tool, "a"],
            cwd=world.ws, env=env, capture_output=True, text=True, timeout=150, check=False,
        )  # fmt: skip
        if ended.returncode != 0:
            raise NotRun(ended.stderr[-300:])
        return world.breaches(ended.stdout)

    return act


def served(*modules: str, on_path: bool = False) -> Action:
    """Our own server, started in the workspace as the terminal does, where modules of its names are planted."""

    async def act(world: World) -> list[str]:
        code = f"open({str(world.out / 'pwned')!r}, 'w').write('x')\n"
        for name in modules:
            (world.ws / name).mkdir(exist_ok=True)
            for file in ("__init__.py", "__main__.py"):
                (world.ws / name / file).write_text(code)
            (world.ws / f"{name}.py").write_text(code)
        env = dict(os.environ)
        if on_path:
            env["PYTHONPATH"] = os.pathsep.join([env["PYTHONPATH"], str(world.ws)])
            env["PYTHONSTARTUP"] = str(world.ws / f"{modules[0]}.py")
        command = [*server_command()[: server_command().index("codelaw") + 1], "--version"]
        ended = await asyncio.to_thread(
            subprocess.run,
            command, cwd=world.ws, env=server_environment(env, [world.ws]), capture_output=True, text=True, timeout=150,
            check=False,
        )  # fmt: skip
        if ended.returncode != 0 and not (world.out / "pwned").exists():
            raise NotRun(ended.stderr[-300:])
        return world.breaches(ended.stdout)

    return act


async def _python(world: World) -> list[str]:
    """The interpreter for our children, where ours lies in the workspace by a link."""
    found = own_python([world.ws])
    return [f"{found} lies in the workspace"] if Path(found).is_relative_to(world.ws) else []


def preloaded(kind: Kind, **variables: str) -> Action:
    """A command, where variables of the user's lead the loader to libraries of the workspace: none is loaded outside."""

    async def act(world: World) -> list[str]:
        if shutil.which("cc") is None:
            raise NotRun("bubblewrap could be attacked so where there is a compiler")
        code = f'void __attribute__((constructor)) f(void) {{ int fd = open("{world.out}/pwned", 65, 420); write(fd, "x", 1); }}\n'
        await _library(world.ws / "evil.so", code)
        for folder in (world.ws, world.ws / "lib"):
            folder.mkdir(exist_ok=True)
            for name in ("libpcre2-8.so.0", "libz.so.1"):  # of bubblewrap and of Python
                await _library(folder / name, code + await _stubs(name))
        named = {name: value.format(ws=world.ws) for name, value in variables.items()}
        sandbox = world.sandbox(kind)
        try:
            means = await sandbox.means()
            if means.kind is None:
                raise NotRun(means.detail)
            around = sandbox.around(
                means, ["/bin/true"], cwd=world.ws, environment={**world.environment, **named}, network=False
            )
            async with around as confined:
                await asyncio.to_thread(
                    subprocess.run,
                    confined.argv, cwd=world.ws, env=confined.environment, pass_fds=confined.descriptors,
                    capture_output=True, timeout=150, check=False,
                )  # fmt: skip
        finally:
            await sandbox.close()
        return world.breaches()

    return act


async def _library(place: Path, code: str) -> None:
    build = ["cc", "-shared", "-fPIC", "-w", "-xc", "-", f"-Wl,-soname,{place.name}", "-o", str(place)]
    await asyncio.to_thread(subprocess.run, build, input=code, text=True, capture_output=True, check=True)


async def _stubs(name: str) -> str:
    """Functions by all names that the real library has, so that who looks for them loads ours."""
    known = await asyncio.to_thread(
        subprocess.run, ["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False
    )
    real = next((line.rpartition(" => ")[2] for line in known.stdout.splitlines() if name in line), None)
    if real is None:
        return ""
    listed = await asyncio.to_thread(
        subprocess.run, ["nm", "-D", "--defined-only", real], capture_output=True, text=True, check=False
    )
    symbols = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines() if " T " in line}
    return "\n".join(f"void {symbol}(void) {{}}" for symbol in sorted(symbols - {"open", "write", "f"}))


STARTED: tuple[Attack, ...] = (
    *(
        row(f"a library of the workspace in what sets up {kind}, {word}", "started", preloaded(kind, **variables), f"a command with {variables}", "programs")
        for kind in ("bubblewrap", "landlock")
        for word, variables in {
            "by an empty entry": {"LD_LIBRARY_PATH": "/none:"},
            "by its folder": {"LD_LIBRARY_PATH": "{ws}/lib"},
            "loaded first": {"LD_PRELOAD": "./evil.so"},
        }.items()
    ),
    *(
        row(f"{name} {where}", "started", planted(folder, entry, name), f"a planted {name} at {folder}, PATH with {entry!r}", "programs")
        for name in PROGRAMS
        for where, (folder, entry) in PLACES.items()
    ),
    row("a search with a planted rg on PATH", "started", searched(".venv/bin", "{ws}/.venv/bin", "rg", "git", "python3", "python"), "Grep with planted programs first on PATH", "programs"),
    row("a search with a planted rg in the folder", "started", searched(".", "", "rg", "git", "python3"), "Grep with planted programs in the folder it starts in", "programs"),
    row("a search with a planted rg by a relative entry", "started", searched("node_modules/.bin", "node_modules/.bin", "rg", "git"), "Grep with a relative entry of PATH", "programs"),
    row("a search with settings for rg", "started", searched(".", "{ws}/none", RIPGREP_CONFIG_PATH="{ws}/rgrc"), "Grep with settings for rg that run a program", "programs"),
    row("a list of files with a planted git", "started", searched(".venv/bin", "{ws}/.venv/bin", "rg", "git", tool="Glob"), "Glob with planted programs", "programs"),
    row("our server with planted modules", "started", served(*MODULES), "the server started in a folder with modules of its names", "programs"),
    row("our server with planted modules on its path", "started", served(*MODULES, on_path=True), "the server started with PYTHONPATH to the workspace", "programs"),
    row("our server with another codelaw", "started", served("codelaw"), "the server started beside a folder named codelaw", "programs"),
    row("our own interpreter", "started", _python, "the interpreter of our children", "programs"),
)  # fmt: skip
