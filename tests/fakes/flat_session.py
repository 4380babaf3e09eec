"""A session whose requests are called by their names alone: for tests that are about what they do."""

from __future__ import annotations

from typing import Any

from codelaw.app import session


class Session:
    """Forwards to the one resource that has the request."""

    def __init__(self, opened: session.Session) -> None:
        self.resources = opened

    @classmethod
    async def open(cls, **given: Any) -> Session:
        return cls(await session.Session.open(**given))

    @property
    def _chats(self) -> Any:
        return self.resources.chats.opened

    @property
    def _turns(self) -> Any:
        return self.resources.chats.turns

    def __getattr__(self, name: str) -> Any:
        all_of_it = self.resources
        own = [
            getattr(all_of_it, field)
            for field in ("chats", "records", "contexts", "memories", "files", "laws", "extensions")
        ]
        for one in [all_of_it, *own]:
            if hasattr(one, name):
                return getattr(one, name)
        raise AttributeError(name)
