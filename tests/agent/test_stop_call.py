"""The user stops one command, and the turn goes on with what it has printed (R-8)."""

from __future__ import annotations

import json

from codelaw.domain.events import ToolCallEvent, ToolOutputEvent
from tests.agent.conftest import Bench
from tests.agent.test_control import until

COMMAND = "echo begun; exec sleep 600"


def commands(bench: Bench) -> list[ToolCallEvent]:
    return [event.event for event in bench.events if isinstance(event.event, ToolCallEvent)]


async def test_a_command_is_stopped_and_the_model_is_told_of_it(bench: Bench):
    await bench.reopen(permissions={"allow": ["Bash"]})
    bench.vendor.reset([bench.act("Bash", {"command": COMMAND}), bench.finish("I leave it.")])
    running = await bench.session.send(None, "go")
    await until(lambda: any(isinstance(event.event, ToolOutputEvent) for event in bench.events))
    call_id = commands(bench)[0].call_id
    assert not await bench.session.stop_call(running.chat_id, "another")
    assert await bench.session.stop_call(running.chat_id, call_id)
    result = await running.result()
    assert (result.stop_reason, result.answer) == ("finished", "I leave it.")
    ended = commands(bench)[-1]
    assert ended.status == "failed"
    assert ended.summary is not None
    assert ended.summary.startswith("The user stopped the command after ")
    reported = json.dumps(bench.sent())
    assert "begun" in reported
    assert "The user stopped the command" in reported
    assert "Do not run it again unless the user asks for it." in reported
    assert not await bench.session.stop_call(running.chat_id, call_id), "it runs no longer"


async def test_a_command_that_changed_files_can_still_be_undone(bench: Bench):
    await bench.reopen(permissions={"allow": ["Bash"]})
    (bench.root / "a.txt").write_text("old\n")
    command = "echo new > a.txt; echo begun; exec sleep 600"
    bench.vendor.reset([bench.act("Bash", {"command": command}), bench.finish("ok")])
    running = await bench.session.send(None, "go")
    await until(lambda: any(isinstance(event.event, ToolOutputEvent) for event in bench.events))
    assert await bench.session.stop_call(running.chat_id, commands(bench)[0].call_id)
    await running.result()
    assert (await bench.session.revert(running.chat_id, running.turn_id)).conflicts == ()
    assert (bench.root / "a.txt").read_text() == "old\n"
