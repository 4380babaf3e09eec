"""Building a prompt from messages, a question and a strategy (B-9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from codelaw.api.built import ApiMessage, BuiltContext, Metadata, TokenStats, prompt_limit
from codelaw.api.reading import SYSTEM, read, text_of
from codelaw.context.builder import SHARES, ViewBudget, budget_report
from codelaw.context.past.spans import SpanReport, spans_fragment
from codelaw.context.past.strategies import Material, Resolved, Selection, choose, resolve, thread_message
from codelaw.context.sections import Section, message_section, text_section
from codelaw.context.system.modules import pin
from codelaw.context.tokens import estimate
from codelaw.domain.chats import Strategy
from codelaw.domain.errors import Refusal
from codelaw.domain.memories import MessageHit
from codelaw.domain.messages import Fragment, Message
from codelaw.domain.reports import BudgetLine, Dropped
from codelaw.templates.render import render
from codelaw.transcript.transcript import Transcript, rounds

Search = Callable[[str, Sequence[ApiMessage]], Sequence[tuple[int, float]]]
"""From a question and the older messages to places among these and scores, best first."""

_SHOWS_SUMMARY: frozenset[Resolved] = frozenset({"layered", "summary+recent", "sliding-window"})


def build_context(
    messages: Sequence[ApiMessage],
    question: str | ApiMessage,
    *,
    model: str = "",
    strategy: Strategy = "auto",
    system_prompt: str = "",
    law: str = "",
    summary: str = "",
    summarized: int = 0,
    memories: Sequence[str] = (),
    search: Search | None = None,
    max_prompt_tokens: int | None = None,
    enforce_shares: bool | None = None,
    shares: tuple[float, ...] = SHARES,
    last: int = 30,
    recent_min: int = 4,
    recent_max: int = 20,
    window: int = 20,
    span_top_k: int = 5,
    span_radius: int = 2,
    span_share: float = 0.4,
    span_min_similarity: float | None = None,
    pin_goal: bool | None = None,
    todos: str = "",
) -> BuiltContext:
    """The prompt for `question` after `messages`, and what was made of them.

    Args:
        messages: the chat so far, oldest first. Its system messages join `system_prompt`.
        question: the current input, which is never cut and stands in the prompt once. Where it is one of `messages`,
            the very object, it is not repeated; equal words of earlier messages are no reason to leave it out (L-7).
        model: its name decides the budget, see `prompt_limit`.
        strategy: `auto` goes by the number of messages (B-1).
        system_prompt: L1; never cut.
        law: L2; never cut.
        summary: of the first `summarized` messages, for the strategies that show one.
        summarized: how many messages the summary speaks of.
        memories: texts that bear on the question, best first.
        search: for `span-retrieval`; by default a search by words. What it raises is told in `dropped` (B-8).
        max_prompt_tokens: the whole prompt; by default that of the model. The newest round is there in any case, even
            where it alone is longer: `token_stats.total` tells.
        enforce_shares: whether parts are held to their shares (B-2); by default for `sliding-window`.
        shares: of system, summary, retrieved, recent and input; only their ratio counts.
        last: messages that `last-n` shows.
        recent_min: messages that stay beside a summary or spans.
        recent_max: messages at most, in whole rounds.
        window: rounds of the `sliding-window` at most. It begins where the summary ends, unless that leaves half of it
            empty.
        span_top_k: hits that are followed.
        span_radius: messages on either side of a hit.
        span_share: of what is left of the budget, for spans.
        span_min_similarity: hits of a smaller score are left out; comparable within one search only.
        pin_goal: whether the goal is repeated at the end; by default for `sliding-window` (L-7).
        todos: how far the work has come, for the pin.

    Raises:
        Refusal: `context_overflow`: the question, the system prompt and the law do not fit, or, asked for in `full`,
            the chat does not. The message has the sizes.
        ValueError: a message has no known role.
    """
    total = max_prompt_tokens if max_prompt_tokens is not None else prompt_limit(model)
    asked: ApiMessage = question if isinstance(question, Mapping) else {"role": "user", "content": question}
    spoken = [one for one in messages if one is not question and one.get("role") not in SYSTEM]
    reported = [text_of(one) for one in messages if one is not question and one.get("role") in SYSTEM]
    system = "\n\n".join(part for part in (system_prompt, *reported) if part)
    history = read(spoken)
    chosen_strategy = resolve(strategy, len(history))
    strict = chosen_strategy == "sliding-window" if enforce_shares is None else enforce_shares
    budget = ViewBudget(total, shares, strict)
    asked_text = text_of(asked)
    pinned = chosen_strategy == "sliding-window" if pin_goal is None else pin_goal
    fixed = [text_section("L1", "system", system)] if system else []
    fixed += [text_section("L2", "law", law)] if law else []
    asked_section = text_section("turn", "question", asked_text)
    tails = [text_section("tail", "pin", pin(asked_text, todos).text)] if pinned else []
    used = sum(section.tokens for section in (*fixed, asked_section, *tails))
    if used > total:
        raise _overflow(total, [*fixed, asked_section], "Shorten the message or system prompt, or raise the budget.")
    room = budget.share("summary") if strict else None
    material = _material(history, summary, summarized, chosen_strategy, room)
    selection = Selection(
        chosen_strategy,
        strategy == "auto",
        summary_room=room,
        summary=bool(summary) or chosen_strategy != "sliding-window",
        last=last,
        recent_min=recent_min,
        recent_max=recent_max,
        rounds=window,
    )
    left = total - used - sum(estimate(one.content) for one in (*material.archived, *filter(None, [material.thread])))
    available = left
    if strict:
        left = min(left, budget.recent(fixed=used))
    elif chosen_strategy == "span-retrieval":
        left = int(left * (1 - span_share))
    # A chat that was wanted in full is sent so or not at all.
    in_full = chosen_strategy == "full" and not selection.by_auto
    chosen = choose(material, selection if in_full else selection.narrowed(left))
    dropped = list(chosen.dropped)
    recent = [message for round_ in chosen.rounds for message in round_.messages]
    past = [message_section("L3", "summaries", chosen.summaries)] if chosen.summaries else []
    past += [message_section("L3", "history", recent)] if recent else []
    used += sum(section.tokens for section in past)
    if in_full and used > total:
        raise _overflow(total, [*fixed, *past, asked_section], "Choose another strategy.")
    retrieved: list[Fragment] = []
    report = SpanReport()
    if chosen_strategy == "span-retrieval":
        shown = {message.id for message in recent}
        room = min(max(0, total - used), int(available * span_share), budget.share("retrieved") if strict else total)
        try:
            hits = _hits(search, asked_text, history, spoken, shown)
        except Exception as error:  # noqa: BLE001 - whatever a caller's search raises, the recents are there (B-8)
            hits = []
            dropped.append(Dropped("spans", f"the search failed: {error}"))
        hits = [hit for hit in hits if span_min_similarity is None or hit.score >= span_min_similarity][:span_top_k]
        record = Transcript(tuple(history))
        block, report = spans_fragment(record, shown, hits, radius=span_radius, budget_tokens=room)
        retrieved += [block] if block is not None else []
        used += report.tokens
    left = max(0, total - used)
    remembered = _memories(memories, min(left, budget.share("retrieved")) if strict else left)
    if len(remembered) < len(memories):
        dropped.append(Dropped("memories", f"{len(memories) - len(remembered)} had no room"))
    retrieved += [Fragment("memories", render("memories", lines=remembered))] if remembered else []
    beside = [text_section("turn", fragment.name, fragment.text) for fragment in retrieved]
    sections = [*fixed, *past, asked_section, *beside, *tails]
    lines = budget_report([(section, section.tokens) for section in sections], budget)
    summed_up = summarized if chosen.summaries else 0
    own = {message.id: one for message, one in zip(history, spoken, strict=True)}
    return BuiltContext(
        messages=[
            *({"role": "system", "content": section.content} for section in fixed),
            *({"role": "system", "content": one.content} for one in chosen.summaries),
            *(own[message.id] for message in recent),
            asked,
            *({"role": "user", "content": section.content} for section in (*beside, *tails)),
        ],
        token_stats=_stats(lines, history),
        metadata=Metadata(len(recent), summed_up, bool(chosen.summaries), len(remembered), report.messages),
        strategy=chosen_strategy,
        max_prompt_tokens=total,
        budget=lines,
        dropped=tuple(dropped),
    )


def build_simple_context(system_prompt: str, user_prompt: str, previous: Sequence[ApiMessage] = ()) -> list[ApiMessage]:
    """System prompt, what was said before, and the input: no budget, no strategy."""
    first: list[ApiMessage] = [{"role": "system", "content": system_prompt}] if system_prompt else []
    return [*first, *previous, {"role": "user", "content": user_prompt}]


def _overflow(total: int, sections: Sequence[Section], hint: str) -> Refusal:
    sizes = ", ".join(f"{section.name} {section.tokens}" for section in sections)
    return Refusal("context_overflow", f"The prompt may have {total} tokens, and these need more: {sizes}.", hint)


def _material(
    history: Sequence[Message], summary: str, summarized: int, strategy: Resolved, room: int | None
) -> Material:
    """The rounds, and the summary where the strategy shows one; behind a summary `layered` shows the rest."""
    whole = rounds(history)
    if not summary or strategy not in _SHOWS_SUMMARY:
        return Material(whole)
    known = {message.id for message in history[:summarized]}
    covered = sum(all(message.id in known for message in round_.messages) for round_ in whole)
    thread = thread_message(summary, "given", room)
    if strategy == "layered":
        return Material(whole[covered:], archived=(thread,))
    return Material(whole, thread=thread, covered=covered)


def _hits(
    search: Search | None, question: str, history: Sequence[Message], spoken: Sequence[ApiMessage], shown: set[str]
) -> list[MessageHit]:
    """What answers the question among the messages that are not shown."""
    places = [place for place, message in enumerate(history) if message.id not in shown]
    if search is None:
        return _by_words(question, [history[place] for place in places])
    found = search(question, [spoken[place] for place in places])
    return [MessageHit(history[places[place]].id, score) for place, score in found]


def _by_words(question: str, messages: Sequence[Message]) -> list[MessageHit]:
    """The messages that share words with a question, best first."""
    from codelaw.ranking.dates import tells_time  # noqa: PLC0415 - with numpy, which only a search needs
    from codelaw.ranking.passages import split  # noqa: PLC0415 - as above
    from codelaw.ranking.scoring import MessageFrame, RankedSource, rank  # noqa: PLC0415 - as above
    from codelaw.ranking.words import packed  # noqa: PLC0415 - as above

    said, counts, passages = list[RankedSource](), list[int](), list[str]()
    for message in messages:
        parts = split(message.content)
        if parts:
            said.append(RankedSource(message.id, message.role, 0.0, tells_time(message.content)))
            counts.append(len(parts))
            passages += parts
    if not said:
        return []
    frame = MessageFrame.empty().extended(said, counts, [*map(len, passages)], [*map(packed, passages)])
    return [MessageHit(one.id, one.score, one.similarity) for one in rank(frame, question)]


def _memories(memories: Sequence[str], room: int) -> list[str]:
    """The first memories that fit, each whole and on one line."""
    kept: list[str] = []
    for memory in memories:
        line = " ".join(memory.split())
        if estimate(render("memories", lines=[*kept, line])) > room:
            break
        kept.append(line)
    return kept


def _stats(lines: Sequence[BudgetLine], history: Sequence[Message]) -> TokenStats:
    used = {line.part: line.tokens for line in lines}
    shown = used["summary"] + used["recent"] + used["retrieved"]
    return TokenStats(
        system_prompt=used["system"],
        summary=used["summary"],
        retrieved=used["retrieved"],
        recent_messages=used["recent"],
        current_input=used["input"],
        total=sum(used.values()),
        saved=max(0, message_section("L3", "history", history).tokens - shown),
    )
