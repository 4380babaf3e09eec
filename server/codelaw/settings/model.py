"""The table of settings, typed. Keys are camelCase outside and snake_case here; docs/protocol.md lists them all."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from codelaw.adapters.models.catalog import DEFAULT_MODEL
from codelaw.domain.chats import Dialect, Strategy
from codelaw.domain.memories import Category

Fraction = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Similarity = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
CHAT_KINDS = {"headless", "inline", "panel", "shared"}
Name = Annotated[str, Field(min_length=1, max_length=200)]


def _five_shares(shares: tuple[float, ...]) -> tuple[float, ...]:
    if sum(shares) <= 0:
        message = "at least one share must be above 0"
        raise ValueError(message)
    return shares


def _known_kinds(limits: dict[str, int]) -> dict[str, int]:
    unknown = sorted({key.partition(":")[0] for key in limits} - CHAT_KINDS)
    if unknown:
        message = f"no such kind of chat: {', '.join(unknown)}; there are {', '.join(sorted(CHAT_KINDS))}"
        raise ValueError(message)
    return limits


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Shares = Annotated[
    tuple[NotNegative, NotNegative, NotNegative, NotNegative, NotNegative],
    BeforeValidator(_as_tuple),
    AfterValidator(_five_shares),
]


class Group(BaseModel):
    """A group of keys."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        strict=True,
        frozen=True,
        validate_default=False,
    )


class ModelGroup(Group):
    """Which model answers, and how it is reached."""

    provider: Literal["auto", "anthropic", "offline", "scripted"] = "auto"
    name: Name = DEFAULT_MODEL
    base_url: str | None = Field(default=None, repr=False)
    api_key: str | None = Field(default=None, repr=False)
    auth_token: str | None = Field(default=None, repr=False)
    script: str | None = None
    """The file of replies that the provider `scripted` plays."""
    dialect: Dialect = "react"
    context_window: Count | None = None
    max_output_tokens: Count | None = None

    @property
    def chosen_provider(self) -> Literal["anthropic", "offline", "scripted"]:
        """The provider, with `auto` decided: `anthropic` when a key or a base URL is configured."""
        if self.provider != "auto":
            return self.provider
        return "anthropic" if self.api_key or self.auth_token or self.base_url else "offline"


class NamedModel(Group):
    """What is said of one model by name."""

    context_window: Count | None = None


class ContextGroup(Group):
    """How the view is built and when it is compacted."""

    strategy: Strategy = "layered"
    threshold: Fraction = 0.8
    keep_rounds: Count = 10
    min_messages: Natural = 3
    low_water: Fraction = 0.4
    max_window: Count | None = None
    summary_model: Name | None = None
    summary_timeout_seconds: Seconds = 120
    total_budget: Count | None = None
    shares: Shares = (20, 10, 10, 55, 5)
    """System, summary, retrieved, recent, input; in percent, or in any unit: only their ratio counts."""
    pin: bool = False
    history_limits: Annotated[dict[str, Natural], AfterValidator(_known_kinds)] = Field(default_factory=dict[str, int])
    economy: bool = True
    demote_tokens: Natural = 25_000
    index_tokens: Natural = 700
    summary: bool = True
    compress_results: bool = True
    recent_min: Natural = 4
    recent_max: Count = 20
    summarise_above: Natural = 2_000
    window: Count = 20


class TurnGroup(Group):
    """Limits of one turn (R-7)."""

    max_steps: Count = 50
    max_tokens: Count | None = None
    timeout_seconds: Seconds | None = None


class MemoryGroup(Group):
    enabled: bool = True
    top_k: Count = 5
    min_similarity: Similarity | None = None
    timeout_ms: Count = 500
    category: Category | None = None


class EmbeddingGroup(Group):
    provider: Literal["hashing", "local", "openai"] = "hashing"
    model: Name | None = None
    path: str | None = None
    base_url: str | None = Field(default=None, repr=False)
    api_key: str | None = Field(default=None, repr=False)
    dimension: Count | None = None


class RetrievalGroup(Group):
    top_k: Annotated[int, Field(ge=1, le=100)] = 5
    radius: Annotated[int, Field(ge=0, le=50)] = 2
    share: Share = 0.4
    min_similarity: Similarity | None = None


class PermissionsGroup(Group):
    """Rules such as `Bash(git diff:*)` (S-1)."""

    allow: list[Name] = Field(default_factory=list[str])
    deny: list[Name] = Field(default_factory=list[str])
    default: Literal["ask", "allow", "deny"] = "ask"
    """For writes and Bash that no rule speaks of."""


class BashGroup(Group):
    sandbox: Literal["auto", "require", "off"] = "auto"
    network: bool = False
    """Whether commands in the sandbox reach the network; without a sandbox they always do (S-4)."""
    timeout_seconds: Annotated[float, Field(ge=1, le=600, allow_inf_nan=False)] = 120


class ToolsGroup(Group):
    bash: BashGroup = Field(default_factory=BashGroup)
    web_search: bool = False


class EditorGroup(Group):
    review: bool = False
    """The user confirms each part of an edit of an open document, where the editor can show that (E-1)."""


class StoreGroup(Group):
    url: str | None = Field(default=None, repr=False)
    """None: SQLite in the data folder."""


class McpGroup(Group):
    servers: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]], repr=False)


class SkillsGroup(Group):
    paths: list[str] = Field(default_factory=list[str])


class Settings(Group):
    """Every setting with its effective value."""

    model: ModelGroup = Field(default_factory=ModelGroup)
    models: dict[str, NamedModel] = Field(default_factory=dict[str, NamedModel])
    context: ContextGroup = Field(default_factory=ContextGroup)
    turn: TurnGroup = Field(default_factory=TurnGroup)
    memory: MemoryGroup = Field(default_factory=MemoryGroup)
    embedding: EmbeddingGroup = Field(default_factory=EmbeddingGroup)
    retrieval: RetrievalGroup = Field(default_factory=RetrievalGroup)
    permissions: PermissionsGroup = Field(default_factory=PermissionsGroup)
    tools: ToolsGroup = Field(default_factory=ToolsGroup)
    editor: EditorGroup = Field(default_factory=EditorGroup)
    store: StoreGroup = Field(default_factory=StoreGroup)
    mcp: McpGroup = Field(default_factory=McpGroup)
    skills: SkillsGroup = Field(default_factory=SkillsGroup)
