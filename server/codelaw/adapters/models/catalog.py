"""What is known about models by name (W-5): windows, output limits, prices, whether they see pictures.

What an endpoint says of one itself comes over them (P-6), however it spells it. The data is read at the first question,
which therefore belongs off the event loop.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, cast, get_args
from urllib.parse import quote

from codelaw.adapters.models.endpoints import dig
from codelaw.domain.models import Effort, ModelProfile, Prices, PriceStep, Thinking

USUAL_WINDOW = 200_000
"""Tokens of the window that codelaw works in where nobody has raised it (W-3)."""
_LARGEST = 1 << 27
"""Tokens that no window or reply has (S-6)."""
_WINDOWS = (
    "loaded_context_length",
    "top_provider.context_length",
    "max_input_tokens",
    "context_length",
    "max_context_length",
    "max_model_len",
    "context_window",
    "inputTokenLimit",
)
"""Where endpoints say the window; what a model runs with comes before what it could have."""
_LONGEST_PRICE = 40
_OUTPUTS = ("top_provider.max_completion_tokens", "max_tokens", "max_completion_tokens", "outputTokenLimit")


def path_of(name: str) -> str:
    """Where the endpoint says it."""
    return f"/v1/models/{quote(name, safe='')}"


def described(
    answer: object, name: str, known: ModelProfile | None, provider: str = "anthropic"
) -> ModelProfile | None:
    """The profile of `name` by what its endpoint has answered; what it does not say stands as it is `known`.

    None where it says nothing of a model but its name, as most endpoints do. One that nobody knows is its `provider`'s.
    """
    window, output, asked = _tokens(answer, _WINDOWS), _tokens(answer, _OUTPUTS), _prices(answer)
    able = dig(answer, "capabilities")
    if window is None and output is None and asked is None and not able:
        return None
    if known is None:
        if window is None:
            return None
        thinks = dig(able, "thinking", "supported") is True
        known = ModelProfile(name, provider, min(window, USUAL_WINDOW), min(window, output or window), binds=thinks)
    if asked is not None and known.prices is None:
        known = replace(known, prices=asked)
    if window is not None:
        largest = window if window > known.context_window else None
        known = replace(known, context_window=min(known.context_window, window), largest_window=largest)
    if output is not None:
        known = replace(known, max_output=output)
    if (sees := _sees(answer)) is not None:
        known = replace(known, images=sees)
    if (kinds := _supported(able, "thinking", "types", names=get_args(Thinking))) is not None:
        thinks = known.thinks
        if thinks == "never" and {"adaptive", "enabled"} & {*kinds}:
            thinks = "asked" if {"disabled", "between_tools"} & {*kinds} else "always"
        known = replace(known, thinking=kinds, thinks=thinks)
    if (levels := _supported(able, "effort", names=get_args(Effort))) is not None:
        known = replace(known, efforts=levels, effort=known.effort if known.effort in levels else None)
    return replace(known, name=name, retired=_end(answer))


def _supported(able: object, *path: str, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """Those of the names that are supported; None where nothing is said of any."""
    said = {name: dig(able, *path, name, "supported") for name in names}
    known = any(value is not None for value in said.values())
    return tuple(name for name, value in said.items() if value is True) if known else None


def _end(answer: object) -> str:
    """The day on which its maker ends it, where that is decided."""
    if dig(answer, "lifecycle") not in ("deprecated", "retired"):
        return ""
    days = (dig(answer, "retires_at"), dig(answer, "deprecated_at"))
    return next((day[:10] for day in days if isinstance(day, str) and day), "")


def _tokens(answer: object, fields: tuple[str, ...]) -> int | None:
    """The first of the fields that holds so many tokens as there can be."""
    values = (dig(answer, *field.split(".")) for field in fields)
    return next((value for value in values if type(value) is int and 0 < value < _LARGEST), None)


def _sees(answer: object) -> bool | None:
    kinds, able = dig(answer, "architecture", "input_modalities"), dig(answer, "capabilities")
    if isinstance(kinds, list):
        return "image" in kinds
    sees = dig(able, "vision") if dig(able, "image_input") is None else dig(able, "image_input", "supported")
    return sees if isinstance(sees, bool) else None


def _prices(answer: object) -> Prices | None:
    """What a gateway asks, which gives dollars for one token, as text."""
    asked = [_price(dig(answer, "pricing", name)) for name in ("prompt", "completion")]
    if asked[0] is None or asked[1] is None:
        return None
    read, write = (_price(dig(answer, "pricing", name)) for name in ("input_cache_read", "input_cache_write"))
    return Prices(asked[0], asked[1], asked[0] if read is None else read, asked[0] if write is None else write)


def _price(said: object) -> float | None:
    try:
        price = float(said) if isinstance(said, str) and len(said) < _LONGEST_PRICE else -1.0
    except ValueError:
        return None
    return round(price * 1_000_000, 6) if 0 <= price < 1 else None


OFFLINE_MODEL = "offline"

RELEASE = re.compile(r"(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2})$")
"""The date at the end of the name of a release."""

# Whose models a prefix promises: as the vendor's own service, or as a cloud names the vendor.
_VENDORS = {
    "ai21": "ai21",
    "alibaba": "qwen",
    "amazon": "amazon",
    "amazon-nova": "amazon",
    "anthropic": "anthropic",
    "cohere": "cohere",
    "dashscope": "qwen",
    "deepseek": "deepseek",
    "gemini": "google",
    "google": "google",
    "meta": "meta",
    "meta_llama": "meta",
    "minimax": "minimax",
    "mistral": "mistral",
    "mistralai": "mistral",
    "moonshot": "moonshot",
    "moonshotai": "moonshot",
    "openai": "openai",
    "perplexity": "perplexity",
    "qwen": "qwen",
    "x-ai": "xai",
    "xai": "xai",
    "z-ai": "zai",
    "zai": "zai",
}
_SEARCH_PRICES = {"anthropic": 0.01}
"""US dollars for each search of the web, by the vendor that makes it."""
_CLOUDS = re.compile(
    r"azure(?:_ai)?|bedrock(?:_converse|_mantle)?|claude_platform|converse|invoke|litellm_proxy|models|openrouter"
    r"|publishers|vercel_ai_gateway|vertex_ai|[a-z]{2}(?:-gov)?-[a-z]+-\d"
)
# The vendors whose models are the same on every cloud. The others' are hosted by many, each with a window of its own.
_ALIKE = frozenset({"amazon", "anthropic", "cohere", "google", "meta", "openai"})
# `anthropic.`, `us.anthropic.`: a vendor's models on one cloud, as sold in a part of the world.
_DOTTED = re.compile(r"(?:(?:apac|au|ca|eu|global|jp|us|us-gov)\.)?([a-z0-9]+)\.(?=[a-z])")
# A pointer to the newest release, a variant in brackets (`[1m]`), and a cloud's version (`-v1:0`).
_SUFFIX = re.compile(rf"(?:{RELEASE.pattern[:-1]}|-latest|@default|\[[^\]]*\])$")
_CLOUD_SUFFIX = re.compile(rf"(?::\d+|-v\d+|{_SUFFIX.pattern[:-1]})$")


def profile(name: str) -> ModelProfile | None:
    """The profile of `name`, a dated release or a cloud's spelling of a known model included; `name` is kept in it.

    The longest spelling that is known decides. A name that only looks like a known one has none.
    """
    found = find(_vendors(), name)
    if found is None:
        return None
    known = _known(found)
    return known if known.name == name else replace(known, name=name)


def profiles() -> list[ModelProfile]:
    """Every known model, in the order of the data: ours first, then by vendor and name."""
    return [_known(name) for name in _rows()]


def find(vendors: Mapping[str, str], name: str) -> str | None:
    """The known name that `name` is a spelling of; `vendors` has the known names, in lower case, with their vendor."""
    name = name.strip().lower()
    if name in vendors:
        return name
    *folders, bare = name.split("/")
    if not all(folder in _VENDORS or _CLOUDS.fullmatch(folder) for folder in folders):
        return None
    promised = [_VENDORS[folder] for folder in folders if folder in _VENDORS]
    on_a_cloud = len(promised) < len(folders)
    if (dotted := _DOTTED.match(bare)) and dotted[1] in _VENDORS:
        promised.append(_VENDORS[dotted[1]])
        bare, on_a_cloud = bare[dotted.end() :], True
    for spelling in _spellings(bare, on_a_cloud=on_a_cloud):
        if (vendor := vendors.get(spelling)) is not None:
            fits = vendor in (promised[-1:] or [vendor]) and (vendor in _ALIKE or not on_a_cloud)
            return spelling if fits else None
    return None


def _spellings(bare: str, *, on_a_cloud: bool) -> Iterator[str]:
    """The name and what is left of it without its suffixes, the longest first."""
    yield bare
    suffix = _CLOUD_SUFFIX if on_a_cloud else _SUFFIX
    if bare.startswith("claude-"):
        bare, suffix = bare.replace(".", "-"), _CLOUD_SUFFIX
    while True:
        yield bare
        shorter = suffix.sub("", bare)
        if shorter == bare:
            return
        bare = shorter


@cache
def _rows() -> dict[str, dict[str, Any]]:
    """What the data says of each model, by its name in lower case."""
    text = files("codelaw").joinpath("data", "models.json").read_text(encoding="utf-8")
    return {row["name"].lower(): row for row in json.loads(text)["models"]}


@cache
def _vendors() -> dict[str, str]:
    return {name: row["provider"] for name, row in _rows().items()}


@cache
def _known(name: str) -> ModelProfile:
    row = _rows()[name]
    fields: dict[str, Any] = {
        key: tuple(cast("list[Any]", value)) if isinstance(value, list) else value for key, value in row.items()
    }
    if prices := row.get("prices"):
        steps = tuple(PriceStep(**step) for step in prices.get("steps", ()))
        search = _SEARCH_PRICES.get(row["provider"], 0.0)
        known: dict[str, Any] = {**prices, "steps": steps, "search": search}
        fields["prices"] = Prices(**known)
    return ModelProfile(**fields)
