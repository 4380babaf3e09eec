"""What requests cost by a model of a vendor's prompt cache, which is read and written at breakpoints only (L-6).

Units are the price of one input token: what is read from the cache costs a tenth, what is written to it one and a
quarter. The vendor looks for an entry at each breakpoint and a few blocks in front of it, and writes one at each.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

LOOKBACK = 20
"""How many blocks, that of the breakpoint included, the vendor looks at for an entry it wrote earlier."""
READ, WRITTEN = 0.1, 1.25

Block = tuple[str, bool]
"""What a cache sees of a block, and whether a breakpoint ends it."""


def blocks(body: dict[str, Any]) -> Iterator[Block]:
    """The request's blocks in the order a prefix cache sees them."""
    for tool in body.get("tools", []):
        yield spelt("tool", tool), "cache_control" in tool
    system = body.get("system", [])
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield spelt("system", block), "cache_control" in block
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield spelt(message["role"], block), "cache_control" in block


def spelt(role: str, block: dict[str, Any]) -> str:
    """A block without its breakpoint, as a cache sees it."""
    bare = {key: value for key, value in block.items() if key != "cache_control"}
    return json.dumps([role, bare], ensure_ascii=False)


LINE = re.compile(r'characters; result:|"whole\\*": \\*"result:')
"""What only a result holds that is shown as one line."""


@cache
def kind(block: str) -> str:
    """What a block as the cache sees it is: `L1 and law`, `questions`, `the model's words`, or results in a form."""
    role, content = json.loads(block)
    if role in ("tool", "system"):
        return "L1 and law"
    if role == "assistant":
        return "the model's words"
    if content["type"] != "tool_result" and not content.get("text", "").startswith("[tool] "):
        return "questions"
    return "results as one line" if LINE.search(block) else "results as shown first"


@dataclass
class Cache:
    """One session's bill: by the vendor's rules with the breakpoints set, and by an ideal cache of whole blocks."""

    size: Callable[[str], int]
    """Of a block, in any measure."""
    sent: int = 0
    ideal: int = 0
    """What an ideal cache would have read."""
    read: int = 0
    """What the vendor's cache gives."""
    most_breakpoints: int = 0
    largest: int = 0
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Units with an ideal cache: read by `kind`, and written for the first time, changed by a batch, or again."""
    _before: Counter[str] = field(default_factory=Counter[str])
    """The blocks of the request before."""
    _prefixes: dict[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])
    _seen: set[int] = field(default_factory=lambda: {0})
    _written: set[int] = field(default_factory=lambda: {0})

    def take(self, parts: Sequence[Block]) -> tuple[int, int, int]:
        """Count one request; gives its size, what an ideal cache would have read of it, and what ours does."""
        ends, sizes = [0], [0]
        for text, _ in parts:
            ends.append(self._prefixes.setdefault((ends[-1], text), len(self._prefixes) + 1))
            sizes.append(sizes[-1] + self.size(text))
        reused = next(place for place in range(len(parts), -1, -1) if ends[place] in self._seen)
        ideal = sizes[reused]
        self._share([text for text, _ in parts], reused)
        marks = [place for place, (_, marked) in enumerate(parts, start=1) if marked]
        reach = {place for mark in marks for place in range(mark, max(0, mark - LOOKBACK), -1)}
        read = max((sizes[place] for place in reach if ends[place] in self._written), default=0)
        self._seen.update(ends)
        self._written.update(ends[mark] for mark in marks)
        self.sent += sizes[-1]
        self.ideal += ideal
        self.read += read
        self.most_breakpoints = max(self.most_breakpoints, len(marks))
        self.largest = max(self.largest, sizes[-1])
        return sizes[-1], ideal, read

    def _share(self, texts: Sequence[str], reused: int) -> None:
        for text in texts[:reused]:
            self.spent[f"read: {kind(text)}"] += READ * self.size(text)
        again = Counter(texts) - (Counter(texts) - self._before)
        for text in texts[reused:]:
            known = again[text] > 0
            again[text] -= 1
            line = "as one line" in kind(text)
            what = "again after a batch" if known else "what a batch made shorter" if line else "for the first time"
            self.spent[f"written: {what}"] += WRITTEN * self.size(text)
        self._before = Counter(texts)

    @property
    def units_ideal(self) -> float:
        """Cost with an ideal cache."""
        return READ * self.ideal + WRITTEN * (self.sent - self.ideal)

    @property
    def units_billed(self) -> float:
        """Cost by the vendor's rules."""
        return READ * self.read + WRITTEN * (self.sent - self.read)
