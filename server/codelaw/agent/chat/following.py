"""What is sent while a turn runs, and the turn that is made of what came with the answer (R-9)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelaw.agent.chat.crash_recovery import left_untold
from codelaw.agent.inputs.attachments import check_pictures, pictures_in
from codelaw.agent.inputs.gathering import NOTHING_CALLED
from codelaw.domain.errors import Refusal
from codelaw.domain.events import NoticeEvent, SteerEvent

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.inputs.gathering import Called
    from codelaw.agent.turn.notes import Steer
    from codelaw.agent.turn.running import RunningTurn
    from codelaw.domain.chats import StoredTurn
    from codelaw.domain.messages import Fragment
    from codelaw.domain.requests import EditorState, Enclosed

_log = logging.getLogger(__name__)


class Following:
    """The steers of one chat, and the turn that follows by itself.

    Steers that wait when the answer comes become one turn, in the order they came, a blank line between them. When the
    turn ends otherwise, or the next cannot be started, they are returned to the user.
    """

    def __init__(self, agent: AgentChat) -> None:
        self._agent = agent
        self._task: asyncio.Task[None] | None = None
        self.after = ""
        """The turn that ended last."""
        self._begun: RunningTurn | None = None
        """The one that followed it by itself."""

    @property
    def in_flight(self) -> bool:
        """A next turn is about to begin."""
        return self._task is not None

    async def steer(
        self,
        text: str,
        editor: EditorState | None = None,
        called: Called = NOTHING_CALLED,
        *,
        hooked: Sequence[Fragment] = (),
        attachments: Sequence[Enclosed] = (),
    ) -> str:
        """Queue a message for the model's next step, or the next turn; gives its id once it cannot be lost.

        `hooked` is what hooks have added to it.

        Raises:
            Refusal: `turn_not_found`; `invalid_attachment`: the pictures of all that waits are too many.
        """
        agent = self._agent
        if agent.running is None and not self.in_flight:
            raise Refusal("turn_not_found", "No turn is running in this chat.", "Send the message instead.")
        waiting = [one for steer in agent.notes.waiting for one in pictures_in(steer.attachments)]
        pictures = pictures_in(attachments)
        check_pictures([*waiting, *pictures])
        if pictures:
            # Kept from now on: who takes the message back, or gets it back, has them again.
            await agent.house.store.append(agent.chat.id, (), await agent.pictures.taken(pictures))
            if agent.running is None and not self.in_flight:
                raise Refusal("turn_not_found", "No turn is running in this chat.", "Send the message instead.")
        steer = agent.notes.steer(text, editor, called, hooked, attachments=attachments)
        step = agent.opened.step or None if agent.opened is not None else None
        self._tell(SteerEvent(text, step, steer.id, "waiting", images=steer.images))
        await agent.outbox.drain()
        return steer.id

    async def unsteer(self, steer_id: str) -> bool:
        """Take back a steer that still waits; False when it does not (any more)."""
        steer = self._agent.notes.withdraw(steer_id)
        if steer is None:
            return False
        self._tell(SteerEvent(steer.text, None, steer.id, "withdrawn", images=steer.images))
        await self._agent.outbox.drain()
        return True

    def begin(self, after: str) -> bool:
        """Start a turn of all that waits, if anything does; then nothing else may start in the chat until it has."""
        steers = self._agent.notes.waiting
        self.after, self._begun = after, None
        if not steers:
            return False
        for steer in steers:
            steer.taken = True
        self._task = asyncio.create_task(self._start(steers), name=f"next turn of {self._agent.chat.id}")
        return True

    def give_back(self, after: str) -> None:
        """Return all that waits: it will not be sent."""
        for steer in self._agent.notes.take():
            returned = SteerEvent(steer.text, None, steer.id, "returned", images=steer.images)
            self._agent.outbox.post(after, returned)

    async def look_back(self, last: StoredTurn | None) -> None:
        """Tell what a server that died has left untold: what it had taken, and its newest turn's end (D-1).

        `last` is the chat's newest turn.
        """
        if last is None:
            return
        for turn_id, event in await left_untold(self._agent.house.store, last):
            self._agent.outbox.post(turn_id, event)
        await self._agent.outbox.drain()

    def _tell(self, event: SteerEvent) -> None:
        opened = self._agent.opened
        self._agent.outbox.post(self.after if opened is None else opened.id, event)

    async def next(self, after: str | None = None) -> RunningTurn | None:
        """The turn that follows the turn `after`, once it has begun; without `after`, one that is about to begin."""
        if self._task is not None:
            await asyncio.shield(self._task)
        elif after is None:
            return None
        return self._begun if after in {None, self.after} else None

    async def _start(self, steers: tuple[Steer, ...]) -> None:
        agent = self._agent
        try:
            self._begun = await agent.house.follow(agent, steers)
        except Refusal as refusal:
            self._failed(NoticeEvent("error", refusal.code, f"{refusal.message} {refusal.hint}".strip()))
        except Exception:  # noqa: BLE001 - a bug must not keep the user's words from them (R-10)
            _log.exception("the next turn of chat %s could not be started", agent.chat.id)
            self._failed(NoticeEvent("error", "internal_error", "codelaw failed inside; the log says why."))
        finally:
            self._task = None
            agent.release()

    def _failed(self, notice: NoticeEvent) -> None:
        self._agent.outbox.post("", notice)
        self.give_back(self.after)
