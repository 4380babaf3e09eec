"""The model's side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from codelaw.domain.models import Delta, Heard, ModelReply, ModelRequest, Usage


class ChatModel(Protocol):
    """A model that answers requests."""

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        """Answer once, without retrying; deltas are told as they arrive, an empty one for content that is not text.

        When `on_delta` gives True, the rest is not needed: the stream is closed, and the reply is what has arrived,
        with `closed` as its stop reason and the usage reported so far. So is one that falls silent where `on_delta`
        has said `whole`, or behind whole native calls. Cancelling the task closes the stream at once.

        Raises:
            ModelFailure: no whole reply came; sorted by kind, with the text that had arrived.
        """
        ...

    async def count(self, request: ModelRequest) -> int | None:  # noqa: ARG002 - where nobody counts
        """The input tokens of a request as its vendor counts them; None where nobody does. No model is asked (W-4).

        Raises:
            ModelFailure: the vendor was asked and did not say.
        """
        return None

    async def fill(self, request: ModelRequest) -> Usage | None:  # noqa: ARG002 - where there is no cache
        """Read a request into its vendor's cache and answer nothing; what was billed, or None where nobody can.

        Raises:
            ModelFailure: as for `reply`.
        """
        return None

    async def warm(self) -> None:
        """Load what the first reply needs; asks no model."""
        return

    async def close(self) -> None:
        """Give connections back."""
        return
