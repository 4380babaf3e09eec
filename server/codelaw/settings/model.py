"""The table of settings, typed. Keys are camelCase outside and snake_case here; docs/protocol.md lists them all."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from codelaw.context.system.modules import LONGEST_PERSONA
from codelaw.domain.chats import Strategy
from codelaw.domain.laws import FILES
from codelaw.domain.memories import Category
from codelaw.settings.embedding import EmbeddingGroup
from codelaw.settings.group import Count, Group, Name
from codelaw.settings.hooks import HooksGroup
from codelaw.settings.limits import BashGroup, PermissionsGroup
from codelaw.settings.providers import ModelGroup
from codelaw.settings.servers.written import problem_of

Fraction = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Similarity = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=1, allow_inf_nan=False)]
Natural = Annotated[int, Field(ge=0)]
_NO_NAME = re.compile(r"[/\\\x00-\x1f\x7f]")
CHAT_KINDS = {"headless", "inline", "panel", "shared"}


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


def _bounded(persona: str) -> str:
    if len(persona) > LONGEST_PERSONA:
        message = f"a persona has at most {LONGEST_PERSONA} characters, this one has {len(persona)}: say it shorter"
        raise ValueError(message)
    return persona


def _servers(table: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    if problem := problem_of(table):
        raise ValueError(problem)
    return table


def _plain_name(name: str) -> str:
    if name in {".", ".."} or _NO_NAME.search(name):
        message = f"{name!r} is not a plain file name; a law lies in the folder for which it counts"
        raise ValueError(message)
    return name


Persona = Annotated[str, Field(max_length=1_000_000), AfterValidator(_bounded)]
LawName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_plain_name)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Shares = Annotated[
    tuple[NotNegative, NotNegative, NotNegative, NotNegative, NotNegative],
    BeforeValidator(_as_tuple),
    AfterValidator(_five_shares),
]


class NamedModel(Group):
    """What is said of one model by name."""

    context_window: Count | None = Field(
        default=None, description="Tokens that this model can take in; unset: as its profile says."
    )
    vision: bool | None = Field(
        default=None,
        description="Whether this model sees pictures; unset: as its profile says, and without one it is shown none.",
    )


class ContextGroup(Group):
    """How the context is built, and when it is compacted."""

    strategy: Strategy = Field(
        default="layered", description="What of a new chat's past is sent; each chat can have its own."
    )
    threshold: Fraction = Field(
        default=0.8, description="A chat is compacted when it fills this part of the window, between 0 and 1."
    )
    keep_rounds: Count = Field(
        default=10,
        description="The newest rounds that a compaction keeps whole; fewer in a small window, below 64 000 tokens.",
    )
    min_messages: Natural = Field(
        default=3, description="A chat with fewer messages than this is not compacted by itself."
    )
    low_water: Fraction = Field(
        default=0.4, description="The part of the window, between 0 and 1, down to which a chat is compacted."
    )
    max_window: Count | None = Field(
        default=None, description="The most tokens of the window that are used; unset: all of it."
    )
    summary_model: Name | None = Field(
        default=None, description="The model that writes summaries; unset: the chat's own."
    )
    summary_timeout_seconds: Seconds = Field(
        default=120,
        description="Seconds to wait for a summary; after that the older rounds are cut without one.",
    )
    total_budget: Count | None = Field(
        default=None, description="The most tokens sent in one request; unset: as many as the window takes."
    )
    shares: Shares = Field(
        default=(20, 10, 10, 55, 5),
        description="Five numbers that divide the window: system, summary, retrieved, recent, input. Only their ratio"
        " counts.",
    )
    pin: bool = Field(
        default=False,
        description="Repeat the goal of the turn at the end of what is sent; `sliding-window` does so while this is"
        " unset.",
    )
    history_limits: Annotated[dict[str, Natural], AfterValidator(_known_kinds)] = Field(
        default_factory=dict[str, int],
        description="The newest turns of the user that are sent, by kind of chat (`panel`, `inline`, `headless`,"
        " `shared`) or `kind:id` of one chat; 0 is no limit.",
    )
    economy: bool = Field(
        default=True,
        description="Send old tool results shorter, and in the end as one line each, when that saves money: in a view"
        " of at least three tenths of the window.",
    )
    index_tokens: Natural | None = Field(
        default=None,
        description="Tokens for the list of files and names that stands below a summary, at most a hundredth of the"
        " window; unset: that hundredth, from 320 to 4000.",
    )
    summary: bool = Field(
        default=True, description="Write rolling summaries, for the strategies that use one. They cost tokens."
    )
    compress_results: bool = Field(
        default=True, description="Shorten long tool results when their turn has ended; the full ones stay stored."
    )
    observations: Literal["text", "json"] = Field(
        default="text",
        description="How the model is shown the results of tools: `text` is a header line and plain lines, `json` the"
        " result's own JSON. A result keeps the form in which its turn has shown it.",
    )
    recent_min: Natural = Field(
        default=4, description="The newest messages that `summary+recent` and `span-retrieval` send at least."
    )
    recent_max: Count = Field(
        default=20, description="The newest messages that `summary+recent` and `span-retrieval` send at most."
    )
    summarise_above: Natural = Field(
        default=2_000, description="Tokens of unsummarised messages from which a rolling summary is written anew."
    )
    window: Count = Field(
        default=20, description="The newest rounds that the strategy `sliding-window` sends behind its summary at most."
    )


class PromptsGroup(Group):
    """What is added to the words that the model is given."""

    persona: Persona | None = Field(
        default=None,
        description="Who the model is to be, in your own words: its manner, its focus, its language. It stands in every"
        " request and has at most 8000 characters; unset: none.",
    )


class LawGroup(Group):
    """What counts as the law of a folder beside its CODE_LAW.md (X-10)."""

    files: Annotated[list[LawName], Field(max_length=10)] = Field(
        default_factory=lambda: [*FILES],
        description="Names of files that count beside `CODE_LAW.md`: of each folder the first that is there. The root's"
        " stands in every request, one below it where a turn touches its folder. `[]`: none.",
    )


class TurnGroup(Group):
    """Limits of one turn (R-7)."""

    max_steps: Count = Field(default=50, description="Replies of the model after which a turn stops.")
    max_tokens: Count | None = Field(default=None, description="Tokens after which a turn stops; unset: no limit.")
    timeout_seconds: Seconds | None = Field(
        default=None, description="Seconds after which a turn stops; unset: no limit."
    )


class MemoryGroup(Group):
    """What is remembered across chats, and recalled."""

    enabled: bool = Field(default=True, description="Let the model remember things across chats, and recall them.")
    top_k: Count = Field(default=5, description="How many memories are recalled for a question.")
    min_similarity: Similarity | None = Field(
        default=None,
        description="The least similarity to the question with which a memory is recalled; unset: no limit.",
    )
    timeout_ms: Count = Field(
        default=500, description="Milliseconds to wait for memory; after that a turn begins without it."
    )
    category: Category | None = Field(default=None, description="Recall only memories of this category; unset: of all.")


class RetrievalGroup(Group):
    """How the strategy `span-retrieval` finds what was said earlier."""

    top_k: Annotated[int, Field(ge=1, le=100)] = Field(
        default=5, description="How many earlier places of the chat are looked up for a question."
    )
    radius: Annotated[int, Field(ge=0, le=50)] = Field(
        default=2, description="How many messages on either side of such a place go along."
    )
    share: Share = Field(default=0.4, description="The part of the budget, from 0 to 1, that they may fill.")
    min_similarity: Similarity | None = Field(
        default=None, description="The least similarity to the question with which a place is taken; unset: no limit."
    )


class ToolsGroup(Group):
    """What the model can use."""

    bash: BashGroup = Field(default_factory=BashGroup)
    web_search: bool = Field(
        default=False,
        description="Let the model search the web by the vendor's own tool, which costs extra. Needs the dialect"
        " native.",
    )
    mcp_share: Share = Field(
        default=0.05,
        description="The part of the window, from 0 to 1, that the manuals of all MCP tools together may take; beyond"
        " it the model finds them with `find_tools`.",
    )


class EditorGroup(Group):
    """How edits of open documents are made."""

    review: bool = Field(
        default=False,
        description="Confirm each part of an edit of an open document in the editor, where it can do that.",
    )


class StoreGroup(Group):
    """Where chats and memories are kept."""

    url: str | None = Field(
        default=None,
        repr=False,
        description="A PostgreSQL database (`postgresql://…`) for chats and memories; unset: SQLite in the data"
        " folder.",
    )


class McpGroup(Group):
    """Servers of the Model Context Protocol."""

    servers: Annotated[dict[str, dict[str, Any]], AfterValidator(_servers)] = Field(
        default_factory=dict[str, dict[str, Any]],
        repr=False,
        description="Servers of the Model Context Protocol by name: `{command, args, env, cwd, network, sandbox}` of a"
        " program, or `{type, url, headers}`. `${NAME}` is a variable of the environment.",
    )
    call_seconds: float = Field(
        default=120.0,
        ge=1,
        le=3600,
        description="Seconds that a call of a server's tool may take without a sign of progress, from 1 to 3600.",
    )


class SkillsGroup(Group):
    """Folders of skills."""

    paths: list[str] = Field(
        default_factory=list[str],
        description="More folders of skills: absolute, below `~/`, or relative to each folder of the workspace.",
    )


class AgentsGroup(Group):
    """Subagents: pieces of work that the model hands on (X-4)."""

    enabled: bool = Field(default=True, description="Let the model hand pieces of work to subagents.")
    max_steps: Count = Field(default=30, description="Replies of the model after which a subagent stops.")
    max_tokens: Count = Field(
        default=1_000_000,
        description="Tokens after which a subagent stops, those of its cache among them. They count to"
        " `turn.maxTokens` too.",
    )


class Settings(Group):
    """Every setting with its effective value."""

    model: ModelGroup = Field(default_factory=ModelGroup)
    models: dict[str, NamedModel] = Field(
        default_factory=dict[str, NamedModel],
        description='What holds for single models, by name: `{"my-model": {"contextWindow": 32000, "vision": true}}`.',
    )
    context: ContextGroup = Field(default_factory=ContextGroup)
    prompts: PromptsGroup = Field(default_factory=PromptsGroup)
    law: LawGroup = Field(default_factory=LawGroup)
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
    agents: AgentsGroup = Field(default_factory=AgentsGroup)
    hooks: HooksGroup = Field(default_factory=HooksGroup)
