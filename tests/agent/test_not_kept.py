"""What a command changes beyond the files that it names is undone where it can be, and named where it cannot (E-2)."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from codelaw.tools import watching
from tests.agent.conftest import Bench
from tests.agent.test_hooks import hooked
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


async def test_the_result_of_the_turn_names_them_too(bench: Bench):
    put(bench, a__one="1\n")
    program(bench, "echo x >> a/one\n")
    bench.vendor.reset([bench.act(*bash("sh gen.sh")), bench.finish("ok")])
    result = await bench.turn("go")
    assert [(one.code, "a/one" in one.message) for one in result.notices] == [("undo_partial", True)]


@pytest.mark.parametrize(
    "command",
    [
        "mv d0 e0",
        "mkdir in && mv d0 in",
        "mv d0 other",
        "mv d0/a other/kept",
        "mv d0/* other",
        "sh gen.sh",
        "git mv d0 e0",
        "git mv d0 other",
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


async def test_what_was_changed_since_a_move_stays_where_it_is(bench: Bench):
    put(bench, d0__a="a\n", d0__b="b\n")
    chat, turn = await played(bench, bash("mv d0 e0"))
    (bench.root / "e0/a").write_text("mine\n")
    report = await bench.session.revert(chat, turn)
    assert [conflict.path for conflict in report.conflicts] == ["e0/a"]
    assert files(bench) == {"d0": "/", "d0/a": "a\n", "d0/b": "b\n", "e0": "/", "e0/a": "mine\n"}


async def test_unsaved_text_stays_in_its_document_when_its_folder_comes_back(bench: Bench):
    put(bench, d0__a="a\n", d0__b="b\n")
    bench.buffers.put(bench.root / "d0/a", "typed\n")
    bench.buffers.put(bench.root / "d0/b", "b\n")
    chat, turn = await played(bench, bash("mv d0 e0"))
    report = await bench.session.revert(chat, turn)
    assert report.conflicts == ()
    assert files(bench) == {"d0": "/", "d0/a": "a\n", "d0/b": "b\n"}


async def test_a_pattern_names_files_in_folders(bench: Bench):
    before = put(bench, d1__a="1\n", d2__a="2\n", d2__deep__a="3\n", other__a="4\n")
    chat, turn = await played(bench, bash("for f in d*/a d?/*/a; do echo x >> $f; done"))
    assert notices(bench, "undo_partial") == []
    assert (await bench.session.revert(chat, turn)).conflicts == ()
    assert files(bench) == before


async def test_folders_by_a_pattern_are_taken_whole(bench: Bench):
    before = put(bench, d1__a="1\n", d2__deep__b="2\n", other__a="4\n")
    chat, turn = await played(bench, bash("rm -r d*"))
    assert (await bench.session.revert(chat, turn)).conflicts == ()
    assert files(bench) == before


async def test_a_file_that_the_turn_made_goes_whoever_changes_it_then(bench: Bench):
    program(bench, "[ -e out ] && echo more >> out || echo first > out\n")
    before = files(bench)
    chat, turn = await played(bench, bash("sh gen.sh"), bash("sh gen.sh"))
    assert (bench.root / "out").read_text() == "first\nmore\n"
    assert (await bench.session.revert(chat, turn)).conflicts == ()
    assert files(bench) == before


async def test_files_that_come_to_light_are_not_the_commands(bench: Bench):
    git(bench, "init", "-q")
    put(bench, **{".gitignore": "old.log\nhidden/\n"}, **{"old.log": "x"}, hidden__a="a\n", shut__b="b\n")
    program(bench, "rm .git*ore; chmod 755 sh*t; echo y > new.txt\n")
    (bench.root / "shut").chmod(0)
    chat, turn = await played(bench, bash("sh gen.sh"))
    (bench.root / "shut").chmod(0o755)
    await bench.session.revert(chat, turn)
    now = files(bench)
    assert (now["old.log"], now["hidden/a"], now["shut/b"]) == ("x", "a\n", "b\n")
    assert "new.txt" not in now


async def test_a_link_that_becomes_a_file_is_not_removed(bench: Bench):
    put(bench, real="1\n")
    (bench.root / "link").symlink_to("real")
    program(bench, "rm li*k; echo mine > $(echo lin)k\n")
    chat, turn = await played(bench, bash("sh gen.sh"))
    report = await bench.session.revert(chat, turn)
    assert [conflict.path for conflict in report.conflicts] == ["link"]
    assert (bench.root / "link").read_text() == "mine\n"


async def test_what_a_person_did_before_or_while_it_ran_is_not_named(bench: Bench):
    put(bench, a="1\n", b="2\n")
    chat, _ = await played(bench, bash("true"))
    (bench.root / "a").write_text("mine\n")
    (bench.root / "c").write_text("mine\n")
    (bench.root / "b").unlink()
    _, turn = await played(bench, bash("true"), chat=chat)
    assert notices(bench, "undo_partial") == []
    assert await bench.session.changed_files(chat, turn) == []


async def test_a_mode_alone_is_no_change(bench: Bench):
    put(bench, a="1\n")
    program(bench, "chmod +x [a]\n")
    await played(bench, bash("sh gen.sh"))
    assert notices(bench, "undo_partial") == []


async def test_a_workspace_that_is_too_large_is_told_of_once(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    put(bench, **{f"a{number}": "1\n" for number in range(40)})
    program(bench, "echo x >> a1\n")
    monkeypatch.setattr(watching, "MAX_VISITS", 30)
    await played(bench, bash("sh gen.sh"), bash("sh gen.sh"))
    [reported] = notices(bench, "undo_unwatched")
    assert "30 entries" in reported
    assert notices(bench, "undo_partial") == []


async def test_many_are_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    put(bench, **{f"a__{number}": "1\n" for number in range(40)})
    program(bench, "for f in $(ls a); do echo x >> a/$f; done\n")
    monkeypatch.setattr(watching, "MAX_LOST", 20)
    chat, turn = await played(bench, bash("sh gen.sh"))
    [reported] = notices(bench, "undo_partial")
    assert "40 files" in reported
    assert reported.endswith("and 30 more.")
    assert len((await bench.session.revert(chat, turn)).conflicts) == 20


async def test_they_stand_in_the_list_of_changes_and_before_a_restore(bench: Bench):
    put(bench, a__one="1\n")
    program(bench, "echo x >> a/one\n")
    chat, turn = await played(bench, bash("sh gen.sh"))
    [change] = await bench.session.changes(chat)
    assert (change.path, change.kind, change.is_text) == ("a/one", "modified", False)
    [found] = (await bench.session.checkpoint(chat, turn)).files
    assert found.stuck == f"a/one {LOST}"


async def test_what_hooks_did_is_named_as_well(bench: Bench):
    put(bench, **{"a.txt": "1\n"}, z__b="1\n")
    program(bench, "echo x >> z/b; echo made > z/c\n")
    await hooked(bench, PostToolUse={"matcher": "Edit", "command": "sh gen.sh"})
    chat, turn = await played(bench, *edit("a.txt", "1", "2"))
    [reported] = notices(bench, "undo_partial")
    assert "z/b" in reported
    report = await bench.session.revert(chat, turn)
    assert [conflict.path for conflict in report.conflicts] == ["z/b"]
    assert not (bench.root / "z/c").exists()


async def test_the_result_and_the_list_of_changes_say_the_same(bench: Bench):
    put(bench, **{"a.txt": "1\n2\n"}, **{"b.txt": "1\n"}, z__lost="1\n")
    program(bench, "echo x >> z/lost\n")
    acts = [*edit("a.txt", "1", "one"), *edit("a.txt", "2", "two")]
    acts += [bash("echo new > c.txt; mv b.txt d.txt; echo more >> c.txt"), bash("sh gen.sh"), bash("rm c.txt")]
    bench.vendor.reset([*(bench.act(*one) for one in acts), bench.finish("ok")])
    result = await bench.turn("go")
    reported = {change.path: (change.kind, change.added, change.removed) for change in result.changes}
    assert reported == {
        "a.txt": ("modified", 2, 2),
        "b.txt": ("deleted", 0, 1),
        "d.txt": ("created", 1, 0),
        "z/lost": ("modified", 0, 0),
    }
    listed = await bench.session.changes(result.chat_id)
    assert [(one.path, one.uri, one.kind) for one in result.changes] == [(c.path, c.uri, c.kind) for c in listed]
