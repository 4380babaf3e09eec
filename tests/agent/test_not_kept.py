"""What a command changes beyond the files that it names is undone where it can be, and named where it cannot (E-2)."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from codelaw.tools import watching
from tests.agent.conftest import Bench
from tests.agent.test_revert import edit, played, uris

LOST = "cannot be undone: nothing was kept of it before a command changed it."


def files(bench: Bench) -> dict[str, str]:
    """Every file by its path, and every folder."""
    return {
        path.relative_to(bench.root).as_posix(): "/" if path.is_dir() else path.read_text("latin-1")
        for path in bench.root.rglob("*")
    }


def put(bench: Bench, **texts: str) -> dict[str, str]:
    for name, text in texts.items():
        path = bench.root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return files(bench)


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "Bash", {"command": command}


def notices(bench: Bench, code: str) -> list[str]:
    return [one.message for one in bench.kinds("notice") if one.code == code]


def git(bench: Bench, *words: str) -> None:
    subprocess.run(["git", *words], cwd=bench.root, check=True, capture_output=True)


def program(bench: Bench, text: str) -> None:
    (bench.root / "gen.sh").write_text(text)


async def test_files_that_no_word_names_are_told_by_their_names(bench: Bench):
    program(bench, "echo x >> a/one; rm a/two; echo new > a/three; mkdir -p b/c; echo deep > b/c/four; touch a/same\n")
    before = put(bench, a__one="1\n", a__two="2\n", a__still="3\n")
    chat, turn = await played(bench, bash("sh gen.sh"))
    [reported] = notices(bench, "undo_partial")
    assert "2 files of which nothing was kept" in reported
    assert "a/one" in reported
    assert "a/two (removed)" in reported
    report = await bench.session.revert(chat, turn)
    assert {conflict.reason for conflict in report.conflicts} == {f"a/one {LOST}", f"a/two {LOST}"}
    assert set(report.reverted) == uris(bench, "a/three", "a/same", "b/c/four")
    assert files(bench) == {name: text for name, text in {**before, "a/one": "1\nx\n"}.items() if name != "a/two"}


@pytest.mark.parametrize(
    "command",
    [
        "mkdir in && mv d0 in",
        "mv d0/a other/kept",
        "sh gen.sh",
        "git mv d0 e0",
    ],
)
async def test_a_move_is_undone_as_a_move(bench: Bench, command: str):
    put(bench, d0__a="a\n", d0__deep__b="b\n", other__kept="k\n", d0__big="x" * 3_000_000)
    (bench.root / "d0/empty").mkdir()
    (bench.root / "d0/a").chmod(0o755)
    program(bench, "mv d0 $(echo e)0; mv other/kept $(echo other/ke)\n")
    if command.startswith("git"):
        git(bench, "init", "-q")
        git(bench, "add", ".")
    before = files(bench)
    chat, turn = await played(bench, bash(command))
    assert {n: t for n, t in files(bench).items() if ".git/" not in n} != {
        n: t for n, t in before.items() if ".git/" not in n
    }
    await bench.reopen()
    report = await bench.session.revert(chat, turn)
    assert report.conflicts == ()
    after = files(bench)
    assert {n: t for n, t in after.items() if ".git/" not in n} == {n: t for n, t in before.items() if ".git/" not in n}
    assert (bench.root / "d0/a").stat().st_mode & 0o777 == 0o755


async def test_what_a_person_did_before_or_while_it_ran_is_not_named(bench: Bench):
    put(bench, a="1\n", b="2\n")
    chat, _ = await played(bench, bash("true"))
    (bench.root / "a").write_text("mine\n")
    (bench.root / "c").write_text("mine\n")
    (bench.root / "b").unlink()
    _, turn = await played(bench, bash("true"), chat=chat)
    assert notices(bench, "undo_partial") == []
    assert await bench.session.changed_files(chat, turn) == []


async def test_a_workspace_that_is_too_large_is_told_of_once(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    put(bench, **{f"a{number}": "1\n" for number in range(40)})
    program(bench, "echo x >> a1\n")
    monkeypatch.setattr(watching, "MAX_VISITS", 30)
    await played(bench, bash("sh gen.sh"), bash("sh gen.sh"))
    [reported] = notices(bench, "undo_unwatched")
    assert "30 entries" in reported
    assert notices(bench, "undo_partial") == []


async def test_the_result_and_the_list_of_changes_say_the_same(bench: Bench):
    put(bench, **{"a.txt": "1\n2\n"}, **{"b.txt": "1\n"}, z__lost="1\n")
    program(bench, "echo x >> z/lost\n")
    acts = [*edit("a.txt", "1", "one"), *edit("a.txt", "2", "two")]
    acts += [bash("echo new > c.txt; mv b.txt d.txt; echo more >> c.txt"), bash("sh gen.sh"), bash("rm c.txt")]
    result = await bench.turn("go", replies=[*(bench.act(*one) for one in acts), bench.finish("ok")])
    reported = {change.path: (change.kind, change.added, change.removed) for change in result.changes}
    assert reported == {
        "a.txt": ("modified", 2, 2),
        "b.txt": ("deleted", 0, 1),
        "d.txt": ("created", 1, 0),
        "z/lost": ("modified", 0, 0),
    }
    listed = await bench.session.changes(result.chat_id)
    assert [(one.path, one.uri, one.kind) for one in result.changes] == [(c.path, c.uri, c.kind) for c in listed]
