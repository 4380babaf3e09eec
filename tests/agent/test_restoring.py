"""The files as they were before a message: looked at, restored, and that undone again (E-2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codelaw.domain.edits import CheckpointFile
from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench
from tests.agent.test_revert import edit, played

OLD = "".join(f"line {number}\n" for number in range(30))


def write(path: str, content: str) -> list[tuple[str, dict[str, Any]]]:
    return [("Write", {"path": path, "content": content})]


def by_name(files: tuple[CheckpointFile, ...]) -> dict[str, tuple[str, bool, bool]]:
    """What a restore does to each, whether others changed it, and whether that would be lost."""
    return {one.path: (one.does, one.changed, one.lost is not None) for one in files}


async def three(bench: Bench) -> tuple[str, list[str]]:
    """A chat with three turns that change a, b and new; the turns."""
    for name in ("a.py", "b.py"):
        (bench.root / name).write_text(OLD)
    chat, first = await played(bench, *edit("a.py", "line 3\n", "LINE 3\n"))
    _, second = await played(
        bench, *edit("a.py", "LINE 3\n", "LINE THREE\n"), *edit("b.py", "line 5\n", "five\n"), chat=chat
    )
    _, third = await played(bench, *write("new.py", "x = 1\n"), chat=chat)
    return chat, [first, second, third]


def texts(bench: Bench) -> list[str | None]:
    paths = [bench.root / name for name in ("a.py", "b.py", "new.py")]
    return [path.read_text() if path.exists() else None for path in paths]


async def test_a_restore_takes_back_that_turn_and_all_behind_it_and_can_be_undone(bench: Bench):
    chat, turns = await three(bench)
    after = texts(bench)
    found = await bench.session.checkpoint(chat, turns[1])
    assert by_name(found.files) == {
        "new.py": ("delete", False, False),
        "b.py": ("modify", False, False),
        "a.py": ("modify", False, False),
    }
    assert texts(bench) == after, "to look touches nothing"
    done = await bench.session.restore_files(chat, turns[1])
    assert (done.conflicts, done.undoable, len(done.restored)) == ((), True, 3)
    assert texts(bench) == [OLD.replace("line 3\n", "LINE 3\n"), OLD, None]
    assert bench.kinds("notice")[-1].code == "restored"
    now = await bench.session.checkpoint(chat, turns[1])
    assert (now.files, now.undoable) == ((), True)
    with pytest.raises(Refusal) as refused:
        await bench.session.revert(chat, turns[2])
    assert refused.value.code == "nothing_to_undo", "it is undone already"
    await bench.reopen()
    back = await bench.session.undo_restore(chat, turns[1])
    assert (back.conflicts, back.undoable, len(back.restored)) == ((), False, 3)
    assert texts(bench) == after
    assert (await bench.session.revert(chat, turns[2])).reverted, "the turns' own changes stand again"
    assert texts(bench)[2] is None


async def test_what_others_did_elsewhere_stays_and_what_would_be_lost_is_told_first(bench: Bench):
    chat, turns = await three(bench)
    a, b = bench.root / "a.py", bench.root / "b.py"
    a.write_text(a.read_text().replace("line 20\n", "mine\n"))
    b.write_text(b.read_text().replace("five\n", "mine\n"))
    found = await bench.session.checkpoint(chat, turns[0])
    assert by_name(found.files)["a.py"] == ("modify", True, False)
    assert by_name(found.files)["b.py"] == ("modify", True, True)
    done = await bench.session.restore_files(chat, turns[0])
    assert [one.path for one in done.conflicts] == ["b.py"]
    assert "near line 6" in done.conflicts[0].reason
    assert a.read_text() == OLD.replace("line 20\n", "mine\n")
    assert "mine\n" in b.read_text(), "nothing is lost that nobody agreed to"
    forced = await bench.session.restore_files(chat, turns[0], {b.as_uri()})
    assert forced.restored == (b.as_uri(),)
    assert b.read_text() == OLD
    await bench.session.undo_restore(chat, turns[0])
    assert "mine\n" in b.read_text()
    assert a.read_text() == OLD.replace("line 3\n", "LINE THREE\n").replace("line 20\n", "mine\n")


async def test_what_cannot_be_restored_is_refused_or_told(bench: Bench, tmp_path: Path):
    chat, turns = await three(bench)
    for ask in (bench.session.checkpoint, bench.session.restore_files, bench.session.undo_restore):
        with pytest.raises(Refusal) as refused:
            await ask(chat, "no-turn")
        assert refused.value.code == "turn_not_found"
    with pytest.raises(Refusal) as refused:
        await bench.session.undo_restore(chat, turns[0])
    assert refused.value.code == "nothing_to_undo"
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text(OLD)
    (bench.root / "b.py").unlink()
    (bench.root / "b.py").symlink_to(elsewhere)
    found = {one.path: one for one in (await bench.session.checkpoint(chat, turns[1])).files}
    assert found["b.py"].stuck is not None
    done = await bench.session.restore_files(chat, turns[1], {found["b.py"].uri})
    assert [one.path for one in done.conflicts] == ["b.py"]
    assert elsewhere.read_text() == OLD


@pytest.mark.parametrize("broken", ["done", "undone"])
async def test_a_death_in_the_middle_of_taking_a_restore_back_leaves_nothing_that_no_restore_knows(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, broken: str
):
    chat, turns = await three(bench)
    after = texts(bench)
    await bench.session.restore_files(chat, turns[0])
    store = await bench.session._chats.store()

    async def full(chat_id: str, numbers: Any, state: Any) -> None:
        if state == broken:
            raise Refusal("store_unavailable", "the disk is full")
        await store.__class__.mark_changes(store, chat_id, numbers, state)

    with monkeypatch.context() as patch:
        patch.setattr(store, "mark_changes", full)
        with pytest.raises(Refusal, match="full"):
            await bench.session.undo_restore(chat, turns[0])
    assert texts(bench) == [after[0], OLD, None], "written, and not marked"
    await bench.reopen()
    await bench.session.undo_restore(chat, turns[0])
    assert texts(bench) == after
    assert not (await bench.session.checkpoint(chat, turns[0])).undoable
    await bench.session.restore_files(chat, turns[0])
    assert texts(bench) == [OLD, OLD, None]


async def test_a_restore_that_somebody_took_back_by_hand_is_settled(bench: Bench):
    chat, turns = await three(bench)
    after = texts(bench)
    await bench.session.restore_files(chat, turns[1])
    for name, text in zip(("a.py", "b.py", "new.py"), after, strict=True):
        (bench.root / name).write_text(text or "")
    reported = len(bench.kinds("notice"))
    with pytest.raises(Refusal) as refused:
        await bench.session.undo_restore(chat, turns[1])
    assert refused.value.code == "nothing_to_undo"
    assert len(bench.kinds("notice")) == reported
    assert not (await bench.session.checkpoint(chat, turns[1])).undoable
    await bench.session.restore_files(chat, turns[1])
    assert texts(bench) == [OLD.replace("line 3\n", "LINE 3\n"), OLD, None]
