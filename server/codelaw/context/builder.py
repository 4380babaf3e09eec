"""From gathered values to a View, and the budget of its parts (L-1, L-5, B-2): pure, equal inputs give the same bytes.

The law, L1 and the current input count in full and are never cut. The other parts have a share; where shares are
enforced, what does not fit into its share is cut or left out, whole modules and fragments at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from codelaw.context.sections import NEWS, Section, View, message_section, text_section
from codelaw.domain.messages import Fragment, Message
from codelaw.domain.reports import BudgetLine, BudgetPart, ContextReport, Dropped, SectionReport

PARTS: tuple[BudgetPart, ...] = ("system", "summary", "retrieved", "recent", "input")
SHARES: tuple[float, ...] = (20, 10, 10, 55, 5)
"""Of the total, in the order of `PARTS`; only their ratio counts."""
OPTIONAL = ("connectors", "mcp", "skills")
"""The modules of L1 that may go, first those in front; a name may go on behind a colon (`connectors:github`)."""


@dataclass(frozen=True, slots=True)
class ViewBudget:
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


def budget_report(sections: Sequence[tuple[Section, int]], budget: ViewBudget) -> tuple[BudgetLine, ...]:
    """What each part takes of its share; the sections come with their tokens."""
    used: dict[BudgetPart, int] = dict.fromkeys(PARTS, 0)
    for section, tokens in sections:
        used[part_of(section)] += tokens
    return tuple(BudgetLine(part, budget.share(part), used[part], used[part] > budget.share(part)) for part in PARTS)


def fitting_system(
    system: tuple[Section, ...], law_tokens: int, budget: ViewBudget
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
    fragments: tuple[Fragment, ...], budget: ViewBudget
) -> tuple[tuple[Fragment, ...], tuple[Dropped, ...]]:
    """The fragments beside the question that fit into the share of what is retrieved, each whole or not at all."""
    if not budget.enforced:
        return fragments, ()
    share, kept, dropped = budget.share("retrieved"), list[Fragment](), list[Dropped]()
    left = share
    for fragment in fragments:
        tokens = text_section("turn", fragment.name, fragment.text).tokens
        if fragment.name in NEWS:
            kept.append(fragment)
        elif tokens <= left:
            left -= tokens
            kept.append(fragment)
        else:
            reason = f"{tokens} tokens, and {left} are left of its share of {share}"
            dropped.append(Dropped(fragment.name, reason))
    return (tuple(kept), tuple(dropped)) if dropped else (fragments, ())


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """L3, counted once and then carried unchanged through all steps of a turn."""

    summaries: Section | None
    rounds: Section | None
    dropped: tuple[Dropped, ...] = ()
    kept: str = ""
    """What the strategy shows, in one line for a person."""

    @classmethod
    def of(cls, messages: Sequence[Message], dropped: Sequence[Dropped] = (), kept: str = "") -> History:
        """The history of finished rounds; `messages` may hold summaries anywhere (L-1)."""
        summaries = [message for message in messages if message.role == "summary"]
        rounds = [message for message in messages if message.role != "summary"]
        return cls(
            message_section("L3", "summaries", summaries) if summaries else None,
            message_section("L3", "history", rounds) if rounds else None,
            tuple(dropped),
            kept,
        )


def after(history: History, sent: Section | None) -> History:
    """The history, with what of `sent`, the finished rounds of the last request, a batch has left as it was (L-6)."""
    rounds = history.rounds
    if rounds is None or sent is None:
        return history
    pairs = zip(rounds.messages, sent.messages, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: _is_same(*pair), pairs))
    if same == len(sent.messages):
        return history
    return replace(history, rounds=replace(rounds, reused=(min(sent.anchors[0], same), same)))


def _is_same(one: Message, other: Message) -> bool:
    """Whether two messages are sent alike."""
    if one is other:
        return True
    facts, others = one.metadata, other.metadata
    same = facts.calls == others.calls and facts.asides == others.asides
    return same and one.id == other.id and one.content == other.content


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was fetched at the edge of the turn."""

    system: tuple[Section, ...]
    """L1, in order (L-2)."""
    law: Sequence[Section] = ()
    """L2 as sent; looked up at every step (L-4)."""
    beside: tuple[Fragment, ...] = ()
    """Sent right after the question, and never in a record (L-3)."""
    dropped: tuple[Dropped, ...] = ()
    """What had to stay away, modules and fragments (B-2)."""


def build(history: History, scratchpad: Sequence[Message], question: Message | None, gathered: Gathered) -> View:
    """The view of one step.

    The question is in it exactly once, whatever the history holds: compared by identity (L-7). None stands for a chat
    in which nothing is asked, and can only be inspected.
    """
    rounds = history.rounds
    if question is not None and rounds is not None and any(message.id == question.id for message in rounds.messages):
        rounds = message_section("L3", "history", [entry for entry in rounds.messages if entry.id != question.id])
    sections = [
        *gathered.system,
        *gathered.law,
        history.summaries,
        rounds,
        message_section("turn", "question", [question]) if question is not None else None,
        *(text_section("turn", part.name, part.text) for part in gathered.beside),
        message_section("turn", "scratchpad", scratchpad) if scratchpad else None,
    ]
    shown = tuple(section for section in sections if section is not None)
    return View(shown, (*history.dropped, *gathered.dropped))


def report(
    view: View,
    texts: Sequence[str],
    *,
    window: int,
    threshold: float,
    strategy: str,
    tokens: Sequence[int] | None = None,
    kept: str = "",
    budget: ViewBudget | None = None,
) -> ContextReport:
    """What would be sent, section by section.

    `texts` are the sections as the dialect spells them, `tokens` are those of each section where the estimates are not
    good enough (W-4).
    """
    sizes = [section.tokens for section in view.sections] if tokens is None else tokens
    sections = tuple(
        SectionReport(one.layer, one.name, size, chars=len(text), cut=one.cut, cached=one.layer != "tail", text=text)
        for one, text, size in zip(view.sections, texts, sizes, strict=True)
    )
    sized = list(zip(view.sections, sizes, strict=True))
    return ContextReport(
        sections=sections,
        total_tokens=sum(sizes),
        context_window=window,
        threshold=int(threshold * window),
        strategy=strategy,
        dropped=view.dropped,
        text=view.rendered,
        kept=kept,
        budget=budget_report(sized, budget) if budget is not None else (),
    )
