"""Turns as values: what the deciders of windows and compactions are given, without a store, a model or a clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from codelaw.agent.compaction.compaction_plan import CompactionPlan, plan
from codelaw.agent.dialects.react import React
from codelaw.agent.inputs.surroundings import gathered, layered, select
from codelaw.agent.inputs.turn_context import HistoryState, TurnInputs, TurnLimits
from codelaw.agent.turn.window_plan import (
    Action,
    Compact,
    Compactions,
    Demote,
    FitProgress,
    Lighten,
    Moment,
    Narrow,
    Shorten,
    next_action,
)
from codelaw.app.plans import history_settings
from codelaw.context.builder import build
from codelaw.context.calibration import KINDS, Calibration, Mixture, Weights
from codelaw.context.past.projection import project
from codelaw.context.past.strategies import Selection
from codelaw.context.sections import message_tokens, text_section
from codelaw.domain.checkpoints import Checkpoint
from codelaw.domain.messages import Fragment, Message
from codelaw.domain.models import Ttl, Usage
from codelaw.domain.results import ToolResult
from codelaw.settings.model import Settings
from codelaw.transcript.summaries.summary import sizes
from codelaw.transcript.transcript import Transcript
from tests.context.spoken import Spoken

Step = tuple[str, dict[str, Any], ToolResult]


def prose(tokens: int) -> str:
    return "plain " * max(1, tokens // 2)


def counting(ratio: float) -> Calibration:
    """A tokenizer that is known, and counts this much of our estimates."""
    return Calibration({"m": Weights((ratio,) * KINDS)}, {"m": Mixture(1.0)})


def inputs_of(window: int, *, system: int = 500, ratio: float = 1.0, **settings: Any) -> TurnInputs:
    """Inputs of which the deciders need the measures only."""
    nothing: Any = cast("Any", None)
    return TurnInputs(
        model=nothing,
        model_name="m",
        dialect=React(),
        toolbox=nothing,
        limits=TurnLimits(window, window // 10),
        system=(text_section("L1", "core", prose(system)),),
        calibration=counting(ratio),
        summary_window=window,
        settings=replace(history_settings(Settings(), None), **settings),
    )


def checkpoint(planned: CompactionPlan, id_: str, inputs: TurnInputs) -> Checkpoint:
    """What a compaction would store, with a summary of three quarters of the room it has."""
    summary = None
    if planned.archived:
        room = sizes(inputs.limits.window, inputs.settings.index_tokens).total
        summary = Message(f"s_{id_}", planned.archived[-1].turn_id, "summary", prose(room * 3 // 4))
    return Checkpoint(id_, planned.kept[0].turn_id, 0.0, len(planned.archived), summary, "model", planned.demotions)


@dataclass
class Running:
    """A chat with a running turn; `do` is what the loop of a turn does with an action."""

    inputs: TurnInputs
    transcript: Transcript = field(default_factory=Transcript)
    settled: str = ""
    last_usage: Usage | None = None
    last_active: float = 0.0
    ttl: Ttl | None = None
    compactions: Compactions = field(default_factory=Compactions)
    question: Message = field(default_factory=lambda: Message("ask_now", "now", "user", "And now?"))
    beside: tuple[Fragment, ...] = ()
    scratchpad: Sequence[Message] = ()
    record: Sequence[Message] = ()
    chosen: Selection | None = None

    def round(self, answer: int, *steps: Step) -> Running:
        """A finished turn with an answer of so many tokens."""
        name = f"t{len(self.transcript.started)}"
        spoken = Spoken().turn(name, *steps, answer=prose(answer))
        self.transcript = self.transcript.ended(spoken.record, name, float(len(self.transcript.started)))
        return self

    def step(self, *steps: Step) -> Running:
        """The running turn has made these steps."""
        spoken = Spoken().turn("now", *steps, answer=None)
        self.scratchpad, self.record = spoken.full[1:], spoken.record[1:]
        return self

    @property
    def selection(self) -> Selection:
        return self.chosen or select(self.inputs, self.transcript, asked=message_tokens(self.question))

    @property
    def now(self) -> Moment:
        history, archive = self._state(self.selection), self._state(layered(self.inputs))
        around = gathered(self.inputs, self.beside)
        return Moment(
            inputs=self.inputs,
            selection=self.selection,
            history=history,
            archive=archive,
            view=build(history.view, self.scratchpad, self.question, around),
            turn_id="now",
            scratchpad=self.scratchpad,
            record=self.record,
            compactions=self.compactions,
        )

    def do(self, action: Action) -> None:
        match action:
            case Compact(cause):
                planned = plan(self.now.archive, self.inputs, cause)
                if planned.changes:
                    made = checkpoint(planned, f"c{len(self.transcript.checkpoints)}", self.inputs)
                    self.transcript = self.transcript.reshaped(made, ())
                    self.settled = self.transcript.newest_turn
            case Narrow(selection):
                self.chosen = selection
            case Demote(demotions):
                self.transcript = self.transcript.reshaped(None, demotions)
            case Shorten(scratchpad):
                self.scratchpad = scratchpad
            case Lighten():
                self.inputs, self.beside = replace(self.inputs, beside=()), ()
            case _:
                raise AssertionError(action)

    def begin(self) -> None:
        """What the turn shows of the past is chosen once; `layered` follows the window."""
        if self.selection.strategy != "layered":
            self.chosen = self.selection

    def play(self, progress: FitProgress, most: int = 20) -> tuple[list[Action], FitProgress]:
        """All actions until the last word, which is one to send or to refuse."""
        self.begin()
        done: list[Action] = []
        while len(done) < most:
            action, progress = next_action(self.now, progress)
            done.append(action)
            if action.__class__.__name__ in {"Send", "Refuse", "Wait"}:
                return done, progress
            self.do(action)
        raise AssertionError(done)

    def _state(self, selection: Selection) -> HistoryState:
        view = project(self.transcript, selection)
        return HistoryState(self.transcript, view, self.settled, self.last_usage, self.last_active, self.ttl)
