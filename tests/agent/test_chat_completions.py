"""The engine over Chat Completions: parallel calls, a follow-up and a restart, with each vendor, in both dialects."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from codelaw.agent.model_calls import recovery
from tests.agent.conftest import Bench, open_session
from tests.loopback.completion_rules import FLAVOURS
from tests.loopback.completions import CompletionsVendor
from tests.loopback.script import VendorReply

NAMED = {"gemini": "gemini-3.8-flash", "mistral": "mistral-large-4", "groq": "openai/gpt-oss-120b",
         "xai": "grok-4.5"}  # fmt: skip
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
        vendor.play(asks, bench.finish("They differ.", thinking="So."), again, bench.finish("By one."))
        first = await bench.turn("Compare a.py and b.py.")
        assert (first.stop_reason, first.answer, first.steps) == ("finished", "They differ.", 2), first
        second = await bench.turn("By how much?", first.chat_id)
        assert (second.stop_reason, second.answer) == ("finished", "By one."), second
        refused = len(vendor.refused)
        await bench.reopen(**settings)
        vendor.play(bench.finish("Sure."))
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


Play = Callable[[str], AbstractAsyncContextManager[Bench]]


@pytest.fixture
def play(dialect: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Opens a bench with a vendor; nobody waits for another attempt."""
    real = recovery.delay
    monkeypatch.setattr(recovery, "delay", lambda *given: None if real(*given) is None else 0.001)

    @asynccontextmanager
    async def playing(flavour: str) -> AsyncIterator[Bench]:
        async with CompletionsVendor(flavour) as vendor:
            name, provider = NAMED.get(flavour, "grok-4.5"), flavour if flavour in NAMED else "xai"
            bench = Bench(dialect, tmp_path, home, vendor, None, model=name)  # type: ignore[arg-type]
            bench.session = await open_session(bench, {"model": {"provider": provider}})
            yield bench
            await bench.session.close()

    return playing


@pytest.mark.parametrize("flavour", ["openai", "gemini", "mistral", "ollama"])
async def test_a_call_that_was_cut_is_not_run(play: Play, flavour: str) -> None:
    async with play(flavour) as bench:
        call = bench.act("Write", json.dumps({"path": "new.py", "content": "x" * 200})[:120])
        bench.vendor.play(replace(call, stop_reason="max_tokens"), bench.finish("I could not."))
        result = await bench.turn("go")
        assert not (bench.root / "new.py").exists()
    assert (result.stop_reason, result.answer) == ("finished", "I could not."), result


def returned(said: dict[str, object]) -> list[object]:
    content = said.get("content")
    return [*said.values(), *(content if isinstance(content, list) else ())]
