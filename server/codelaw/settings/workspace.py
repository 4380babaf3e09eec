"""What a workspace's own settings file may say: it tightens, it never loosens (S-3).

Whatever is not listed here is refused, so that a new key is safe until someone has thought about it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from codelaw.domain.events import HookMoment
from codelaw.domain.laws import FILES
from codelaw.domain.safety.hosts import read_rules
from codelaw.settings.reading import KeyPath, Layer, dotted

Listed = bool | list[str]

FREE: frozenset[KeyPath] = frozenset(
    {
        ("model", "name"),
        ("model", "dialect"),
        ("model", "effort"),
        ("model", "contextWindow"),
        ("model", "maxOutputTokens"),
        ("models",),
        ("context",),
        ("retrieval",),
        ("memory", "topK"),
        ("memory", "minSimilarity"),
        ("memory", "category"),
    }
)
LOWER: frozenset[KeyPath] = frozenset(
    {
        ("context", "maxWindow"),
        ("context", "totalBudget"),
        ("agents", "maxSteps"),
        ("agents", "maxTokens"),
        ("turn", "maxSteps"),
        ("turn", "maxTokens"),
        ("turn", "timeoutSeconds"),
        ("memory", "timeoutMs"),
        ("tools", "bash", "timeoutSeconds"),
        ("tools", "bash", "memoryMb"),
        ("tools", "bash", "processes"),
        ("tools", "bash", "fileSizeMb"),
        ("tools", "bash", "tmpMb"),
    }
)
ONLY: dict[KeyPath, Any] = {
    ("tools", "bash", "sandbox"): "require",
    ("tools", "webSearch"): False,
    ("editor", "review"): True,
    ("memory", "enabled"): False,
    ("agents", "enabled"): False,
}
FEWER: dict[KeyPath, tuple[str, ...]] = {("law", "files"): FILES}
"""Lists from which a workspace may leave things out, with what they are by default."""
NETWORK: KeyPath = ("tools", "bash", "network")
MEMORY: KeyPath = ("tools", "bash", "memoryMb")
"""Empty it stands for a share of the machine's, which a workspace must not raise either."""
DENY: KeyPath = ("permissions", "deny")
ADDED: tuple[KeyPath, ...] = (DENY, ("tools", "bash", "hidden"), ("tools", "bash", "readOnly"))
"""Lists to which a workspace may add."""
JOINED: tuple[KeyPath, ...] = tuple(("hooks", moment) for moment in get_args(HookMoment))
"""Lists to which a workspace that the user trusts adds, so that it takes none of theirs away (X-7)."""

REASONS: dict[str, str] = {
    "model": "where requests and keys go is the user's own choice",
    "embedding": "where texts are sent is the user's own choice",
    "permissions": "a workspace may add to permissions.deny and nothing else",
    "prompts": "who the model is to be is the user's own choice",
    "mcp": "a workspace must not start programs",
    "hooks": "a workspace must not start programs",
    "skills": "a workspace must not name folders to read",
    "store": "where chats are kept is the user's own choice",
    "tools": "a workspace may only tighten it",
    "editor": "a workspace may only tighten it",
    "memory": "a workspace may only tighten it",
    "law": "a workspace may only leave names out",
    "turn": "a workspace may only lower it",
    "agents": "a workspace may only lower it",
    "context": "a workspace may only lower it",
}


def restrict(layer: Layer, below: Mapping[KeyPath, Any]) -> Layer:
    """The part of a workspace's layer that counts; `below` are the values of the layers under it.

    Every refused key gives a notice `setting_refused` with the key and why.
    """
    kept = Layer(layer.name, layer.source, {}, list(layer.problems))
    for path, value in layer.values.items():
        if _may(path, value, below.get(path)):
            kept.values[path] = value
        else:
            why = REASONS.get(path[0], "a workspace may not set it")
            kept.warn("setting_refused", f"{dotted(path)}: refused in a workspace's settings, {why}")
    return kept


def _may(path: KeyPath, value: Any, below: Any) -> bool:
    if path in LOWER:
        if path == MEMORY:
            below = usual_memory() if below is None else below
            return value is not None and value <= below
        return below is None or value <= below
    if path in ONLY:
        return value == ONLY[path]
    if path == NETWORK:
        return _within(value, below or False)
    if path in FEWER:
        return set(value) <= set(FEWER[path] if below is None else below)
    return path in ADDED or any(path[: len(free)] == free for free in FREE)


def _within(hosts: Listed, below: Listed) -> bool:
    """Whether a value of `tools.bash.network` opens nothing that is shut below it."""
    if hosts is False or below is True:
        return True
    if hosts is True or below is False:
        return False
    known = read_rules(below)
    return all(any(one.covers(rule) for one in known) for rule in read_rules(hosts))


def usual_memory() -> int:
    """Three quarters of the memory that this machine, or the container, has; in megabytes."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            pages = min(pages, int(Path("/sys/fs/cgroup", name).read_text("ascii")))
    return pages * 3 // 4 // (1 << 20)
