"""What an endpoint lists of its models: bounded, and read as foreign text (P-4, S-6)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol, cast
from urllib.parse import urljoin

from codelaw.adapters.models.catalog import described, profile
from codelaw.adapters.models.endpoints import dig
from codelaw.context.tokens import DEFAULT_WINDOW
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import ModelProfile
from codelaw.domain.presets import Preset
from codelaw.domain.safety.unseen import visible_line

MOST = 500
"""Models of one list that are shown."""
LONGEST_NAME = 160
"""Characters; a provider's name is put in front."""
_MOST_ASKED = 50
"""Models that a local server is asked about one by one."""
_NUM_CTX = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)
NEAR_SECONDS = 3.0
_NEAR = 5
"""Names that are told where one is not known."""
_NO_SUCH_PATH = frozenset({"unknown_model", "invalid"})


class Speaker(Protocol):
    """Who can ask an endpoint."""

    async def ask(self, path: str, body: object = None) -> object:
        """As `WireModel.ask`."""
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """The models that an endpoint has now, by the names that it takes; None where it says nothing of one."""

    models: Mapping[str, ModelProfile | None]
    left_out: int = 0
    """More that it lists."""
    unsized: bool = False
    """It does not say of every model with which window it will run."""


async def ask(speaker: Speaker, preset: Preset, address: str) -> Listing:
    """What an endpoint at `address` lists.

    Raises:
        ModelFailure: it cannot be asked, or there is no list.
    """
    rows: dict[str, dict[str, Any]] = {}
    left_out = 0
    for path in preset.listing:
        try:
            rows, left_out = await asyncio.to_thread(_read, await speaker.ask(_place(address, path)))
        except ModelFailure as failure:
            if path == preset.listing[-1] or failure.kind not in _NO_SUCH_PATH:
                raise
        if rows:
            break
    unsized = False
    if preset.loaded:
        rows, unsized = await _sized(speaker, preset, address, rows)
    return Listing(await asyncio.to_thread(_profiles, rows, preset.name), left_out, unsized)


async def near(speaker: Speaker, preset: Preset, address: str, name: str) -> str:
    """What can be asked instead of a model that an endpoint does not know; empty where it lists nothing."""
    try:
        async with asyncio.timeout(NEAR_SECONDS):
            found = [*(await ask(speaker, preset, address)).models]
    except (ModelFailure, TimeoutError):
        return ""
    names = get_close_matches(name, found, _NEAR, 0.4) or found[:_NEAR]
    return f"{preset.title} lists {len(found)} models now, such as {', '.join(names)}: choose one." if names else ""


async def load(speaker: Speaker, preset: Preset, address: str, name: str) -> None:
    """Have a local server load a model, where that tells its window; no model is asked."""
    if preset.name == "ollama":
        await speaker.ask(_place(address, "/api/generate"), {"model": name, "stream": False})


def _place(address: str, path: str) -> str:
    return urljoin(f"{address.rstrip('/')}/", path)


def _read(answer: object) -> tuple[dict[str, dict[str, Any]], int]:
    """The rows by name, each name once, and how many there are beyond those that are taken."""
    found: dict[str, dict[str, Any]] = {}
    left_out: set[str] = set()
    for row in _rows(answer):
        names = (dig(row, key) for key in ("id", "key", "name"))
        name = next((one for one in names if isinstance(one, str)), "").removeprefix("models/")
        if not _usable(name) or name in found or not _talks(row):
            continue
        if len(found) < MOST:
            found[name] = row
        else:
            left_out.add(name)
    return found, len(left_out)


def _rows(answer: object) -> Iterator[dict[str, Any]]:
    places: tuple[object, ...] = (answer, dig(answer, "data"), dig(answer, "models"))
    for row in next((cast("list[object]", one) for one in places if isinstance(one, list)), ()):
        if isinstance(row, dict):
            yield cast("dict[str, Any]", row)


def _usable(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and " " not in name and visible_line(name) == name


def _talks(row: Mapping[str, Any]) -> bool:
    """Whether it is a model to talk to, unless it says that it is none."""
    able: object = row.get("capabilities")
    chats = "completion" in able if isinstance(able, list) else dig(able, "completion_chat") is not False
    return chats and row.get("type") not in {"embedding", "embeddings"}


def _profiles(rows: Mapping[str, dict[str, Any]], provider: str) -> dict[str, ModelProfile | None]:
    return {name: described(_loaded(row), name, profile(name), provider) for name, row in rows.items()}


def _loaded(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the window of its first instance that runs, where it lists those."""
    instances = row.get("loaded_instances")
    first = cast("list[object]", instances)[0] if isinstance(instances, list) and instances else None
    return {"loaded_context_length": dig(first, "config", "context_length"), **row}


async def _sized(
    speaker: Speaker, preset: Preset, address: str, rows: dict[str, dict[str, Any]]
) -> tuple[dict[str, dict[str, Any]], bool]:
    """The rows with the windows that a local server runs its models with, and whether some are not known."""
    running = await _said(speaker, _place(address, preset.loaded))
    general = dig(running, "default_generation_settings", "n_ctx")
    windows = {dig(row, "name"): dig(row, "context_length") for row in _rows(running)}
    rows = {name: {"loaded_context_length": windows.get(name) or general, **row} for name, row in rows.items()}
    if preset.name == "ollama":
        asked = [*rows][:_MOST_ASKED]
        shown = await asyncio.gather(*(_said(speaker, _place(address, "/api/show"), {"model": one}) for one in asked))
        for name, answer in zip(asked, shown, strict=True):
            row = rows[name] | _shown(answer, rows[name]["loaded_context_length"])
            if _talks(row):
                rows[name] = row
            else:
                del rows[name]
    unsized = any(row["loaded_context_length"] is None for row in rows.values())
    return rows, unsized


async def _said(speaker: Speaker, place: str, body: object = None) -> object:
    try:
        return await speaker.ask(place, body)
    except ModelFailure:
        return None  # it is not said, then


def _shown(answer: object, window: object) -> dict[str, Any]:
    """What Ollama shows of a model. Without a `window` of its own it runs with what the server has set, if it can."""
    able = dig(answer, "capabilities")
    said: dict[str, Any] = {"capabilities": cast("list[object]", able)} if isinstance(able, list) else {}
    if isinstance(able, list) and "completion" in able:
        said["architecture"] = {"input_modalities": ["image"] if "vision" in able else []}
    facts = dig(answer, "model_info")
    keys = [key for key in cast("dict[str, Any]", facts) if key.endswith(".context_length")] if facts else []
    largest = dig(facts, keys[0]) if keys else None
    given = _NUM_CTX.search(parameters) if isinstance(parameters := dig(answer, "parameters"), str) else None
    if window is None:
        window = int(given[1]) if given else None
    if type(largest) is int and (type(window) is int or largest < DEFAULT_WINDOW):
        window = min(window, largest) if type(window) is int else largest
    return said | {"loaded_context_length": window}
