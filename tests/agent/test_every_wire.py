"""What goes wrong at the model's side, on each wire, in each dialect and at each place: answered, or told by its name.

The places are the first step of a turn, a later one behind results, and the very end of a stream.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.models.messages.model import MessagesModel
from codelaw.adapters.models.openai.model import OpenAIModel
from codelaw.domain.presets import PRESETS
from tests.agent.conftest import Bench, open_session
from tests.agent.test_control import SURVIVED, quick  # noqa: F401 - a fixture
from tests.loopback.completions import CompletionsVendor
from tests.loopback.responses import ResponsesVendor
from tests.loopback.script import VendorReply, fault
from tests.loopback.server import LoopbackVendor

WIRES: dict[str, tuple[Callable[[], Any], str]] = {
    "messages": (LoopbackVendor, "prompt is too long: 213462 tokens > 200000 maximum"),
    "responses": (ResponsesVendor, "Your input exceeds the context window of this model. Please adjust your input."),
    "gemini": (
        lambda: CompletionsVendor("gemini"),
        "The input token count (213462) exceeds the maximum number of tokens allowed (200000).",
    ),
    "mistral": (
        lambda: CompletionsVendor("mistral"),
        "Prompt contains 213462 tokens, too large for model with 200000 maximum context length",
    ),
}
"""Who answers, and how that one says that it is too much."""
PROVIDERS = {"messages": "anthropic", "responses": "openai"}
TOLD = {"401": "auth_failed", "403": "auth_failed", "413": "context_overflow", "refusal": "model_refused"}
STREAMS = ("reset_midstream", "no_message_stop", "error_event", "overloaded_event", "bad_data_line", "silence")
ANSWER = "The whole answer, in a few pieces that arrive."


@pytest.fixture(params=WIRES)
async def wired(
    request: pytest.FixtureRequest, dialect: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    for model in (MessagesModel, OpenAIModel):
        monkeypatch.setitem(model.__init__.__kwdefaults__ or {}, "silence", 0.5)
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    wire = str(request.param)
    provider = PROVIDERS.get(wire, wire)
    async with WIRES[wire][0]() as vendor:
        made = Bench(dialect, root, home, vendor, None, model=PRESETS[provider].model)  # type: ignore[arg-type]
        made.session = await open_session(made, {"model": {"provider": provider}})
        yield made
        await made.session.close()


def broken(bench: Bench, name: str) -> VendorReply:
    """The fault, in a reply that had the answer in it."""
    in_stream = name in {*STREAMS, "slow_events", "max_tokens"}
    return fault(name, **({"text": bench.finish(ANSWER).text, "chunk": 8} if in_stream else {}))


async def turns(bench: Bench, reply: VendorReply, name: str) -> AsyncIterator[Any]:
    """A turn for each place at which the reply is put."""
    looking, answering = bench.act("Read", {"path": "a.py"}), bench.finish(ANSWER)
    yield await bench.turn("go", replies=[reply, answering])
    yield await bench.turn("go", replies=[looking, reply, answering])
    if name in STREAMS:
        yield await bench.turn("go", replies=[replace(reply, behind=True), answering])


@pytest.mark.parametrize("name", [*SURVIVED, "silence", "hang", "slow_events"])
async def test_what_may_pass_is_asked_again_and_answered(wired: Bench, quick: None, name: str):  # noqa: F811
    async for result in turns(wired, broken(wired, name), name):
        assert (result.stop_reason, result.answer, result.error) == ("finished", ANSWER, None)
    often = 3 if name.endswith("thrice") else 1
    least = 0 if name == "slow_events" else 2 * often
    # A stream that breaks behind its last word has lost nothing on some wires.
    assert least <= len(wired.kinds("retry")) <= least + (name in STREAMS)


@pytest.mark.parametrize("name", TOLD)
async def test_what_stays_is_told_by_its_name_and_asked_once(wired: Bench, name: str):
    async for result in turns(wired, fault(name, times=0), name):
        assert result.error is not None
        assert result.error.code == TOLD[name], result.error
        assert len(result.error.hint) > 20
    assert wired.kinds("retry") == []


async def test_a_request_that_is_too_long_is_told_in_the_vendors_words(wired: Bench, request: pytest.FixtureRequest):
    words = WIRES[request.node.callspec.params["wired"]][1]
    told = fault("prompt_too_long", error_message=words, times=0)
    async for result in turns(wired, told, "prompt_too_long"):
        assert result.error is not None
        assert result.error.code == "context_overflow"
        assert words in result.error.message
    assert len(wired.kinds("retry")) <= 2


@pytest.mark.parametrize("name", ["bad_json_call", "unknown_tool", "empty_reply"])
async def test_what_the_model_can_mend_is_told_to_it(wired: Bench, name: str):
    async for result in turns(wired, fault(name), name):
        assert (result.stop_reason, result.answer) == ("finished", ANSWER)
        said = wired.vendor.messages[-1].body.decode()
        if name == "empty_reply":
            assert "Your last reply was empty" in said
        elif wired.dialect == "native":
            assert {"unknown_tool": "NoSuchTool", "bad_json_call": "JSON"}[name] in said


async def test_an_answer_that_was_cut_goes_on(wired: Bench):
    whole = wired.finish(ANSWER).text
    half = VendorReply(text=whole[:30].rstrip(), stop_reason="max_tokens")
    rest = VendorReply(text=whole[len(whole[:30].rstrip()) :])
    result = await wired.turn("go", replies=[half, rest])
    assert (result.stop_reason, result.answer) == ("finished", ANSWER)
    result = await wired.turn("go", replies=[wired.act("Read", {"path": "a.py"}), half, rest])
    assert (result.stop_reason, result.answer) == ("finished", ANSWER)
