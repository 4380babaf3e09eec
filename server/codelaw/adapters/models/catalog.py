"""What is known about models by name (W-5): windows, output limits, prices.

The data is read at the first question, which therefore belongs off the event loop.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

from codelaw.domain.models import ModelProfile, Prices

DEFAULT_MODEL = "claude-sonnet-5-5"
OFFLINE_MODEL = "offline"

# A dated release (`-20251001`, `@20251001`), a cloud's version (`-v1:0`), a variant in brackets (`[1m]`).
_SUFFIX = re.compile(r"(?:\[[^\]]*\]|[-@]v\d+(?::\d+)?|[-@]\d{8}|-latest)$")
# A cloud's or a gateway's prefix: `us.anthropic.`, `anthropic/`.
_PREFIX = re.compile(r"^(?:[a-z]{2,6}\.)?anthropic[./]")


def profile(name: str) -> ModelProfile | None:
    """The profile of `name`, a dated release or a cloud's spelling of a known model included; `name` is kept in it."""
    table = _table()
    known = table.get(name) or table.get(_plain(name))
    if known is None or known.name == name:
        return known
    return ModelProfile(
        name, known.provider, known.context_window, known.max_output, known.tools, known.caching, known.prices
    )


def profiles() -> list[ModelProfile]:
    """Every known model, in the order of the data."""
    return list(_table().values())


def _plain(name: str) -> str:
    name = _PREFIX.sub("", name.strip().lower())
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    return name


@cache
def _table() -> dict[str, ModelProfile]:
    text = files("codelaw").joinpath("data", "models.json").read_text(encoding="utf-8")
    rows: list[dict[str, object]] = json.loads(text)["models"]
    return {known.name: known for known in map(_profile, rows)}


def _profile(row: dict[str, object]) -> ModelProfile:
    prices = row.get("prices")
    fields = {key: value for key, value in row.items() if key != "prices"}
    return ModelProfile(**fields, prices=Prices(**prices) if isinstance(prices, dict) else None)  # type: ignore[arg-type]
