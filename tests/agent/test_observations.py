"""The model is shown results as text, the record keeps them as JSON (C-7, C-4)."""

from __future__ import annotations

import json
from typing import Any

from codelaw.agent.dialects.native import Native
from codelaw.agent.dialects.react import React
from codelaw.context.observations.text import shown
from codelaw.context.sections import View, message_section, message_tokens, render_message
from codelaw.context.tokens import estimate
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.tools.toolbox import Toolbox
from codelaw.transcript.repair.hygiene import hygiene
from tests.agent.conftest import Bench
from tests.agent.talking import fine


def results(request: dict[str, Any]) -> list[str]:
    """The results in a request, in either dialect."""
    found: list[str] = []
    for message in request["messages"]:
        for block in message["content"]:
            if block["type"] == "tool_result":
                found.append(block["content"])
            elif block["type"] == "text" and message["role"] == "user" and block["text"].startswith("[tool] "):
                found.append(block["text"].removeprefix("[tool] "))
    return found


async def look(bench: Bench, chat_id: str | None = None, path: str = "a.py") -> str:
    """A turn that reads a file, and fails to read another."""
    missing = bench.act("Read", {"path": "gone.py"})
    bench.vendor.play(bench.act("Read", {"path": path}), missing, bench.finish("done"))
    return (await bench.turn("look", chat_id)).chat_id


async def test_a_turn_and_the_next_show_results_as_text_and_keep_them_as_json(bench: Bench):
    (bench.root / "a.py").write_text("def x():\n\treturn 1\n")
    chat = await look(bench)
    reported = ["Read a.py: 2 lines\n1\tdef x():\n2\t\treturn 1", "Read, error NOT_FOUND\n There is no file gone.py."]
    assert results(bench.sent()) == reported
    kept = [
        json.loads(message.content) for message in (await bench.session.read(chat)).messages if message.role == "tool"
    ]
    assert [(one["status"], set(one)) for one in kept] == [
        ("success", {"status", "data", "ref"}),
        ("error", {"status", "data", "error", "ref"}),
    ]
    await bench.reopen()
    await look(bench, chat)
    assert results(bench.sent()) == [*reported, *reported]
    assert [block.get("is_error") for block in bench.sent()["messages"][-1]["content"]][:1] in ([True], [None])
    fine(bench)


async def test_a_result_keeps_the_form_in_which_its_turn_has_shown_it(bench: Bench):
    """A chat of an earlier version is one whose results were shown as JSON."""
    (bench.root / "a.py").write_text("x\n")
    await bench.reopen(context={"observations": "json"})
    chat = await look(bench)
    old = results(bench.sent())
    assert [json.loads(one)["status"] for one in old] == ["success", "error"]
    assert "A result is JSON" in json.dumps(bench.sent()["system"])
    await bench.reopen()
    await look(bench, chat)
    new = results(bench.sent())
    assert "A result is a header" in json.dumps(bench.sent()["system"])
    assert [json.loads(one)["status"] for one in new[:2]] == ["success", "error"], "as it was sent then"
    assert [one.split("\n")[0] for one in new[2:]] == ["Read a.py: 1 line", "Read, error NOT_FOUND"]
    await bench.reopen(context={"observations": "json"})
    await look(bench, chat)
    assert results(bench.sent())[:4] == new[:4]
    assert results(bench.sent())[4].startswith('{"status"')
    fine(bench)


def reported(as_text: bool) -> Message:
    content = '{"status": "success", "data": {"path": ".", "total": 1, "entries": ["a"]}, "ref": "r1"}'
    return Message("m", "t", "tool", content, Metadata(tool_name="LS", call_id="c", as_text=as_text))


def test_a_message_is_counted_as_it_is_sent_and_rendered_as_it_is_kept():
    text, plain = reported(as_text=True), reported(as_text=False)
    assert shown(text) == "LS .: 1 entry\n a"
    view = View(tuple(message_section("turn", "scratchpad", [message]) for message in (text, plain)))
    for dialect in (React(), Native()):
        assert dialect.texts(view, Toolbox(())) == [f"[tool] {shown(text)}", f"[tool] {text.content}"]
    assert render_message(text) == f"[tool] {text.content}"
    assert shown(text) is shown(reported(as_text=True)), "made once"
    assert message_tokens(text) == estimate(shown(text)) < message_tokens(plain)


def test_a_result_that_is_made_up_looks_as_the_others_of_its_turn():
    calls = (Call("c", "LS", {}), Call("d", "LS", {}))
    said = Message("s", "t", "assistant", "look", Metadata(calls=calls, native=True))
    asked = Message("q", "t", "user", "what is here?")
    for as_text in (True, False):
        messages, _ = hygiene([asked, said, reported(as_text=as_text)])
        assert [message.metadata.as_text for message in messages if message.role == "tool"] == [as_text, as_text]
