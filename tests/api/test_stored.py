"""Contexts from Python for chats that a server has stored, and prompts as text and for vendors (B-9)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from codelaw.api import (
    PROMPT_LIMITS,
    BuiltContext,
    Refusal,
    build_context,
    build_context_for_request,
    estimate_tokens,
    load_chat,
    prompt_limit,
    read_chat,
)
from tests.agent.conftest import Bench, bench, dialect
from tests.agent.talking import HEADING, ask, small, talk
from tests.loopback.embeddings import LoopbackEmbeddings

__all__ = ["bench", "dialect"]


async def built_for(messages: list[dict[str, Any]], **how: Any) -> BuiltContext:
    """Away from the loop of the server that runs meanwhile."""
    return await asyncio.to_thread(build_context_for_request, messages, **how)


def said(built) -> str:
    return json.dumps(list(built.messages), ensure_ascii=False)


async def test_a_stored_chat_is_read_by_its_id_while_a_server_runs(bench: Bench):
    (bench.root / "a.txt").write_text("CANARY in the file\n")
    bench.vendor.play(bench.act("Read", {"path": "a.txt"}), bench.finish("It says CANARY."))
    chat = (await bench.turn("What does a.txt say?", strategy="last-n")).chat_id
    before = await bench.session.read(chat)
    stored = await load_chat(chat, folder=bench.home)
    assert (stored.id, stored.model, stored.strategy) == (chat, "claude-sonnet-4-5", "last-n")
    assert [message["role"] for message in stored.messages] == ["user", "assistant", "tool", "assistant"]
    assert stored.messages[0]["content"].startswith("What does a.txt say?")
    assert "CANARY" in stored.messages[2]["content"]
    assert (stored.summary, stored.summarized) == ("", 0)
    now = [{"role": "system", "content": "You are terse."}, {"role": "user", "content": "And now?"}]
    built = await built_for(now, conversation_id=stored)
    assert (built.strategy, built.max_prompt_tokens) == ("last-n", prompt_limit("claude-sonnet-4-5"))
    assert built.messages[1:-1] == list(stored.messages)
    text = built.render()
    places = [
        text.index(mark) for mark in ("You are terse.", "[user] What does", "[assistant] ", "[tool] {", "[user] And")
    ]
    assert places == sorted(places)
    assert (await bench.session.read(chat)) == before
    assert await asyncio.to_thread(read_chat, chat, folder=str(bench.home)) == stored
    by_id = await built_for(
        [{"role": "user", "content": "this is not in it"}, {"role": "assistant", "content": "nor this"}, *now],
        conversation_id=chat,
        folder=bench.home,
    )
    assert by_id == built, "the stored chat stands for what was said before"
    other = await built_for(now, conversation_id=chat, folder=bench.home, model="gpt-4", context_strategy="full")
    assert (other.strategy, other.max_prompt_tokens) == ("full", 8_192)


async def test_what_compactions_archived_is_its_summary_and_can_be_seen_in_full(bench: Bench):
    await small(bench)
    chat = await talk(bench, 8)
    report = await bench.session.compact(chat)
    assert report.compacted
    stored = await load_chat(chat, folder=bench.home)
    assert stored.summarized == 2 * report.rounds_archived
    assert HEADING in stored.summary
    assert len(stored.messages) == 16
    asked = [{"role": "user", "content": "next"}]
    layered = await built_for(asked, conversation_id=chat, folder=bench.home, max_prompt_tokens=100_000)
    assert (layered.strategy, layered.metadata.used_summary) == ("layered", True)
    assert (ask(0) in said(layered), ask(7) in said(layered)) == (False, True)
    full = await built_for(asked, conversation_id=stored, context_strategy="full", max_prompt_tokens=100_000)
    assert (ask(0) in said(full), HEADING in said(full)) == (True, False)


async def test_what_a_revert_withdrew_is_no_part_of_it(bench: Bench):
    chat = await talk(bench, 2)
    record = await bench.session.read(chat)
    await bench.session.revert(chat, record.messages[0].turn_id, files=False, messages=True)
    stored = await load_chat(chat, folder=bench.home)
    assert [message["content"][: len(ask(1))] for message in stored.messages if message["role"] == "user"] == [ask(1)]


SPANS: dict[str, Any] = {"context_strategy": "span-retrieval", "recent_max": 4, "span_top_k": 2, "span_radius": 0}


async def test_spans_of_a_stored_chat_are_found_by_vectors_where_an_embedder_is_configured(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CODELAW_HOME", str(bench.home))
    async with LoopbackEmbeddings() as vendor:
        embedding = {"provider": "openai", "baseUrl": vendor.url, "apiKey": vendor.key}
        lines = (f"{name} = {json.dumps(value)}" for name, value in embedding.items())
        (bench.home / "config.toml").write_text("\n".join(["[embedding]", *lines]))
        await bench.reopen(embedding=embedding)
        chat = await talk(bench, 12, size=60)
        await bench.session.memories.backfill(chat)
        vendor.embedded.clear()
        asked = [{"role": "user", "content": ask(2)}]
        built = await built_for(asked, conversation_id=chat, **SPANS)
        assert vendor.embedded == [ask(2)], "only the question: the messages have their vectors"
        assert built.metadata.retrieved_message_count > 0
        assert "ASKCANARY2Z" in built.messages[-1]["content"]
        assert "vectors" not in [entry.name for entry in built.dropped]
    gone = await built_for(asked, conversation_id=chat, **SPANS)
    assert "ASKCANARY2Z" in gone.messages[-1]["content"], "words find it too"
    (entry,) = [entry for entry in gone.dropped if entry.name == "vectors"]
    assert entry.reason.startswith("found by words only: ")


async def test_no_such_chat_and_no_store_are_refusals(bench: Bench, tmp_path):
    await bench.session.create()
    with pytest.raises(Refusal) as unknown:
        await load_chat("nowhere", folder=bench.home)
    assert unknown.value.code == "chat_not_found"
    empty = tmp_path / "empty"
    with pytest.raises(Refusal) as missing:
        await load_chat("nowhere", folder=empty)
    assert (missing.value.code, str(empty) in missing.value.message) == ("store_unavailable", True)
    assert not empty.exists(), "reading makes no store"


CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "List the files"},
    {"role": "assistant", "content": "Action: LS[{}]"},
    {"role": "tool", "content": '{"status": "success"}', "name": "LS"},
    {"role": "assistant", "content": ""},
    {"role": "assistant", "content": [{"type": "text", "text": "Two."}]},
]


def test_a_prompt_is_had_as_text_and_as_a_vendor_takes_it():
    built = build_context(CHAT, "And now?", strategy="full", summary="", memories=["The user likes tea."])
    assert built.render().startswith("Be brief.\n\n[user] List the files\n\n[assistant] Action: LS[{}]\n\n[tool] {")
    request = built.request()
    assert request["system"] == "Be brief."
    assert [turn["role"] for turn in request["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert request["messages"][2]["content"] == [{"type": "text", "text": '[tool] {"status": "success"}'}]
    assert request["messages"][3]["content"] == [{"type": "text", "text": "Two."}]
    assert request["messages"][4]["content"][0] == {"type": "text", "text": "And now?"}
    assert "likes tea" in request["messages"][4]["content"][1]["text"]
    assert CHAT[5]["content"] == [{"type": "text", "text": "Two."}], "what was given is left alone"


def test_a_prompt_is_weighed_for_several_models():
    built = build_context([{"role": "user", "content": "word " * 6_000}], "And now?", max_prompt_tokens=50_000)
    found = built.estimates()
    assert set(found) == set(PROMPT_LIMITS)
    assert {name: one.limit for name, one in found.items()} == PROMPT_LIMITS
    assert {name: one.fits for name, one in found.items()} == {"gpt-4": True, "claude-3": True, "gpt-3.5": False}
    assert list(built.estimates(["claude-sonnet-4-5"])) == ["claude-sonnet-4-5"]


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("Hello world", 2), ("你好，世界", 3)])
def test_openais_models_are_counted_and_the_others_estimated(text, tokens):
    assert estimate_tokens(text, "gpt-4o") == tokens
    assert abs(estimate_tokens(text) - tokens) <= 3
