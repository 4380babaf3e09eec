"""Which tools there are, what enables them, and in which modes they are offered (X-1): one table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from codelaw.domain.chats import Mode
from codelaw.domain.reports import ToolOffer

if TYPE_CHECKING:
    from codelaw.tools.base import AnyTool

Reach = Literal["all modes", "agent", "agent, plan", "agent, others where it only reads"]
MODES: dict[Reach, frozenset[Mode]] = {
    "all modes": frozenset({"agent", "ask", "plan"}),
    "agent": frozenset({"agent"}),
    "agent, plan": frozenset({"agent", "plan"}),
    "agent, others where it only reads": frozenset({"agent"}),
}
SEARCH = "web_search"
"""The vendor's own tool, which no code of ours runs."""
BROUGHT = "brought along"
"""The category of tools that stand in no row."""


@dataclass(frozen=True, slots=True)
class Category:
    """A row of the table."""

    name: str
    tools: tuple[str, ...]
    """Names."""
    enabled: str
    """What enables them, as a clause."""
    reach: Reach
    prefix: str = "\0"
    """Or all whose names begin so."""


CATEGORIES: tuple[Category, ...] = (
    Category("files, reading", ("LS", "Glob", "Grep", "Read"), "always", "all modes"),
    Category("files, changing", ("Edit", "MultiEdit", "Write"), "always", "agent"),
    Category("commands in the sandbox", ("Bash",), "always", "agent"),
    Category("task list", ("TodoWrite",), "always", "agent, plan"),
    Category(
        "editor, reading", ("Diagnostics", "Definition", "References"), "the editor lends the service", "all modes"
    ),
    Category("editor, changing", ("Rename", "QuickFix"), "the editor lends the service", "agent"),
    Category("memory, keeping", ("memory_save",), "memory.enabled", "agent"),
    Category("memory, reading", ("memory_search",), "memory.enabled", "all modes"),
    Category("knowledge base", ("search_code", "Outline"), "always", "all modes"),
    Category("skills", ("load_skill",), "always", "all modes"),
    Category("web, pages", ("web_fetch",), "tools.bash.network opens the network or some hosts", "all modes"),
    Category("web, searching", (SEARCH,), "tools.webSearch in the dialect `native`", "all modes"),
    Category("many tools", ("find_tools", "call_tool"), "more tools are brought along than fit", "all modes"),
    Category("subagents", ("Task",), "agents.enabled", "all modes"),
    Category("MCP", (), "a server is configured and trusted", "agent, others where it only reads", prefix="mcp__"),
)
"""In the order of the founding table: what is built in, what the user configures. S1's knowledge base is `search_code`,
its connectors are MCP servers, its sandbox is that of Bash."""


def category_of(name: str) -> Category | None:
    """The row of a tool; None for one that stands in none."""
    return next((row for row in CATEGORIES if name in row.tools or name.startswith(row.prefix)), None)


def offered_in(tool: AnyTool, mode: Mode) -> bool:
    """Whether a mode offers a tool: what only reads in every one, else as its row says."""
    row = category_of(tool.name)
    return mode == "agent" or tool.effect == "read" or (row is not None and mode in MODES[row.reach])


def offers(
    every: Iterable[AnyTool], offered: Iterable[AnyTool], mode: Mode, *, searching: bool = False
) -> tuple[ToolOffer, ...]:
    """All tools there may be, then those brought along: whether this turn offers each, and why not (L-5).

    `searching`: the vendor may search the web.
    """
    now = {tool.name: tool for tool in offered}
    known = {tool.name: tool for tool in every} | now
    found: list[ToolOffer] = []
    for name, tool in known.items():
        row = category_of(name)
        why = row.enabled if row is not None else "it is configured"
        if name not in now:
            why = f"not enabled: {why}" if offered_in(tool, mode) else f"the mode {mode} only reads"
        found.append(ToolOffer(name, row.name if row is not None else BROUGHT, name in now, why))
    row = category_of(SEARCH)
    if row is not None:
        found.append(
            ToolOffer(SEARCH, row.name, searching, row.enabled if searching else f"not enabled: {row.enabled}")
        )
    return tuple(found)
