"""The engine over Chat Completions: parallel calls, a follow-up and a restart, with each vendor, in both dialects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codelaw.domain.files import Folder
from codelaw.domain.presets import PRESETS
from codelaw.settings.effective import load_settings
from tests.agent.conftest import Bench, open_session
from tests.fakes.editor import Buffers, User
from tests.fakes.flat_session import Session
from tests.fakes.fresh_store import put_store
from tests.loopback.completion_rules import FLAVOURS
from tests.loopback.completions import CompletionsVendor
from tests.loopback.script import VendorReply

NAMED = {"gemini": "gemini-3.8-flash", "mistral": "mistral-large-4", "groq": "openai/gpt-oss-120b"}
"""The provider of a flavour has its name; all others are asked where xAI would be."""
LEARNED = {"mistral": 1, "groq": 1, "newer": 1, "plain400": 1, "plain422": 1}
"""Refusals by which it is known what a vendor does not take."""
READS = [{"name": "Read", "input": {"path": path}} for path in ("a.py", "b.py")]


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_turn_with_two_calls_a_follow_up_and_a_restart(
    flavour: str, dialect: str, tmp_path: Path, home: Path
) -> None:
    root = tmp_path / "work"
    root.mkdir()
    for number, path in enumerate(("a.py", "b.py")):
        (root / path).write_text(f"x = {number}\n")
    async with CompletionsVendor(flavour) as vendor:
        name = NAMED.get(flavour, "grok-4.5")
        bench = Bench(dialect, root, home, vendor, None, model=name)  # type: ignore[arg-type]
        settings = {"model": {"provider": flavour if flavour in NAMED else "xai"}}
        bench.session = await open_session(bench, settings)
        both = "".join(f"Action: Read[{json.dumps(call['input'])}]\n" for call in READS)
        asks = (
            VendorReply(text="I read both.", thinking="Hm.", calls=READS)
            if dialect == "native"
            else VendorReply(text=f"Thought: I read both.\n{both}", thinking="Hm.", calls=())
        )
        again = bench.act("Read", {"path": "b.py"}, thinking="Hm?")
        vendor.script = [asks, bench.finish("They differ.", thinking="So."), again, bench.finish("By one.")]
        first = await bench.turn("Compare a.py and b.py.")
        assert (first.stop_reason, first.answer, first.steps) == ("finished", "They differ.", 2), first
        second = await bench.turn("By how much?", first.chat_id)
        assert (second.stop_reason, second.answer) == ("finished", "By one."), second
        refused = len(vendor.refused)
        await bench.reopen(**settings)
        vendor.script = [bench.finish("Sure.")]
        third = await bench.turn("Sure?", first.chat_id)
        await bench.session.close()
    assert (third.stop_reason, third.answer) == ("finished", "Sure."), third
    assert refused <= LEARNED.get(flavour, 0) * (1 + (dialect == "native")), vendor.refused
    assert vendor.script == []
    sent = vendor.answered[-1].body.decode()
    assert all(f"x = {number}" in sent for number in range(2))
    if dialect == "native" and vendor.flavour.signed:
        assert sent.count("thought_signature") == 2
    if dialect == "native" and vendor.flavour.thinks in {"reasoning_content", "details", "parts"}:
        assert vendor.given[0] in [one for said in vendor.answered[-1].said for one in returned(said)]


@pytest.mark.parametrize("provider", ["gemini", "mistral", "xai", "groq"])
async def test_a_key_alone_is_enough_for_a_first_answer(provider: str, tmp_path: Path, home: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    await put_store(home / "codelaw.db")
    preset = PRESETS[provider]
    flavour = provider if provider in FLAVOURS else "openai"
    async with CompletionsVendor(flavour, VendorReply(text="Thought: I know.\nAction: Finish[Yes.]")) as vendor:
        settings = load_settings(environ={preset.keys[0]: "key-of-0815", preset.address: vendor.url})
        session = await Session.open(
            settings=settings,
            folders=[Folder(root.name, root, root.as_uri())],
            documents=Buffers(),
            approver=User(),
            emit=lambda _: None,
            home=home,
        )
        result = await (await session.send(None, "Can you hear me?")).result()
        await session.close()
    assert (result.stop_reason, result.answer, result.model) == ("finished", "Yes.", preset.model), result
    assert vendor.answered[-1].json()["model"] == preset.model
    assert vendor.answered[-1].headers["authorization"] == "Bearer key-of-0815"


def returned(said: dict[str, object]) -> list[object]:
    content = said.get("content")
    return [*said.values(), *(content if isinstance(content, list) else ())]
