"""The engine over Chat Completions: parallel calls, a follow-up and a restart, with each vendor, in both dialects."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codelaw.agent.model_calls import recovery
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
    assert vendor.answered[-1].json["model"] == preset.model
    assert vendor.answered[-1].headers["authorization"] == "Bearer key-of-0815"


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


@pytest.mark.parametrize("flavour", ["openai", "gemini"])
@pytest.mark.parametrize("broken", ["reset", "end", "error_event", "bad_line"])
@pytest.mark.parametrize("place", ["front", "middle", "end"])
async def test_a_stream_that_breaks_anywhere_is_gone_on_with(play: Play, flavour: str, broken: Any, place: str) -> None:
    async with play(flavour) as bench:
        whole = bench.finish("The whole answer, in a few pieces that arrive.", chunk=1000 if place == "front" else 16)
        bench.vendor.play(replace(whole, broken=broken, behind=place == "end"), whole)
        result = await bench.turn("go")
    assert (result.stop_reason, result.answer) == ("finished", "The whole answer, in a few pieces that arrive."), result
    # Where the reason to stop has come, only the mark behind it is missing; an error there is one all the same.
    lost = place != "end" or flavour == "gemini" or broken in {"error_event", "bad_line"}
    assert len(bench.kinds("retry")) == lost


@pytest.mark.parametrize("flavour", ["openai", "gemini", "mistral"])
@pytest.mark.parametrize(
    ("refused", "told"),
    [
        ((429, "Too many requests", "rate_limit_exceeded"), None),
        ((500, "Internal error", "server_error"), None),
        ((503, "The model is overloaded.", "x"), None),
        ((529, "Overloaded", "overloaded_error"), None),
        ((401, "No such key", "invalid_api_key"), "auth_failed"),
        ((400, "API key not valid. Please pass a valid API key.", "x"), "auth_failed"),
        ((402, "Insufficient Balance", "x"), "spending_limit"),
        ((404, "The model `x` does not exist", "model_not_found"), "model_not_found"),
    ],
)
async def test_what_is_refused_is_asked_again_or_told_by_its_name(
    play: Play, flavour: str, refused: tuple[int, str, str], told: str | None
) -> None:
    async with play(flavour) as bench:
        status, words, code = refused
        refusal = VendorReply(status=status, error_message=words, error_type=code)
        bench.vendor.play(refusal, bench.finish("Here."))
        result = await bench.turn("go")
    assert (result.stop_reason, result.error and result.error.code) == ("finished" if told is None else "failed", told)
    assert len(bench.kinds("retry")) == (told is None)


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
