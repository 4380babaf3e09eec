"""From gathered values to a View (L-1, L-5): pure, so that the same inputs give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from codelaw.context.budget import Budget, budget_report
from codelaw.context.sections import Section, View, message_section, text_section
from codelaw.domain.messages import Fragment, Message
from codelaw.domain.reports import ContextReport, Dropped, SectionReport


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


def render(view: View) -> str:
    """The whole view as text (S4 E1)."""
    return "\n\n".join(section.rendered for section in view.sections)


def report(
    view: View,
    texts: Sequence[str],
    *,
    window: int,
    threshold: float,
    strategy: str,
    tokens: Sequence[int] | None = None,
    kept: str = "",
    budget: Budget | None = None,
) -> ContextReport:
    """What would be sent, section by section.

    `texts` are the sections as the dialect spells them, `tokens` are those of each section where the estimates are not
    good enough (W-4).
    """
    sections: list[SectionReport] = []
    sizes = [section.tokens for section in view.sections] if tokens is None else tokens
    for section, text, size in zip(view.sections, texts, sizes, strict=True):
        cached = section.layer != "tail"
        sections.append(
            SectionReport(
                layer=section.layer,
                name=section.name,
                tokens=size,
                chars=len(text),
                cut=section.cut,
                cached=cached,
                text=text,
            )
        )
    total = sum(section.tokens for section in sections)
    sized = [(section, told.tokens) for section, told in zip(view.sections, sections, strict=True)]
    return ContextReport(
        sections=tuple(sections),
        total_tokens=total,
        context_window=window,
        threshold=int(threshold * window),
        strategy=strategy,
        dropped=view.dropped,
        text=render(view),
        kept=kept,
        budget=budget_report(sized, budget) if budget is not None else (),
    )
