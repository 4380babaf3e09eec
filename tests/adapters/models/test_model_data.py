"""How the data of the catalog is made of a price list."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from importlib.resources import files
from typing import Any

import pytest

from scripts import models

OURS = {"name": "claude-ours", "provider": "anthropic", "context_window": 200_000, "max_output": 1000}


def fact(provider, window: Any = 100_000, output: Any = 10_000, paid: Any = 1e-06, answered: Any = 5e-06, **others):
    return {
        "litellm_provider": provider,
        "mode": "chat",
        "max_input_tokens": window,
        "max_output_tokens": output,
        "input_cost_per_token": paid,
        "output_cost_per_token": answered,
        "supports_function_calling": True,
        **others,
    }


def made(source, *overlay):
    return {row["name"]: row for row in models.models(source, list(overlay))}


def test_a_row_has_the_facts_and_prices_per_million():
    cached = {"cache_read_input_token_cost": 1e-07, "cache_creation_input_token_cost": 1.25e-06}
    assert models.models({"claude-x": fact("anthropic", supports_prompt_caching=True, **cached)}, []) == [
        {
            "name": "claude-x",
            "provider": "anthropic",
            "context_window": 100_000,
            "max_output": 10_000,
            "tools": True,
            "caching": True,
            "images": False,
            "prices": {"input": 1, "output": 5, "cache_read": 0.1, "cache_write": 1.25},
        }
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "embedding"},
        {"max_input_tokens": None},
        {"max_input_tokens": "max input tokens"},
        {"max_input_tokens": 0},
        {"max_output_tokens": None},
        {"litellm_provider": "groq"},
    ],
)
def test_what_cannot_be_used_is_left_out(wrong):
    assert made({"gpt-x": fact("openai") | wrong}) == {}


def test_a_release_that_nothing_shorter_stands_for_gives_the_model_its_name():
    source = {
        "anthropic.claude-x-20240101-v1:0": fact("bedrock", 50_000),
        "anthropic.claude-x-20250101-v1:0": fact("bedrock"),
    }
    rows = made(source)
    assert {name: row["context_window"] for name, row in rows.items()} == {
        "claude-x": 100_000,
        "claude-x-20240101": 50_000,
    }


def test_a_cloud_adds_nothing_to_what_the_vendor_sells():
    source = {
        "claude-x": fact("anthropic"),
        "anthropic.claude-x-v1:0": fact("bedrock"),
        "us.anthropic.claude-x-v1:0": fact("bedrock_converse", paid=1.1e-06),
        "vertex_ai/claude-x@20250101": fact("vertex_ai-anthropic_models"),
        "azure_ai/claude-x": fact("azure_ai"),
        "openrouter/anthropic/claude-x": fact("openrouter"),
    }
    assert list(made(source)) == ["claude-x"]


def test_a_cloud_with_a_smaller_window_has_an_entry_of_its_own():
    source = {
        "gpt-x": fact("openai"),
        "azure/gpt-x": fact("azure", 50_000),
        "azure/gpt-x-2025-01-01": fact("azure", 200_000),
    }
    assert {name: row["context_window"] for name, row in made(source).items()} == {
        "gpt-x": 100_000,
        "azure/gpt-x": 50_000,
    }


def test_what_we_say_stands_against_the_list_and_comes_first():
    source = {
        "claude-ours": fact("anthropic", 1_000_000),
        "claude-ours-20250101": fact("anthropic", 1_000_000),
        "us.anthropic.claude-ours-v1:0": fact("bedrock", 50_000),
        "claude-a": fact("anthropic"),
    }
    rows = models.models(source, [OURS])
    prices = {"input": 1, "output": 5, "cache_read": 1, "cache_write": 1}
    assert rows[0] == OURS | {"prices": prices}, "only the prices it lacks are filled in"
    assert [row["name"] for row in rows] == ["claude-ours", "claude-a"]
    assert models.models(source, [OURS | {"prices": {"input": 7}}])[0]["prices"] == {"input": 7}
    assert models.models({}, [OURS]) == [OURS]
    assert "prices" not in OURS
    assert models.differences(source, [OURS]) == [
        "claude-ours: context_window is 200000 here and 1000000 in the list",
        "claude-ours: max_output is 1000 here and 10000 in the list",
    ]


def committed():
    return files("codelaw").joinpath("data", "models.json").read_text(encoding="utf-8")


def listed_as(row):
    """Where and how a price list would say what a row of our data says."""
    name = row["name"]
    for origin in models.ORIGINS:
        if origin.vendor == row["provider"] and re.match(origin.names, name, re.IGNORECASE):
            prefix = "" if origin.prefix.startswith("(") else origin.prefix.replace("\\", "")
            return f"{prefix}{name}", origin.providers.split()[0]
    return name, "a cloud"


def facts_of(row, provider):
    prices = {kind: price / 1e6 for kind, price in row.get("prices", {}).items() if kind != "steps"}
    facts = fact(provider, row["context_window"], row["max_output"], prices.get("input"), prices.get("output"))
    if prices and prices["cache_read"] != prices["input"]:
        facts["cache_read_input_token_cost"] = prices["cache_read"]
    if prices and prices["cache_write"] != prices["input"]:
        facts["cache_creation_input_token_cost"] = prices["cache_write"]
    able = {"supports_function_calling": "tools", "supports_prompt_caching": "caching", "supports_vision": "images"}
    return facts | {said: row[kept] for said, kept in able.items()}


def test_the_committed_data_comes_again_out_of_its_own_facts():
    """Given to the script as a price list, the data makes itself, byte for byte."""
    ours = json.loads(models.OVERLAY.read_text(encoding="utf-8"))
    data = json.loads(committed())
    source = {}
    for row in data["models"]:
        key, provider = listed_as(row)
        source[key] = facts_of(row, provider)
    version = data["source"].removeprefix("litellm ").partition(",")[0]
    assert models.text(models.models(source, ours["models"]), version) == committed()


def run(*arguments):
    return subprocess.run(
        [sys.executable, models.__file__, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_one_command_makes_the_data_of_a_wheel(tmp_path):
    wheel, plain, target = tmp_path / "litellm-9.8.7-py3-none-any.whl", tmp_path / "list.json", tmp_path / "models.json"
    source = {"sample_spec": {"mode": "one of: chat"}, "gpt-x": fact("openai"), "claude-sonnet-5-5": fact("anthropic")}
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(models.LIST, json.dumps(source))
    before = committed()
    done = run(wheel, target)
    assert (done.returncode, done.stderr) == (0, "")
    assert "claude-sonnet-5-5: context_window is 200000 here and 100000 in the list" in done.stdout
    data = json.loads(target.read_text(encoding="utf-8"))
    assert "litellm 9.8.7," in data["source"]
    assert data["models"][-1]["name"] == "gpt-x"
    plain.write_text(json.dumps(source), encoding="utf-8")
    assert run(plain, target).returncode == 0
    assert json.loads(target.read_text(encoding="utf-8"))["models"] == data["models"]
    assert committed() == before
