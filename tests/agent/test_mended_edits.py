"""Edits that miss, as the model and the user are told of them (T-5, S-5)."""

from __future__ import annotations

import json
from typing import Any

from tests.agent.conftest import Bench

SHAPED = "sk-ant-api03-" + "Zq7" * 20


async def edited(bench: Bench, name: str, text: str, **sent: Any) -> str:
    """What the model is told of an edit behind a Read."""
    (bench.root / name).write_text(text)
    bench.vendor.reset(
        [bench.act("Read", {"path": name}), bench.act("Edit", {"path": name, **sent}), bench.finish("ok")]
    )
    result = await bench.turn("go")
    assert result.stop_reason == "finished"
    return json.dumps(bench.sent(-1)["messages"][-1], ensure_ascii=False)


async def test_a_mended_edit_is_told_to_model_and_user(bench: Bench):
    said = await edited(bench, "a.py", "one\ntwo\n", old_string="    2\ttwo", new_string="    2\tzwei")
    assert (bench.root / "a.py").read_text() == "one\nzwei\n"
    for words in ("partial", "fits line 2 alone", "line numbers taken off", "Check the diff"):
        assert words in said
    ended = bench.kinds("tool_call")[-1]
    assert ended.status == "completed"
    assert "line numbers taken off" in ended.summary
    assert "+zwei" in ended.diff


async def test_what_is_asked_about_is_what_is_written(bench: Bench):
    await edited(bench, "a.py", "one\ntwo\n", old_string="    2\ttwo", new_string="    2\tzwei")
    (question,) = bench.user.asked
    assert question.diff == "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei"


async def test_the_nearest_text_of_a_file_of_keys_shows_no_key(bench: Bench):
    said = await edited(bench, ".env", f"DEBUG=1\nAPI={SHAPED}\n", old_string="DEBUG=1\nAPI=x", new_string="x")
    assert "The nearest is lines 1-2" in said
    assert SHAPED not in json.dumps(bench.sent(-1))
    assert "[redacted" in said
