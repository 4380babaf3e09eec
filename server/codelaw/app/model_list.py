"""The models that can be chosen: those that endpoints list, those of a vendor, and what is configured (P-4, W-5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from codelaw.adapters.models import catalog
from codelaw.app.models import (
    NOTHING_TOLD,
    OFFLINE,
    PREFIXED,
    Told,
    answerer,
    profile_of,
    provider_of,
    reserve_of,
    vision,
    window_of,
)
from codelaw.domain.presets import PRESETS
from codelaw.domain.reports import ModelInfo

if TYPE_CHECKING:
    from codelaw.adapters.models.listing import Listing
    from codelaw.domain.presets import Preset
    from codelaw.settings.model import Settings
    from codelaw.settings.providers import ModelGroup, Provider

NOTHING_LISTED: Mapping[str, Listing] = MappingProxyType({})


def asked_for_lists(settings: Settings) -> list[Preset]:
    """Who can be asked for a list: the provider in force, and others whose models can be chosen beside it.

    A platform keeps none.
    """
    model, now = settings.model, settings.model.chosen_provider
    cloud = "anthropic" if model.platform and model.base_url is None else ""
    reached = (one for one in PRESETS.values() if model.reaches(one.name) and one.name != cloud)
    return [one for one in reached if one.name == now or provider_of(model, f"{one.name}/x") == one.name]


def shown_prefix(model: ModelGroup, provider: Provider) -> str:
    """What stands in front of a provider's names where they are chosen from."""
    return "" if provider == model.chosen_provider else f"{provider}/"


def listed(
    settings: Settings, reported: Told = NOTHING_TOLD, lists: Mapping[str, Listing] = NOTHING_LISTED
) -> list[ModelInfo]:
    """The models that can be chosen, each once, by provider and family: those that endpoints list, and what is set.

    Of an endpoint without a list it is what is known of the vendor's models; behind a base URL of one's own any vendor
    may answer. Names with a cloud's prefix are only there to correct a window.
    """
    model, current = settings.model, answerer(settings).name
    now = model.chosen_provider
    # Those that the data know first: many list what is no model to talk to as well, and do not say so.
    there = {name: sorted(one.models, key=lambda one: catalog.profile(one) is None) for name, one in lists.items()}
    names = dict.fromkeys(there.get(now) or _of_vendor(model, now))
    for preset in asked_for_lists(settings):
        if preset.name != now:
            usual = (preset.model,) if preset.model else ()
            names |= dict.fromkeys(f"{preset.name}/{name}" for name in there.get(preset.name) or usual)
    names |= dict.fromkeys((*settings.models, *reported))
    ordered = names if current in names else {current: None} | names
    rows = [_info(settings, name, reported, current=name == current) for name in ordered]
    places = {key: place for place, row in reversed([*enumerate(rows)]) for key in (row.provider, _line(row))}
    return sorted(rows, key=lambda row: (places[row.provider], places[_line(row)]))


def _line(row: ModelInfo) -> tuple[str, str]:
    return row.provider, row.family


def _of_vendor(model: ModelGroup, provider: Provider) -> Iterator[str]:
    vendor = {"gemini": "google", "offline": "anthropic", "editor": "anthropic", "scripted": "anthropic"}
    kinds = {vendor.get(provider, provider), OFFLINE}
    for profile in catalog.profiles():
        if (model.base_url or profile.provider in kinds) and not PREFIXED.search(profile.name):
            yield profile.name


def _info(settings: Settings, name: str, reported: Told, *, current: bool) -> ModelInfo:
    window, seen = window_of(settings, name, reported).tokens, vision(settings, name, reported)
    profile, now = profile_of(name, reported), settings.model.chosen_provider
    family, source = _family(name), "endpoint" if name in reported else "profile"
    if profile is not None and profile.provider == "editor":
        source = "editor"
    asked = provider_of(settings.model, name)
    provider = asked if profile is None or (asked != now and asked in PRESETS) else profile.provider
    if profile is None:
        output = reserve_of(settings, name, window)
        return ModelInfo(name, window, output, provider, current=current, vision=seen, family=family)
    return ModelInfo(
        name,
        window,
        profile.max_output,
        provider,
        current=current,
        vision=seen,
        family=family,
        effort=profile.efforts,
        default_effort=profile.effort,
        prices=profile.prices,
        source=source,
        retired=profile.retired,
        largest_window=largest if (largest := profile.largest_window or 0) > window else None,
    )


def _family(name: str) -> str:
    """What the models of a line are called by, whatever their version: `sonnet`, `gpt`."""
    words = [word for word in re.split(r"[^a-z]+", name.lower().rpartition("/")[2]) if word]
    return next((word for word in words if word not in {"anthropic", "claude", "us", "eu", "global"}), name)
