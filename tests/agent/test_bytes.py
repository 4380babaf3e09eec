"""The prefix is the same bytes after a restart, in another process, and after a broken step (L-3, L-6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from codelaw.domain.chats import Dialect
from tests.agent.conftest import Bench
from tests.agent.test_control import until
from tests.conftest import ROOT
from tests.loopback.script import VendorReply, fault

L1 = """
import sys
from codelaw.agent.dialects.native import Native
from codelaw.agent.dialects.react import React
from codelaw.context.system.modules import system_sections
from codelaw.adapters.models.messages.body import BodyWriter
from codelaw.domain.models import ModelRequest, TextBlock
from codelaw.tools.toolbox import default_toolbox
for mode in ("agent", "ask", "plan"):
    for dialect in (React(), Native()):
        tools = default_toolbox().for_mode(mode)
        sections = system_sections(mode=mode, dialect=dialect.name, tools_description=dialect.description(tools),
                                   schemas=dialect.schemas(tools))
        blocks = tuple(TextBlock(section.content) for section in sections)
        sys.stdout.buffer.write(BodyWriter().write(ModelRequest("m", blocks, (), 1, tools.schemas())))
"""


def test_l1_is_the_same_bytes_in_every_process():
    written = []
    for seed in ("0", "1", "77"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "server"), "TZ": f"UTC{seed[0]}"}
        run = subprocess.run(
            [sys.executable, "-c", L1], env=env, cwd=f"/{'tmp' if seed == '1' else ''}", capture_output=True, check=True
        )
        written.append(run.stdout)
    assert len(written[0]) > 10_000
    assert written[0] == written[1] == written[2]


def plain(value: Any) -> Any:
    """Without the marks of the cache, which move."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if key != "cache_control"}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def blocks(request: dict[str, Any]) -> list[Any]:
    """The prompt block by block, as a cache reads it."""
    spoken = [(message["role"], block) for message in request["messages"] for block in message["content"]]
    return [json.dumps(plain(part)) for part in [request.get("tools"), *request["system"], *spoken]]


async def test_a_broken_a_cut_and_an_empty_reply_leave_the_prefix_alone(bench: Bench):
    whole = bench.act("LS", {}, thought="A long thought in many pieces, every one of them different.")
    cut = VendorReply(text="Thought: A thought that is cut", stop_reason="max_tokens")
    bench.vendor.reset(
        [
            fault("reset_midstream", text=whole.text),
            whole,
            cut,
            bench.act("LS", {}),
            fault("empty_reply"),
            bench.act("LS", {"limit": 3}),
            bench.finish("ok"),
        ]
    )
    assert (await bench.turn("go")).stop_reason == "finished"
    sent = [blocks(request.json) for request in bench.vendor.messages]
    assert len(sent) == 7
    for step, again in ((0, 1), (2, 3), (4, 5)):
        assert sent[again][: len(sent[step])] == sent[step], "what is asked again begins with what was asked"
    for earlier, later in ((0, 2), (2, 4), (4, 6)):
        assert sent[later][: len(sent[earlier])] == sent[earlier], "what was added to ask again is not kept"
    assert "cut off" not in "".join(sent[6])
    assert "was empty" not in "".join(sent[6])


async def test_a_chat_may_change_dialects_to_and_fro(bench: Bench):
    """Whatever was said, the vendor takes it in the other dialect, with every call and result."""
    other: Dialect = "native" if bench.dialect == "react" else "react"
    (bench.root / "a.py").write_text("x = 1\n")
    odd = bench.act("mcp.tool", {"a": 1}) if bench.dialect == "react" else bench.act("Fly", {"a": 1})
    bench.vendor.reset(
        [bench.act("Read", {"path": "a.py"}), odd, bench.finish("Line one\nAction: no label\nANSWERMARK")]
    )
    chat = (await bench.turn("ASKMARK")).chat_id
    bench.vendor.reset([bench.finish("The beginning of an answer that never ends.", delay=0.03, chunk=6)])
    bench.events.clear()
    running = await bench.session.send(chat, "SECONDMARK")
    await until(lambda: "The beginning" in bench.shown("answer") + bench.shown("thought"))
    await bench.session.cancel(chat)
    assert (await running.result()).stop_reason == "cancelled"
    for dialect in (other, bench.dialect, other):
        bench.dialect = dialect
        await bench.reopen()
        call = [bench.act("Read", {"path": "a.py"})]
        if dialect == "native":
            call = [VendorReply(text="two", calls=tuple({"name": "Read", "input": {"path": "a.py"}} for _ in range(2)))]
        bench.vendor.reset([*call, bench.finish("ok")])
        assert (await bench.turn("and now", chat)).stop_reason == "finished"
        request = bench.sent()
        text = json.dumps(request["messages"])
        for mark in ("ASKMARK", "ANSWERMARK", "SECONDMARK", "[interrupted: cancelled by the user]", "The beginning"):
            assert text.count(mark) == 1, (dialect, mark)
        assert [captured.status for captured in bench.vendor.messages] == [200] * len(bench.vendor.messages)
        if dialect == "native":
            assert "Action: Read" not in text
            assert text.count('"tool_use"') == text.count('"tool_result"')
        else:
            assert text.count("Action: Read[") == text.count("[tool] ") - 1
