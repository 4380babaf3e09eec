"""What one command changes while the sandbox of the next one is made is no way out (S-4)."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.processes.rules import build_profile as drawing
from codelaw.adapters.processes.sandbox import Sandbox
from codelaw.adapters.processes.sandboxes.scratch import Scratch
from tests.adapters.processes.conftest import Fenced
from tests.attacks.world import SECRET, World

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only"),
    pytest.mark.needs("bwrap"),
]


@pytest.fixture
async def sandbox(fenced: Fenced):
    made, means = await fenced()
    if not means.binding:
        pytest.skip("bubblewrap knows no descriptors")
    return made


async def processes(around: World, sandbox: Sandbox) -> LocalProcesses:
    return around.processes(sandbox, await sandbox.means())


async def test_a_link_that_comes_after_the_drawing_is_not_followed(
    around: World, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
):
    (around.ws / "inner/.vscode").mkdir(parents=True)
    (around.ws / "evil").mkdir()
    (around.ws / "evil/.vscode").symlink_to(around.home)
    draw = drawing.build_profile
    swaps: list[int] = []

    def swapping(*arguments: object, **more: object) -> object:
        profile = draw(*arguments, **more)  # type: ignore[arg-type]
        if not swaps:
            swaps.append(1)
            (around.ws / "inner").rename(around.ws / "before")
            (around.ws / "evil").rename(around.ws / "inner")
        return profile

    monkeypatch.setattr("codelaw.adapters.processes.sandbox.build_profile", swapping)
    ended = await (await processes(around, sandbox)).run(
        "cat inner/.vscode/private.txt; echo done", cwd=around.ws, timeout=20
    )
    assert swaps
    assert SECRET not in ended.stdout
    assert ended.stdout == "done\n"


async def test_no_descriptor_of_ours_reaches_a_command(around: World, sandbox: Sandbox):
    (around.ws / ".vscode").mkdir()
    ended = await (await processes(around, sandbox)).run(
        "for pid in 1 $$; do for one in /proc/$pid/fd/*; do readlink $one; done; done", cwd=around.ws, timeout=20
    )
    assert str(around.base) not in ended.stdout


@pytest.mark.parametrize("late", [False, True])
def test_what_the_sandbox_is_made_from_never_lies_in_the_workspace(
    around: World, monkeypatch: pytest.MonkeyPatch, late: bool
):
    temporary = around.ws / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    folders = [around.base / "elsewhere"] if late else [around.ws]
    scratch = Scratch(lambda: folders)
    first = scratch.root()
    if late:
        assert temporary in first.parents
        folders[:] = [around.ws]
    assert around.ws not in scratch.empty_file().parents
    assert around.ws not in scratch.in_stead_of(around.home).parents
    scratch.close()
    assert list(temporary.iterdir()) == []


def test_where_every_temporary_place_is_the_workspaces_no_command_runs(monkeypatch: pytest.MonkeyPatch):
    scratch = Scratch(lambda: [Path("/")])
    with pytest.raises(OSError, match="TMPDIR"):
        scratch.root()


async def test_what_is_hidden_in_a_home_is_not_moved_to_another_name(around: World, fenced: Fenced):
    around.ws = around.home
    around.own = around.home / "data/codelaw"
    around.own.mkdir(parents=True)
    (around.own / "config.toml").write_text(SECRET)
    run = around.processes(*await fenced()).run
    await run("mv .config c; mv data d; mv .m2 m; mv .cargo n", cwd=around.ws, timeout=150)
    ended = await run(
        "cat c/gh/hosts.yml d/codelaw/config.toml m/settings.xml n/credentials.toml; mkdir -p data/codelaw;"
        " echo x > data/codelaw/config.toml",
        cwd=around.ws,
        timeout=150,
    )
    assert SECRET not in ended.stdout
    assert (around.own / "config.toml").read_text() == SECRET
    assert os.path.lexists(around.home / ".config/gh/hosts.yml")
