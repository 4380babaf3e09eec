"""What an endpoint says of a model, as a profile (W-5, P-6): `GET /v1/models/{id}`, which asks no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast, get_args
from urllib.parse import quote

from codelaw.domain.models import Effort, ModelProfile, Thinking

USUAL_WINDOW = 200_000
"""Tokens of the window that codelaw works in where nobody has raised it (W-3)."""
_LARGEST = 1 << 27
"""Tokens that no window or reply has (S-6)."""


def path_of(name: str) -> str:
    """Where the endpoint says it."""
    return f"/v1/models/{quote(name, safe='')}"


def described(answer: object, name: str, known: ModelProfile | None) -> ModelProfile | None:
    """The profile of `name` by what its endpoint has answered; what it does not say stands as it is `known`.

    None where it says nothing of a model but its name, as most endpoints do.
    """
    told = _table(answer)
    window, output = _tokens(told, "max_input_tokens"), _tokens(told, "max_tokens")
    able = _table(told.get("capabilities"))
    if window is None and output is None and not able:
        return None
    if known is None:
        if window is None:
            return None
        thought = bool(_supported(able, "thinking"))
        known = ModelProfile(name, "anthropic", min(window, USUAL_WINDOW), min(window, output or window), binds=thought)
    if window is not None:
        largest = window if window > known.context_window else None
        known = replace(known, context_window=min(known.context_window, window), largest_window=largest)
    if output is not None:
        known = replace(known, max_output=output)
    if (sees := _supported(able, "image_input")) is not None:
        known = replace(known, images=sees)
    return replace(_thinking(known, able), name=name, retired=_end(told))


def _thinking(known: ModelProfile, able: Mapping[str, Any]) -> ModelProfile:
    """The kinds of thinking and the efforts that it takes."""
    types = _table(_table(able.get("thinking")).get("types"))
    if types:
        kinds = tuple(one for one in get_args(Thinking) if _supported(types, one))
        thinks = known.thinks
        if thinks == "never" and {"adaptive", "enabled"} & {*kinds}:
            thinks = "asked" if {"disabled", "between_tools"} & {*kinds} else "always"
        known = replace(known, thinking=kinds, thinks=thinks)
    levels = _table(able.get("effort"))
    if levels:
        taken: tuple[Effort, ...] = tuple(one for one in get_args(Effort) if _supported(levels, one))
        known = replace(known, efforts=taken, effort=known.effort if known.effort in taken else None)
    return known


def _end(told: Mapping[str, Any]) -> str:
    """The day on which its maker ends it, where that is decided."""
    if told.get("lifecycle") not in {"deprecated", "retired"}:
        return ""
    days = (told.get("retires_at"), told.get("deprecated_at"))
    return next((day[:10] for day in days if isinstance(day, str) and day), "")


def _tokens(told: Mapping[str, Any], field: str) -> int | None:
    value = told.get(field)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LARGEST else None


def _supported(table: Mapping[str, Any], field: str) -> bool | None:
    value = _table(table.get(field)).get("supported")
    return value if isinstance(value, bool) else None


def _table(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
