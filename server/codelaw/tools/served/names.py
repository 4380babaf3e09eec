"""What the tools of servers are called by models and rules (X-3)."""

from __future__ import annotations

import hashlib
import re

LONGEST = 64
"""Characters of a tool's name that every vendor takes."""
_MARK = 6


def tool_name(server: str, tool: str) -> str:
    """`mcp__server__tool`, of letters, digits, `_` and `-` alone; the same for the same two at any time.

    A name that has to be changed or cut ends with a mark of its own, so that no two become one.
    """
    prefix = f"mcp__{server}__"
    room = LONGEST - len(prefix)
    plain = re.sub("[^a-zA-Z0-9_-]", "_", tool)
    if plain == tool and 0 < len(tool) <= room:
        return prefix + tool
    mark = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    return f"{prefix}{plain[: room - _MARK - 1]}_{mark}"
