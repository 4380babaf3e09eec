"""A turn from the user's words to the answer, over the vendor's real protocol (R-1 to R-10, L-1 to L-6)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agent.conftest import Bench


def texts(request: dict) -> str:
    """All that a request says, in order."""
    return json.dumps([request["system"], request["messages"]], ensure_ascii=False)


async def test_read_then_answer(bench: Bench):
    marker = "x = 'MARKER'\n" * 40
    (bench.root / "a.py").write_text("# one\n" * 600 + marker)
    bench.vendor.reset([bench.act("Read", {"path": "a.py", "start_line": 560}), bench.finish("It is `a.py:1`.")])
    result = await bench.turn("What is in @a.py?")
    assert (result.stop_reason, result.answer, result.steps) == ("finished", "It is `a.py:1`.", 2)
    assert bench.shown("answer") == result.answer
    assert "MARKER" not in texts(bench.sent(0))
    assert "You MUST read this file with the Read tool" in texts(bench.sent(0))
    assert "MARKER" in texts(bench.sent(1))
    kinds = [event.event.kind for event in bench.events]
    assert kinds[0] == "turn_started"
    assert kinds[-1] == "turn_ended"
    assert [event.seq for event in bench.events] == sorted({event.seq for event in bench.events})
    record = await bench.session.read(result.chat_id)
    assert [message.role for message in record.messages] == ["user", "assistant", "tool", "assistant"]
    assert record.messages[0].content.startswith("What is in @a.py?\n\n<system-reminder>\n")
    assert record.messages[2].metadata.mtime == (bench.root / "a.py").stat().st_mtime
    assert record.messages[3].metadata.answer == result.answer


async def test_a_result_comes_back_by_its_ref(bench: Bench):
    (bench.root / "notes.txt").write_text("".join(f"needle-{number}\n" for number in range(60)))
    first = await bench.turn("find it", replies=[bench.act("Grep", {"pattern": "needle"}), bench.finish("found")])
    bench.vendor.reset([bench.act("Read", {"path": "result:r1"}), bench.finish("there")])
    await bench.turn("show all", first.chat_id)
    assert "needle-59" in texts(bench.sent(-1))


async def test_breakpoints_and_layers_on_the_wire(bench: Bench):
    (bench.root / "CODE_LAW.md").write_text("Be kind: LAWMARK.")
    first = await bench.turn("first", replies=[bench.finish("one"), bench.act("LS", {}), bench.finish("two")])
    await bench.turn("second", first.chat_id)
    request = bench.sent(-1)
    assert "LAWMARK" in request["system"][1]["text"]
    assert "LAWMARK" not in json.dumps(request["messages"])
    marked = [block for block in request["system"] if "cache_control" in block]
    inside = [block for message in request["messages"] for block in message["content"] if "cache_control" in block]
    assert len(marked) == 2
    assert len(inside) == 2
    assert "one" in json.dumps(inside[0]), "the last finished round"
    assert inside[1] is request["messages"][-1]["content"][-1], "the newest observation"


async def test_unknown_tool_bad_json_and_wrong_arguments_can_be_mended(bench: Bench):
    bench.vendor.reset(
        [
            bench.act("Fly", {"to": "moon"}),
            bench.act("Read", '{"path": '),
            bench.act("Read", {"path": "a.py", "limit": 0}),
            bench.finish("I give up"),
        ]
    )
    result = await bench.turn("go")
    assert result.stop_reason == "finished"
    said = texts(bench.sent(-1))
    assert "There is no tool 'Fly'" in said
    assert "valid JSON" in said
    assert "limit = 0" in said


async def test_the_breaker_warns_and_then_ends_the_turn(bench: Bench):
    result = await bench.turn("go", replies=[bench.act("Read", {"path": "gone.py"}, times=0)])
    assert (result.stop_reason, result.error.code if result.error else "") == ("failed", "repeated_failure")
    assert result.steps == 6
    assert "failed the same way 3 times" in texts(bench.sent(-1))


async def test_three_unreadable_replies_end_the_turn(bench: Bench):
    if bench.dialect == "native":
        pytest.skip("a native call is a call, however broken its arguments; the breaker ends those")
    result = await bench.turn("go", replies=[bench.act("Read", "{oops}", times=0)])
    assert (result.stop_reason, result.error.code if result.error else "") == ("failed", "unreadable_reply")
    assert result.steps == 3
    record = await bench.session.read(result.chat_id)
    assert "interrupted" in record.messages[-1].content


async def test_limits_of_steps_and_tokens(bench: Bench):
    await bench.reopen(turn={"maxSteps": 2})
    bench.vendor.reset([bench.act("LS", {}, times=0)])
    assert (await bench.turn("go")).stop_reason == "step_limit"
    await bench.reopen(turn={"maxTokens": 10})
    assert (await bench.turn("go")).stop_reason == "token_limit"


async def test_todo_recap_stands_last_when_it_changes_stays_there_and_is_never_stored(bench: Bench):
    todos = [{"content": "look", "status": "in_progress"}, {"content": "fix", "status": "pending"}]
    bench.vendor.reset([bench.act("TodoWrite", {"todos": todos}), bench.act("LS", {}), bench.finish("ok")])
    result = await bench.turn("go")
    assert "In progress: look." in json.dumps(bench.sent(1)["messages"][-1]["content"][-1])
    assert "todo-recap" not in json.dumps(bench.sent(2)["messages"][-1])
    assert texts(bench.sent(2)).count("<todo-recap>") == 1
    await bench.turn("go on", result.chat_id, replies=[*(bench.act("LS", {}) for _ in range(10)), bench.finish("ok")])
    assert [texts(bench.sent(number)).count("<todo-recap>") for number in (0, 5, -1)] == [1, 1, 2], "after long, again"
    record = await bench.session.read(result.chat_id)
    assert not any("<todo-recap>" in message.content for message in record.messages)
    assert [item.content for item in bench.kinds("todo")[-1].items] == ["look", "fix"]


async def test_law_is_looked_up_at_every_step(bench: Bench):
    law = bench.root / "code_law.md"
    bench.vendor.reset([bench.act("Write", {"path": "code_law.md", "content": "Second law."}), bench.finish("ok")])
    result = await bench.turn("go")
    assert result.stop_reason == "finished"
    assert law.read_text() == "Second law."
    assert "Second law." not in texts({**bench.sent(0), "messages": []})
    assert "Second law." in of_the_system(bench.sent(1))
    bench.buffers.put(law, "Unsaved law.", 3)
    await bench.turn("again", result.chat_id, replies=[bench.finish("ok")])
    assert "Unsaved law." in of_the_system(bench.sent())


def of_the_system(body: dict[str, Any]) -> str:
    """What is said by the system: in front, and between the messages where the model takes that."""
    return json.dumps([body["system"], *(one for one in body["messages"] if one["role"] == "system")])
