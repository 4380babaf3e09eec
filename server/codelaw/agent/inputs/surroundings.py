"""What a turn shows of the past, and what a step says around it, once only; values alone (B-1, B-2, L-3, L-6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from codelaw.context.builder import Gathered, fitting_fragments, fitting_system
from codelaw.context.past.projection import deduplicate, standing
from codelaw.context.past.strategies import SUMMARISED, Selection, resolve
from codelaw.context.sections import text_section
from codelaw.context.system.law import tokens_of
from codelaw.context.system.modules import pin
from codelaw.domain.checkpoints import HEAD, Aside
from codelaw.domain.messages import Fragment, Message
from codelaw.templates.render import render
from codelaw.tools.todo_list import open_recap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codelaw.agent.inputs.turn_context import HistoryState, TurnInputs
    from codelaw.domain.chats import Todo
    from codelaw.transcript.transcript import Transcript

WORK = 8
"""The part of the room that recent rounds leave to the turn itself, its calls and what they bring."""
NARROWED = 0.7
"""Of what the view may have: where rounds are left out because the window is in danger, enough of them go at once."""
_SCALE = 100_000


def layered(inputs: TurnInputs) -> Selection:
    """What a compaction works on, whatever the chat's strategy: all that is not archived."""
    return Selection(limit=inputs.settings.history_limit, summary_room=inputs.summary_room, maker=_maker(inputs))


def _maker(inputs: TurnInputs) -> str:
    return "" if inputs.dialect.binding is None else inputs.dialect.binding.maker


def select(inputs: TurnInputs, transcript: Transcript, *, asked: int) -> Selection:
    """What a turn shows, from its first step to its last; `asked` are the estimated tokens of the input.

    `auto` is decided here (B-1). The same state and the same question give the same selection.
    """
    settings = inputs.settings
    strategy = resolve(settings.strategy, len(transcript.unwithdrawn))
    by_auto = settings.strategy == "auto"
    if strategy == "layered" and not inputs.budget.enforced:
        return layered(inputs)
    selection = Selection(
        strategy,
        by_auto,
        settings.history_limit,
        inputs.summary_room,
        None,
        recent_min=settings.recent_min,
        recent_max=settings.recent_max,
        rounds=settings.window,
        summary=settings.summary,
        thread=transcript.thread if settings.summary and strategy in SUMMARISED else None,
        maker=_maker(inputs),
    )
    left = recent_room(inputs, asked=asked)
    if strategy == "span-retrieval" and not inputs.budget.enforced:
        return selection.narrowed(int(left * (1 - settings.retrieval_share)))
    return selection.narrowed(left) if selection.narrows or inputs.budget.enforced else selection


def recent_room(inputs: TurnInputs, *, asked: int) -> int:
    """Estimated tokens for the recent rounds: what is available, and no more than their share where it is enforced."""
    left = available(inputs, asked=asked)
    if not inputs.budget.enforced:
        return left
    law = tokens_of(inputs.law)
    fixed = tokens_of(fitting_system(inputs.system, law, inputs.budget)[0]) + law + asked
    return min(left, inputs.budget.recent(fixed=fixed))


def available(inputs: TurnInputs, *, asked: int) -> int:
    """Estimated tokens that L1, law and input leave to the past, with room for the turn's own work."""
    return max(0, estimated(inputs, inputs.room) * (WORK - 1) // WORK - inputs.fixed - asked)


def span_budget(inputs: TurnInputs, *, asked: int) -> int:
    """Estimated tokens that spans may take of what is available; of a budget that is enforced, at most their share."""
    room = int(available(inputs, asked=asked) * inputs.settings.retrieval_share)
    return min(room, inputs.budget.share("retrieved")) if inputs.budget.enforced else room


def estimated(inputs: TurnInputs, tokens: int) -> int:
    """How many estimated tokens really are `tokens` (W-4)."""
    return tokens * _SCALE // max(1, inputs.corrected(_SCALE))


def gathered(inputs: TurnInputs, beside: tuple[Fragment, ...]) -> Gathered:
    """What stands around the past, as far as its shares allow (B-2)."""
    system, gone = fitting_system(inputs.system, tokens_of(inputs.law), inputs.budget)
    beside, away = fitting_fragments(beside, inputs.budget)
    return Gathered(system, inputs.law, beside, (*gone, *away))


RECENT = 20
"""Messages from the end among which a reminder must stand, else it is said again."""
FROZEN = {"law": "The law of this workspace", "law files": "A file beside the law", "skills": "The list of skills"}
"""Sections that stay as a chat was first sent them where a model takes system messages, with what they are called."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around the past at one step."""

    inputs: TurnInputs
    """With L1 and L2 as they are sent."""
    gathered: Gathered
    behind: tuple[Fragment, ...]
    """To stand behind the newest message of the running turn, from now on."""
    head: tuple[Aside, ...]
    """What of L1 and L2 is sent for the first time, to be kept."""


def surroundings(
    inputs: TurnInputs,
    history: HistoryState,
    question: Message | None,
    scratchpad: Sequence[Message],
    reminders: Sequence[Fragment],
    *,
    beside: tuple[Fragment, ...] = (),
    asides: Sequence[Aside] = (),
    freezing: bool = True,
) -> Surroundings:
    """What is new stands at the end: behind the newest message of the turn, before its first step beside the question.

    What a batch or a compaction takes away is said again.

    Args:
        inputs: With L1 and L2 as they are now.
        history: The finished rounds.
        question: What is asked.
        scratchpad: What was said in the running turn.
        reminders: What should stand near the end.
        beside: What stands beside the question already, in its order.
        asides: What the running turn keeps.
        freezing: Whether the strategy keeps bytes.
    """
    now, head = _frozen_part(inputs), tuple[Aside, ...]()
    if freezing:
        inputs, head = as_sent(inputs, history.transcript, asides)
    sent = _frozen_part(inputs)
    asked = behind([question or Message("", "", "user", "")], beside)
    shown = [*history.shown, *asked, *scratchpad]
    said, lately = standing(shown), standing(shown[-RECENT:])
    news = [one for one in _renewed(now, sent, said) if said.get(one.name) != one.text]
    news += [one for one in reminders if lately.get(one.name) != one.text]
    more = deduplicate([one for one in inputs.beside if one not in beside], history.view)
    if scratchpad:
        return Surroundings(inputs, gathered(inputs, (*beside, *more)), tuple(news), head)
    return Surroundings(inputs, gathered(inputs, (*beside, *more, *news)), (), head)


def reminders(inputs: TurnInputs, todos: Sequence[Todo], asked: str) -> list[Fragment]:
    """The list of what is to be done, while something is; the goal of what was `asked` where it is pinned (L-7)."""
    reported = open_recap(todos)
    found = [Fragment("todo", render("todo", recap=reported))] if reported else []
    return [*found, pin(asked, reported)] if inputs.settings.pin and asked else found


def behind(messages: Sequence[Message], fragments: tuple[Fragment, ...]) -> Sequence[Message]:
    """The messages, with these behind the last of them."""
    if not fragments:
        return messages
    facts = messages[-1].metadata
    return [*messages[:-1], replace(messages[-1], metadata=replace(facts, asides=(*facts.asides, *fragments)))]


def as_sent(
    inputs: TurnInputs, transcript: Transcript, asides: Sequence[Aside] = ()
) -> tuple[TurnInputs, tuple[Aside, ...]]:
    """The inputs with L1 and L2 as the chat's requests begin; what of them is to be kept, as it is new (L-6).

    They begin anew where nothing is saved by the same bytes, after a compaction, and where the rest of L1 has changed.
    """
    if not inputs.settings.economy or not inputs.caches or not inputs.dialect.system_messages or inputs.restricted:
        return inputs, ()
    rest = "\0".join(section.content for section in inputs.system if section.name not in FROZEN)
    cut = transcript.checkpoints[-1].id if transcript.checkpoints else ""
    key = f"{HEAD}{sha256(rest.encode(errors='surrogatepass')).hexdigest()[:16]}:{cut}"
    now = _frozen_part(inputs)
    sent = {one.name: one.text for one in (*transcript.asides, *asides) if one.message_id == key}
    if not sent:
        return inputs, tuple(Aside(key, name, now.get(name, "")) for name in FROZEN)
    if all(now.get(name, "") == sent.get(name, "") for name in FROZEN):
        return inputs, ()
    law = [text_section("L2", name, sent[name]) for name in ("law", "law files") if sent.get(name)]
    system = [
        text_section("L1", one.name, sent.get(one.name, one.content)) if one.name in FROZEN else one
        for one in inputs.system
    ]
    return replace(inputs, law=law, system=tuple(system)), ()


def _frozen_part(inputs: TurnInputs) -> Mapping[str, str]:
    return {section.name: section.content for section in (*inputs.law, *inputs.system) if section.name in FROZEN}


def _renewed(now: Mapping[str, str], sent: Mapping[str, str], said: Mapping[str, str]) -> Iterator[Fragment]:
    """What is not as it is sent in L1 and L2, or was not once."""
    for name, title in FROZEN.items():
        if name in said or now.get(name, "") != sent.get(name, ""):
            yield Fragment(name, render("renewed", title=title, text=now.get(name, "")))
