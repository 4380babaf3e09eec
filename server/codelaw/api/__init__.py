"""The public Python API: contexts without a server (B-9).

A chat is a list of messages as vendors take them, `{"role": …, "content": …}`; what comes back is such a list, cut down
to what a prompt may have, in which the messages of the chat are the very objects that were given. Nothing is stored,
no model is asked, no event loop is needed.

    >>> from codelaw.api import build_context
    >>> chat = []
    >>> for number in range(40):
    ...     chat.append({"role": "user", "content": f"Question {number}?"})
    ...     chat.append({"role": "assistant", "content": f"Answer {number}."})
    >>> built = build_context(chat, "And now?", model="gpt-4", strategy="last-n", system_prompt="You are terse.")
    >>> [message["content"] for message in built.messages[:2]]
    ['You are terse.', 'Question 25?']
    >>> built.messages[-1]
    {'role': 'user', 'content': 'And now?'}
    >>> built.strategy, built.metadata.included_message_count, built.token_stats.saved > 0
    ('last-n', 30, True)
    >>> [entry.reason for entry in built.dropped]
    ['25 older rounds (50 messages): last-n shows the newest 30 messages']

The strategies are those of the server (B-1): `full`, `last-n`, `summary+recent`, `span-retrieval`, `sliding-window`,
`layered` and `auto`. A summary is the caller's to give, since writing one takes a model; spans are found by words, or
by a `search` of the caller's own. `prompt_limit` tells the budget of a model by its name.

A prompt can be had as text (`BuiltContext.render`), as the Messages API takes it (`BuiltContext.request`), and weighed
for several models (`BuiltContext.estimates`):

    >>> built.render().splitlines()[2]
    '[user] Question 25?'
    >>> [turn["role"] for turn in built.request()["messages"][-2:]]
    ['assistant', 'user']
    >>> {name: one.fits for name, one in built.estimates(["gpt-4", "claude-3"]).items()}
    {'gpt-4': True, 'claude-3': True}

A request may go on with a stored chat: `build_context_for_request([{"role": "user", …}], conversation_id="3f2a…")`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from codelaw.api.building import build_context, build_simple_context
from codelaw.api.built import (
    PROMPT_LIMITS,
    ApiMessage,
    BuiltContext,
    Metadata,
    ModelEstimate,
    TokenStats,
    estimate_tokens,
    prompt_limit,
)
from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.api.stored import StoredConversation, build_context_for_request, load_chat, read_chat

_STORED = frozenset({"StoredConversation", "build_context_for_request", "load_chat", "read_chat"})

__all__ = [
    "PROMPT_LIMITS",
    "ApiMessage",
    "BuiltContext",
    "Metadata",
    "ModelEstimate",
    "Refusal",
    "StoredConversation",
    "TokenStats",
    "build_context",
    "build_context_for_request",
    "build_simple_context",
    "estimate_tokens",
    "load_chat",
    "prompt_limit",
    "read_chat",
]


def __getattr__(name: str) -> Any:
    """What needs the store is loaded by its first use."""
    if name in _STORED:
        return getattr(import_module("codelaw.api.stored"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
