"""What the modes offer, and what comes of a plan (X-1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agent.conftest import Bench

FORGED: list[tuple[str, str, dict[str, Any]]] = [
    ("ask", "Write", {"path": "made", "content": "x"}),
    ("ask", "Bash", {"command": "touch made"}),
    ("ask", "memory_save", {"text": "the user likes tabs", "category": "preference", "scope": "user"}),
    ("plan", "Bash", {"command": "touch made"}),
    ("plan", "memory_save", {"text": "the user likes tabs", "category": "preference", "scope": "user"}),
]


@pytest.mark.parametrize(("mode", "tool", "arguments"), FORGED)
async def test_a_forged_call_of_what_the_mode_does_not_offer_is_refused(
    bench: Bench, mode: Any, tool: str, arguments: dict[str, Any]
):
    await bench.reopen(permissions={"default": "allow", "allow": ["Edit", "Bash"]})
    result = await bench.turn("go", mode=mode, replies=[bench.act(tool, arguments), bench.finish("ok")])
    assert result.stop_reason == "finished"
    (ended,) = [event for event in bench.kinds("tool_call") if event.status != "pending"]
    assert ended.status == "failed"
    assert f"There is no tool {tool!r} in this mode" in ended.summary
    assert not (bench.root / "made").exists()
    assert bench.user.asked == []


async def test_a_plan_is_the_todo_list_of_the_turn_that_carries_it_out(bench: Bench):
    steps = [{"content": "write a.py", "status": "pending"}, {"content": "test it", "status": "pending"}]
    bench.vendor.reset([bench.act("TodoWrite", {"todos": steps}), bench.finish("the plan"), bench.finish("done")])
    chat = (await bench.turn("plan it", mode="plan")).chat_id
    assert "Put the steps into the todo list" in str(bench.vendor.messages[0].json["system"])
    await bench.session.update(chat, mode="agent")
    await bench.turn("Carry out the plan.", chat)
    assert "<todo-recap>\\n[0/2] Next: write a.py" in str(bench.sent()["messages"])
    await bench.reopen()
    report = await bench.session.inspect(chat, "and now?")
    assert "write a.py" in report.text, "after a restart too"
