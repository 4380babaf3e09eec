"""What an endpoint says of a model, as a profile (W-5, P-6): `GET /v1/models/{id}`, which asks no model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args
from urllib.parse import quote

from codelaw.adapters.models.endpoints import dig
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
    window, output = _tokens(answer, "max_input_tokens"), _tokens(answer, "max_tokens")
    able = dig(answer, "capabilities")
    if window is None and output is None and not able:
        return None
    if known is None:
        if window is None:
            return None
        thinks = dig(able, "thinking", "supported") is True
        known = ModelProfile(name, "anthropic", min(window, USUAL_WINDOW), min(window, output or window), binds=thinks)
    if window is not None:
        largest = window if window > known.context_window else None
        known = replace(known, context_window=min(known.context_window, window), largest_window=largest)
    if output is not None:
        known = replace(known, max_output=output)
    if isinstance(sees := dig(able, "image_input", "supported"), bool):
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


def _tokens(answer: object, field: str) -> int | None:
    value = dig(answer, field)
    return value if type(value) is int and 0 < value < _LARGEST else None
