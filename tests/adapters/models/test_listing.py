"""What endpoints list of their models, each in its own spelling, and what none may do to us (P-4, S-6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from codelaw.adapters.models.listing import LONGEST_NAME, MOST, Listing, ask
from codelaw.app import models
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import Prices
from codelaw.domain.presets import PRESETS
from codelaw.settings.effective import load_settings
from tests.loopback.lists import Serving, ollama


async def listing(name: str, served: Mapping[str, Any], path: str = "") -> tuple[Listing, Serving]:
    """What is made of an answer to the preset `name`, whose base URL ends in `path`."""
    preset = PRESETS[name]
    async with Serving(served) as endpoint:
        environ = {preset.address: endpoint.url + path, "CODELAW_MODEL__PROVIDER": name}
        environ |= {preset.keys[0]: "k3y-of-its-own"} if preset.keys else {}
        settings = load_settings(environ=environ).value.model
        speaker = models.speaker(settings, preset)
        try:
            return await ask(speaker, preset, settings.address_of(name)), endpoint
        finally:
            await speaker.close()


async def sizes(name: str, served: Mapping[str, Any], path: str = "") -> dict[str, int | None]:
    """The windows by model: what it has, not what is used of it."""
    found, _ = await listing(name, served, path)
    return {
        model: None if one is None else one.largest_window or one.context_window for model, one in found.models.items()
    }


def data(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"object": "list", "data": rows}


CLAUDE = {"type": "model", "id": "claude-new-9", "max_input_tokens": 900_000, "max_tokens": 64_000}
ROUTED = {
    "id": "some/model",
    "context_length": 400_000,
    "architecture": {"input_modalities": ["text", "image"]},
    "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
    "top_provider": {"context_length": 128_000, "max_completion_tokens": 16_000},
}
MISTRAL = {"id": "m", "max_context_length": 131_072, "capabilities": {"completion_chat": True, "vision": True}}
EMBEDS = {"id": "e", "max_context_length": 8000, "capabilities": {"completion_chat": False}}
LOADED = {"key": "qwen/q", "type": "llm", "max_context_length": 131_072, "loaded_instances": [{"config": {"context_length": 16_384}}]}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "path", "served", "expected"),
    [
        ("anthropic", "", {"/v1/models": data(CLAUDE)}, {"claude-new-9": 900_000}),
        ("openai", "/v1", {"/v1/models": data({"id": "gpt-99"})}, {"gpt-99": None}),
        ("openrouter", "/api", {"/api/v1/models": data(ROUTED)}, {"some/model": 128_000}),
        ("gemini", "/v1beta/openai", {"/v1beta/openai/models": data({"id": "models/gem-9"})}, {"gem-9": None}),
        ("mistral", "/v1", {"/v1/models": data(MISTRAL, EMBEDS)}, {"m": 131_072}),
        ("groq", "/openai/v1", {"/openai/v1/models": data({"id": "g", "context_window": 9000})}, {"g": 9000}),
        ("deepseek", "/anthropic", {"/models": data({"id": "d"})}, {"d": None}),
        ("moonshot", "/anthropic", {"/v1/models": data({"id": "k", "context_length": 7000})}, {"k": 7000}),
        ("zai", "/api/anthropic", {"/api/paas/v4/models": data({"id": "z"})}, {"z": None}),
        (
            "lmstudio",
            "",
            {"/api/v1/models": {"models": [LOADED, {"key": "x", "type": "embedding"}]}},
            {"qwen/q": 16_384},
        ),
        ("lmstudio", "", {"/v1/models": data({"id": "older"})}, {"older": None}),
        (
            "llamacpp",
            "",
            {"/v1/models": data({"id": "l"}), "/props": {"default_generation_settings": {"n_ctx": 8192}}},
            {"l": 8192},
        ),
        ("vllm", "", {"/v1/models": data({"id": "v", "max_model_len": 32_768})}, {"v": 32_768}),
        ("ollama", "", ollama("a", "b", running={"a": 4096}), {"a": 4096, "b": None}),
        ("ollama", "", ollama("a", num_ctx=16_384), {"a": 16_384}),
    ],
)
async def test_windows_are_read_as_each_one_spells_them(name, path, served, expected):
    assert await sizes(name, served, path) == expected


async def test_a_gateway_says_prices_pictures_and_lengths():
    found, endpoint = await listing("openrouter", {"/v1/models": data(ROUTED)})
    one = found.models["some/model"]
    assert one is not None
    assert (one.max_output, one.images, one.prices) == (16_000, True, Prices(3, 15, 0.3, 3))
    assert endpoint.looked_up[0].headers["authorization"] == "Bearer k3y-of-its-own"


async def test_a_local_server_that_does_not_say_its_window_is_unsized():
    found, _ = await listing("ollama", ollama("a", "b", running={"a": 4096}))
    assert found.unsized
    found, _ = await listing("ollama", ollama("a", running={"a": 4096}))
    assert not found.unsized


async def test_a_list_of_many_is_cut_and_says_by_how_much():
    many = [{"id": f"model-{number}"} for number in range(10_000)]
    found, _ = await listing("openai", {"/models": data(*many, *many)})
    assert (len(found.models), found.left_out) == (MOST, 10_000 - MOST)


async def test_names_are_foreign_text_and_each_counts_once():
    odd = ["a", "a", "b\x1b[2J", "c\u202e", "two words", "", "n" * (LONGEST_NAME + 1), 7, None, "d\n", "e/f:g"]
    found, _ = await listing("openai", {"/models": data(*({"id": one} for one in odd))})
    assert [*found.models] == ["a", "e/f:g"]


@pytest.mark.parametrize("answer", [data(), {}, [], {"data": None}, {"data": {"id": "x"}}, {"data": ["x", 1, None]}])
async def test_a_list_of_none_is_none(answer):
    found, _ = await listing("openai", {"/models": answer})
    assert found.models == {}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>hello</html>", "malformed"),
        (b'{"data": [' + b'{"id": "x"},' * 40_000 + b"{}]}", "malformed"),
        (b'{"data": "' + b"x" * (9 << 20) + b'"}', "invalid"),
        (b"[" * 100_000, "malformed"),
        (None, "invalid"),
    ],
)
async def test_what_is_no_list_is_a_failure_of_its_kind(body, kind):
    with pytest.raises(ModelFailure) as caught:
        await listing("openai", {"/models": body})
    assert caught.value.kind == kind


async def test_a_list_says_what_the_data_do_not_know_and_no_more():
    found, _ = await listing("anthropic", {"/v1/models": data({"id": "claude-haiku-5-5"}, CLAUDE)})
    assert json.dumps([*found.models]) == '["claude-haiku-5-5", "claude-new-9"]'
    assert found.models["claude-haiku-5-5"] is None
    known = found.models["claude-new-9"]
    assert known is not None
    assert replace(known, name="x").max_output == 64_000
