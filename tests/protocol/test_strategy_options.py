"""`strategyOptions` has the numbers among the settings of `context` and `retrieval`, with their bounds (B-1)."""

from __future__ import annotations

from typing import Any

from codelaw.protocol.enclosed import StrategyOptions
from codelaw.settings.model import ContextGroup, Group, RetrievalGroup

BOUNDS = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def numbers(model: type[Group | StrategyOptions]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, spec in model.model_json_schema()["properties"].items():
        for option in spec.get("anyOf", [spec]):
            if option.get("type") in {"integer", "number"}:
                found[name] = {bound: option[bound] for bound in BOUNDS if bound in option}
    return found


def test_the_names_and_bounds_are_those_of_the_settings():
    assert not numbers(ContextGroup).keys() & numbers(RetrievalGroup).keys()
    assert numbers(StrategyOptions) == numbers(ContextGroup) | numbers(RetrievalGroup)
    assert len(numbers(StrategyOptions)) == len(StrategyOptions.model_fields)
