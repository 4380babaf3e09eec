"""What a turn or a compaction works with, as values: its inputs, gathered once, and the history at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codelaw.agent.dialects.spelling import MOST
from codelaw.agent.model_calls.caching import Manner, lasting_for, manner
from codelaw.context.builder import ViewBudget
from codelaw.context.calibration import Calibration
from codelaw.context.system.law import tokens_of
from codelaw.context.system.modules import system_sections
from codelaw.context.tokens import max_tokens, most_output
from codelaw.domain.models import USUAL_LASTS

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import Dialect
    from codelaw.agent.model_calls.caching import CacheTtl
    from codelaw.context.builder import History
    from codelaw.context.sections import Section
    from codelaw.context.system.modules import Connector
    from codelaw.domain.chats import Mode, Strategy
    from codelaw.domain.messages import Fragment, Message
    from codelaw.domain.models import Effort, Lasts, ModelProfile, Prices, Ttl, Usage
    from codelaw.ports.abilities import Skills
    from codelaw.ports.model import ChatModel
    from codelaw.tools.toolbox import Toolbox
    from codelaw.transcript.transcript import Transcript


UNSURE = 1.25
"""Times its estimate that a request may have."""


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """What a turn may use (R-7, W-7). Tokens throughout; `seconds` None for no limit."""

    window: int
    reserve: int
    steps: int = 50
    tokens: int | None = None
    seconds: float | None = None
    output: int = 0
    """Of one reply at most; 0: the reserve."""
    above: int | None = None
    """Tokens of the turn above a child turn, its children's among them (X-4)."""


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """What keeps the history inside the window: the settings of `context` by their own names, and the chat's (K-2)."""

    threshold: float
    keep_rounds: int
    min_messages: int
    low_water: float
    summary_model: str | None
    """None: the chat's own."""
    summary_timeout_seconds: float
    economy: bool
    index_tokens: int | None
    """Of the list of names below a summary; None for its share of the window (K-5)."""
    recent_min: int
    recent_max: int
    window: int
    """Rounds of the sliding window (B-3)."""
    summary: bool
    """Whether rolling summaries are written."""
    summarise_above: int
    """Tokens that no rolling summary knows yet, from which it is brought up to date (B-3)."""
    total_budget: int | None
    """Tokens of the whole view; None for what the window holds besides the answer (B-2)."""
    shares: tuple[float, ...]
    compress_results: bool
    """Whether results are cut when they are written to the history (C-1)."""
    strategy: Strategy
    history_limit: int
    """User turns shown at most; 0 for all."""
    retrieval_share: float
    """Of the budget, for spans (B-4)."""
    pin: bool
    """Whether the goal of the turn is repeated at the end of the view (L-7)."""
    as_text: bool
    """Whether a turn shows its results as text (C-7)."""
    cache_ttl: CacheTtl


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model that is asked, and what is known of it; `window`, `reserve` and `output` in tokens."""

    name: str
    window: int
    reserve: int
    output: int
    """Of one reply at most."""
    dialect: Dialect
    other: Dialect | None
    """What the turn goes on in when the model refuses to write down its reasoning; None where there is no way (R-3)."""
    profile: ModelProfile | None
    prices: Prices | None
    caches: bool
    """Whether its vendor keeps prompts in a cache."""
    sees: bool
    """Whether it sees pictures (M-6)."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of subagent, as a turn offers it (X-4)."""

    name: str
    description: str
    text: str
    """What it is told in front of its task."""
    mode: Mode | None = None
    """None: that of the turn."""
    tools: frozenset[str] | None = None
    """Names; None for all of the mode."""
    denied: frozenset[str] = frozenset()
    model: ModelFacts | None = None
    """None: the turn's own."""
    steps: int | None = None
    """A lower limit than the settings' own."""
    effort: Effort | None = None
    """None: that of the turn where the model is, else the vendor's (P-6)."""


@dataclass(frozen=True, slots=True)
class Agents:
    """The kinds of one turn by their names, and the limits of its children."""

    kinds: Mapping[str, Kind]
    mode: Mode
    steps: int
    tokens: int
    """What one child may use."""


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """What L1 is made of besides the dialect and the tools, as `system_sections` takes it (L-2)."""

    mode: Mode = "agent"
    remembering: bool = False
    persona: str | None = None
    as_text: bool = True
    skills: str = ""
    connectors: tuple[Connector, ...] = ()

    def sections(self, dialect: Dialect, toolbox: Toolbox) -> tuple[Section, ...]:
        """L1, as the dialect spells the tools; it speaks of no skills and servers whose tools are not among them."""
        return system_sections(
            mode=self.mode,
            dialect=dialect.name,
            reasoning=dialect.reasoning,
            tools_description=dialect.description(toolbox),
            schemas=dialect.schemas(toolbox),
            remembering=self.remembering,
            persona=self.persona,
            as_text=self.as_text,
            skills=self.skills if toolbox.get("load_skill") is not None else "",
            connectors=tuple(one for one in self.connectors if one[0] in toolbox.servers),
        )


@dataclass(frozen=True, slots=True)
class TurnInputs:
    """What a turn or a compaction works with, as values: nothing of it looks anything up (L-3)."""

    model: ChatModel
    model_name: str
    dialect: Dialect
    toolbox: Toolbox
    limits: TurnLimits
    system: tuple[Section, ...]
    settings: HistorySettings
    law: Sequence[Section] = ()
    """L2 of this step (L-4)."""
    law_files: tuple[str, ...] = ()
    """Names of files that count beside a law (X-10)."""
    restricted: bool = False
    """The editor does not trust the folder: its law is data and no layer (S-7)."""
    calibration: Calibration = field(default_factory=Calibration)
    """What was learned of the model's tokenizer (W-4)."""
    summary_window: int = 0
    """Tokens of the summary model's window."""
    summary_profile: ModelProfile | None = None
    prices: Prices | None = None
    """None where they are not known."""
    caches: bool = True
    """Whether the model's vendor keeps prompts in a cache."""
    ttl: Ttl = "5m"
    """How long the marks in front last, settled before the first step (L-6)."""
    diagnosed: bool = False
    """Whether the vendor is asked why its cache missed (X-6)."""
    sees: bool = False
    """Whether the model sees pictures (M-6)."""
    profile: ModelProfile | None = None
    """None where nothing is known of the model."""
    effort: Effort | None = None
    """That was chosen; None: the vendor's (P-6)."""
    beside: tuple[Fragment, ...] = ()
    """What is to stand right after the question; what the view says already is not said again (B-7)."""
    about: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Ids of the memories that these fragments tell, by their names."""
    skills: Skills | None = None
    """What load_skill can load (X-2)."""
    agents: Agents | None = None
    """What Task can begin (X-4)."""
    facts: SystemFacts = field(default_factory=SystemFacts)
    """What `system` was made of."""
    other: Dialect | None = None
    """As `ModelFacts` has it."""

    def switched(self) -> TurnInputs | None:
        """The same in the other dialect, where there is one."""
        if self.other is None:
            return None
        toolbox = self.toolbox.calling()
        system = self.facts.sections(self.other, toolbox)
        return replace(self, dialect=self.other, other=None, toolbox=toolbox, system=system)

    def answered_by(self, model: ModelFacts) -> TurnInputs:
        """The same for another model, at the same endpoint."""
        limits = replace(self.limits, window=model.window, reserve=model.reserve, output=model.output)
        return replace(
            self,
            model_name=model.name,
            dialect=model.dialect,
            other=model.other,
            limits=limits,
            prices=model.prices,
            caches=model.caches,
            sees=model.sees,
            profile=model.profile,
        )

    @property
    def ttls(self) -> tuple[Ttl, ...]:
        """How long the vendor may be told to keep what it caches."""
        return () if self.profile is None else self.profile.ttls

    @property
    def lasts(self) -> Lasts:
        """What these come to."""
        return USUAL_LASTS if self.profile is None else self.profile.lasts

    @property
    def manner(self) -> Manner:
        """How the model is told to think, in all requests of the turn."""
        return manner(self.profile, self.dialect.name, self.effort)

    @property
    def bound_effort(self) -> Effort | None:
        """With which the model thinks where an edit of the past costs what it has thought (P-5); else None."""
        of = self.profile
        return (self.effort or of.effort) if of is not None and of.binds and self.dialect.binding is not None else None

    @property
    def summary_manner(self) -> Manner:
        """The same of the summary model, in a conversation of its own: nothing of it goes back."""
        return manner(self.summary_profile, "react", None)

    def summary_output(self, estimated: int) -> int:
        """The most tokens that it may need for a summary of so many, with what it thinks (W-7)."""
        window = self.summary_window
        return max_tokens(window, most_output(window, profile=self.summary_profile), estimated)

    def output(self, estimated: int) -> int:
        """The most tokens of a reply to a request of so many (W-7).

        More than the reserve only where there is room for it however far the estimate is off: some vendors refuse what
        may fill the window.
        """
        limits = self.limits
        sure = max_tokens(limits.window, limits.reserve, estimated)
        return max(sure, max_tokens(limits.window, limits.output or limits.reserve, int(UNSURE * estimated)))

    def corrected(self, tokens: int) -> int:
        """An estimate, corrected by what was learned (W-4)."""
        return self.calibration.apply(self.model_name, tokens)

    @property
    def lasting(self) -> int:
        """How many breakpoints, from the first on, are kept for an hour."""
        return MOST if self.ttl == "1h" else 0

    @property
    def fixed(self) -> int:
        """Estimated tokens of L1 and L2."""
        return tokens_of(self.system) + tokens_of(self.law)

    @property
    def mark(self) -> int:
        """Tokens at which a compaction is due."""
        return int(self.settings.threshold * self.limits.window)

    @property
    def low_water(self) -> int:
        """Tokens to come down to (K-2)."""
        return int(self.settings.low_water * self.limits.window)

    @property
    def room(self) -> int:
        """Tokens of input that leave the reserve for the answer free."""
        return self.limits.window - self.limits.reserve

    @property
    def budget(self) -> ViewBudget:
        """The shares of the view; enforced where the settings name a total, and for the sliding window (B-2)."""
        settings = self.settings
        total = self.room if settings.total_budget is None else min(settings.total_budget, self.room)
        enforced = settings.total_budget is not None or settings.strategy == "sliding-window"
        return ViewBudget(total, settings.shares, enforced)

    @property
    def summary_room(self) -> int:
        """Tokens of the view that summaries may take."""
        return self.budget.share("summary") if self.budget.enforced else self.limits.window // 5


@dataclass(frozen=True, slots=True, eq=False)
class HistoryState:
    """The finished rounds of one chat at one moment: what decides about them is given this."""

    transcript: Transcript
    """With its checkpoints, demotions and asides."""
    view: History
    """As one selection shows it."""
    settled: str = ""
    """The newest finished turn when the view was last cut, restored or rid of a turn; empty when it never was."""
    last_usage: Usage | None = None
    """Of the latest real answer, until a compaction or a restore (W-2)."""
    last_active: float = 0.0
    """When the model was last asked, in seconds since the epoch."""
    ttl: Ttl | None = None
    """How long the marks in front lasted then; None where that is not known any more."""

    @property
    def shown(self) -> tuple[Message, ...]:
        """The rounds in the view."""
        return self.view.rounds.messages if self.view.rounds else ()

    def lapsed(self, now: float, lasts: Lasts = USUAL_LASTS) -> bool:
        """Whether what stands behind the marks in front is surely forgotten, so that a batch has it written anew free.

        What stands before it is read all the same where it was kept for an hour (C-6).
        """
        return not 0 <= now - self.last_active <= lasts[0]

    def cold(self, now: float, ttl: Ttl, lasts: Lasts = USUAL_LASTS) -> bool:
        """Whether the vendor has surely forgotten the prompt; where nobody knows for how long it was told to, `ttl`."""
        kept = lasting_for(lasts, self.ttl or ttl)
        return not 0 <= now - self.last_active <= kept  # a clock that was set back says nothing
