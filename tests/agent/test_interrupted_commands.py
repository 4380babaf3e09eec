"""What commands of dead servers have changed is taken over, and stands in nobody's way (E-2)."""

from __future__ import annotations

import asyncio

import pytest

from codelaw.adapters.crash_journal import crash_journal
from codelaw.adapters.stores.chats import SqlChats
from codelaw.agent.effects import interrupted as interrupted_module
from codelaw.domain.edits import KeptChange
from codelaw.domain.errors import Refusal
from codelaw.domain.events import NoticeEvent
from codelaw.tools.watching import CLOCK
from tests.agent.conftest import Bench, open_session
from tests.agent.test_control import until

REFUSAL = Refusal("store_unavailable", "The disk is full.", "Free some space.")


def failing(error: Exception):
    async def called(*_arguments: object) -> None:
        raise error

    return called


async def interrupted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A turn whose command has changed `a.txt`, of which nothing could be stored before the server ended."""
    (bench.root / "a.txt").write_text("old\n")
    bench.vendor.reset([bench.act("Bash", {"command": "echo new > a.txt"}), bench.finish("ok")])
    with monkeypatch.context() as broken:
        broken.setattr(SqlChats, "plan_change", failing(REFUSAL))
        result = await bench.turn("go")
        await bench.session.close()
    assert (bench.root / "a.txt").read_text() == "new\n"
    return result.chat_id, result.turn_id


@pytest.mark.parametrize("error", [REFUSAL, ValueError("a bug")])
async def test_what_cannot_be_taken_over_yet_keeps_nobody_from_the_chats(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception
):
    chat, turn = await interrupted(bench, monkeypatch)
    with monkeypatch.context() as broken:
        broken.setattr(SqlChats, "plan_change", failing(error))
        bench.session = await open_session(bench, {})
        assert (await bench.session.read(chat)).chat.id == chat
        await bench.session.close()
    bench.session = await open_session(bench, {})
    assert (await bench.session.revert(chat, turn)).conflicts == ()
    assert (bench.root / "a.txt").read_text() == "old\n"


async def test_what_a_person_saved_while_the_command_ran_is_left_alone(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    for name in ("a.txt", "b.txt"):
        (bench.root / name).write_text("old\n")
    monkeypatch.setattr(crash_journal, "BEAT_SECONDS", 0.01)
    command = "echo new > a.txt; echo new > b.txt; sleep 30"
    bench.vendor.reset([bench.act("Bash", {"command": command}), bench.finish("ok")])
    turn = await bench.session.send(None, "go")
    await until(lambda: (bench.root / "b.txt").read_text() == "new\n")
    (bench.root / "b.txt").write_text("an hour of work\n")
    bench.buffers.saved[bench.root / "b.txt"] = 1
    await until(lambda: any(bench.home.glob("running/*/calls/*.saved")))
    with monkeypatch.context() as broken:
        broken.setattr(SqlChats, "plan_change", failing(REFUSAL))
        await bench.session.cancel(turn.chat_id)
        await turn.result()
        await bench.session.close()
    bench.buffers.saved.clear()  # as another server's editor knows nothing of it
    bench.session = await open_session(bench, {})
    report = await bench.session.revert(turn.chat_id, turn.turn_id)
    assert [conflict.path for conflict in report.conflicts] == ["b.txt"]
    assert (bench.root / "a.txt").read_text() == "old\n"
    assert (bench.root / "b.txt").read_text() == "an hour of work\n"
    assert [*bench.home.glob("running/*/calls/*")] == []


async def test_what_was_stored_before_the_end_is_undone_beside_what_was_typed_since(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    for name in ("a.txt", "b.txt"):
        (bench.root / name).write_text("one\n2\n3\n4\n")
    planned, stored = SqlChats.plan_change, list[str]()

    async def once(store: SqlChats, chat_id: str, change: KeptChange) -> int:
        if stored:
            raise REFUSAL
        stored.append(change.path)
        return await planned(store, chat_id, change)

    command = "sed -i s/one/ONE/ a.txt; sed -i s/one/ONE/ b.txt"
    bench.vendor.reset([bench.act("Bash", {"command": command}), bench.finish("ok")])
    with monkeypatch.context() as broken:
        broken.setattr(SqlChats, "plan_change", once)
        result = await bench.turn("go")
        await bench.session.close()
    for name in ("a.txt", "b.txt"):
        (bench.root / name).write_text("ONE\n2\n3\n4\nmine\n")
    monkeypatch.setattr(interrupted_module, "SLACK", -3_600.0)  # as if it were an hour later
    bench.session = await open_session(bench, {})
    report = await bench.session.revert(result.chat_id, result.turn_id)
    [first], [second] = report.reverted, [conflict.path for conflict in report.conflicts]
    assert first == (bench.root / stored[0]).as_uri()
    assert {stored[0], second} == {"a.txt", "b.txt"}
    assert (bench.root / stored[0]).read_text() == "one\n2\n3\n4\nmine\n"
    assert (bench.root / second).read_text() == "ONE\n2\n3\n4\nmine\n"


async def test_what_was_not_kept_is_named_and_a_move_is_undone(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    for name in ("d0/deep/a.txt", "other/b.txt", "other/same.txt"):
        (bench.root / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.root / name).write_text("old\n")
    (bench.root / "gen.sh").write_text("echo new > other/b.txt; echo made > other/c.txt; mv d0 $(echo e)0\n")
    command = "ls d0; sh gen.sh"
    await asyncio.sleep(2 * CLOCK)  # what is as young as the clock is coarse may be the command's
    bench.vendor.reset([bench.act("Bash", {"command": command}), bench.finish("ok")])
    with monkeypatch.context() as broken:
        broken.setattr(SqlChats, "plan_change", failing(REFUSAL))
        result = await bench.turn("go")
        await bench.session.close()
    bench.session = await open_session(bench, {})
    report = await bench.session.revert(result.chat_id, result.turn_id)
    assert {conflict.path for conflict in report.conflicts} == {"other/b.txt", "other/c.txt"}
    assert [path.name for path in bench.root.rglob("a.txt")] == ["a.txt"]
    assert (bench.root / "d0/deep/a.txt").read_text() == "old\n"
    events = (await bench.session.read(result.chat_id, since_seq=0)).events
    [reported] = [event.event for event in events if getattr(event.event, "code", "") == "command_interrupted"]
    assert isinstance(reported, NoticeEvent)
    assert "Nothing was kept of these, so their change cannot be undone: other/b.txt, other/c.txt." in reported.message
    assert "same.txt" not in reported.message
