"""`codelaw context`: what the model would be sent now (L-5)."""

from __future__ import annotations

import argparse
import json
from typing import Any

from codelaw.cli.commands.one_shot import ask_server
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import BOLD, DIM, Screen

Json = dict[str, Any]


def context(server: Server, arguments: argparse.Namespace) -> int:
    """Print the sections with their sizes, then their texts."""
    params = {"chatId": arguments.chat, "text": arguments.text, "strategy": arguments.strategy}
    params["exact"] = arguments.exact or None
    params = {name: value for name, value in params.items() if value is not None}

    def show(screen: Screen, report: Json) -> None:
        if arguments.json:
            screen.line(json.dumps(report), aside=False)
        else:
            print_report(screen, report)

    return ask_server(server, arguments, "codelaw/context/inspect", params, show, short_lived=False)


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
