"""Each preset that speaks the Messages API asks at its path, with its header and its name of the model (P-4)."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

from codelaw.agent.model_calls.redacting_model import RedactingModel
from codelaw.app import models
from codelaw.domain.errors import ModelFailure, Refusal
from codelaw.domain.models import ApiMessage, ModelRequest, TextBlock
from codelaw.domain.presets import PRESETS, Preset
from codelaw.domain.safety.redaction import Redaction
from codelaw.settings.effective import load_settings

SPOKEN = [preset for preset in PRESETS.values() if preset.wire == "messages"]


@pytest.mark.parametrize("preset", SPOKEN, ids=lambda preset: preset.name)
async def test_a_preset_is_asked_where_and_as_its_vendor_says(preset):
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
        heard.extend((head, await reader.readexactly(length)))
        writer.write(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        environ = {preset.address: f"http://127.0.0.1:{port}/base", "CODELAW_MODEL__PROVIDER": preset.name}
        environ |= {preset.keys[0]: "k3y-of-its-own"} if preset.keys else {}
        settings = load_settings(environ=environ).value
        model = RedactingModel(models.make_model(settings, preset.name), Redaction(), f"{preset.name}/")
        request = ModelRequest(f"{preset.name}/some-model", (), (ApiMessage("user", (TextBlock("hi"),)),), 100)
        with pytest.raises(ModelFailure) as caught:
            await model.reply(request, lambda _: None)
        await model.close()
    head, body = heard
    assert caught.value.kind == "auth"
    assert head.startswith(b"POST /base/v1/messages")
    assert b'"some-model"' in body
    if preset.keys:
        assert b"bearer k3y-of-its-own" in head.lower()
        assert (b"\r\nx-api-key: k3y-of-its-own" in head.lower()) == (preset.header == "x-api-key")


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_without_the_package_a_refusal_says_how_to_add_it(preset: Preset, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setattr("sys.prefix", "/nowhere")
    settings = load_settings(environ={}).value
    if preset in SPOKEN:
        assert models.make_model(settings, preset.name)
        return
    with pytest.raises(Refusal, match=f"{preset.title} is asked by the package `openai`") as refused:
        models.make_model(settings, preset.name)
    assert refused.value.code == "model_unavailable"
    assert re.search(r"pip install .*openai", refused.value.hint), "the whole command stands there"


def test_the_extension_knows_whom_that_package_asks():
    source = (Path(__file__).parents[3] / "editor-client/src/server/extras.ts").read_text(encoding="utf-8")
    listed = re.search(r"BY_OPENAI = \[(.*?)\]", source, re.DOTALL)
    assert listed is not None
    assert {*re.findall(r'"(\w+)"', listed[1])} == {one.name for one in PRESETS.values() if one not in SPOKEN}


def test_a_choice_may_name_another_provider_that_has_a_key():
    both = {"ANTHROPIC_API_KEY": "a", "DEEPSEEK_API_KEY": "d"}
    settings = load_settings(environ=both).value
    for name, provider, host in (
        ("", "anthropic", "api.anthropic.com"),
        ("claude-haiku-5-5", "anthropic", "api.anthropic.com"),
        ("deepseek/deepseek-flash", "deepseek", "api.deepseek.com"),
        ("ollama/qwen3", "ollama", "localhost:11434"),
        ("editor/copilot/x", "editor", models.LENDER),
    ):
        asked = models.answerer(settings, chosen=name)
        assert (asked.provider, asked.host) == (provider, host), name
    with pytest.raises(Refusal, match="no key of OpenAI") as refused:
        models.check_choice(settings, "openai/gpt-6.2-sol")
    assert "OPENAI_API_KEY" in refused.value.hint


@pytest.mark.parametrize("gateway", [{"OPENROUTER_API_KEY": "r", "CODELAW_MODEL__PROVIDER": "openrouter"}, {"ANTHROPIC_BASE_URL": "http://gateway"}])  # fmt: skip
def test_a_gateways_own_names_begin_with_vendors(gateway):
    settings = load_settings(environ={"OPENAI_API_KEY": "o", **gateway}).value
    now = settings.model.chosen_provider
    assert models.answerer(settings, chosen="openai/gpt-6").provider == now
    assert models.prefix_of(settings.model, now) == ""
    assert models.answerer(settings, chosen="ollama/qwen3").provider == "ollama"
    assert models.prefix_of(settings.model, "ollama") == "ollama/"


@pytest.mark.parametrize("preset", [one for one in PRESETS.values() if one.model], ids=lambda preset: preset.name)
def test_the_usual_model_of_a_vendor_is_the_answer_to_its_key_alone(preset):
    settings = load_settings(environ={preset.keys[0]: "key"}).value
    asked = models.answerer(settings)
    assert (asked.provider, asked.name) == (preset.name, preset.model)


def test_the_table_for_people_has_every_vendor_in_the_order_of_auto():
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text()
    rows = re.findall(r"^\| (`[^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", page, re.MULTILINE)
    wires = {"messages": "Messages", "responses": "Responses", "completions": "Chat Completions"}
    rows = [row for row in rows if row[1] != "variable"]
    names = {name for row in rows for name in re.findall(r"`([^`]+)`", row[0])}
    assert names == {*PRESETS}
    expected = [
        (
            f"`{one.name}`",
            ", ".join(f"`{key}`" for key in one.keys if "TOKEN" not in key),
            f"`{one.model}`",
            wires[one.wire],
        )
        for one in PRESETS.values()
        if one.model
    ]
    assert rows[: len(expected)] == expected
