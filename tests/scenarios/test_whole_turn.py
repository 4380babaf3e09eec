"""A long turn through the real server: reads, greps, an edit, a command, a steer; and a cancel (R-1, R-2, R-8, R-9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import NO_ANSWER
from tests.scenarios.conftest import Start, act, finish


def said(request: dict[str, Any]) -> str:
    return json.dumps([request["system"], request["messages"]], ensure_ascii=False)


def order(request: dict[str, Any], *marks: str) -> list[int]:
    """Where each mark first stands in the request, system first."""
    text = said(request)
    return [text.index(mark) for mark in marks]


async def test_twelve_steps_with_an_edit_a_command_and_a_steer(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "CODE_LAW.md").write_text("LAWMARK: tests first.\n")
    (root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (root / "big.txt").write_text("".join(f"filler {number} BIGMARK-{number}\n" for number in range(300)))
    (root / "test_calc.py").write_text("from calc import add\nassert add(1, 2) == 3\nprint('TESTS PASS')\n")
    todo = '{"todos": [{"content": "mend add", "status": "in_progress"}, {"content": "test", "status": "pending"}]}'
    steps = [
        act("TodoWrite", todo),
        act("LS", "{}"),
        act("Glob", '{"pattern": "*.py"}'),
        act("Grep", '{"pattern": "BIGMARK"}'),
        act("Read", '{"path": "calc.py"}'),
        act("Read", '{"path": "test_calc.py"}'),
        act("Bash", '{"command": "python3 -B test_calc.py"}'),
        act("Edit", '{"path": "calc.py", "old_string": "a - b", "new_string": "a + b"}'),
        act("Bash", '{"command": "python3 -B test_calc.py"}'),
        act("Read", '{"path": "calc.py"}'),
        act("Grep", '{"pattern": "a \\\\+ b", "path": "calc.py"}'),
        finish("`calc.py:2` adds now."),
    ]
    vendor.script = [VendorReply(text=text, delay=0.005) for text in steps] + [VendorReply(text=finish("second"))]
    async with start() as client:
        asked: list[dict[str, Any]] = []

        def approve(params: dict[str, Any]) -> dict[str, str]:
            asked.append(params)
            return {"optionId": next(option["id"] for option in params["options"] if option["kind"] == "allow_once")}

        client.answers["codelaw/approval/request"] = approve
        _, future = await client.start("codelaw/chat/send", {"text": "Mend add in @calc.py"})
        chat_id = (await client.event("turn_started"))["chatId"]
        await client.event("tool_call", tool="Grep", status="completed")
        await client.request("codelaw/chat/steer", {"chatId": chat_id, "text": "STEERMARK: keep it short"})
        result = (await client.wait_for(future))["result"]
        assert (result["stopReason"], result["steps"]) == ("finished", 12)
        assert result["answer"] == "`calc.py:2` adds now."
        assert [change["kind"] for change in result["changes"]] == ["modified"], result["changes"]
        assert (root / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"
        assert [params["tool"] for params in asked] == ["Bash", "Edit", "Bash"]
        assert "-    return a - b\n+    return a + b" in asked[1]["preview"]["diff"]
        assert asked[0]["preview"]["command"] == "python3 -B test_calc.py"

        last = vendor.messages[11].json
        places = order(
            last, "You are codelaw", "LAWMARK", "Mend add in @calc.py", "BIGMARK-7", "STEERMARK", "TESTS PASS"
        )
        assert places == sorted(places)
        assert said(last).rindex("<todo-recap>") > places[-1]
        assert "[0/2] In progress: mend add." in said(last)
        assert said(last).count("BIGMARK-99\\") <= 1
        assert "BIGMARK-50" in said(last), "full inside the turn"

        again = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "And now?"})
        assert again["answer"] == "second"
        later = said(vendor.messages[12].json)
        assert later.count("BIGMARK-50") == said(last).count("BIGMARK-50"), "as the turn showed it"
        assert later.count("STEERMARK") == 1
        assert later.count("Mend add in @calc.py") == 1
        places = order(vendor.messages[12].json, "You are codelaw", "LAWMARK", "Mend add", "<todo-recap>", "And now?")
        assert places == sorted(places)

        events = client.events(chat_id)
        numbered = [event["seq"] for event in events if event["event"]["kind"] != "tool_output"]
        assert numbered == list(range(1, len(numbered) + 1))
        missed = await client.request("codelaw/chat/read", {"chatId": chat_id, "sinceSeq": events[10]["seq"]})
        kept = [event for event in missed["events"] if event["event"]["kind"] not in {"thought", "answer"}]
        sent = [event for event in events[11:] if event["event"]["kind"] not in {"thought", "answer", "tool_output"}]
        assert kept == sent
        assert all(request.status == 200 for request in vendor.messages), "the strict checker found nothing"


async def test_cancel_is_a_result_by_every_path(start: Start, vendor: LoopbackVendor):
    endless = VendorReply(text=finish("word " * 500), delay=0.05, chunk=5, times=0)
    vendor.script = [endless]
    async with start() as client:
        request_id, future = await client.start("codelaw/chat/send", {"text": "one"})
        await client.event("answer")
        await client.cancel(request_id)
        first = (await client.wait_for(future))["result"]
        assert first["stopReason"] == "cancelled"
        assert ("word " * 499).startswith(first["answer"])

        mark = len(client.messages)
        _, future = await client.start("codelaw/chat/send", {"chatId": first["chatId"], "text": "two"})
        await client.event("answer", mark)
        assert await client.request("codelaw/chat/cancel", {"chatId": first["chatId"]}) == {"cancelled": True}
        assert (await client.wait_for(future))["result"]["stopReason"] == "cancelled"

        mark = len(client.messages)
        _, future = await client.start("codelaw/chat/send", {"chatId": first["chatId"], "text": "three"})
        token = (await client.method("window/workDoneProgress/create", mark))["token"]
        await client.event("answer", mark)
        await client.notify("window/workDoneProgress/cancel", {"token": token})
        assert (await client.wait_for(future))["result"]["stopReason"] == "cancelled"
        assert all(request.status == 200 for request in vendor.messages)
        vendor.reset([VendorReply(text=finish("fine"))])
        assert (await client.request("codelaw/chat/send", {"chatId": first["chatId"], "text": "four"}))[
            "answer"
        ] == "fine"
    assert all(request.status == 200 for request in vendor.messages)


async def test_the_unsaved_buffer_is_what_the_model_sees(start: Start, vendor: LoopbackVendor, root: Path):
    path = root / "a.py"
    path.write_text("DISKMARK\n")
    vendor.script = [
        VendorReply(text=act("Read", '{"path": "a.py"}')),
        VendorReply(text=act("Grep", '{"pattern": "UNSAVED"}')),
        VendorReply(text=act("Edit", '{"path": "a.py", "old_string": "UNSAVED", "new_string": "x"}')),
        VendorReply(text=finish("ok")),
    ]
    async with start() as client:
        client.answers["codelaw/approval/request"] = lambda params: {"optionId": params["options"][0]["id"]}
        await client.open(path, "UNSAVED 😀 text\n", 7)
        result = await client.request("codelaw/chat/send", {"text": "look"})
        assert result["stopReason"] == "finished"
        text = said(vendor.messages[-1].json)
        assert "UNSAVED 😀 text" in text
        assert "DISKMARK" not in text
        assert "; not saved yet" in text
        assert "CONFLICT" in text, "an edit behind the editor's back is never made"
    assert path.read_text() == "DISKMARK\n"


async def test_a_killed_server_loses_no_finished_step(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text("KEPTMARK\n")
    vendor.script = [
        VendorReply(text=act("Read", '{"path": "a.py"}')),
        VendorReply(text=act("Bash", '{"command": "sleep 60"}')),
    ]
    async with start() as client:
        client.answers["codelaw/approval/request"] = NO_ANSWER
        await client.start("codelaw/chat/send", {"text": "go"})
        started = await client.event("tool_call", status="awaiting_approval")
        assert client.process is not None
        await client.process.kill()
        seen = client.events()
    async with start() as client:
        record = await client.request("codelaw/chat/read", {"chatId": started["chatId"], "sinceSeq": seen[-1]["seq"]})
        roles = [message["role"] for message in record["messages"]]
        assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
        assert "KEPTMARK" in record["messages"][2]["content"]
        assert "interrupted" in record["messages"][4]["content"]
        assert record["running"] is None
        assert [event["event"]["kind"] for event in record["events"]] == ["tool_call", "turn_ended"]
        assert record["events"][0]["seq"] > seen[-1]["seq"] + 1, "what was sent and not stored keeps its numbers"
        vendor.reset([VendorReply(text=finish("on we go"))])
        result = await client.request("codelaw/chat/send", {"chatId": started["chatId"], "text": "continue"})
        assert result["answer"] == "on we go"
        assert vendor.messages[-1].status == 200


async def test_a_stock_client_is_asked_by_message_and_served_by_commands(
    start: Start, vendor: LoopbackVendor, root: Path
):
    vendor.script = [
        VendorReply(text=act("Write", '{"path": "new.txt", "content": "hi"}')),
        VendorReply(text=finish("ok")),
    ]
    async with start({"window": {"workDoneProgress": True}}) as client:
        client.answers["window/showMessageRequest"] = lambda params: params["actions"][0]
        begun = await client.command("codelaw.chat.send", {"text": "write it"})
        assert set(begun) == {"chatId", "turnId"}
        assert "new.txt" in (await client.method("window/showMessageRequest"))["message"]
        ended = await client.until(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end")
        assert ended
        record = await client.command("codelaw.chat.read", {"chatId": begun["chatId"]})
        assert record["messages"][-1]["metadata"]["answer"] == "ok"
        assert client.events() == [], "events go only to clients that know them"
    assert (root / "new.txt").read_text() == "hi"


async def test_two_chats_run_side_by_side_and_the_rest_is_answered_meanwhile(start: Start, vendor: LoopbackVendor):
    slow = VendorReply(text=finish("slow answer"), delay=0.05, chunk=4, when_contains="please be slow")
    vendor.script = [slow, VendorReply(text=finish("quick"), times=0)]
    async with start() as client:
        _, future = await client.start("codelaw/chat/send", {"text": "please be slow"})
        await client.event("turn_started")
        assert (await client.request("codelaw/chat/send", {"text": "quick one"}))["answer"] == "quick"
        busy = (await client.request("codelaw/chat/list", {}))["chats"]
        assert [bool(chat["running"]) for chat in busy] == [False, True] or [True, False]
        assert not future.done()
        assert (await client.wait_for(future))["result"]["answer"] == "slow answer"
