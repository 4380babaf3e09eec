"""What is asked of a model and what it answers, in no vendor's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from codelaw.domain.media.images import Image
from codelaw.domain.messages import Call, KeptItem, KeptItems, WebSearch

DEFAULT_MODEL = "claude-sonnet-5-5"

StopReason = Literal["end_turn", "tool_use", "stop_sequence", "max_tokens", "refusal", "closed"]
"""`closed`: by us, because what we need had arrived."""
FailureKind = Literal[
    "rate_limit",
    "overload",
    "auth",
    "consent",
    "spending",
    "overflow",
    "refused",
    "network",
    "malformed",
    "truncated",
    "server",
    "invalid",
    "unknown_model",
    "items",
    "roles",
]
"""`consent`: the editor's user does not let it lend the model (P-7). `items`: the kept items of the request are
refused, and it can be sent without them (P-5); `roles`: it is refused with system messages in it, and can be sent
without those (L-6)."""


Platform = Literal["bedrock", "vertex", "foundry", "aws"]
"""A cloud that sells the vendor's models, with an address and credentials of its own."""
Effort = Literal["low", "medium", "high", "xhigh", "max"]
"""How much a model does for an answer (P-6)."""
Thinking = Literal["adaptive", "between_tools", "enabled", "disabled"]
"""The vendor's words for when a model thinks."""
Display = Literal["omitted", "summarized", "updates"]
"""How much of its thinking it shows: nothing, a summary, or notes on its progress."""
Ttl = Literal["5m", "1h"]
"""How long an entry of the vendor's cache lasts after the request that last used it; or what a vendor has instead."""
Lasts = tuple[float, float]
"""How many seconds that is, of the shorter and of the longer."""
USUAL_LASTS: Lasts = (300.0, 3600.0)


@dataclass(frozen=True, slots=True)
class Usage:
    """Billed tokens of one call, or the sum over several (W-1)."""

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    """All that was written, whatever it lasts."""
    output_tokens: int = 0
    web_searches: int = 0
    """That the vendor has made and charges for (X-1)."""
    cache_write_1h_tokens: int = 0
    """Those of `cache_write_tokens` that last an hour, and cost more."""
    thinking_tokens: int = 0
    """Those of `output_tokens` that were thought."""
    estimated_tokens: int = 0
    """Those of all of them that nobody has reported: our estimate (P-7)."""

    @property
    def total_tokens(self) -> int:
        """Input, cache creation, cache read and output together."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """Why the vendor's cache gave less than it could have (X-6)."""

    reason: str
    """The vendor's word, or ours where it says nothing."""
    words: str


@dataclass(frozen=True, slots=True)
class PriceStep:
    """From so many tokens of input on, cached ones included, all of a request costs more."""

    above: int
    input: float
    """Times what input and the cache cost below."""
    output: float


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens, and per search."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    search: float = 0.0
    cache_write_1h: float | None = None
    """None where nothing lasts an hour."""
    steps: tuple[PriceStep, ...] = ()
    """Rising."""

    def exceed(self, others: Prices) -> bool:
        """Whether some request would cost more than by those."""
        pairs = ((self.at(tokens), others.at(tokens)) for tokens in (0, *(step.above + 1 for step in self.steps)))
        return any(
            getattr(one, field) > getattr(other, field)
            for one, other in pairs
            for field in ("input", "output", "cache_read", "cache_write", "search")
        )

    def at(self, input_tokens: int) -> Prices:
        """The prices of a request with so many tokens of input, cached ones included."""
        step = next((one for one in reversed(self.steps) if input_tokens > one.above), None)
        if step is None:
            return self
        hour = None if self.cache_write_1h is None else self.cache_write_1h * step.input
        return replace(
            self,
            input=self.input * step.input,
            output=self.output * step.output,
            cache_read=self.cache_read * step.input,
            cache_write=self.cache_write * step.input,
            cache_write_1h=hour,
            steps=(),
        )

    def cost(self, usage: Usage) -> float:
        """US dollars for the `usage` of one request."""
        sent = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        now = self.at(sent)
        hour = now.cache_write if now.cache_write_1h is None else now.cache_write_1h
        tokens = (
            usage.input_tokens * now.input
            + usage.output_tokens * now.output
            + usage.cache_read_tokens * now.cache_read
            + (usage.cache_write_tokens - usage.cache_write_1h_tokens) * now.cache_write
            + usage.cache_write_1h_tokens * hour
        )
        return tokens / 1_000_000 + usage.web_searches * now.search


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """The facts of a model and of its wire (W-5, P-6). No code asks for a model's name instead."""

    name: str
    provider: str
    context_window: int
    """Tokens, input and output together, that codelaw works in."""
    max_output: int
    """Tokens."""
    tools: bool = True
    caching: bool = True
    binds: bool = False
    """Whether its kept items count only behind the very request that they were made for (P-5)."""
    images: bool = False
    """Whether it sees pictures; of one that nobody knows it is not assumed (M-6)."""
    prices: Prices | None = None
    largest_window: int | None = None
    """Tokens that it really has, where that is more than `context_window`."""
    thinks: Literal["never", "asked", "unasked", "always"] = "never"
    """`asked`: only when a request says so. `unasked`: also when it says nothing. `always`: whatever it says."""
    thinking: tuple[Thinking, ...] = ()
    """The values of `thinking.type` that it takes, the best first."""
    efforts: tuple[Effort, ...] = ()
    """That it takes, rising; empty where a request may say nothing of it."""
    effort: Effort | None = None
    """What it does when a request says nothing."""
    displays: tuple[Display, ...] = ()
    """Other than its own default."""
    system_messages: bool = False
    """Whether a system message may stand behind the results in the conversation (L-6)."""
    refuses_reasoning: bool = False
    """Whether it may refuse a request that wants its reasoning written out (R-3)."""
    stop_sequences: bool = True
    ttls: tuple[Ttl, ...] = ()
    """How long its cache may keep things, beside what it does without being told."""
    lasts: Lasts = USUAL_LASTS
    retired: str = ""
    """The day on which its maker ends it, or has ended it, as YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Plain text; `breakpoint` marks the end of a cacheable prefix, and says how long that lasts (L-6)."""

    text: str
    breakpoint: Ttl | None = None


@dataclass(frozen=True, slots=True)
class CallBlock:
    """A tool call as an assistant message holds it (native dialect)."""

    call: Call
    breakpoint: Ttl | None = None


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """A tool call's result as a user message holds it (native dialect)."""

    call_id: str
    text: str
    is_error: bool = False
    breakpoint: Ttl | None = None
    images: tuple[Image, ...] = ()
    """What is shown within the result, as an `ImageBlock` shows it."""
    instead: str = ""
    """What a model is told of each that cannot see it."""


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture of a user message, or of a result in the text dialect; its bytes travel in `ModelRequest.images`."""

    image: Image
    instead: str
    """What a model is told that cannot see it."""
    breakpoint: Ttl | None = None


@dataclass(frozen=True, slots=True)
class KeptBlock:
    """A kept item of an assistant message (P-5)."""

    item: KeptItem
    of: KeptItems


Block = TextBlock | CallBlock | ResultBlock | ImageBlock | KeptBlock


def pictures_in(block: Block) -> tuple[Image, ...]:
    """The pictures that a block shows."""
    match block:
        case ImageBlock():
            return (block.image,)
        case ResultBlock():
            return block.images
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class ApiMessage:
    """One message of a request; user and assistant alternate and the first is `user`.

    A `system` message stands between them only where the profile takes it, in front of a message of the assistant.
    """

    role: Literal["user", "assistant", "system"]
    blocks: tuple[Block, ...]


NO_IMAGES: Mapping[str, bytes] = {}

WEB_SEARCH: Mapping[str, object] = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
"""The vendor's own tool, which runs on its side, as a request names it beside ours (X-1)."""


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as the vendor's tool use is told of it (native dialect)."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    """JSON Schema of the arguments."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model. Equal requests are sent as equal bytes."""

    model: str
    system: tuple[TextBlock, ...]
    messages: tuple[ApiMessage, ...]
    max_tokens: int
    tools: tuple[ToolSchema, ...] = ()
    stop_sequences: tuple[str, ...] = ()
    searching: bool = False
    """Whether the vendor may search the web for it, by a tool of its own (X-1)."""
    prefix: str = ""
    """Digest of it without kept items; empty in a dialect that returns none (P-5)."""
    after: str = ""
    """The `id` of the kept items that stand last in it."""
    images: Mapping[str, bytes] = field(default_factory=lambda: NO_IMAGES)
    """The pictures that are sent, by digest; of any other only the words instead (M-6)."""
    thinking: Thinking | None = None
    """None: nothing is said of it, and the model's own default holds (P-6)."""
    display: Display | None = None
    effort: Effort | None = None
    fallbacks: bool = False
    """Whether another model of the vendor may answer what this one refuses (P-8)."""
    previous: str | None = None
    """The vendor's id of the last reply of the same chat, empty before the first: it says why its cache missed."""

    @property
    def digests(self) -> frozenset[str]:
        """The pictures that its messages hold."""
        blocks = (block for message in self.messages for block in message.blocks)
        return frozenset(image.digest for block in blocks for image in pictures_in(block))


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Text as it arrives."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The vendor's own reasoning text as it arrives; shown, never sent back."""

    text: str
    progress: bool = False
    """It is a note on how the work goes, written for the user."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The reply has begun; what the vendor says by then that it bills."""

    usage: Usage


Delta = Begun | TextDelta | ThinkingDelta
Heard = bool | Literal["whole"] | None
"""What is said to a delta. True: the rest is not needed; `whole`: nothing need follow (R-3)."""


@dataclass(frozen=True, slots=True)
class BrokenCall:
    """A native call whose arguments are not a JSON object; it is never run (R-6)."""

    id: str
    tool: str
    arguments_text: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model call gave. `calls` and `broken_calls` are empty in the text dialect."""

    text: str
    stop_reason: StopReason
    usage: Usage = field(default_factory=Usage)
    calls: tuple[Call, ...] = ()
    broken_calls: tuple[BrokenCall, ...] = ()
    stopped_by: str = ""
    """The stop sequence that ended the reply, if the vendor names it; it is not part of the text."""
    searches: tuple[WebSearch, ...] = ()
    refusal: str = ""
    """What kind of refusal it is, in the vendor's word, and why (P-8)."""
    items: tuple[KeptItem, ...] = ()
    """What the vendor wants back with it (P-5)."""
    id: str = ""
    """The vendor's id of it."""
    served: str = ""
    """The model that has answered, where the one that was asked has refused."""
    cache_miss: str = ""
    """Why the vendor's cache did not give what it could have, in the vendor's word."""
    doubted: bool = False
    """The reported usage held what cannot be, and that was left out."""
