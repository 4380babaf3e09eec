"""The kinds of subagents on the terminal (X-4)."""

from __future__ import annotations

from typing import Any

from codelaw.cli.terminal import DIM, YELLOW, Screen
from codelaw.domain.safety.unseen import visible_line

Json = dict[str, Any]


def show_agents(screen: Screen, found: Json) -> None:
    """What each is called by and meant for; below it where it comes from, what it may use, and what is wrong."""
    if not found["enabled"]:
        screen.line("agents.enabled is off: no turn begins a subagent.", style=YELLOW)
    for one in found["agents"]:
        screen.line(visible_line(f"{one['name']:<15} {one['description']}".rstrip()), style=DIM)
        screen.line(visible_line(f"    {' · '.join([one.get('source', 'built in'), *_limits(one)])}"), style=DIM)
        if "problem" in one:
            refused = "does not count: " if one.get("refused") else ""
            screen.line(visible_line(f"    {refused}{one['problem']}"), style=YELLOW)


def _limits(one: Json) -> list[str]:
    """What its file asks for; of a built-in kind the mode whose tools it has."""
    named = {"tools": one.get("tools"), "without": one.get("disallowedTools")}
    told = [f"{word}: {', '.join(listed) or 'none'}" for word, listed in named.items() if listed is not None]
    if "source" not in one:
        told = [f"tools of the mode {one['mode']}" if "mode" in one else "all tools of the chat's mode"]
    if "model" in one:
        told.append(f"model: {one['model']}")
    if "effort" in one:
        told.append(f"effort: {one['effort']}")
    if "maxTurns" in one:
        told.append(f"at most {one['maxTurns']} steps")
    return told
