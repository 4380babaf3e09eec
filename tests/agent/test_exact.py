"""The vendor's count of what would be sent, on request (W-4)."""

from __future__ import annotations

from typing import Any

from tests.agent.conftest import Bench, open_session

OFFLINE: dict[str, Any] = {"model": {"provider": "offline", "name": "offline"}}


async def test_the_vendor_counts_what_the_next_step_sends(bench: Bench):
    bench.vendor.play(bench.finish("first"), bench.finish("second"))
    chat = (await bench.turn("What is here?")).chat_id
    report = await bench.session.inspect(chat, "And what else?", exact=True)
    assert len(bench.vendor.counted) == 1
    await bench.turn("And what else?", chat)
    assert report.exact_tokens == bench.vendor.messages[-1].tokens
    assert report.exact_problem == ""
    asked, sent = bench.vendor.counted[0].json, bench.sent()
    assert (asked["system"], asked["messages"]) == (sent["system"], sent["messages"])
    assert asked.get("tools") == sent.get("tools")


async def test_why_there_is_no_count_is_told_and_the_estimate_stays(bench: Bench):
    empty = await bench.session.inspect(None, None, exact=True)
    assert empty.exact_problem == "There is no message yet that could be counted."
    bench.vendor.counts = False
    nobody = await bench.session.inspect(None, "What is here?", exact=True)
    assert nobody.exact_problem == "Nobody counts tokens where this model is asked."
    bench.vendor.key = "another"
    refused = await bench.session.inspect(None, "What is here?", exact=True)
    assert refused.exact_problem.startswith("The vendor did not count: ")
    assert "sk-test" not in refused.exact_problem
    for report in (empty, nobody, refused):
        assert report.exact_tokens is None
        assert report.total_tokens > 0
    await bench.vendor.stop()
    gone = await bench.session.inspect(None, "What is here?", exact=True)
    assert "No connection to" in gone.exact_problem


async def test_a_chat_that_never_left_this_machine_is_not_sent_to_be_counted(bench: Bench):
    await bench.session.close()
    bench.session = await open_session(bench, OFFLINE)
    chat = (await bench.turn("What is here?")).chat_id
    offline = await bench.session.inspect(chat, "And what else?", exact=True)
    assert offline.exact_problem == "Nobody counts tokens where this model is asked."
    await bench.reopen()
    report = await bench.session.inspect(chat, "And what else?", exact=True)
    assert report.exact_problem == "This chat has not left this machine, and was not sent to be counted."
    assert bench.vendor.requests == []


async def test_nobody_is_asked_unless_it_is_wanted(bench: Bench):
    report = await bench.session.inspect(None, "What is here?")
    assert (report.exact_tokens, report.exact_problem) == (None, "")
    assert bench.vendor.requests == []
