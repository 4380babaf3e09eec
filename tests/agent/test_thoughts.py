"""What a model thinks and what it says are two things on the screen (R-3, P-6)."""

from __future__ import annotations

from tests.agent.conftest import Bench
from tests.loopback.script import VendorReply


async def test_what_is_said_behind_thinking_begins_a_paragraph_of_its_own(bench: Bench):
    (bench.root / "a.py").write_text("x = 1\n")
    bench.vendor.play(
        bench.act("Read", {"path": "a.py"}, thinking="I look.", thought="So be it"), VendorReply(text="1")
    )
    await bench.turn("What is x?")
    first = [event.delta for event in bench.kinds("thought") if event.step == 1]
    assert "".join(first).startswith("I look.\n\nSo be it")
