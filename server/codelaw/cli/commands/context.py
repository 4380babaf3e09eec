"""`codelaw context` and `codelaw models`: what the model would be sent, and the models there are (L-5, W-5, P-6)."""

from __future__ import annotations

import argparse
from typing import Any

from codelaw.cli.commands.one_shot import ask_server, given, list_entries
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import BOLD, DIM, YELLOW, Screen
from codelaw.domain.safety.unseen import visible_line

Json = dict[str, Any]


def models(server: Server, arguments: argparse.Namespace) -> int:
    """Print them, the one that a new chat would ask marked."""
    return list_entries(
        server,
        arguments,
        ("codelaw/model/list", {"discover": True}),
        lambda found: [one for one in found["models"] if arguments.provider in {None, one["provider"]}],
        show=_print,
        empty="There is no such model.",
    )


def _print(screen: Screen, one: Json) -> None:
    mark = "*" if one["current"] else " "
    screen.line(visible_line(f"{mark} {one['name']:<28} {one['provider']:<10} {_window(one)}"), aside=False)
    if reported := [*_prices(one), *_effort(one)]:
        screen.line(visible_line(f"    {' · '.join(reported)}"), style=DIM, aside=False)
    if "retired" in one:
        screen.line(visible_line(f"    ended by its maker on {one['retired']}"), style=YELLOW, aside=False)


def _window(one: Json) -> str:
    more = f" of {one['largestWindow']}" if "largestWindow" in one else ""
    by = ", as its endpoint says" if one["source"] == "endpoint" else ""
    return f"{one['contextWindow']}{more} tokens, replies of {one['maxOutput']}{by}"


def _prices(one: Json) -> list[str]:
    if "priceIn" not in one:
        return []
    reported = f"${one['priceIn']:g} in, ${one['priceOut']:g} out, ${one['priceRead']:g} read from the cache"
    steps = (
        f"above {step['above']} tokens ×{step['input']:g} in, ×{step['output']:g} out"
        for step in one.get("priceSteps", ())
    )
    return [reported, *steps]


def _effort(one: Json) -> list[str]:
    if "effort" not in one:
        return []
    usual = one.get("defaultEffort")
    names = (f"{name} (default)" if name == usual else name for name in one["effort"])
    return [f"effort {', '.join(names)}"]


def context(server: Server, arguments: argparse.Namespace) -> int:
    """Print the sections with their sizes, then their texts."""
    params = given(arguments, "chat text strategy exact")
    return ask_server(server, arguments, "codelaw/context/inspect", params, print_report, short_lived=False)


def print_report(screen: Screen, report: Json) -> None:
    """The report of `codelaw/context/inspect` for a person: the table, and then each section as it is sent."""
    _print_sizes(screen, report)
    for part in report["sections"]:
        screen.line("", aside=False)
        screen.line(f"── {part['layer']} {part['name']} ──", aside=False, style=BOLD)
        screen.line(part["text"], aside=False)


def _print_sizes(screen: Screen, report: Json) -> None:
    for part in report["sections"]:
        marks = " ".join(mark for mark in ("cached", "cut") if part[mark])
        screen.line(f"{part['layer']:<5} {part['name']:<28} {part['tokens']:>8} tokens  {marks}".rstrip(), aside=False)
    window = report["contextWindow"]
    estimated = report["totalTokens"]
    total = f"about {estimated} of {window} tokens; compacted from {report['threshold']}"
    dialect = f"; dialect {report['dialect']}" if report.get("dialect") else ""
    screen.line(f"{total}; strategy {report['strategy']}{dialect}", aside=False, style=BOLD)
    exact, problem = report.get("exactTokens"), report.get("exactProblem")
    if exact is not None:
        side = "above" if estimated > exact else "below"
        off = "just that" if estimated == exact else f"{100 * abs(estimated - exact) / max(1, exact):.1f} % {side} it"
        screen.line(f"the vendor counts {exact} tokens; the estimate is {off}", aside=False, style=BOLD)
    elif problem:
        screen.line(problem, aside=False)
    if report.get("kept"):
        screen.line(f"kept: {report['kept']}", aside=False, style=DIM)
    for line in report.get("budget", []):
        if line["over"]:
            over = f"over its share: {line['part']}: {line['tokens']} of {line['share']} tokens"
            screen.line(over, aside=False, style=DIM)
    for item in report["dropped"]:
        screen.line(f"left out: {item['name']}: {item['reason']}", aside=False, style=DIM)
