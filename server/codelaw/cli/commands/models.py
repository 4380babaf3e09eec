"""`codelaw models`: the models that can be chosen, what they take, and what they cost (W-5, P-6)."""

from __future__ import annotations

import argparse
import json
from typing import Any

from codelaw.cli.commands.one_shot import ask_server
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, YELLOW, Screen
from codelaw.domain.safety.unseen import visible_line

Json = dict[str, Any]


def models(server: Server, arguments: argparse.Namespace) -> int:
    """Print them, the one that a new chat would ask marked."""

    def show(screen: Screen, found: Json) -> None:
        for one in found["models"]:
            if arguments.provider not in {None, one["provider"]}:
                continue
            if arguments.json:
                screen.line(json.dumps(one), aside=False)
            else:
                _print(screen, one)

    return ask_server(server, arguments, "codelaw/model/list", {}, show)


def _print(screen: Screen, one: Json) -> None:
    mark = "*" if one["current"] else " "
    screen.line(visible_line(f"{mark} {one['name']:<28} {one['provider']:<10} {_window(one)}"), aside=False)
    if told := [*_prices(one), *_effort(one)]:
        screen.line(visible_line(f"    {' · '.join(told)}"), style=DIM, aside=False)
    if "retired" in one:
        screen.line(visible_line(f"    ended by its maker on {one['retired']}"), style=YELLOW, aside=False)


def _window(one: Json) -> str:
    more = f" of {one['largestWindow']}" if "largestWindow" in one else ""
    by = ", as its endpoint says" if one["source"] == "endpoint" else ""
    return f"{one['contextWindow']}{more} tokens, replies of {one['maxOutput']}{by}"


def _prices(one: Json) -> list[str]:
    if "priceIn" not in one:
        return []
    told = f"${one['priceIn']:g} in, ${one['priceOut']:g} out, ${one['priceRead']:g} read from the cache"
    steps = (
        f"above {step['above']} tokens ×{step['input']:g} in, ×{step['output']:g} out"
        for step in one.get("priceSteps", ())
    )
    return [told, *steps]


def _effort(one: Json) -> list[str]:
    if "effort" not in one:
        return []
    usual = one.get("defaultEffort")
    names = (f"{name} (default)" if name == usual else name for name in one["effort"])
    return [f"effort {', '.join(names)}"]
