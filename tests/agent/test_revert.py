"""A turn is undone file by file, over what was done since; what cannot be is reported and left alone (E-2)."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.agent.effects.journal import StoredJournal
from codelaw.domain.edits import RevertReport
from codelaw.domain.errors import Refusal
from codelaw.domain.files import FileImage
from tests.agent.conftest import Bench, open_session
from tests.agent.test_control import texts, until
from tests.agent.test_two_servers import die


@pytest.fixture
async def other(bench: Bench) -> AsyncIterator[Bench]:
    """The same home, workspace and vendor, as another server."""
    made = replace(bench, events=[], session=None)  # type: ignore[arg-type]
    made.session = await open_session(made, {})
    yield made
    await made.session.close()


async def played(bench: Bench, *acts: tuple[str, dict[str, Any]], chat: str | None = None) -> tuple[str, str]:
    """A turn that makes these calls; its chat and itself."""
    bench.vendor.reset([*(bench.act(tool, arguments) for tool, arguments in acts), bench.finish("ok")])
    result = await bench.turn("go", chat)
    assert result.stop_reason == "finished", result
    return result.chat_id, result.turn_id


def edit(path: str, old: str, new: str) -> list[tuple[str, dict[str, Any]]]:
    return [("Read", {"path": path}), ("Edit", {"path": path, "old_string": old, "new_string": new})]


def uris(bench: Bench, *names: str) -> set[str]:
    return {(bench.root / name).as_uri() for name in names}


async def refused(bench: Bench, chat: str, turn: str, **asked: Any) -> str:
    with pytest.raises(Refusal) as caught:
        await bench.session.revert(chat, turn, **asked)
    return caught.value.code


async def tells_notices(bench: Bench, chat: str) -> list[tuple[str, str, str]]:
    """Turn, level and text of every notice of a revert, as the store has them."""
    events = (await bench.session.read(chat, since_seq=0)).events
    return [
        (event.turn_id, event.event.level, event.event.message)
        for event in events
        if event.event.kind == "notice" and event.event.code in {"reverted", "revert_conflict", "turn_withdrawn"}
    ]


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_turn_is_undone_also_after_a_restart(bench: Bench, restarted: bool):
    files = {
        "unix.txt": b"one\ntwo\nthree\n",
        "windows.txt": b"one\r\ntwo\r\nthree\r\n",
        "marked.txt": b"\xef\xbb\xbfone\ntwo",
        "odd.txt": b"caf\xe9\ntwo\n\xff\xfe\n",
        "emoji.txt": "😀 two 👩‍👩‍👧\n".encode(),
        "over.txt": b"two",
    }
    for name, content in files.items():
        (bench.root / name).write_bytes(content)
    (bench.root / "unix.txt").chmod(0o754)
    acts = [call for name in files if name != "over.txt" for call in edit(name, "two", "TWO")]
    acts += [("Write", {"path": "new/deep.txt", "content": "made\n"}), ("Read", {"path": "over.txt"})]
    acts += [("Write", {"path": "over.txt", "content": "all else\n"}), *edit("unix.txt", "one", "ONE")]
    chat, turn = await played(bench, *acts)
    assert (bench.root / "unix.txt").read_bytes() == b"ONE\nTWO\nthree\n"
    assert await bench.session.changed_files(chat, turn) == [*list(files)[:-1], "new/deep.txt", "over.txt"]
    assert await bench.session.before(chat, turn, "unix.txt") == "one\ntwo\nthree\n"
    assert await bench.session.before(chat, turn, "new/deep.txt") is None
    assert await bench.session.before(chat, turn, "odd.txt") == "caf?\ntwo\n??\n"
    if restarted:
        await bench.reopen()
    report = await bench.session.revert(chat, turn)
    assert set(report.reverted) == uris(bench, *files, "new/deep.txt")
    assert report.conflicts == ()
    assert {name: (bench.root / name).read_bytes() for name in files} == files
    assert not (bench.root / "new/deep.txt").exists()
    assert stat.S_IMODE((bench.root / "unix.txt").stat().st_mode) == 0o754
    assert [(of, level) for of, level, _ in await tells_notices(bench, chat)] == [(turn, "info")]
    assert await refused(bench, chat, turn) == "nothing_to_undo"


async def test_what_was_typed_since_stays_and_what_touches_it_is_left_alone(bench: Bench):
    for name in ("far.txt", "near.txt", "made.txt", "gone.txt"):
        (bench.root / name).write_text("".join(f"{number}\n" for number in range(20)))
    (bench.root / "made.txt").unlink()
    acts = [call for name in ("far.txt", "near.txt", "gone.txt") for call in edit(name, "10\n", "ten\n")]
    chat, turn = await played(bench, *acts, ("Write", {"path": "made.txt", "content": "made\n"}))
    far, near, made = (bench.root / name for name in ("far.txt", "near.txt", "made.txt"))
    far.write_text("mine\n" + far.read_text() + "and mine")
    near.write_text(near.read_text().replace("ten", "ten, or 10?"))
    made.write_text("made\nand filled\n")
    (bench.root / "gone.txt").unlink()
    report = await bench.session.revert(chat, turn)
    assert set(report.reverted) == uris(bench, "far.txt")
    assert far.read_text() == "mine\n" + "".join(f"{number}\n" for number in range(20)) + "and mine"
    assert "ten, or 10?" in near.read_text()
    assert made.read_text() == "made\nand filled\n"
    reasons = {conflict.uri: conflict.reason for conflict in report.conflicts}
    assert reasons == {
        near.as_uri(): "near.txt was changed since at the same place, near line 11.",
        made.as_uri(): "made.txt was changed since the turn created it.",
        (bench.root / "gone.txt").as_uri(): "gone.txt was removed since.",
    }
    ((_, level, reported),) = await tells_notices(bench, chat)
    assert level == "warning"
    assert "Undone in far.txt." in reported
    assert "near line 11" in reported
    # What was in the way is mended by hand; the rest goes on from there.
    near.write_text(near.read_text().replace("ten, or 10?", "ten"))
    made.unlink()
    report = await bench.session.revert(chat, turn)
    assert set(report.reverted) == uris(bench, "near.txt", "made.txt")
    assert near.read_text() == "".join(f"{number}\n" for number in range(20))


async def test_only_that_turn_is_undone(bench: Bench):
    place = bench.root / "a.txt"
    place.write_text("a\nb\nc\nd\ne\n")
    chat, first = await played(bench, *edit("a.txt", "a\n", "A\n"))
    _, second = await played(bench, *edit("a.txt", "e\n", "E\n"), chat=chat)
    _, third = await played(bench, *edit("a.txt", "A\n", "AA\n"), chat=chat)
    assert (await bench.session.revert(chat, second)).conflicts == ()
    assert place.read_text() == "AA\nb\nc\nd\ne\n"
    assert [one.uri for one in (await bench.session.revert(chat, first)).conflicts] == [place.as_uri()]
    await bench.session.revert(chat, third)
    await bench.session.revert(chat, first)
    assert place.read_text() == "a\nb\nc\nd\ne\n"


async def test_nothing_is_undone_while_a_turn_runs_here_or_elsewhere(bench: Bench, other: Bench):
    chat, turn = await played(bench, ("Write", {"path": "a.txt", "content": "x"}))
    bench.user.answer = None
    bench.vendor.reset([bench.act("Bash", {"command": "true"}), bench.finish("ok")])
    running = await bench.session.send(chat, "more")
    await until(lambda: len(bench.user.asked) == 2)
    for one in (bench, other):
        assert await refused(one, chat, turn) == "chat_busy"
    await bench.session.cancel(chat)
    await running.result()
    assert await refused(bench, chat, running.turn_id) == "nothing_to_undo"
    assert (await other.session.revert(chat, turn)).reverted == ((bench.root / "a.txt").as_uri(),)


async def test_nobody_begins_while_a_turn_is_undone(bench: Bench, other: Bench, monkeypatch: pytest.MonkeyPatch):
    chat, turn = await played(bench, ("Write", {"path": "a.txt", "content": "x"}))
    going, go = asyncio.Event(), asyncio.Event()
    remove = DiskWorkspace.remove

    async def slow(self: DiskWorkspace, *args: Any, **more: Any) -> None:
        going.set()
        await go.wait()
        await remove(self, *args, **more)

    monkeypatch.setattr(DiskWorkspace, "remove", slow)
    undoing = asyncio.create_task(bench.session.revert(chat, turn))
    await going.wait()
    for one in (bench, other):
        assert await refused(one, chat, turn) == "chat_busy"
        with pytest.raises(Refusal) as caught:
            await one.session.send(chat, "hello")
        assert caught.value.code == "chat_busy"
    go.set()
    assert (await undoing).reverted
    bench.vendor.reset([bench.finish("hi", times=0)])
    for one in (bench, other):
        assert (await one.turn("hello", chat)).answer == "hi"


async def test_a_cancel_stops_between_files_and_a_second_revert_goes_on(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    names = [f"{number}.txt" for number in range(4)]
    chat, turn = await played(bench, *(("Write", {"path": name, "content": name}) for name in names))
    going, go = asyncio.Event(), asyncio.Event()
    remove = DiskWorkspace.remove

    async def slow(self: DiskWorkspace, located: Any, **more: Any) -> None:
        if located.shown == "2.txt":
            going.set()
            await go.wait()
        await remove(self, located, **more)

    monkeypatch.setattr(DiskWorkspace, "remove", slow)
    undoing = asyncio.create_task(bench.session.revert(chat, turn))
    await going.wait()
    undoing.cancel()
    await asyncio.sleep(0)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await undoing
    assert sorted(path.name for path in bench.root.iterdir()) == ["0.txt", "1.txt"], "the file at hand is finished"
    assert [reported for _, _, reported in await tells_notices(bench, chat)] == ["Undone in 3.txt."]
    report = await bench.session.revert(chat, turn)
    assert set(report.reverted) == uris(bench, "0.txt", "1.txt")
    assert list(bench.root.iterdir()) == []


async def test_a_death_between_writing_and_marking_is_no_harm(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    for name in ("a.txt", "b.txt"):
        (bench.root / name).write_text("one\ntwo\nthree\n")
    chat, turn = await played(bench, *edit("a.txt", "two", "TWO"), *edit("b.txt", "two", "TWO"))
    (bench.root / "b.txt").write_text("one\nTWO\nthree\nfour\n")
    store = await bench.session._chats.store()

    async def full(*_: Any) -> None:
        raise Refusal("store_unavailable", "the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store, "mark_changes", full)
        assert await refused(bench, chat, turn) == "store_unavailable"
    await bench.reopen()
    assert (bench.root / "b.txt").read_text() == "one\ntwo\nthree\nfour\n", "written, and not marked"
    (bench.root / "b.txt").write_text("zero\none\ntwo\nthree\nfour\n")
    report = await bench.session.revert(chat, turn)
    assert (set(report.reverted), report.conflicts) == (uris(bench, "a.txt", "b.txt"), ())
    assert (bench.root / "b.txt").read_text() == "zero\none\ntwo\nthree\nfour\n"
    assert (bench.root / "a.txt").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("now", "after"),
    [("one\ntwo\n", "one\ntwo\n"), ("one\nTWO\n", "one\ntwo\n"), ("zero\none\nTWO\n", "zero\none\ntwo\n")],
)
async def test_a_change_of_which_nobody_knows_whether_it_was_made(bench: Bench, now: str, after: str):
    place = bench.root / "a.txt"
    place.write_text("one\ntwo\n")
    bench.user.answer = None
    bench.vendor.reset([bench.act("Bash", {"command": "true"})])
    running = await bench.session.send(None, "go")
    await until(lambda: bench.user.asked)
    agent = await bench.session._chats.get(running.chat_id)
    workspace = agent.house.workspace
    located = await asyncio.to_thread(workspace.locate, "a.txt")
    journal = StoredJournal(agent.house.store, workspace, running.chat_id, running.turn_id, "k")
    await journal.plan(located, await workspace.read(located), "one\nTWO\n")
    await die(bench)
    place.write_text(now)
    report = await bench.session.revert(running.chat_id, running.turn_id)
    assert place.read_text() == after
    assert report == RevertReport((place.as_uri(),) if now != after else ())
    assert await refused(bench, running.chat_id, running.turn_id) == "nothing_to_undo"


async def kept_by_command(bench: Bench, change: Any, chat: str | None = None) -> tuple[str, str]:
    """A turn in which a command does `change`, which is a function; as `tools/changing/snapshots` keeps it."""
    before = {path: FileImage(path.read_bytes(), 0o640) for path in bench.root.iterdir() if path.is_file()}
    chat, turn = await played(bench, ("LS", {}), chat=chat)
    change()
    agent = await bench.session._chats.get(chat)
    journal = StoredJournal(agent.house.store, agent.house.workspace, chat, turn, "k")
    after = {path: FileImage(path.read_bytes(), 0o640) for path in bench.root.iterdir() if path.is_file()}
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            located = await asyncio.to_thread(agent.house.workspace.locate, str(path))
            await journal.keep(located, before.get(path), after.get(path))
    return chat, turn


async def test_what_a_command_did_is_undone_binary_files_too(bench: Bench):
    names = {
        "gone.bin": b"\0\xff\r\n",
        "cut.bin": b"a\0b" * 999,
        "text.txt": b"\xef\xbb\xbfa\r\nb\xe9\r\n",
        "bom.txt": b"x\n",
    }
    for name, content in names.items():
        (bench.root / name).write_bytes(content)

    def command() -> None:
        (bench.root / "gone.bin").unlink()
        (bench.root / "cut.bin").write_bytes(b"a\0")
        (bench.root / "text.txt").unlink()
        (bench.root / "bom.txt").write_bytes(b"\xef\xbb\xbfx\n")
        (bench.root / "new.bin").write_bytes(b"\0new")

    chat, turn = await kept_by_command(bench, command)
    await bench.reopen()
    report = await bench.session.revert(chat, turn)
    assert (set(report.reverted), report.conflicts) == (uris(bench, *names, "new.bin"), ())
    assert {path.name: path.read_bytes() for path in bench.root.iterdir()} == names
    assert stat.S_IMODE((bench.root / "text.txt").stat().st_mode) == 0o640
    for name in ("gone.bin", "cut.bin"):
        with pytest.raises(Refusal, match="binary"):
            await bench.session.before(chat, turn, name)


async def test_a_path_that_leads_elsewhere_now_is_left_alone(bench: Bench, tmp_path: Path):
    (bench.root / "sub").mkdir()
    (bench.root / "sub/a.txt").write_text("one\n")
    (bench.root / "locked.txt").write_text("one\n")
    (bench.root / "link.txt").symlink_to("locked.txt")
    chat, turn = await played(bench, *edit("sub/a.txt", "one", "two"), *edit("link.txt", "one", "two"))
    outside = tmp_path / "outside"
    (bench.root / "sub").rename(outside)
    (bench.root / "sub").symlink_to(outside)
    report = await bench.session.revert(chat, turn)
    assert [one.uri for one in report.conflicts] == [(bench.root / "sub/a.txt").as_uri()]
    assert (outside / "a.txt").read_text() == "two\n"
    assert (bench.root / "locked.txt").read_text() == "one\n"
    assert (bench.root / "link.txt").is_symlink()
    (bench.root / "sub").unlink()
    (bench.root / "sub").write_text("a file now")
    (conflict,) = (await bench.session.revert(chat, turn)).conflicts
    assert "removed since" in conflict.reason


async def test_the_model_forgets_a_turn_and_the_record_does_not(bench: Bench, other: Bench):
    chat, _ = await played(bench, ("Write", {"path": "a.txt", "content": "FIRSTBODY"}))
    _, second = await played(bench, ("Write", {"path": "b.txt", "content": "SECONDBODY"}), chat=chat)
    await other.session.read(chat)  # has the old view in memory
    report = await bench.session.revert(chat, second, messages=True)
    assert report.reverted == ((bench.root / "b.txt").as_uri(),)
    record = (await bench.session.read(chat)).messages
    assert "SECONDBODY" in json.dumps([message.content for message in record])
    for restart, one in ((False, bench), (False, other), (True, bench)):
        if restart:
            await one.reopen()
        report = await one.session.inspect(chat, "x")
        assert "FIRSTBODY" in report.text
        assert "SECONDBODY" not in report.text
        assert [part.name for part in report.dropped] == ["withdrawn rounds"]
    bench.vendor.reset([bench.finish("ok")])
    await bench.turn("go on", chat)
    assert "SECONDBODY" not in texts(bench.sent())
    assert "FIRSTBODY" in texts(bench.sent())
    assert await refused(bench, chat, second, messages=True) == "nothing_to_undo"
    assert [request.status for request in bench.vendor.messages] == [200]


async def test_a_forgotten_turn_is_not_summarised_and_a_restore_does_not_bring_it_back(bench: Bench):
    await bench.reopen(context={"keepRounds": 1})
    chat: str | None = None
    turns: list[str] = []
    for number in range(4):
        bench.vendor.reset([bench.finish(f"ANSWER{number}")])
        result = await bench.turn(f"ASK{number}", chat)
        chat = result.chat_id
        turns.append(result.turn_id)
    assert chat is not None
    await bench.session.revert(chat, turns[1], files=False, messages=True)
    report = await bench.session.compact(chat)
    assert report.compacted
    assert report.rounds_archived == 2
    await bench.session.revert(chat, turns[3], files=False, messages=True)
    await bench.session.restore(chat)
    text = (await bench.session.inspect(chat, None)).text
    assert [number for number in range(4) if f"ANSWER{number}" in text] == [0, 2]
