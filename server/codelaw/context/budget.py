"""The budget of a view: its shares, a tracker that refuses what does not fit, and the report of it (B-2).

The law, L1 and the current input count in full and are never cut. The other parts have a share; where shares are
enforced, what does not fit into its share is cut or left out, whole modules and fragments at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from codelaw.context.sections import NEWS, Section, text_section
from codelaw.domain.messages import Fragment
from codelaw.domain.reports import BudgetLine, BudgetPart, Dropped

PARTS: tuple[BudgetPart, ...] = ("system", "summary", "retrieved", "recent", "input")
SHARES: tuple[float, ...] = (20, 10, 10, 55, 5)
"""Of the total, in the order of `PARTS`; only their ratio counts."""
OPTIONAL = ("connectors", "mcp", "skills")
"""The modules of L1 that may go, first those in front; a name may go on behind a colon (`connectors:github`)."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for a view and for each of its parts."""

    total: int
    shares: tuple[float, ...] = SHARES
    enforced: bool = False
    """Otherwise the shares are only reported."""

    def share(self, part: BudgetPart) -> int:
        """Tokens of one part, rounded down."""
        return int(self.total * self.shares[PARTS.index(part)] / sum(self.shares))

    def recent(self, *, fixed: int) -> int:
        """Tokens for the recent rounds beside `fixed` tokens of L1, law and input.

        The shares of summary and retrieved parts stay free for them, so that what is recent does not hang on what was
        found.
        """
        beside = self.share("summary") + self.share("retrieved")
        return max(0, min(self.share("recent"), self.total - fixed - beside))


@dataclass(slots=True)
class Tracker:
    """Gives out the tokens of a budget, and refuses what would go over it."""

    total: int
    breakdown: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def used(self) -> int:
        return sum(self.breakdown.values())

    @property
    def left(self) -> int:
        """Never below 0."""
        return max(0, self.total - self.used)

    def allocate(self, part: str, tokens: int) -> bool:
        """Take `tokens` for a part; False, and nothing is taken, when they are not left."""
        if self.used + tokens > self.total:
            return False
        self.force(part, tokens)
        return True

    def force(self, part: str, tokens: int) -> None:
        """Take `tokens` for what is never cut."""
        self.breakdown[part] = self.breakdown.get(part, 0) + tokens


def part_of(section: Section) -> BudgetPart:
    """The part that a section counts for: what was retrieved stands in fragments beside the question."""
    match section.layer, section.name:
        case ("L1" | "L2", _):
            return "system"
        case ("L3", "summaries"):
            return "summary"
        case ("L3", _) | ("turn", "scratchpad"):
            return "recent"
        case ("turn", "question") | ("tail", _):
            return "input"
        case _:
            return "input" if section.name in NEWS else "retrieved"


def budget_report(sections: Sequence[tuple[Section, int]], budget: Budget) -> tuple[BudgetLine, ...]:
    """What each part takes of its share; the sections come with their tokens."""
    used: dict[BudgetPart, int] = dict.fromkeys(PARTS, 0)
    for section, tokens in sections:
        used[part_of(section)] += tokens
    return tuple(BudgetLine(part, budget.share(part), used[part], used[part] > budget.share(part)) for part in PARTS)


def fitting_system(
    system: tuple[Section, ...], law_tokens: int, budget: Budget
) -> tuple[tuple[Section, ...], tuple[Dropped, ...]]:
    """L1 without as many optional modules as it takes to come into its share beside the law; the others stay whole.

    The same object when the budget is not enforced, or all fits.
    """
    share, kept, dropped = budget.share("system"), list(system), list[Dropped]()
    if not budget.enforced:
        return system, ()
    for name in OPTIONAL:
        for section in [one for one in kept if one.name.partition(":")[0] == name]:
            if sum(one.tokens for one in kept) + law_tokens <= share:
                break
            kept.remove(section)
            dropped.append(Dropped(section.name, f"{section.tokens} tokens that the share of {share} has no room for"))
    return (tuple(kept), tuple(dropped)) if dropped else (system, ())


def fitting_fragments(
    fragments: tuple[Fragment, ...], budget: Budget
) -> tuple[tuple[Fragment, ...], tuple[Dropped, ...]]:
    """The fragments beside the question that fit into the share of what is retrieved, each whole or not at all."""
    if not budget.enforced:
        return fragments, ()
    tracker, kept, dropped = Tracker(budget.share("retrieved")), list[Fragment](), list[Dropped]()
    for fragment in fragments:
        tokens = text_section("turn", fragment.name, fragment.text).tokens
        if fragment.name in NEWS or tracker.allocate(fragment.name, tokens):
            kept.append(fragment)
        else:
            reason = f"{tokens} tokens, and {tracker.left} are left of its share of {tracker.total}"
            dropped.append(Dropped(fragment.name, reason))
    return (tuple(kept), tuple(dropped)) if dropped else (fragments, ())
