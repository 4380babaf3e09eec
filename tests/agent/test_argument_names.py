"""A call under foreign names is judged, stored and told of under the declared ones (T-11, S-1)."""

from __future__ import annotations

import json

from tests.agent.conftest import Bench


async def test_foreign_names_are_taken_and_told_with_the_result(bench: Bench):
    (bench.root / "a.py").write_text("MARKER\n")
    result = await bench.turn("go", replies=[bench.act("Read", {"file_path": "a.py"}), bench.finish("ok")])
    assert result.stop_reason == "finished"
    said = json.dumps(bench.sent(-1)["messages"])
    assert "MARKER" in said
    assert said.count("took `file_path` as `path`") == 1
    record = await bench.session.read(result.chat_id)
    (call,) = record.messages[1].metadata.calls
    assert call.arguments == {"path": "a.py"}
    pending, *_, ended = bench.kinds("tool_call")
    assert pending.args == {"path": "a.py"}
    assert ended.title == "Read a.py"


async def test_a_rule_sees_the_path_under_whatever_name_it_came(bench: Bench):
    (bench.root / "secret.txt").write_text("MARKER\n")
    await bench.reopen(permissions={"deny": ["Read(secret.txt)", "Edit(a.py)"]})
    bench.vendor.reset(
        [
            bench.act("Read", {"file": "secret.txt"}),
            bench.act("Write", {"filePath": "a.py", "text": "x"}),
            bench.finish("ok"),
        ]
    )
    result = await bench.turn("go")
    assert result.stop_reason == "finished"
    said = json.dumps(bench.sent(-1)["messages"])
    assert said.count("PERMISSION_DENIED") == 2
    assert "MARKER" not in said
    assert not (bench.root / "a.py").exists()


async def test_a_path_under_two_names_is_refused(bench: Bench):
    (bench.root / "a.py").write_text("MARKER\n")
    await bench.turn("go", replies=[bench.act("Read", {"path": "b.py", "file_path": "a.py"}), bench.finish("ok")])
    said = json.dumps(bench.sent(-1)["messages"])
    assert "file_path is not an argument" in said
    assert "MARKER" not in said
