"""Chats are loaded before they are needed: who looks at one is likely to send something to it (D-1)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from codelaw.domain.errors import Refusal

QUIET_SECONDS = 0.3
"""After a look at a chat: who looks through many of them loads none."""

_log = logging.getLogger(__name__)


class Ahead:
    """Loads the chat that was looked at last. It is let go like others that are not used (`app/chats`)."""

    def __init__(self, load: Callable[[str], Awaitable[object]]) -> None:
        """`load` brings a chat of an id into memory."""
        self._bring = load
        self._waiting: asyncio.TimerHandle | None = None
        self._loading: set[asyncio.Task[None]] = set()
        self.then: Callable[[str], Awaitable[object]] | None = None
        """What is done with a chat that was loaded, as long as no turn begins."""
        self._then: asyncio.Task[None] | None = None

    def looked_at(self, chat_id: str) -> None:
        """Somebody looks at this chat; it is loaded soon, unless another one is looked at by then."""
        self._give_up()
        self._waiting = asyncio.get_running_loop().call_later(QUIET_SECONDS, self._begin, chat_id)

    def make_way(self) -> None:
        """A turn begins: nothing is loaded any more that does not load yet, and all stops that is done behind that."""
        self._give_up()
        if self._then is not None:
            self._then.cancel()

    @property
    def busy(self) -> bool:
        """Whether a chat is about to be loaded, or is being loaded."""
        return self._waiting is not None or bool(self._loading)

    async def close(self) -> None:
        """Load nothing any more."""
        self._give_up()
        for task in self._loading:
            task.cancel()
        await asyncio.gather(*self._loading, return_exceptions=True)

    def _give_up(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _begin(self, chat_id: str) -> None:
        self._waiting = None
        task = asyncio.create_task(self._load(chat_id), name=f"loading {chat_id}")
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    async def _load(self, chat_id: str) -> None:
        try:
            await self._bring(chat_id)
            if self.then is not None:
                if self._then is not None:
                    self._then.cancel()
                self._then = asyncio.current_task()
                await self.then(chat_id)
        except Refusal as refusal:  # whoever needs it is told
            _log.info("chat %s is not loaded ahead: %s", chat_id, refusal.message)
        except Exception:  # noqa: BLE001 - nobody waits for it
            _log.exception("chat %s could not be loaded ahead", chat_id)
