"""What is said in a chat: messages, calls and the fragments attached to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal

from codelaw.domain.media.images import Image

Role = Literal["user", "assistant", "tool", "summary"]
Note = Literal["steer", "reminder", "hint"]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call the model asked for."""

    id: str
    """Unique in the chat; the vendor's id in the native dialect, ours in the text dialect."""
    tool: str
    arguments: Mapping[str, Any]
    """As the model wrote them, unvalidated, but under the names that the tool declares (T-11)."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A bounded, marked piece of context that the user did not type (L-3)."""

    name: str
    """What it is: `environment`, `attachment`, `memory`, `todo`, `pin`."""
    text: str


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that a search of the web has found."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class WebSearch:
    """A search of the web that the vendor has made for a reply (X-1)."""

    query: str
    found: tuple[FoundPage, ...] = ()
    problem: str = ""
    """Why it gave nothing, in the vendor's word."""


@dataclass(frozen=True, slots=True)
class KeptItem:
    """A part of a reply that the model's maker wants back as it was, and that nobody reads: signed thinking (P-5)."""

    body: str
    """JSON, as it goes back; empty where only the place counts, at which text goes on behind a call."""
    text: int = 0
    """Characters of the reply's text in front of it."""
    calls: int = 0
    """Calls of the reply in front of it."""
    bound: bool = True
    """Whether it can be left out, and must be where it does not count any more; results of the vendor's tools stay."""


@dataclass(frozen=True, slots=True)
class KeptItems:
    """The kept items of one reply in their order, bound to what they were made behind (P-5)."""

    maker: str
    """The vendor whose models may be given them."""
    items: tuple[KeptItem, ...]
    prefix: str = ""
    """Digest of the request that they answer, without kept items."""
    after: str = ""
    """The `id` of the kept items that stood last in that request."""

    @property
    def id(self) -> str:
        """Tells them from all others."""
        return sha256("".join(item.body for item in self.items).encode(errors="surrogatepass")).hexdigest()[:16]

    def leading(self) -> KeptItems | None:
        """Those in front of all text and calls, which stay true where these are stored otherwise than they came."""
        return self._those(lambda item: not item.text and not item.calls)

    def before(self, call: int) -> KeptItems | None:
        """Those in front of the call with that number, which stay true where it is another now."""
        return self._those(lambda item: item.calls <= call)

    def _those(self, wanted: Callable[[KeptItem], bool]) -> KeptItems | None:
        items = tuple(filter(wanted, self.items))
        return replace(self, items=items) if items else None


@dataclass(frozen=True, slots=True)
class Metadata:
    """Facts beside a message's content; which ones are set depends on the role."""

    step: int | None = None
    tool_name: str | None = None
    call_id: str | None = None
    mtime: float | None = None
    """Seconds since the epoch of the file a Read brought (M-5)."""
    answer: str | None = None
    """The inside of Finish, on a turn's last assistant message (R-1a)."""
    calls: tuple[Call, ...] = ()
    """The calls of an assistant message, in order."""
    searches: tuple[WebSearch, ...] = ()
    """What the vendor has searched for while it wrote an assistant message."""
    fragments: tuple[Fragment, ...] = ()
    """Frozen volatile facts that are sent, and stored, with a user message."""
    images: tuple[Image, ...] = ()
    """Pictures that were sent with a user message or a result; the store keeps their bytes by `picture_ref` (M-6)."""
    asides: tuple[Fragment, ...] = ()
    """What stands right behind the message in a view; no record has any (L-3)."""
    note: Note | None = None
    """Why a user message stands inside a round: a steer (R-9) or a reminder of ours (F-5)."""
    ref: str | None = None
    """Where the full result of a tool message is kept (C-4)."""
    whole: bool = False
    """The turn showed the result whole, and so does the view until a batch cuts it (C-6); the content is the cut."""
    interrupted: bool = False
    """The message was cut by a cancel, a crash or a broken stream."""
    native: bool = False
    """Written in the native dialect: its calls and its answer stand beside the content, not in it."""
    as_text: bool = False
    """The result of a tool message is shown to the model as text, not as the JSON that is its content (C-7)."""
    kept: KeptItems | None = None
    """What goes back to the vendor beside an assistant message (P-5)."""
    parent: str | None = None
    """The id of the `Task` call whose child turn said it; None for what the chat's own turn said (X-4)."""
    damaged: bool = False
    """The disk has altered the message since it was written; its content says so too (D-1)."""


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the transcript; never changed once written."""

    id: str
    turn_id: str
    role: Role
    content: str
    """A tool message's content is a JSON object on one line, whatever of it the model is shown (C-4, C-7)."""
    metadata: Metadata = field(default_factory=Metadata)
