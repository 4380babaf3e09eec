"""web_search: the vendor's own tool, in the native dialect (X-1)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from codelaw.adapters.models.catalog import profile
from codelaw.settings.effective import load_settings
from tests.agent.conftest import Bench

SEARCHES = (
    {"query": "how to fold", "pages": [["Folding", "https://a.example/fold"], ["", "https://b.example/"]]},
    {"query": "again", "error": "max_uses_exceeded"},
)


@pytest.mark.parametrize("dialect", ["native"], indirect=True)
async def test_the_vendor_is_offered_its_tool_and_what_it_searched_is_shown_and_stored(bench: Bench):
    await bench.reopen(tools={"webSearch": True})
    bench.vendor.reset([bench.finish("Fold it twice.", searches=SEARCHES), bench.finish("And again.")])
    result = await bench.turn("How do I fold?", mode="ask")
    assert result.answer == "Fold it twice."
    tools = bench.sent()["tools"]
    assert tools[-1] == {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    found, failed = bench.kinds("tool_call")
    assert (found.tool, found.title, found.status) == ("web_search", "Search the web: how to fold", "completed")
    assert found.summary == "Folding https://a.example/fold\nhttps://b.example/"
    assert (failed.status, failed.summary) == ("failed", "The search failed: max_uses_exceeded.")
    stored = [
        event.event.call_id
        for event in (await bench.session.read(result.chat_id)).events
        if event.event.kind == "tool_call"
    ]
    assert stored == [found.call_id, failed.call_id]
    record = await bench.session.read(result.chat_id)
    one, two = record.messages[-1].metadata.searches
    assert [(page.title, page.url) for page in one.found] == [
        ("Folding", "https://a.example/fold"),
        ("", "https://b.example/"),
    ]
    assert (two.query, two.problem) == ("again", "max_uses_exceeded")
    assert result.usage.web_searches == 1, "a search that fails costs nothing"
    assert result.cost_usd is not None
    tokens = replace(result.usage, web_searches=0)
    prices = profile("claude-sonnet-4-5").prices
    assert result.cost_usd == pytest.approx(prices.cost(tokens) + 0.01)
    reported = await bench.session.export(result.chat_id, "markdown")
    assert "- Folding https://a.example/fold\n- https://b.example/" in reported
    assert json.loads(await bench.session.export(result.chat_id, "json"))["messages"][-1]["metadata"]["searches"]
    await bench.reopen(tools={"webSearch": True})
    again = await bench.session.read(result.chat_id)
    assert again.messages[-1].metadata.searches == (one, two), "it is stored"
    first = bench.sent()
    await bench.turn("go on", result.chat_id)
    assert bench.sent()["tools"] == first["tools"]
    assert bench.sent()["system"][0]["text"] == first["system"][0]["text"]
    assert ", web_search." in first["system"][0]["text"]
    reported = {one.name: one for one in (await bench.session.inspect(result.chat_id, None)).tools}
    assert reported["web_search"].offered


@pytest.mark.parametrize("dialect", ["native"], indirect=True)
async def test_a_search_that_is_paused_goes_on(bench: Bench):
    await bench.reopen(tools={"webSearch": True})
    paused = bench.finish("First half, ", searches=SEARCHES[:1], stop_reason="pause_turn")
    result = await bench.turn("go", replies=[paused, bench.finish("second half.", searches=SEARCHES[1:])])
    assert result.answer == "First half, second half."
    assert [event.status for event in bench.kinds("tool_call")] == ["completed", "failed"]


def test_in_the_text_dialect_it_has_no_effect_and_says_so():
    settings = {"tools": {"webSearch": True}, "model": {"apiKey": "sk-test", "dialect": "react"}}
    (problem,) = load_settings(environ={}, client=settings).problems
    assert problem.message.startswith("tools.webSearch has no effect: ")
    for fine in ("auto", "native"):
        settings["model"] |= {"dialect": fine}
        assert load_settings(environ={}, client=settings).problems == []


@pytest.mark.parametrize("dialect", ["native"], indirect=True)
async def test_it_is_not_offered_where_it_is_off(bench: Bench):
    bench.vendor.reset([bench.finish("ok")])
    chat = (await bench.turn("go")).chat_id
    assert "web_search" not in str(bench.sent())
    told = {one.name: one for one in (await bench.session.inspect(chat, None)).tools}
    assert told["web_search"].reason == "not enabled: tools.webSearch in the dialect `native`"
